# SPDX-License-Identifier: Apache-2.0
"""Names that may be of one test, by small pictures: a run is written `place: tests`, a test that
failed with `!`.
"""

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from hwci.analysis.outcomes import ProductOutcomes
from hwci.analysis.renames import OtherName, Renames
from hwci.engine.facts import Facts, Report
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from tests.engine.timeline import EVER, MAIN, ORG, REPO, START, SUITE, item, minute, report
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds


def drawn(*runs: str) -> ProductOutcomes:
    """Return the runs of these pictures, a minute apart; a place is a branch and a box."""
    reports = [_report(at, run) for at, run in enumerate(runs)]
    [found] = FullRecordedRuns(ORG, Facts(reports=tuple(reports))).outcomes(
        Scope(REPO, SUITE), EVER
    )
    return found


def _report(at: int, run: str) -> Report:
    place, _, tests = run.partition(": ")
    branch, _, box = place.rpartition("/")
    items = [item("F" if one.endswith("!") else "P", one.rstrip("!")) for one in tests.split()]
    return report(f"c{at}:P", at, branch=branch or MAIN, box=box, tests=items)


def names(outcomes: ProductOutcomes, test: str) -> tuple[OtherName | None, OtherName | None]:
    renames, number = Renames(outcomes), outcomes.number_of(test)
    assert number is not None
    return renames.before(number), renames.since(number)


def other_names(outcomes: ProductOutcomes, test: str) -> tuple[str | None, str | None]:
    before, since = (one.test_id if one else None for one in names(outcomes, test))
    return before, since


RENAMED = ("1: boot old", "2: boot old!", "1: boot new", "2: boot new!", "1: boot new")


def test_one_that_ended_where_another_began_may_be_the_same_with_its_own_counts() -> None:
    runs = drawn(*RENAMED)

    assert names(runs, "new") == (OtherName("old", minute(2), "c2", 2, 2, 1), None)
    assert names(runs, "old") == (None, OtherName("new", minute(2), "c2", 2, 3, 1))
    assert other_names(runs, "boot") == (None, None)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("1: boot old", id="the old name runs there again"),
        pytest.param("3: old new", id="both ran together"),
        pytest.param("3: boot new old", id="both ran together elsewhere"),
    ],
)
def test_nothing_is_said_where_both_names_were_there(more: str) -> None:
    runs = drawn(*RENAMED, more)

    assert other_names(runs, "new") == other_names(runs, "old") == (None, None)


def test_a_branch_that_still_has_the_old_name_changes_nothing() -> None:
    runs = drawn(*RENAMED, "side/1: boot old", "side/1: boot old")

    assert other_names(runs, "new") == ("old", None)


def test_a_test_that_was_written_later_than_another_one_ended_is_another_test() -> None:
    assert other_names(drawn("1: boot old", "1: boot", "1: boot new"), "new") == (None, None)


def test_tests_that_moved_together_are_matched_by_the_end_of_their_names() -> None:
    old = "a/x.py::i2c[1.5] a/x.py::spi a/x.py::uart"
    new = "b/y.py::i2c[1.5] b/y.py::spi b/y.py::can"
    runs = drawn(f"1: {old}", f"1: {new}")

    assert other_names(runs, "b/y.py::i2c[1.5]") == ("a/x.py::i2c[1.5]", None)
    assert other_names(runs, "a/x.py::spi") == (None, "b/y.py::spi")
    assert other_names(runs, "b/y.py::can") == (None, None)
    assert other_names(runs, "a/x.py::uart") == (None, None)


def test_a_test_that_was_split_or_merged_has_no_other_name() -> None:
    split = drawn("1: boot old", "1: boot new newer")
    merged = drawn("1: boot old older", "1: boot new")

    assert [other_names(split, one) for one in ("old", "new")] == [(None, None)] * 2
    assert [other_names(merged, one) for one in ("old", "new")] == [(None, None)] * 2


def test_a_run_that_never_reached_the_hardware_tells_nothing() -> None:
    lost = replace(_report(1, "1: other"), hello_ok=False)
    reports = (_report(0, "1: boot old"), lost, _report(2, "1: boot new"))
    [found] = FullRecordedRuns(ORG, Facts(reports=reports)).outcomes(
        Scope(REPO, SUITE), Period(START, START + timedelta(minutes=9))
    )

    assert other_names(found, "new") == ("old", None)


@pytest.mark.parametrize("seed", range(rounds(30, 1000)))
def test_earlier_and_later_names_are_found_from_each_other(seed: int) -> None:
    draw = random.Random(seed)
    tests = ("a/x", "b/x", "a/y", "b/y", "z")
    runs = drawn(
        *(
            f"{draw.choice(('m/1', 'm/2', 's/1'))}: "
            + " ".join(draw.sample(tests, draw.randint(1, 4)))
            for _ in range(draw.randint(2, 7))
        )
    )
    pairs = {one: other_names(runs, one) for one in runs.tests.values()}
    together = [
        {runs.tests[number] for number in runs.tests if run.ran >> number & 1} for run in runs.runs
    ]

    for test, (before, since) in pairs.items():
        assert before is None or pairs[before][1] == test
        assert since is None or pairs[since][0] == test
        assert not any({test, before} <= ran for ran in together if before)
