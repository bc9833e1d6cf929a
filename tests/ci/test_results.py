# SPDX-License-Identifier: Apache-2.0
"""What a test is called."""

import pytest

from hwci.ci.results.model import stable_id


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
