# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from names of the schema
"""A database file as a side of a whole copy (`sql/whole.py`), while its lock is held; and the
tables of the schema in an order in which they can be filled.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path

from hwci.server.errors import StorageError
from hwci.server.storage.sql.whole import UNFINISHED, Side, Table, require_fit, unfinished
from hwci.server.storage.sqlite.condition import FAULTS, Condition, storage_error
from hwci.server.storage.sqlite.connections import (
    Connection,
    known_version,
    new_database,
    open_reader,
    open_writer,
    steps_after,
)
from hwci.server.storage.sqlite.locking import (
    check_header,
    database_lock,
    read_header,
    refuse_second_names,
)
from hwci.server.storage.sqlite.page_sums import PageSums, begin_sums

_NAMES = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
)


def tables_in_order() -> Sequence[str]:
    """Return every table of the present schema, each behind those that its rows refer to."""
    with closing(new_database()) as made:
        before = {
            name: [
                other
                for (other,) in made.execute(
                    f"SELECT \"table\" FROM pragma_foreign_key_list('{name}')"
                )
            ]
            for (name,) in made.execute(_NAMES).fetchall()
        }
    return list(TopologicalSorter(before).static_order())


@contextmanager
def source_in(path: Path) -> Iterator[Side]:
    """Yield a file that is copied.

    Raises:
        StorageLockedError: another process, usually a running server, holds it.
        StorageError: it is not ours, not at the present schema, damaged, or not a whole copy.
    """
    check_header(path, known_version())
    with database_lock(path) as note, _guarded(path):
        refuse_second_names(path)
        Condition(path, note)  # a damaged one is refused
        if steps_after(path):
            raise StorageError(
                f"{path} lacks steps of the schema", "make a backup, then: hwci admin migrate"
            )
        with closing(PageSums(path)) as sums:
            sums.require_all()
        with closing(open_reader(path)) as connection:
            tables = _tables(connection)
            if UNFINISHED in tables:
                raise unfinished(str(path))
            yield Side(connection, tables, partial(_guarded, path))


@contextmanager
def target_in(path: Path, origin: str) -> Iterator[Side]:
    """Yield the file of a copy of `origin`, made if it is not there.

    Raises:
        StorageLockedError: another process holds it.
        StorageError: there is something else in it, or it cannot be written.
    """
    check_header(path, known_version())
    with database_lock(path), _guarded(path):
        refuse_second_names(path)
        if read_header(path) is not None:
            with closing(Connection(path)) as former:  # before a step of the schema changes it
                require_fit(former, _tables(former), origin)
        with closing(open_writer(path, may_be_unfinished=True)) as connection:
            yield Side(connection, _tables(connection), partial(_guarded, path))
        begin_sums(path)


def _tables(connection: Connection) -> Mapping[str, Table]:
    tables = {}
    for (name,) in connection.rows(_NAMES):
        rows = connection.rows(f"SELECT name, pk FROM pragma_table_info('{name}')")
        columns = [column for column, _ in rows]
        without_rowid = connection.row(f"SELECT wr FROM pragma_table_list('{name}')") == (1,)
        if without_rowid:
            key = sorted((place, column) for column, place in rows if place)
            tables[name] = Table(columns, [column for _, column in key])
        else:
            tables[name] = Table([*columns, "rowid"], ["rowid"])
    return tables


@contextmanager
def _guarded(path: Path) -> Iterator[None]:
    try:
        yield
    except FAULTS as fault:
        raise storage_error(fault, path) from fault
