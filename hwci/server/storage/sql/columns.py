# SPDX-License-Identifier: Apache-2.0
"""The columns of a table, stated once: by the fields of the value that its rows hold.

A field is a column of its name, and its type decides how it is written; a field that has fields of
its own is their columns. From this follow what an INSERT and a SELECT list, the row of a value and
the value of a row. This module knows no table and no statement.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any, Generic, TypeVar, get_args, get_type_hints
from uuid import UUID

from hwci.server.storage.sql.codec import from_micros, to_micros, uuid_of

Value = TypeVar("Value")

Way = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Columns(Generic[Value]):
    """The columns that hold a value. `row`: what they have of it; `read`: the value again, from the
    next columns of a row, with the fields that are kept elsewhere by name.
    """

    names: tuple[str, ...]
    row: Callable[[Value], tuple[object, ...]]
    read: Callable[..., Value]

    def of(self, table: str) -> str:
        """Return what a SELECT lists. `table`: its name in that statement."""
        return selected(table, self.names)

    def called(self, *names: str) -> "Columns[Value]":
        """Return the same columns with other names."""
        return replace(self, names=names)

    def named(self, value: Value) -> dict[str, object]:
        """Return what each column has of a value."""
        return dict(zip(self.names, self.row(value), strict=True))


def selected(table: str, names: Iterable[str]) -> str:
    """Return columns of a table as a SELECT lists them."""
    return ", ".join(f"{table}.{name}" for name in names)


def _same(value: Any) -> Any:  # noqa: ANN401 - what a database takes as it is
    return value


_WAYS: Mapping[type, tuple[Way, Way]] = {
    **dict.fromkeys((str, int, bytes), (_same, _same)),
    bool: (_same, bool),
    datetime: (to_micros, from_micros),
    UUID: (attrgetter("bytes"), uuid_of),
}
"""How a value of a type is written and read."""


def column(name: str, write: Way = _same, read: Way = _same) -> Columns[Any]:
    """Return the one column of a field whose name or type does not say all of it."""

    def read_next(columns: Iterator[Any]) -> Any:  # noqa: ANN401 - as `read` says
        return read(next(columns))

    return Columns((name,), lambda value: (write(value),), next if read is _same else read_next)


def columns_of(
    kind: type[Value], *, elsewhere: Collection[str] = (), **own: Columns[Any]
) -> Columns[Value]:
    """Return the columns of a class with fields. `elsewhere`: the fields that these columns do not
    hold; `own`: the columns of those whose name and type do not say them.
    """
    fields = {
        name: own.get(name) or _of_type(name, hint)
        for name, hint in get_type_hints(kind).items()
        if name not in elsewhere
    }
    writes = [(name, field.row) for name, field in fields.items()]
    reads = [field.read for field in fields.values()]

    def row(value: Value) -> tuple[object, ...]:
        return tuple([part for name, write in writes for part in write(getattr(value, name))])

    def read(row: Iterable[Any], **others: object) -> Value:
        columns = iter(row)
        values = [read_next(columns) for read_next in reads]
        if not others:  # by their places it takes half as long
            return kind(*values)
        return kind(**dict(zip(fields, values, strict=True)), **others)

    return Columns(tuple([name for field in fields.values() for name in field.names]), row, read)


def optional(columns: Columns[Any]) -> Columns[Any]:
    """Return columns that are all NULL where there is no value."""
    nothing = (None,) * len(columns.names)

    def read(row: Iterator[Any]) -> Any:  # noqa: ANN401 - as `columns` says
        values = [next(row) for _ in nothing]
        return None if values[0] is None else columns.read(iter(values))

    return Columns(
        columns.names, lambda value: nothing if value is None else columns.row(value), read
    )


def _of_type(name: str, hint: Any) -> Columns[Any]:  # noqa: ANN401 - a type, as Python writes it
    kind, *others = get_args(hint) or (hint,)
    if kind in _WAYS:
        return column(name, *(map(_or_none, _WAYS[kind]) if others else _WAYS[kind]))
    of_kind = column(name, read=kind) if issubclass(kind, StrEnum) else columns_of(kind)
    return optional(of_kind) if others else of_kind


def _or_none(way: Way) -> Way:
    return way if way is _same else lambda value: None if value is None else way(value)
