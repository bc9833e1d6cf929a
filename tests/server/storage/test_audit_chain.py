# SPDX-License-Identifier: Apache-2.0
"""The chain of the audit log: a change of its rows by SQL is found, with the row. It holds ids of
people, so a person can be erased and the chain is whole.
"""

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from hwci.contract.vocabulary import Role
from hwci.engine.facts import failure_id
from hwci.server.security.tokens import Claims
from hwci.server.services.access import Member
from hwci.server.services.audit import REMOVED, AuditLog
from hwci.server.services.operator.audit_chain import AuditReport, verify
from hwci.server.storage.audit_chain import BEFORE_ALL, link_of
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Membership
from hwci.server.storage.sql.accounts.audit import COLUMNS, ROW
from hwci.wire.accounts import AuditEntryAnswer
from hwci.wire.queries import PageQuery
from tests.server.storage.examples import ACME, ADA, ENTRY, FAILURE, NOON, OTHER, REVIEW
from tests.support.soak import rounds

WRITERS, REVIEWS = 8, rounds(80, 1_000)
TRIALS = rounds(10, 200)

Raw = sqlite3.Connection


def review(number: int) -> Callable[[Writer], None]:
    """Confirm a failure, with its entry in the same transaction."""
    org_id = (ACME.id, OTHER.id)[number % 2]
    entry = replace(
        ENTRY, id=UUID(int=number + 1), target=str(UUID(int=9)), details={"number": number}
    )

    def work(writer: Writer) -> None:
        writer.put_review(org_id, failure_id(org_id, FAILURE), REVIEW)
        writer.add_audit(org_id, entry)

    return work


async def reviewed(storage: Storage, count: int) -> None:
    def begin(writer: Writer) -> None:
        writer.add_user(ADA)
        for organization in (ACME, OTHER):
            writer.add_organization(organization)

    async def write(first: int) -> None:
        for number in range(first, count, WRITERS):
            await storage.write(review(number))

    await storage.write(begin)
    await asyncio.gather(*(write(first) for first in range(WRITERS)))


def verified(database: Path, noted: str | None = None) -> AuditReport:
    async def look() -> AuditReport:
        storage = open_storage(database)
        try:
            return await verify(storage, noted)
        finally:
            await storage.close()

    return asyncio.run(look())


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
    """A copy of it, whose page sums are made anew: another program writes it."""
    shutil.copy2(written, tmp_path / "hwci.db")
    return tmp_path / "hwci.db"


def test_the_log_of_many_writers_is_whole(written: Path) -> None:
    report = verified(written)

    assert (report.whole, report.rows) == (True, REVIEWS)
    assert report.head.startswith(f"{REVIEWS}:")


async def test_every_driver_chains_its_log(storage: Storage) -> None:
    await reviewed(storage, 3)
    rows = await storage.read(lambda reader: reader.audit_page(BEFORE_ALL, 2))

    assert [row.number for row in rows] == [1, 2]
    before = b""
    for row in rows:
        assert row.link == link_of(before, row.number, row.content)
        before = row.link
    rest = await storage.read(lambda reader: reader.audit_page(2, 2))
    assert [row.number for row in rest] == [3]
    assert (await verify(storage, None)).whole


async def test_a_person_can_be_erased_and_the_chain_is_whole(storage: Storage) -> None:
    claims = Claims(ADA.id, UUID(int=8))
    member = Member(ADA, Membership(ACME, Role.OWNER, NOON), claims)
    disabled = replace(ENTRY, id=UUID(int=7), action="user.disabled", target=str(ADA.id))

    async def log() -> list[AuditEntryAnswer]:
        return [*(await AuditLog(storage).listed(member, PageQuery())).items]

    def begin(writer: Writer) -> None:
        writer.add_user(ADA)
        writer.add_organization(ACME)
        writer.add_audit(ACME.id, disabled)

    await storage.write(begin)
    [entry] = await log()
    assert (entry.actor.name, entry.details["email"]) == (ADA.name, ADA.email)

    def erase(writer: Writer) -> None:
        connection = writer._connection  # type: ignore[attr-defined]
        connection.execute("DELETE FROM user WHERE id = ?", (ADA.id.bytes,))

    await storage.write(erase)
    [entry] = await log()
    assert (entry.actor.id, entry.actor.name, entry.details["email"]) == (ADA.id, REMOVED, REMOVED)
    assert (await verify(storage, None)).whole
    rows = await storage.read(lambda reader: reader.audit_page(BEFORE_ALL, 9))
    assert not any(word.encode() in repr(rows).encode() for word in (ADA.name, ADA.email))


