# SPDX-License-Identifier: Apache-2.0
"""What a statement needs of a database: the face that a driver's connection has for this room.

This module knows no driver. A connection is used by one thread at a time, inside a transaction that
its driver began.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from hwci.server.storage.audit_chain import AuditKey


class Ran(Protocol):
    """A statement that ran."""

    @property
    def rowcount(self) -> int:
        """Return how many rows it changed."""

    @property
    def lastrowid(self) -> int | None:
        """Return the number of the row that it added."""


class Connection(Protocol):
    """A connection to a database. `name`: the database, for people."""

    name: str
    audit_key: AuditKey | None
    audit_key_file: Path | None

    def check_time(self) -> None:
        """Raise `OutOfTimeError` if the time of the transaction is over."""

    def execute(self, statement: str, values: Sequence[object] = ()) -> Ran:
        """Run one statement."""

    def execute_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run one statement for each row of values."""

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""

    def row(self, statement: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""

    def each(self, statement: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query as they are asked for."""

    def mask(self, org: bytes, template_id: int, /) -> int:
        """Return the set of tests of a test list as a bit mask."""
