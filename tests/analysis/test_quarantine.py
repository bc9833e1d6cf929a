# SPDX-License-Identifier: Apache-2.0
"""Which tests with known failures may be put into quarantine (semantics, 16.4), by forty commits on
two boxes.
"""

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from hwci.analysis.quarantine import known_tests
from hwci.contract.known_failures import KnownFailure, KnownTest
from hwci.contract.people import Actor
from hwci.contract.vocabulary import Claim
from hwci.engine.facts import Facts, Product, Report
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from tests.engine.timeline import (
    CONFIG,
    EVER,
    ORG,
    REPO,
    SUITE,
    changes,
    commit,
    item,
    minute,
    report,
)
from tests.support.outcomes import FullRecordedRuns

COMMITS = 40
BOXES = ("box-1", "box-2")
FAILS: Mapping[str, Mapping[str, set[int]]] = {
    "on one box": {"box-1": {*range(3, 36, 4)}},
    "race": {"box-1": {*range(3, 36, 8)}, "box-2": {*range(5, 36, 8)}},
    "broken": {box: {*range(30, COMMITS)} for box in BOXES},
    "pending": {"box-1": {*range(3, 36, 4), COMMITS - 1}},
    "steady": {},
}
"""On which commits each test fails on a box."""


def runs(fails: Mapping[str, Mapping[str, set[int]]]) -> list[Report]:
    return [
        report(
            f"c{number:02}:P",
            number + place / 10,
            box=box,
            sent=changes(f"c{number - 1:02}", commit(f"c{number:02}", "fw")) if number else None,
            tests=[
                replace(item("F", name), message=f"{name} on {box}")
                if number in on.get(box, ())
                else item("P", name)
                for name, on in fails.items()
            ],
        )
        for number in range(COMMITS)
        for place, box in enumerate(BOXES)
    ]


def rule(**fields: object) -> KnownFailure:
    usual = {
        "id": UUID(int=1),
        "test_id": "*",
        "message": None,
        "box_key": None,
        "ticket": "FW-1",
        "until": minute(900),
        "created_at": minute(0),
        "by": Actor(UUID(int=9), "Ada"),
    }
    return KnownFailure(**{**usual, **fields})  # type: ignore[arg-type]


PERIOD = Period(EVER.start, minute(COMMITS))


def known(
    *rules: KnownFailure, fails: Mapping[str, Mapping[str, set[int]]] = FAILS
) -> dict[str, KnownTest]:
    history = FullRecordedRuns(ORG, Facts(reports=tuple(runs(fails))))
    history.rules = rules
    return {row.test_id: row for row in known_tests(history, Scope(), PERIOD, {})}


def test_a_test_that_is_broken_pending_or_suspected_of_a_race_is_left_out() -> None:
    rows = known(rule())

    assert {name: row.left_out for name, row in rows.items()} == {
        "broken": "it is broken",
        "on one box": None,
        "pending": "it is pending: it has not passed since it failed",
        "race": "a race in the firmware is suspected",
    }
    assert rows["on one box"].statement.claim is Claim.ONE_BOX
    assert rows["on one box"].says.startswith("Flaky on box-1 only")
    assert rows["on one box"].failures == len(FAILS["on one box"]["box-1"])
    assert rows["on one box"].known.ticket == "FW-1"


def test_what_also_fails_in_a_way_that_no_rule_knows_is_left_out() -> None:
    both = {"test": {"box-1": {*range(3, 36, 4)}, "box-2": {7}}}
    first, second = rule(message="on box-1"), rule(id=UUID(int=2), message="on box-2")

    [row] = known(first, fails=both).values()
    assert row.left_out == "1 failure of it no rule knows"
    assert row.failures == len(both["test"]["box-1"])
    [row] = known(first, second, fails=both).values()
    assert row.left_out is None


def test_a_test_that_one_box_ran_and_a_firmware_commit_made_flaky_is_left_out() -> None:
    """Nobody can compare boxes, so the commit is the suspect."""
    alone = {"test": {"box-1": {*range(21, 36, 2)}}}
    only = [run for run in runs(alone) if run.box_key == "box-1"]
    configs = {Product(REPO, SUITE): CONFIG}
    history = FullRecordedRuns(ORG, Facts(reports=tuple(only), configs=configs))
    history.rules = [rule()]

    [row] = known_tests(history, Scope(), PERIOD, {})
    assert row.statement.claim is Claim.ONLY_BOX
    assert row.left_out == "a race in the firmware is suspected"


def test_a_rule_that_is_over_puts_nothing_into_quarantine() -> None:
    assert known(rule(until=PERIOD.end)) == {}
    assert known() == {}
    assert known(rule(test_id="on one box")).keys() == {"on one box"}


def test_a_failure_of_an_earlier_rule_is_no_unknown_one() -> None:
    earlier = rule(until=minute(20))
    current = rule(id=UUID(int=2), ticket="FW-2")
    row = known(earlier, current)["on one box"]
    assert (row.known.ticket, row.left_out) == ("FW-2", None)
