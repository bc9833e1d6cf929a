# SPDX-License-Identifier: Apache-2.0
"""An export in Parquet holds what the one in SQLite does, and is imported like it (ADR 0052)."""

import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hwci.server.errors import StorageError
from hwci.server.services.transfer import layout
from hwci.server.services.transfer.importing import open_source
from hwci.server.services.transfer.parquet import file_of, in_parquet
from tests.server.exports import ACME, database, imported, made_export, pages
from tests.server.storage.histories import ORG

parquet: Any = pytest.importorskip("pyarrow.parquet")


async def made(folder: Path, seed: int) -> tuple[Path, Path, Any]:
    """Make both exports of one history."""
    to = folder / "acme"
    source, shown = await made_export(folder, seed)
    with in_parquet(to) as file:
        file.write_bytes(source.read_bytes())
    return source, to, shown


def shown_as(column: str, value: object) -> object:
    """Return what Parquet shows of a value of SQLite."""
    match layout.TYPES.get(column), value:
        case "BOOLEAN", int():
            return bool(value)
        case "TIMESTAMP", str():
            return datetime.fromisoformat(value).astimezone(UTC)
    return value


async def test_each_table_and_view_has_the_same_rows_with_types(tmp_path: Path) -> None:
    source, to, _ = await made(tmp_path, 1)

    with closing(sqlite3.connect(source)) as export:
        for name in (*layout.TABLES, *layout.VIEWS):
            found = export.execute(f"SELECT * FROM {name}")
            columns = [column for column, *_ in found.description]
            table = parquet.read_table(file_of(to, name))
            assert table.column_names == columns
            assert table.to_pylist() == [
                {
                    column: shown_as(column, value)
                    for column, value in zip(columns, row, strict=True)
                }
                for row in found
            ]
    assert to.stat().st_mode & 0o777 == 0o700


async def test_pages_after_its_import_are_those_of_the_source(tmp_path: Path) -> None:
    _, to, shown = await made(tmp_path, 2)

    async with database(tmp_path / "new.db") as (storage, operator):
        await storage.write(lambda writer: writer.add_organization(ACME))
        assert await imported(operator, to) == (ORG, open_source(to).entries, [])
        assert await storage.read(lambda reader: pages(reader, 2)) == shown


def test_two_at_once_do_not_mix(tmp_path: Path) -> None:
    to = tmp_path / "acme"
    another = pytest.raises(StorageError, match=f"Another process is writing {to}")
    with another, in_parquet(to), in_parquet(to):
        pass
    assert [one.name for one in tmp_path.iterdir()] == []


def cut(to: Path) -> None:
    sent = file_of(to, "sent")
    sent.write_bytes(sent.read_bytes()[:-100])


def fewer(to: Path) -> None:
    sent = file_of(to, "sent")
    parquet.write_table(parquet.read_table(sent).slice(1), sent)


def without_bodies(to: Path) -> None:
    file_of(to, "sent").unlink()


def newer(to: Path) -> None:
    head = file_of(to, "export")
    table = parquet.read_table(head)
    form = table.column_names.index("form")
    parquet.write_table(table.set_column(form, "form", [[2]]), head)


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        *((one, "is damaged, or was cut short") for one in (cut, fewer, without_bodies)),
        (newer, "was exported by a newer hwci"),
    ],
)
async def test_a_spoiled_one_is_refused_in_one_line(tmp_path: Path, spoil: Any, what: str) -> None:
    _, to, _ = await made(tmp_path, 1)
    spoil(to)

    with pytest.raises(StorageError, match=what) as refusal:
        open_source(to)

    assert "\n" not in str(refusal.value)


def test_what_stops_it_leaves_nothing(tmp_path: Path) -> None:
    to = tmp_path / "acme"

    def fail(file: Path) -> None:
        file.write_bytes(b"half")
        raise StorageError("damaged", "try again")

    with pytest.raises(StorageError, match="damaged"), in_parquet(to) as file:
        fail(file)
    assert list(tmp_path.iterdir()) == []
    to.mkdir()
    with pytest.raises(StorageError, match="exists already"), in_parquet(to):
        pass


def test_without_pyarrow_its_install_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    refused = pytest.raises(StorageError, match=r"needs pyarrow, .* run: .* -m pip install")
    with refused, in_parquet(tmp_path / "acme"):
        pass
