# SPDX-License-Identifier: Apache-2.0
"""The chain of the audit log: every change to its rows by SQL is found, with the row."""

import asyncio
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from hwci.engine.facts import failure_id
from hwci.server.errors import ConflictError, StorageError
from hwci.server.services.operator.audit_chain import AuditChain, AuditReport, verify_export
from hwci.server.storage.audit_chain import BEFORE_ALL, AuditKey, Tip, Written, link_of
from hwci.server.storage.opening import open_storage, read_audit_key
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.sql.accounts.audit import ROW, written_row
from tests.server.storage.examples import ACME, ENTRY, FAILURE, OTHER, REVIEW
from tests.support.soak import rounds

WRITERS, REVIEWS = 8, rounds(80, 1_000)
TRIALS = rounds(9, 200)
COLUMNS = ", ".join(Written._fields)

Raw = sqlite3.Connection


def review(number: int) -> Callable[[Writer], None]:
    """Confirm a failure, with its entry in the same transaction."""
    org_id = (ACME.id, OTHER.id)[number % 2]
    entry = replace(ENTRY, id=UUID(int=number + 1), details={"number": number})

    def work(writer: Writer) -> None:
        writer.put_review(org_id, failure_id(org_id, FAILURE), REVIEW)
        writer.add_audit(org_id, entry)

    return work


async def reviewed(storage: Storage, count: int) -> None:
    def found(writer: Writer) -> None:
        for organization in (ACME, OTHER):
            writer.add_organization(organization)

    async def write(first: int) -> None:
        for number in range(first, count, WRITERS):
            await storage.write(review(number))

    await storage.write(found)
    await asyncio.gather(*(write(first) for first in range(WRITERS)))


def key_of(database: Path) -> AuditKey:
    key = read_audit_key(Path(f"{database}.audit-key"))
    assert key is not None
    return key


