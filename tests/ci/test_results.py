# SPDX-License-Identifier: Apache-2.0
"""What a test is called, and what its item says at most."""

import pytest

from hwci.ci.results.model import BoxResults, FileResults, merged
from hwci.ci.results.names import stable_id
from hwci.ci.results.places import Attempt
from hwci.contract.vocabulary import Outcome, Verdict


@pytest.mark.parametrize(
    ("classname", "name", "expected"),
    [
        ("tests.test_uart", "test_send", "tests.test_uart.test_send"),
        ("kernel.common", "kernel.common.mutex", "kernel.common.mutex"),
        ("boot", "boot", "boot"),
        ("Timer", "TimerStarts", "Timer.TimerStarts"),
        ("", "alone", "alone"),
        ("alone", "", "alone"),
        ("", "", ""),
    ],
)
def test_a_test_is_named_by_class_and_name_each_once(
    classname: str, name: str, expected: str
) -> None:
    assert stable_id(classname, name) == expected


def test_a_name_of_512_letters_is_kept() -> None:
    assert stable_id("", "é" * 512) == "é" * 512


def test_longer_names_are_cut_and_stay_apart() -> None:
    one, other = stable_id("", "x" * 600 + "1"), stable_id("", "x" * 600 + "2")

    assert len(one) == len(other) == 512
    assert one != other
    assert one == stable_id("", "x" * 600 + "1")


def tried(times: int, seconds: float) -> BoxResults:
    """Return the results of a test that failed so often."""
    attempt = Attempt("boot", Outcome.FAIL, seconds, Verdict.UNKNOWN, tried_again=True)
    return merged([FileResults([attempt] * times, 0, None, 0.0)])


@pytest.mark.parametrize(("times", "seconds"), [(1_000_001, 0.0), (2, 366 * 86_400.0)])
def test_more_than_a_report_can_say_is_cut_and_named(times: int, seconds: float) -> None:
    found = tried(times, seconds)

    [item] = found.tests
    assert (item.attempts, item.duration_s) == (min(times, 1_000_000), min(seconds, 366 * 86_400))
    assert found.cut == ("boot",)


def test_the_most_that_a_report_can_say_is_not_cut() -> None:
    assert tried(1_000_000, 0.0).cut == tried(1, 366 * 86_400.0).cut == ()
