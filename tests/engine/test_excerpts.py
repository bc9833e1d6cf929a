# SPDX-License-Identifier: Apache-2.0
"""What stays of a list that is too long to be shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.engine.page.evidence import ends_and_around, relevant_first


def test_a_list_that_fits_is_whole() -> None:
    assert list(ends_and_around(range(9), 4, 9)) == list(range(9))
    assert list(relevant_first(range(9), lambda row: row > 4, 9)) == list(range(9))


@pytest.mark.parametrize(
    ("at", "kept"),
    [
        (50, [0, 1, 2, 49, 50, 51, 97, 98, 99]),
        (0, [0, 1, 2, 3, 4, 5, 97, 98, 99]),
        (4, [0, 1, 2, 3, 4, 5, 97, 98, 99]),
        (99, [0, 1, 2, 94, 95, 96, 97, 98, 99]),
    ],
)
def test_the_ends_stay_and_what_is_around_one_row(at: int, kept: list[int]) -> None:
    assert list(ends_and_around(range(100), at, 9)) == kept


@given(st.data(), st.integers(1, 400), st.integers(3, 200))
def test_as_many_rows_stay_as_may_with_both_ends_and_the_one(
    data: st.DataObject, total: int, most: int
) -> None:
    at = data.draw(st.integers(0, total - 1))

    shown = list(ends_and_around(range(total), at, most))

    assert shown == sorted(set(shown))
    assert len(shown) == min(total, most)
    assert {0, at, total - 1} <= set(shown)


def test_rows_with_information_go_before_others_and_keep_their_order() -> None:
    assert list(relevant_first(range(10), lambda row: row in {3, 8}, 4)) == [0, 1, 3, 8]
    assert list(relevant_first(range(10), lambda row: row % 2 == 1, 3)) == [1, 3, 5]
