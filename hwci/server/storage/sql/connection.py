# SPDX-License-Identifier: Apache-2.0
"""What a statement needs of a database: the face that a driver's connection has for this room.

This module knows no driver. A connection is used by one thread at a time, inside a transaction that
its driver began. Statements are written once, in what SQLite understands.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from hwci.engine.test_sets import mask_of
from hwci.server.deadline import Deadline, Part
from hwci.server.storage.sql import codec

_LISTS = """
SELECT t.id, t.tests
FROM json_each(?) j
CROSS JOIN template t ON t.org_id = ? AND t.id = j.value
"""
_MASK_BYTES = 1024 * 1024  # in all; a mask of 5,000 tests is 640 bytes


class Query(NamedTuple):
    """A statement and its values."""

    statement: str
    values: Sequence[object]


class Ran(Protocol):
    """A statement that ran."""

    @property
    def rowcount(self) -> int:
        """Return how many rows it changed."""


class Connection(ABC):
    """A connection to a database. `name`: the database, for people."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._masks: dict[tuple[bytes, int], int] = {}
        self._mask_bytes = 0
        self.lists: dict[tuple[bytes, int, bytes], Any] = {}  # test lists that `names.py` has read
        self._deadline: Deadline | None = None

    @abstractmethod
    def execute(self, statement: str, values: Sequence[object] = ()) -> Ran:
        """Run one statement."""

    @abstractmethod
    def execute_many(self, statement: str, rows: Collection[Sequence[object]]) -> None:
        """Run one statement for each row of values."""

    @abstractmethod
    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""

    @abstractmethod
    def row(self, statement: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""

    def rows_of(self, queries: Iterable[Query]) -> list[list[tuple[Any, ...]]]:
        """Return all rows of each of these queries, of which none needs the answer of another."""
        return [self.rows(*query) for query in queries]

    @abstractmethod
    def each(self, statement: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query as they are asked for."""

    def added(self, statement: str, values: Sequence[object]) -> int:
        """Add a row; return its `id`, which the database chose."""
        ((number,),) = self.rows(f"{statement} RETURNING id", values)
        return int(number)

    @contextmanager
    def until(self, deadline: Deadline) -> Iterator[None]:
        """Run statements in this block only while there is time; after it they raise
        `OutOfTimeError`.
        """
        before, self._deadline = self._deadline, deadline
        try:
            yield
        finally:
            self._deadline = before

    @contextmanager
    def share(self, part: float) -> Iterator[None]:
        """Run statements in this block only for a share of the time that is left; the transaction
        goes on after it.
        """
        assert self._deadline is not None
        with self.until(Part(self._deadline, self._deadline.left_of_all * part)):
            yield

    def check_time(self) -> None:
        """Raise `OutOfTimeError` if the time is over."""
        if self._deadline is not None:
            self._deadline.check_time()

    def forget_lists(self) -> None:
        """Forget the test lists, which a transaction that is not kept may have made."""
        self._forget_masks()
        self.lists.clear()

    def mask(self, org: bytes, template_id: int) -> int:
        """Return the set of tests of a test list, which never changes."""
        mask = self._masks.get((org, template_id))
        return self.masks(org, [template_id])[template_id] if mask is None else mask

    def masks(self, org: bytes, template_ids: Collection[int]) -> dict[int, int]:
        """Return the sets of these lists, of which those that are not known are read at once."""
        masks = {number: self._masks.get((org, number)) for number in template_ids}
        known = {number: mask for number, mask in masks.items() if mask is not None}
        if unread := masks.keys() - known.keys():
            for number, tests in self.rows(_LISTS, (codec.numbers(unread), org)):
                known[number] = mask_of(codec.unpack_numbers(tests))
                self._keep_mask((org, number), known[number])
        return known

    def _keep_mask(self, key: tuple[bytes, int], mask: int) -> None:
        size = sys.getsizeof(mask)
        if self._mask_bytes + size > _MASK_BYTES:
            self._forget_masks()
        self._masks[key] = mask
        self._mask_bytes += size

    def _forget_masks(self) -> None:
        self._masks.clear()
        self._mask_bytes = 0
