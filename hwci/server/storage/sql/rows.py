# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from constants of this room
"""The base of each group of rows of a transaction: a connection and two ways to query it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hwci.engine.history import Listing
from hwci.server.storage.sql.connection import Connection, Query

Item = TypeVar("Item")

_WRONG = 86_400_000_000  # microseconds of a day: clocks of servers differ by minutes


def insert(table: str, columns: Sequence[str]) -> str:
    """Return the statement that adds a row."""
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def upsert(table: str, columns: Sequence[str], key: str) -> str:
    """Return the statement that adds a row, in place of another with the same key."""
    new = ", ".join(f"{column} = excluded.{column}" for column in columns)
    return f"{insert(table, columns)} ON CONFLICT ({key}) DO UPDATE SET {new}"


def latest(column: str) -> str:
    """Return the later of a column and of the time that is the statement's first value. A column
    that is more than a day ahead of it was written by a wrong clock, and does not stay.
    """
    return (
        f"CASE WHEN {column} > ?1 + {_WRONG} THEN ?1 ELSE greatest(coalesce({column}, ?1), ?1) END"
    )


class Rows:
    """Rows over one connection, turned into values."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _first(
        self, shape: Callable[[tuple[Any, ...]], Item], statement: str, *values: object
    ) -> Item | None:
        row = self._connection.row(statement, values)
        return None if row is None else shape(row)

    def _count(self, statement: str, *values: object) -> int:
        """Return the one number that a query has."""
        row = self._connection.row(statement, values)
        assert row is not None
        (number,) = row
        return int(number)

    def _slice(
        self,
        shape: Callable[[tuple[Any, ...]], Item],
        statement: str,
        values: Sequence[object],
        offset: int,
        limit: int,
    ) -> Listing[Item]:
        """Return a page of a query and the number of all its rows."""
        ((total,),), rows = self._connection.rows_of(
            [
                Query(f"SELECT count(*) FROM ({statement}) AS whole", values),
                Query(f"{statement} LIMIT ? OFFSET ?", (*values, limit, offset)),
            ]
        )
        return Listing([shape(row) for row in rows], total)
