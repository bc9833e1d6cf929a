# SPDX-License-Identifier: Apache-2.0
"""What stays of a list that is too long to be shown."""

import pytest

from hwci.wire.excerpts import ends_and_around, telling_first


def test_a_list_that_fits_is_whole() -> None:
    assert list(ends_and_around(range(9), 4, 9)) == list(range(9))
    assert list(telling_first(range(9), lambda row: row > 4, 9)) == list(range(9))


@pytest.mark.parametrize(
    ("at", "kept"),
    [
        (50, [0, 1, 2, 49, 50, 51, 97, 98, 99]),
        (0, [0, 1, 2, 97, 98, 99]),
        (99, [0, 1, 2, 97, 98, 99]),
    ],
)
def test_the_ends_stay_and_what_is_around_one_row(at: int, kept: list[int]) -> None:
    shown = ends_and_around(range(100), at, 9)

    assert [row for row in shown if row in kept] == kept
    assert len(shown) <= 9
    assert at in shown


def test_rows_that_tell_something_go_before_others_and_keep_their_order() -> None:
    assert list(telling_first(range(10), lambda row: row in {3, 8}, 4)) == [0, 1, 3, 8]
    assert list(telling_first(range(10), lambda row: row % 2 == 1, 3)) == [1, 3, 5]
