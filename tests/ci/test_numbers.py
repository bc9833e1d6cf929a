# SPDX-License-Identifier: Apache-2.0
"""A number is read as its file spells numbers: decimal commas, thousands, and both."""

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.ci.results.model import FileResults
from hwci.ci.results.numbers import Numbers
from hwci.ci.results.read import read_results
from hwci.ci.results.verdicts import BUILT_IN


def read(folder: Path, *texts: str) -> FileResults:
    path = folder / "results.xml"
    cases = "".join(f'<testcase name="t{at}" time="{text}"/>' for at, text in enumerate(texts))
    path.write_text(f'<testsuite name="s">{cases}</testsuite>', encoding="utf-8")
    return read_results(path, BUILT_IN)


@pytest.mark.parametrize(
    "numbers",
    [
        {"0,160": 0.160, "12,5": 12.5, "2,120.532": 2120.532},
        {"0,160": 0.160, "1,234": 1.234, "12,500": 12.5},
        {"1,234": 1.234, "1.234,5": 1234.5, "1.234": 1234.0},
        {"1,234": 1234.0, "1,234.5": 1234.5, "0.25": 0.25},
        {"1,234": 1234.0, "17": 17.0, "0": 0.0},
        {"1,234": 1234.0, "1,234,567": 1234567.0},
        {"1,234": 1234.0, "1.234": 1.234, "12.5": 12.5},
        {"1.234": 1.234, "12.500": 12.5},
        {"1.234.567,8": 1234567.8, "12": 12.0, ",5": 0.5},
        {"1 234,5": 1234.5, "1\u202f234,25": 1234.25, "2,5": 2.5},
        {"1'234.5": 1234.5, "1\u2019000": 1000.0},
        {"1e-05": 1e-05, "1,234e-05": 1.234e-05, "0.5": 0.5},
    ],
)
def test_the_numbers_of_a_file_decide_together_in_any_order(
    tmp_path: Path, numbers: dict[str, float]
) -> None:
    for texts in permutations(numbers):
        file = read(tmp_path, *texts)

        lengths = [attempt.duration_s for attempt in file.attempts]
        assert lengths == [numbers[text] for text in texts]
        assert file.duration_s == pytest.approx(sum(lengths))
        assert file.notes == ()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("1.5s", 1.5), ("1,5 s", 1.5), ("150ms", 0.15), ("150 \u00b5s", 0.00015), ("2 sec", 2.0)),
        *(("3 seconds", 3.0), ("2min", 120.0), ("1m 2.5s", 62.5), ("1h2m", 3720.0)),
        *(("00:01:02.5", 62.5), ("1:00:00", 3600.0), ("00:00:01.2340000", 1.234), ("1:02", 62.0)),
        *(("PT1.5S", 1.5), ("PT1H2M3S", 3723.0), ("pt0.020s", 0.02)),
        *(
            ("5 apples", 0.0),
            ("s", 0.0),
            ("PT", 0.0),
            ("1:2:3:4", 0.0),
            ("1s later", 0.0),
            ("", 0.0),
        ),
    ],
)
def test_a_duration_may_have_units_or_be_a_time_of_a_clock(
    tmp_path: Path, text: str, seconds: float
) -> None:
    [attempt] = read(tmp_path, text).attempts

    assert attempt.duration_s == pytest.approx(seconds)


def test_a_comma_that_nothing_decides_stands_before_decimals_and_that_is_said(
    tmp_path: Path,
) -> None:
    file = read(tmp_path, "1,234", "0")

    assert [attempt.duration_s for attempt in file.attempts] == [1.234, 0.0]
    assert "nothing shows whether their comma stands before decimals" in file.notes[0]


@given(st.lists(st.floats(0.001, 9_999_999), min_size=2, max_size=12), st.booleans())
def test_what_a_tool_formats_in_its_language_is_read_back(
    lengths: list[float], german: bool
) -> None:
    """With thousands and three decimals, of which one shows which is which."""
    texts = [f"{length:,.3f}" for length in (0.5, *lengths)]
    if german:
        swap = str.maketrans(",.", ".,")
        texts = [text.translate(swap) for text in texts]
    first = Numbers()
    for text in texts:
        first.seconds(text)
    again = Numbers(first.decided())

    assert [again.seconds(text) for text in texts[1:]] == pytest.approx(lengths, abs=0.001)


@given(st.text(st.sampled_from("0123456789.,eE+- '"), max_size=12))
def test_no_text_is_too_odd_for_a_number(text: str) -> None:
    assert Numbers().seconds(text) >= 0
