# SPDX-License-Identifier: Apache-2.0
"""An export as a folder of Parquet files, one for each table and view: written of the SQLite file,
and read for an import. pyarrow, of the extra `parquet`, is imported when it is needed.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from hwci.server.errors import StorageError, pip_install
from hwci.server.private_file import wait_for_disk
from hwci.server.services.transfer import layout
from hwci.server.storage.new_file import WRITE_FIX, part_beside, refuse_taken

_ROWS = 50_000
_ROWS_OF = {"sent": 200, "commits": 2_000, "events": 2_000}
"""Rows in memory at a time, where one can be large."""


def pyarrow(module: str = "pyarrow") -> Any:  # noqa: ANN401 - of a library without types
    """Return the library, or a module of it. Raises `StorageError`: it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as fault:
        raise StorageError(
            "Parquet needs pyarrow, which is not installed", f"run: {pip_install('parquet')}"
        ) from fault


@contextmanager
def in_parquet(to: Path) -> Iterator[Path]:
    """Yield the name of an export in SQLite, to be made beside `to`; then write it there as a new
    folder, which is renamed when it is complete.

    Raises:
        StorageError: pyarrow is missing, there is something at `to`, or it cannot be written.
    """
    pyarrow()
    refuse_taken(to)
    file = to.with_name(f"{to.name}.hwci-sqlite")
    with part_beside(to):  # nobody else writes these files now
        try:
            file.unlink(missing_ok=True)  # a crash left it
            yield file
            _write_all(file, to)
        finally:
            file.unlink(missing_ok=True)


def _write_all(export: Path, to: Path) -> None:
    part = to.with_name(f"{to.name}.hwci-parquet")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(mode=0o700)
        with closing(sqlite3.connect(export)) as tables:
            for name in (*layout.TABLES, *layout.VIEWS):
                _write(tables, name, file_of(part, name))
        refuse_taken(to)
        part.rename(to)
        wait_for_disk(to.parent)
    except OSError as fault:
        raise StorageError(f"Cannot write {to}: {fault.strerror or fault}", WRITE_FIX) from fault
    finally:
        shutil.rmtree(part, ignore_errors=True)


def file_of(folder: Path, table: str) -> Path:
    """Return the file of a table."""
    return folder / f"{table}.parquet"


def read_parquet(folder: Path, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table, of these columns. Raises `ValueError`: it is damaged."""
    parquet = pyarrow("pyarrow.parquet")
    try:
        with parquet.ParquetFile(file_of(folder, table)) as file:
            for batch in file.iter_batches(_ROWS_OF.get(table, _ROWS), columns=list(columns)):
                yield from zip(*(batch.column(one).to_pylist() for one in columns), strict=True)
    except OSError as fault:
        raise ValueError(str(fault)) from fault


def _write(tables: sqlite3.Connection, name: str, to: Path) -> None:
    arrow, parquet = pyarrow(), pyarrow("pyarrow.parquet")
    found = tables.execute(f"SELECT * FROM {name}")  # noqa: S608 - a constant
    columns = [column for column, *_ in found.description]
    types = {column: _type(layout.TYPES.get(column, "TEXT")) for column in columns}
    with parquet.ParquetWriter(to, arrow.schema(types.items()), compression="zstd") as file:
        while rows := found.fetchmany(_ROWS_OF.get(name, _ROWS)):
            values = zip(types.values(), zip(*rows, strict=True), strict=True)
            arrays = [_array(kind, column) for kind, column in values]
            file.write_table(arrow.Table.from_arrays(arrays, names=columns))
    wait_for_disk(to)


def _type(kind: str) -> Any:  # noqa: ANN401 - of a library without types
    arrow = pyarrow()
    return {
        "INTEGER": arrow.int64(),
        "REAL": arrow.float64(),
        "BOOLEAN": arrow.bool_(),
        "TIMESTAMP": arrow.timestamp("us", "UTC"),
        "BLOB": arrow.binary(),
    }.get(kind, arrow.string())


def _array(kind: Any, column: tuple[Any, ...]) -> Any:  # noqa: ANN401 - of a library without types
    """Return a column with its type: SQLite keeps a truth as a number, and a time as text."""
    arrow = pyarrow()
    if arrow.types.is_boolean(kind):
        return arrow.array(column, arrow.int64()).cast(kind)
    if arrow.types.is_timestamp(kind):
        return arrow.array(column, arrow.string()).cast(kind)
    return arrow.array(column, kind)
