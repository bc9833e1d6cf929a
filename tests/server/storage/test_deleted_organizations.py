# SPDX-License-Identifier: Apache-2.0
"""All rows of a deleted organization go, in turns, also when the server was killed in one; none of
another's go, and the audit log stays and verifies. On each database.
"""

from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import pytest

from hwci.server.services import retention
from hwci.server.services.operator.audit_chain import verify
from hwci.server.services.retention import Retention
from hwci.server.storage.location import Location
from hwci.server.storage.ports import Storage
from hwci.server.storage.records import NOBODY
from hwci.server.storage.sql.accounts.organizations import TABLES
from hwci.server.storage.sqlite.connections import new_database
from hwci.server.storage.sqlite.whole import tables_in_order
from tests.server.storage.conftest import NewDatabase
from tests.server.storage.everything import filled, opened
from tests.server.storage.examples import ACME, ENTRY, NOON, OTHER
from tests.server.storage.sweeps import At, kill_within
from tests.support.databases import query
from tests.support.soak import rounds

EMPTY = {"underived"}  # it has rows only while a database is opened
SECOND = timedelta(seconds=1)


def rows_of(where: Location, org_id: bytes) -> dict[str, list[Any]]:
    """Return every row of an organization, by table."""
    rows = {
        table: query(where, f"SELECT * FROM {table} WHERE org_id = ?", (org_id,))
        for table in (*TABLES, "audit_entry")
    }
    rows["organization"] = query(where, "SELECT * FROM organization WHERE id = ?", (org_id,))
    return {table: sorted(found, key=repr) for table, found in rows.items()}


async def deleted(where: Location) -> Location:
    """Delete an organization, whose time is over at noon."""
    walk = (
        "INSERT INTO walk_commit (org_id, repo_key, last_sha, fix_sha, sha) VALUES (?, ?, ?, ?, ?)"
    )
    for org_id in (ACME.id, OTHER.id):  # as if a page had decided a failure
        query(where, walk, (org_id.bytes, "fw", "a", "b", "c"))
    async with opened(where) as storage:
        await storage.write(lambda w: w.set_erase_at(ACME.id, NOON))
    return where


async def sweep(where: Location, at: datetime = NOON) -> None:
    async with opened(where) as storage:
        await Retention(storage, At(at)).sweep()


async def check_gone(where: Location, others: dict[str, list[Any]]) -> None:
    """See that nothing but the audit log is left of it, and all of the other one."""
    left = {table for table, rows in rows_of(where, ACME.id.bytes).items() if rows}
    assert left == {"audit_entry"}
    assert rows_of(where, OTHER.id.bytes) == others
    async with opened(where) as storage:
        log = await storage.read(lambda r: r.audit_log(ACME.id, 0, 9))
        assert (await verify(storage, None)).whole
    erased, *before = log.items
    assert (erased.action, erased.target) == ("organization.erased", str(ACME.id))
    assert (erased.actor_id, erased.at) == (NOBODY, NOON)
    assert {entry.action for entry in before} == {ENTRY.action}


def test_the_tables_are_all_that_have_an_organization() -> None:
    with closing(new_database()) as made:
        having = {
            table
            for table in tables_in_order()
            for (name,) in made.execute(f"SELECT name FROM pragma_table_info('{table}')")
            if name == "org_id"
        }
    assert set(TABLES) == having - {"audit_entry"}


async def test_all_rows_go_when_the_time_is_over_and_not_before(
    new_database: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "ROWS_AT_ONCE", 7)
    where = await deleted(await filled(new_database()))
    before, others = rows_of(where, ACME.id.bytes), rows_of(where, OTHER.id.bytes)
    assert {table for table, rows in before.items() if not rows} == EMPTY

    await sweep(where, NOON - SECOND)
    kept = rows_of(where, ACME.id.bytes)
    assert {table for table in before if kept[table] != before[table]} <= {"job_key", "live_run"}

    await sweep(where)
    await check_gone(where, others)
    await sweep(where)
    await check_gone(where, others)


async def test_the_members_go_first_and_no_turn_takes_more_than_its_rows(storage: Storage) -> None:
    def work(writer: Any) -> None:
        writer.add_organization(ACME)
        for hour in range(3):
            writer.add_usage(ACME.id, hour, 1)
        assert writer.drop_organization(ACME.id, 1) is False  # it may have more
        assert writer.organization(ACME.id) == ACME
        assert writer.drop_organization(ACME.id, 1) is True
        assert writer.organization(ACME.id) is None

    await storage.write(work)
    assert next(iter(TABLES)) == "membership"


async def test_an_undone_deletion_is_no_more_swept(storage: Storage) -> None:
    await storage.write(lambda w: w.add_organization(ACME))
    await storage.write(lambda w: w.set_erase_at(ACME.id, NOON))
    assert await storage.read(lambda r: r.organizations_to_erase(NOON - SECOND)) == []
    assert await storage.read(lambda r: r.organizations_to_erase(NOON)) == [ACME.id]

    await storage.write(lambda w: w.set_erase_at(ACME.id, None))
    await Retention(storage, At(NOON + timedelta(days=99))).sweep()
    assert await storage.read(lambda r: r.organization(ACME.id)) == ACME


async def test_a_deletion_that_is_undone_while_a_sweep_begins_takes_nothing(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await storage.write(lambda w: w.add_organization(ACME))
    await storage.write(lambda w: w.set_erase_at(ACME.id, NOON))
    plain = storage.read

    async def read(work: Any, **how: Any) -> Any:
        due = await plain(work, **how)
        await storage.write(lambda w: w.set_erase_at(ACME.id, None))
        return due

    monkeypatch.setattr(storage, "read", read)
    await Retention(storage, At(NOON)).sweep()
    assert await plain(lambda r: r.organization(ACME.id)) == ACME


@pytest.mark.parametrize("steps", [1, 40, 80, *range(100, 100 + rounds(0, 20))])
async def test_a_sweep_that_was_killed_goes_on(new_database: NewDatabase, steps: int) -> None:
    where = await deleted(await filled(new_database()))
    others = rows_of(where, OTHER.id.bytes)
    await kill_within(where, steps, "w.drop_organization(UUID(int=1), 7) is False")
    async with opened(where) as storage:
        assert await storage.read(lambda r: r.organization(ACME.id)) is not None

    await sweep(where)
    await check_gone(where, others)