async def test_an_entry_with_a_target_that_is_no_id_is_shown(storage: Storage) -> None:
    """Another program wrote it; the log is read all the same."""
    member = Member(ADA, Membership(ACME, Role.OWNER, NOON), Claims(ADA.id, UUID(int=8)))

    def begin(writer: Writer) -> None:
        writer.add_user(ADA)
        writer.add_organization(ACME)
        writer.add_audit(ACME.id, replace(ENTRY, action="user.disabled", target="nobody"))

    await storage.write(begin)
    page = await AuditLog(storage).listed(member, PageQuery())

    assert [(row.target, row.details["email"]) for row in page.items] == [("nobody", REMOVED)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entry SET action = 'nothing' WHERE number = 3",
        "DELETE FROM audit_entry WHERE number = 3",
        "INSERT OR REPLACE INTO audit_entry SELECT * FROM audit_entry WHERE number = 3",
        "INSERT INTO audit_entry SELECT 0, * FROM (SELECT " + COLUMNS + ", link"
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
        f"INSERT INTO audit_entry SELECT ?, {COLUMNS}, link FROM audit_entry WHERE number = ?",
        (to, number),
    )


def relinked(raw: Raw, first: int) -> None:
    """Compute the links again from a row on, as anybody can."""
    rows = raw.execute(f"{ROW}, link FROM audit_entry ORDER BY number").fetchall()
    before = b""
    for number, *content, kept in rows:
        before = link_of(before, number, content) if number >= first else kept
        raw.execute("UPDATE audit_entry SET link = ? WHERE number = ?", (before, number))


OTHER_VALUES = {
    "org_id": UUID(int=77).bytes,
    "id": b"short",
    "at": 0,
    "actor_id": bytes(16),
    "action": "nothing",
    "target": b"\xff\x00",
    "details": "{}",
    "link": bytes(32),
}


def edit(raw: Raw, draw: Random) -> int:
    number, (name, value) = draw.randint(1, REVIEWS), draw.choice(list(OTHER_VALUES.items()))
    cast = f"CAST(? AS {'TEXT' if name in {'action', 'target', 'details'} else 'BLOB'})"
    raw.execute(
        f"UPDATE audit_entry SET {name} = {'?' if name == 'at' else cast} WHERE number = ?",
        (value, number),
    )
    return number


def delete(raw: Raw, draw: Random) -> int:
    number = draw.randint(1, REVIEWS - 1)
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


def swap_organizations(raw: Raw, draw: Random) -> int:
    one, other = sorted(draw.sample(range(1, REVIEWS + 1), 2))
    owners = dict(raw.execute("SELECT number, org_id FROM audit_entry").fetchall())
    while owners[one] == owners[other]:
        other = other % REVIEWS + 1
    for number, org in ((one, owners[other]), (other, owners[one])):
        raw.execute("UPDATE audit_entry SET org_id = ? WHERE number = ?", (org, number))
    return min(one, other)


SEEN = (edit, delete, reorder, insert_before_all, swap_organizations)


@pytest.mark.parametrize("trial", range(TRIALS))
def test_what_was_done_to_the_rows_is_found_with_the_row(database: Path, trial: int) -> None:
    deed = SEEN[trial % len(SEEN)]
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        number = deed(without_guards(raw), Random(trial))

    report = verified(database)
    assert not report.whole
    assert report.findings[0].number == number, (deed.__name__, report.findings)


def edit_and_link(raw: Raw) -> None:
    raw.execute("UPDATE audit_entry SET action = 'nothing' WHERE number = 9")
    relinked(raw, 9)


def cut_end(raw: Raw) -> None:
    raw.execute("DELETE FROM audit_entry WHERE number > 9")


def cut_and_add(raw: Raw) -> None:
    copied(raw, 3, REVIEWS + 1)
    raw.execute("DELETE FROM audit_entry WHERE number = 9")
    raw.execute("UPDATE audit_entry SET number = number - 1 WHERE number > 9")
    relinked(raw, 9)


@pytest.mark.parametrize("deed", [edit_and_link, cut_end, cut_and_add])
def test_a_log_that_was_linked_anew_is_found_by_the_head_that_was_noted(
    database: Path, deed: Callable[[Raw], None]
) -> None:
    noted = verified(database).head
    assert verified(database, noted).whole
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        deed(without_guards(raw))

    assert verified(database).whole, "the database by itself cannot tell"
    report = verified(database, noted)
    assert [finding.what for finding in report.findings] == [
        f"no row up to it is {noted}: one was changed, or cut off"
    ]
