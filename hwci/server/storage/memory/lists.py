# SPDX-License-Identifier: Apache-2.0
"""How lists in memory are searched, ordered and cut into pages."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from hwci.engine.history import Listing

Item = TypeVar("Item")


def first(found: Iterable[Item]) -> Item | None:
    """Return the first, or None."""
    return next(iter(found), None)


def newest(found: Iterable[Item], time: Callable[[Item], datetime]) -> list[Item]:
    """Sort newest first; of equal times, the one added last."""
    ordered = list(found)
    ordered.reverse()
    ordered.sort(key=time, reverse=True)
    return ordered


def slice_of(found: Sequence[Item], offset: int, limit: int) -> Listing[Item]:
    """Cut a page out of a list."""
    return Listing(list(found[offset : offset + limit]), len(found))
