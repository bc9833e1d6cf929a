# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from names of the schema
"""A copy of a whole database in an empty one, of whichever driver: every table, row by row.

This module decides where a copy that was stopped goes on, and when it is whole. It knows no driver,
and which tables there are only from the schemas: one that is added is copied, too. While a copy is
not whole, its database has a table of its own (`UNFINISHED`), for which a server refuses it.
"""

from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from hwci.server.errors import StorageError, TooLongError
from hwci.server.storage.sql.connection import Connection

UNFINISHED = "hwci_unfinished_copy"
"""Has the source of a copy, at the name '', and of each table the key of the last copied row."""

_SHOWN = 60
_ROWS = 1_000
"""In a transaction: one commit, and some megabytes at most."""

Tell = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: what a row is written with, and the order in which rows are read."""

    columns: Sequence[str]
    key: Sequence[str]


@dataclass(frozen=True, slots=True)
class Side:
    """A database that is copied, or the copy. `guarded`: faults of the driver become ours.
    `complete`: what is left to do once all rows are there.
    """

    connection: Connection
    tables: Mapping[str, Table]
    guarded: Callable[[], AbstractContextManager[None]]
    complete: Callable[[], None] = lambda: None


def unfinished(shown: str) -> StorageError:
    """Return the refusal to use a copy that is not whole."""
    return StorageError(
        f"{shown} is a copy that is not whole yet",
        "finish it with the same `hwci admin copy`, or remove it",
    )


def require_fit(connection: Connection, tables: Iterable[str], of: str) -> None:
    """Refuse to copy into a database that has rows, unless it is an unfinished copy of the same.

    Raises:
        StorageError: it has, or it is that of something else.
    """
    names = set(tables)
    if UNFINISHED in names:
        begun = connection.row(f"SELECT place FROM {UNFINISHED} WHERE name = ''")
        if begun != (of,):
            raise StorageError(
                f"{connection.name} is an unfinished copy of {begun and begun[0]}, not of {of}",
                "finish that one with the hwci that began it, or name a new database",
            )
        return
    for name in names:
        if connection.row(f"SELECT 1 FROM {name} LIMIT 1") is not None:
            raise StorageError(
                f"{connection.name} is not empty: its table {name} has rows",
                "name a new file, or an empty database",
            )


def copy(source: Side, target: Side, order: Sequence[str], of: str, tell: Tell) -> int:
    """Copy each table, in an order in which none refers to a later one, then compare all. Return
    how many rows there are. `tell` is called with a table and how many rows are done.

    Raises:
        StorageError: a database fails, or the copy is not what the source is.
    """
    copy_tables(source, target, order, of, tell)
    rows = 0
    for name in order:
        copied = _digest(target, name, _columns(source, target, name), tell)
        if copied != _digest(source, name, _columns(source, target, name), tell):
            raise StorageError(
                f"Table {name} of the copy differs from {of}: one of them was written meanwhile",
                "remove the copy, stop what writes, and begin again",
            )
        rows += copied[0]
    with _transaction(target):
        target.complete()
        finish(target)
    return rows


def copy_tables(source: Side, target: Side, order: Sequence[str], of: str, tell: Tell) -> None:
    """Copy each table, without the comparison. Nothing else opens the target until `finish`."""
    _begin(target, of)
    for name in order:
        _copy_table(source, target, name, tell)


def finish(target: Side) -> None:
    """Let the target be opened as any other database."""
    target.connection.execute(f"DROP TABLE {UNFINISHED}")


def _begin(target: Side, of: str) -> None:
    if UNFINISHED in target.tables:
        return
    with _transaction(target):
        run = target.connection.execute
        run(f"CREATE TABLE {UNFINISHED} (name TEXT NOT NULL PRIMARY KEY, place TEXT NOT NULL)")
        run(f"INSERT INTO {UNFINISHED} VALUES ('', ?)", (of,))


def _copy_table(source: Side, target: Side, name: str, tell: Tell) -> None:
    """Copy the rows of a table behind those that are there."""
    columns, key = _columns(source, target, name), source.tables[name].key
    add = f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({_holes(columns)})"
    note = (
        f"INSERT INTO {UNFINISHED} VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET place = excluded.place"
    )
    done = 0
    tell(name, done)
    for rows in _pages(source, name, [*key, *columns], _place(target, name)):
        values = [row[len(key) :] for row in rows]
        try:
            with _transaction(target):
                target.connection.execute_many(add, values)
                target.connection.execute(note, (name, repr(rows[-1][: len(key)])))
        except TooLongError as fault:
            target.connection.execute("ROLLBACK")
            raise _too_long(target, name, add, values) from fault
        done += len(rows)
        tell(name, done)


def _too_long(target: Side, name: str, add: str, rows: Iterable[Sequence[object]]) -> StorageError:
    """Return the refusal of rows of which one has names that are too long, with that one."""
    texts: list[str] = []
    for row in rows:
        target.connection.execute("BEGIN")
        try:
            with target.guarded():
                target.connection.execute(add, row)
        except TooLongError:
            texts = [_shown(value) for value in row if isinstance(value, str)]
            break
        finally:
            target.connection.execute("ROLLBACK")
    return StorageError(
        f"A row of table {name} has names that are longer together than {target.connection.name}"
        f" keeps: {', '.join(texts)}",
        "leave the database as it is, or have what is named so reported under a shorter name in a"
        " new one",
    )


def _shown(text: str) -> str:
    """Return the begin of a name that may be very long."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _pages(
    source: Side, name: str, columns: Sequence[str], after: Sequence[object]
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a table behind a key, which is the first of the columns, in its order."""
    key = source.tables[name].key
    order = ", ".join(key)
    while True:
        behind = f"WHERE ({order}) > ({_holes(key)}) " if after else ""
        query = f"SELECT {', '.join(columns)} FROM {name} {behind}ORDER BY {order} LIMIT {_ROWS}"
        with source.guarded():
            rows = source.connection.rows(query, after)
        if not rows:
            return
        yield rows
        after = rows[-1][: len(key)]


def _place(target: Side, name: str) -> Sequence[object]:
    """Return the key of the last row of a table that was copied; empty if none was."""
    with target.guarded():
        found = target.connection.row(f"SELECT place FROM {UNFINISHED} WHERE name = ?", (name,))
    return () if found is None else literal_eval(found[0])


def _digest(side: Side, name: str, columns: Sequence[str], tell: Tell) -> tuple[int, int]:
    """Return how many rows a table has, and a digest of them that does not know their order."""
    count = total = 0
    with _transaction(side):
        for row in side.connection.each(f"SELECT {', '.join(columns)} FROM {name}"):
            line = repr(row).encode("utf-8", "surrogatepass")
            total += int.from_bytes(blake2b(line, digest_size=16).digest())
            count += 1
            if count % _ROWS == 0:
                tell(name, count)
    return count, total


def _columns(source: Side, target: Side, name: str) -> Sequence[str]:
    """Return what a row is copied of: `rowid`, the order of arrival, only where both keep it."""
    return [
        column for column in source.tables[name].columns if column in target.tables[name].columns
    ]


def _holes(columns: Sequence[str]) -> str:
    return ", ".join("?" * len(columns))


@contextmanager
def _transaction(side: Side) -> Iterator[None]:
    """Commit what the block writes. A fault ends the copy, and with its connection the rest."""
    with side.guarded():
        side.connection.execute("BEGIN")
        yield
        side.connection.execute("COMMIT")
