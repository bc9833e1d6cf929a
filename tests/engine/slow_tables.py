# SPDX-License-Identifier: Apache-2.0
"""Tables sorted and searched slowly, to compare with, and the words and numbers that rows draw."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

LAW = settings(deadline=None, max_examples=80)  # a busy machine proves nothing
TEXTS = st.text("aAbßSé -/", min_size=1, max_size=4)
SMALL = st.integers(0, 3)


def slowly_sorted(rows: Sequence[Any], value: Callable[[Any], Any], *, up: bool) -> list[Any]:
    """Put each row behind the last that it may not stand before: nothing else moves."""
    placed: list[Any] = []
    for row in rows:
        at = len(placed)
        while at and (
            value(placed[at - 1]) > value(row) if up else value(placed[at - 1]) < value(row)
        ):
            at -= 1
        placed.insert(at, row)
    return placed


def slowly_found(rows: Sequence[Any], search: str, texts: Callable[[Any], list[str]]) -> list[Any]:
    """Return the rows in which each word of a search is found."""
    words = search.split()
    return [
        row
        for row in rows
        if all(any(w.casefold() in text.casefold() for text in texts(row)) for w in words)
    ]