def verified(database: Path, noted: str | None = None) -> AuditReport:
    async def verify() -> AuditReport:
        storage = open_storage(database)
        try:
            return await AuditChain(storage).verify(key_of(database), noted)
        finally:
            await storage.close()

    return asyncio.run(verify())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose log 8 writers have filled."""
    database = tmp_path_factory.mktemp("written") / "hwci.db"

    async def write() -> None:
        storage = open_storage(database)
        await reviewed(storage, REVIEWS)
        await storage.close()

    asyncio.run(write())
    return database


@pytest.fixture
def database(written: Path, tmp_path: Path) -> Path:
    """A copy of it, with its key."""
    for end in ("", ".audit-key"):
        shutil.copy2(f"{written}{end}", tmp_path / f"hwci.db{end}")
    return tmp_path / "hwci.db"


def test_the_log_of_many_writers_is_whole(written: Path) -> None:
    report = verified(written)

    assert (report.whole, report.rows, report.unsealed) == (True, REVIEWS, 0)
    assert report.head.startswith(f"{REVIEWS}:")


async def test_every_driver_chains_its_log(storage: Storage) -> None:
    await reviewed(storage, 3)
    page = await storage.read(lambda reader: reader.audit_page(BEFORE_ALL, 2))

    assert [row.number for row in page.rows] == [1, 2]
    before = Tip()
    for row in page.rows:
        assert row.link == link_of(before, row.number, row.written)
        before = row.tip
    rest = await storage.read(lambda reader: reader.audit_page(2, 2))
    assert [row.number for row in rest.rows] == [3]
    assert (await AuditChain(storage).verify(None, None)).findings_total == 1, "no key, no proof"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entry SET actor_name = 'eve' WHERE number = 3",
        "DELETE FROM audit_entry WHERE number = 3",
        "INSERT OR REPLACE INTO audit_entry SELECT * FROM audit_entry WHERE number = 3",
        "INSERT INTO audit_entry SELECT 0, * FROM (SELECT " + COLUMNS + ", link, seal"
        " FROM audit_entry WHERE number = 3)",
        "UPDATE audit_entry SET number = 1000000 WHERE number = 3",
    ],
)
def test_nobody_changes_a_row_by_mistake(database: Path, statement: str) -> None:
    refused = pytest.raises(sqlite3.IntegrityError, match="only ever appended to")
    with closing(sqlite3.connect(database)) as raw, refused:
        raw.execute(statement)
    assert verified(database).whole


def without_guards(raw: Raw) -> Raw:
    for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        raw.execute(f"DROP TRIGGER {name}")
    raw.execute("PRAGMA foreign_keys = OFF")
    return raw


def copied(raw: Raw, number: int, to: int) -> None:
    raw.execute(
        f"INSERT INTO audit_entry SELECT ?, {COLUMNS}, link, seal FROM audit_entry"
        " WHERE number = ?",
        (to, number),
    )


def relinked(raw: Raw, first: int) -> None:
    """Compute the links again from a row on, as anybody can."""
    rows = raw.execute(f"{ROW}, link, seal FROM audit_entry ORDER BY number").fetchall()
    before = Tip()
    for number, *values, kept, seal in rows:
        link = link_of(before, number, written_row(values)) if number >= first else kept
        raw.execute("UPDATE audit_entry SET link = ? WHERE number = ?", (link, number))
        before = Tip(number, link, seal)


OTHER_VALUES = {
    "org_id": UUID(int=77).bytes,
    "id": b"short",
    "at": 0,
    "actor_id": bytes(16),
    "actor_name": "eve",
    "action": "nothing",
    "target": b"\xff\x00",
    "details": "{}",
    "link": bytes(32),
    "seal": bytes(32),
}


def edit(raw: Raw, draw: Random) -> int:
    number, (name, value) = draw.randint(1, REVIEWS), draw.choice(list(OTHER_VALUES.items()))
    cast = (
        f"CAST(? AS {'TEXT' if name in {'actor_name', 'action', 'target', 'details'} else 'BLOB'})"
    )
    raw.execute(
        f"UPDATE audit_entry SET {name} = {'?' if name == 'at' else cast} WHERE number = ?",
        (value, number),
    )
    return number


def edit_and_link(raw: Raw, draw: Random) -> int:
    number = draw.randint(1, REVIEWS)
    raw.execute("UPDATE audit_entry SET actor_name = 'eve' WHERE number = ?", (number,))
    relinked(raw, number)
    return number


def delete(raw: Raw, draw: Random) -> int:
    number = draw.randint(1, REVIEWS)
    raw.execute("DELETE FROM audit_entry WHERE number = ?", (number,))
    return number


def reorder(raw: Raw, draw: Random) -> int:
    one, other = sorted(draw.sample(range(1, REVIEWS + 1), 2))
    for number, to in ((one, -9), (other, one), (-9, other)):
        raw.execute("UPDATE audit_entry SET number = ? WHERE number = ?", (to, number))
    return one


def insert_before_all(raw: Raw, draw: Random) -> int:
    copied(raw, draw.randint(1, REVIEWS), to := -draw.randint(0, 9))
    return to


def insert_between(raw: Raw, draw: Random) -> int:
    place = draw.randint(1, REVIEWS - 1)
    raw.execute("UPDATE audit_entry SET number = -number - 1 WHERE number >= ?", (place,))
    raw.execute("UPDATE audit_entry SET number = -number WHERE number < 0")
    copied(raw, draw.randint(place + 2, REVIEWS + 1), place)
    relinked(raw, place)
    return place


def append(raw: Raw, draw: Random) -> int:
    copied(raw, draw.randint(1, REVIEWS), REVIEWS + 1)
    relinked(raw, REVIEWS + 1)
    return REVIEWS + 1


def swap_organizations(raw: Raw, draw: Random) -> int:
    one, other = sorted(draw.sample(range(1, REVIEWS + 1), 2))
    found = dict(raw.execute("SELECT number, org_id FROM audit_entry").fetchall())
    while found[one] == found[other]:
        other = other % REVIEWS + 1
    for number, org in ((one, found[other]), (other, found[one])):
        raw.execute("UPDATE audit_entry SET org_id = ? WHERE number = ?", (org, number))
    return min(one, other)


def cut_end(raw: Raw, draw: Random) -> int:
    number = draw.randint(1, REVIEWS)
    raw.execute("DELETE FROM audit_entry WHERE number >= ?", (number,))
    return number


DEEDS = (
    *(edit, edit_and_link, delete, reorder, insert_before_all, insert_between, append),
    *(swap_organizations, cut_end),
)


@pytest.mark.parametrize("trial", range(TRIALS))
def test_what_was_done_to_the_rows_is_found_with_the_row(database: Path, trial: int) -> None:
    deed = DEEDS[trial % len(DEEDS)]
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        number = deed(without_guards(raw), Random(trial))

    report = verified(database)
    assert not report.whole
    assert report.findings[0].number == number, (deed.__name__, report.findings)


def test_an_end_that_is_cut_off_with_the_head_of_then_is_found_by_the_head_of_later(
    database: Path,
) -> None:
    """Who has a copy of the database of earlier has its head too."""
    later = verified(database)
    key = key_of(database)
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        without_guards(raw).execute("DELETE FROM audit_entry WHERE number > 9")
        tip = raw.execute("SELECT number, link, seal FROM audit_entry WHERE number = 9").fetchone()
        raw.execute("UPDATE audit_head SET seal = ?", (key.head_seal(Tip(*tip)),))

    assert verified(database).whole, "the database by itself cannot tell"
    report = verified(database, later.head)
    assert [finding.number for finding in report.findings] == [10]
    assert "cut off" in report.findings[0].what


def test_another_log_than_the_one_that_was_noted_is_found(database: Path) -> None:
    number, _, link = verified(database).head.partition(":")
    other = f"{number}:{'0' * len(link)}"

    assert [found.number for found in verified(database, other).findings] == [int(number)]


def test_nothing_is_added_to_a_log_whose_end_was_changed(database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        cut_end(without_guards(raw), Random(1))

    async def add() -> None:
        storage = open_storage(database)
        try:
            with pytest.raises(StorageError, match="does not end as its key sealed it; look at"):
                await storage.write(review(1))
        finally:
            await storage.close()

    asyncio.run(add())


def exported(database: Path) -> Iterator[str]:
    async def lines() -> list[str]:
        storage = open_storage(database)
        try:
            found = await AuditChain(storage).lines(BEFORE_ALL)
            assert found.head is not None
            models = [*found.lines, found.head]
            return [model.model_dump_json(by_alias=True) for model in models]
        finally:
            await storage.close()

    yield from asyncio.run(lines())


def test_an_export_is_looked_at_without_the_database(database: Path) -> None:
    lines, key = list(exported(database)), key_of(database)
    forged = [*lines[:4], lines[4].replace("confirm", "dismiss").replace("Ada", "Eve"), *lines[5:]]
    assert forged != lines

    assert verify_export(lines, key, None).whole
    assert verify_export(lines, key, verified(database).head).whole
    assert [found.number for found in verify_export(forged, key, None).findings] == [5]
    assert verify_export(lines[:-9], key, None).findings[0].number == REVIEWS - 7
    assert not verify_export(lines, AuditKey(b"another" * 9), None).whole


def test_a_damaged_line_of_an_export_is_named(database: Path) -> None:
    lines, key = list(exported(database)), key_of(database)
    no_seal = re.sub("Seal.*", 'Seal":"zz"}', lines[-1])
    for number, line in ((3, lines[2][:-9]), (len(lines), no_seal)):
        damaged = [*lines[: number - 1], line, *lines[number:]]
        with pytest.raises(
            ConflictError, match=f"Line {number} is not a line of an audit log export"
        ):
            verify_export(damaged, key, None)
