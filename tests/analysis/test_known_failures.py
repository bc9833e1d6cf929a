# SPDX-License-Identifier: Apache-2.0
"""Which failures are known, by the rules that people made (semantics, 16)."""

import random
import re
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from hwci.analysis.commits.one_commit import one_commit
from hwci.analysis.failures.known_failures import Failed, KnownFailures, known_by, known_rules
from hwci.contract.known_failures import KnownFailure
from hwci.contract.people import Actor
from hwci.engine.facts import Facts, FailureKey, Lane, Report, TestItem, failure_id
from hwci.engine.history import Scope
from tests.engine.timeline import EVER, ORG, REPO, SUITE, TEST, changes, item, minute, report
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

LONG_AFTER = minute(10_000)


def rule(number: int = 1, **fields: object) -> KnownFailure:
    usual = {
        "id": UUID(int=number),
        "test_id": None,
        "message": None,
        "box_key": None,
        "ticket": f"FW-{number}",
        "until": LONG_AFTER,
        "created_at": minute(0),
        "by": Actor(UUID(int=9), "Ada"),
    }
    return KnownFailure(**{**usual, **fields})  # type: ignore[arg-type]


def matches(made: KnownFailure, message: str | None = None, **fields: object) -> bool:
    usual = {"test_id": "uart.echo", "box_key": "bench-1", "started_at": minute(5)}
    failed = Failed(**{**usual, **fields})  # type: ignore[arg-type]
    return KnownFailures([made]).match(failed, message) is not None


def test_a_rule_matches_whole_names_of_tests_and_boxes_and_parts_of_messages() -> None:
    assert matches(rule(test_id="uart.echo"))
    assert matches(rule(test_id="uart.*"))
    assert not matches(rule(test_id="uart"))
    assert not matches(rule(test_id="echo*"))
    assert matches(rule(message="probe * gone"), "the probe 3 is gone? no: probe 4 gone, too")
    assert not matches(rule(message="probe * gone"), "gone is the probe")
    assert matches(rule(message="a[0] (?:.+)"), "of a[0] (?:.+) it failed")
    assert not matches(rule(message="probe"), None)
    assert matches(rule(test_id="*", box_key="bench-1"))
    assert not matches(rule(test_id="*", box_key="bench"))


def test_a_message_of_several_lines_is_one_text() -> None:
    assert matches(rule(message="Traceback*TimeoutError"), "Traceback\n  line\nTimeoutError: 3 s")


def test_every_part_of_a_rule_must_match() -> None:
    made = rule(test_id="uart.*", message="timeout", box_key="bench-1")
    assert matches(made, "timeout")
    assert not matches(made, "other")
    assert not matches(made, "timeout", test_id="spi.echo")
    assert not matches(made, "timeout", box_key="bench-2")


def test_what_began_when_a_rule_was_over_is_not_known_and_what_began_before_it_was_made_is() -> (
    None
):
    made = rule(test_id="uart.echo", created_at=minute(100), until=minute(200))
    assert matches(made, started_at=minute(5))
    assert matches(made, started_at=minute(200) - timedelta(microseconds=1))
    assert not matches(made, started_at=minute(200))


def test_patterns_mean_what_a_slow_definition_says() -> None:
    draw = random.Random(4)
    for _ in range(rounds(3_000, 200_000)):
        pattern = "".join(draw.choices("ab*", k=draw.randrange(1, 7)))
        text = "".join(draw.choices("ab", k=draw.randrange(1, 9)))
        expected = ".*".join(map(re.escape, pattern.split("*")))
        assert matches(rule(test_id=pattern), test_id=text) == bool(re.fullmatch(expected, text))
        assert matches(rule(message=pattern), text) == bool(re.search(expected, text))


def test_the_first_rule_that_matches_is_shown() -> None:
    rules = [rule(1, message="never"), rule(2, test_id="uart.*"), rule(3, test_id="uart.echo")]
    matched = KnownFailures(rules).match(Failed("uart.echo", "bench-1", minute(5)), None)
    assert matched == rules[1]
    assert known_by(rules[1]).says == f"known: FW-2 until {LONG_AFTER:%Y-%m-%d}"


def failed_item(message: str | None) -> TestItem:
    return replace(item("F"), message=message)


def history(*reports: Report, rules: list[KnownFailure]) -> FullRecordedRuns:
    recorded = FullRecordedRuns(ORG, Facts(reports=reports))
    recorded.rules = rules
    return recorded


def test_a_failure_is_known_by_the_first_message_of_its_runs() -> None:
    runs = [
        report("aaaaaaaa:P", at, tests=[failed_item(message)])
        for at, message in ((1, None), (2, "timeout"), (3, "other"))
    ]
    failure = failure_id(ORG, FailureKey(Lane(REPO, SUITE, TEST, "box-1", "main"), "aaaaaaaa"))
    failed = {failure: Failed(TEST, "box-1", minute(1))}

    for message, known in (("timeout", True), ("other", False)):
        recorded = history(*runs, rules=[rule(message=message)])
        assert (failure in known_rules(recorded, failed)) is known
    assert known_rules(history(*runs, rules=[]), failed) == {}


def pull(box: str, at: float, message: str | None = None) -> Report:
    sent = changes("c0", "dddddddd")
    tests = [failed_item(message)]
    return report("dddddddd:P", at, box=box, branch="topic", sent=sent, tests=tests)


def test_a_failure_of_a_commit_is_known_only_if_it_is_on_each_box() -> None:
    base = report("c0000000:P", 1, tests=[item("P")])
    runs = [base, pull("box-1", 10, "timeout"), pull("box-2", 11, "burnt")]

    def known(*rules: KnownFailure) -> tuple[str | None, int]:
        recorded = history(*runs, rules=[*rules])
        answer = one_commit(recorded, Scope(REPO), EVER, "dddddddd", 9)
        [failure] = answer.failures
        ticket = None if failure.known is None else failure.known.ticket
        return ticket, answer.known_failures

    assert known(rule(message="timeout")) == (None, 0)
    assert known(rule(test_id=TEST, box_key="box-1")) == (None, 0)
    assert known(rule(1, message="timeout"), rule(2, message="burnt")) == ("FW-1", 1)
    assert known(rule(test_id=TEST)) == ("FW-1", 1)
    assert known(rule(test_id=TEST, until=minute(10.5))) == (None, 0)
