# SPDX-License-Identifier: Apache-2.0
"""Causes: which resolved failures are one, by small pictures."""

from hwci.analysis.failures.causes import Cause, causes, to_review
from hwci.engine.page.reading import read_classified
from hwci.engine.vocabulary import FailureClass
from tests.analysis.stories import BROKEN, run
from tests.engine.timeline import ALL, EVER, Past


def found(past: Past, search: str | None = None) -> list[Cause]:
    rows = read_classified(past.history, ALL, EVER, [], list(FailureClass))
    return causes(past.history, rows, search)


def summary(past: Past) -> list[str]:
    """Each cause as its failures, the first to fail first."""
    return [
        " ".join(f"{row.key.lane.test_id}@{row.key.lane.box_key}" for row in one.failures)
        for one in found(past)
    ]


def test_tests_and_boxes_that_broke_and_were_fixed_together_are_one_cause() -> None:
    (words,) = summary(Past(BROKEN))
    assert sorted(words.split()) == ["i2c@box-1", "i2c@box-2", "spi@box-1"]
    assert words.endswith("i2c@box-2")
    (one,) = found(Past(BROKEN))
    assert (one.tests, one.boxes) == (2, 2)


def test_another_fix_or_another_beginning_is_another_cause() -> None:
    later = [
        run("b", 2.6, {"uart": "F"}, "box-3"),
        run("d", 4.7, {"uart": "F"}, "box-3"),
        run("e", 5, {"uart": "P"}, "box-3", base="d"),
    ]
    assert [len(one.split()) for one in summary(Past([*BROKEN, *later]))] == [1, 3]


def test_what_the_harness_blames_on_the_bench_is_another_cause() -> None:
    blamed = run("b", 2.2, {"uart": "I"}, base="a")
    passes = run("d", 4.2, {"uart": "P"}, base="c")

    assert "uart@box-1" in summary(Past([*BROKEN, blamed, passes]))


def test_a_cause_is_found_whole_by_words_of_one_of_its_failures() -> None:
    unknown = [run("x", 0.1, {"adc": "U"}), run("a", 1, {"adc": "P"})]
    past = Past([*unknown, *BROKEN])

    assert [len(one.failures) for one in found(past, "SPI box-1")] == [3]
    assert [len(one.failures) for one in found(past, "adc")] == [1]
    assert found(past, "spi box-2") == []
    assert len(found(past, "box")) == 2


def test_those_that_the_checks_cannot_decide_are_reviewed_first() -> None:
    unknown = [run("x", 0.1, {"adc": "U"}), run("a", 1, {"adc": "P"})]
    past = Past([*unknown, *BROKEN])
    classes = [{row.shown.failure_class for row in one.failures} for one in to_review(found(past))]

    assert FailureClass.AMBIGUOUS in classes[0]
    assert FailureClass.AMBIGUOUS not in classes[-1]


def test_of_those_the_cause_of_most_failures_is_reviewed_first() -> None:
    two = [run("w", 0.1, {"adc": "U", "dac": "U"}), run("x", 0.2, {"adc": "P", "dac": "P"})]
    newer = [run("y", 0.3, {"uart": "U"}), run("z", 0.4, {"uart": "P"})]
    rows = found(Past([*two, *newer]))

    assert [len(one.failures) for one in rows] == [1, 2]
    assert [len(one.failures) for one in to_review(rows)] == [2, 1]
