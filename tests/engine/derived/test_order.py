# SPDX-License-Identifier: Apache-2.0
"""Ranks follow the order of places, and change only where they must."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.engine.derived.order import STEP, new_ranks

Line = list[tuple[str, int | None]]


@st.composite
def lines(draw: st.DrawFn) -> tuple[Line, set[str]]:
    """Draw a branch on which some commits are new and some have another place than before."""
    ranks = sorted(draw(st.sets(st.integers(0, 60), max_size=12)))
    line: Line = [(f"c{rank}", rank) for rank in ranks]
    touched = {sha for sha, _ in line if draw(st.booleans())}
    moving = [one for one in line if one[0] in touched]
    line = [one for one in line if one[0] not in touched]
    moving += [(f"new {number}", None) for number in range(draw(st.integers(0, 4)))]
    touched |= {sha for sha, _ in moving}
    for one in moving:
        line.insert(draw(st.integers(0, len(line))), one)
    return line, touched


@given(lines())
def test_new_ranks_are_in_order_and_those_of_other_commits_stay(
    drawn: tuple[Line, set[str]],
) -> None:
    line, touched = drawn
    changed = new_ranks(line, touched)
    if changed is None:
        return
    after = [rank for sha, old in line if (rank := changed.get(sha, old)) is not None]
    assert changed.keys() <= touched
    assert len(after) == len(line)
    assert all(one < later for one, later in pairwise(after))


@given(lines())
def test_there_is_always_room_once_the_ranks_lie_a_step_apart(
    drawn: tuple[Line, set[str]],
) -> None:
    line, touched = drawn
    spread: Line = [(sha, None if rank is None else rank * STEP) for sha, rank in line]
    assert new_ranks(spread, touched) is not None


@pytest.mark.parametrize(
    ("line", "touched", "changed"),
    [
        ([], set(), {}),
        ([("a", None)], {"a"}, {"a": 0}),
        ([("a", 0), ("b", None)], {"b"}, {"b": STEP}),
        ([("b", None), ("a", 0)], {"b"}, {"b": -STEP}),
        ([("a", 0), ("b", None), ("c", 8)], {"b"}, {"b": 4}),
        ([("a", 0), ("b", None), ("c", 1)], {"b"}, None),
        # They moved by seconds, together.
        ([("a", 0), ("b", 3), ("c", 5), ("d", 9)], {"b", "c"}, {}),
        ([("b", 3), ("a", 0)], {"b"}, {"b": -STEP}),
    ],
)
def test_as_few_ranks_change_as_it_takes(
    line: Line, touched: set[str], changed: dict[str, int] | None
) -> None:
    assert new_ranks(line, touched) == changed
