# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ASYNC240 - nothing else runs on the loop of these tests
"""A copy holds all that its source does, in any kind of database, also when it was killed on the
way; until it is whole nothing else opens it (ADR 0007).
"""

import asyncio
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest

from hwci.server.app.operating import copy
from hwci.server.errors import DamagedError, StorageError, StorageLockedError
from hwci.server.services.operator.audit_chain import verify
from hwci.server.settings import Settings
from hwci.server.storage.location import Location
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Reader, Writer
from hwci.server.storage.sql import whole
from hwci.server.storage.sqlite.connections import open_writer, steps_after
from hwci.server.storage.sqlite.whole import tables_in_order
from tests.server.exports import pages
from tests.server.storage.everything import SEED, filled, opened
from tests.server.storage.examples import (
    ACME,
    ADA,
    ENTRY,
    IDENTITY,
    INVITE,
    JOB_KEY,
    KEY,
    LIVE_RUN,
    NOON,
    ONGOING,
    OTHER,
    READER_KEY,
    TOKEN,
    WEBHOOK,
)
from tests.server.storage.histories import HistoryDraw
from tests.support.databases import DRIVERS, Server
from tests.support.running import empty_database
from tests.support.soak import rounds

ROWS = 10
NewDatabase = Callable[[str], Location]

CHILD = f"""
import os, signal, sys
from importlib import import_module
from pathlib import Path
from hwci.server.app.operating import copy
from hwci.server.services.operator.audit_chain import verify
from hwci.server.settings import Settings
from hwci.server.storage.sql import whole

source, target, keys, driver, left = *sys.argv[1:5], int(sys.argv[5])

def step(*_):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

def many(self, *given):
    plain(self, *given)
    step()  # within a transaction

whole._ROWS = {ROWS}
connections = import_module(f"hwci.server.storage.{{driver}}.connections")
plain, connections.Connection.execute_many = connections.Connection.execute_many, many
copy(source, target, step, settings=Settings(secret_key_file=Path(keys)))
"""
"""Copies, and kills itself at a step."""


@pytest.fixture
def new(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewDatabase]:
    """Return what makes a database of a kind: an empty one, or the name of a new file."""
    numbers = count()
    with ExitStack() as stack:

        def made(kind: str) -> Location:
            if kind == "sqlite":
                return Location(str(tmp_path / f"{next(numbers)}.db"))
            server: Server = request.getfixturevalue("postgresql")
            return stack.enter_context(server.database("template1"))

        yield made


async def shown(where: Location) -> list[object]:
    """Return what people see of a database, and what is derived in it."""

    def work(reader: Reader) -> list[object]:
        return [
            pages(reader, SEED),
            reader.facts(OTHER.id),
            reader.members(ACME.id, 0, 99),
            reader.usage(ACME.id),
            reader.memberships(ADA.id, 0, 99),
            reader.refresh_token(TOKEN.digest),
            reader.user_by_identity(IDENTITY.issuer, IDENTITY.subject),
            reader.invite(INVITE.digest),
            [reader.keys(type(one), ACME.id, 0, 99) for one in (KEY, READER_KEY)],
            reader.trusts(ACME.id, 0, 99),
            reader.job_key(JOB_KEY.digest),
            reader.audit_page(0, 99),
            reader.replaced(ACME.id, NOON.replace(year=2100)),
            reader.live_run(ACME.id, LIVE_RUN.id),
            reader.live_tests(ACME.id, LIVE_RUN.id),
            reader.events(ACME.id, 0, 99),
            reader.webhooks(ACME.id, 0, 99),
            reader.history(ACME.id).known_failures(),
            reader.deliveries(ACME.id, WEBHOOK.id, 0, 99),
            reader.ongoing(ACME.id, WEBHOOK.id, ONGOING.event),
        ]

    async with opened(where) as storage:
        return await storage.read(work)


def copied(source: Location, target: Location, **tell: Any) -> int:
    keys = source.secret_key_file or target.secret_key_file
    settings = Settings(secret_key_file=keys)
    return copy(source.written, target.written, settings=settings, **tell)


def stop_midway(source: Location, target: Location) -> None:
    """Begin a copy, and stop it before it is whole."""

    def stop(table: str, _: int) -> None:
        if table == "report":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copied(source, target, tell=stop)


@pytest.mark.parametrize(("kind", "of"), [*product(DRIVERS, DRIVERS)])
async def test_a_copy_holds_all_that_its_source_does(new: NewDatabase, kind: str, of: str) -> None:
    source, target = await filled(new(of)), new(kind)
    before = await shown(source)

    rows = await asyncio.to_thread(copied, source, target)

    if source.secret_key_file and target.secret_key_file:
        target = replace(target, secret_key_file=source.secret_key_file)
    assert rows > 500
    assert await shown(target) == before
    async with opened(target) as storage:
        report = await verify(storage, None)
    assert (report.whole, report.rows) == (True, 3)


@pytest.mark.parametrize("kind", DRIVERS)
async def test_a_copy_goes_on_as_its_source_does(new: NewDatabase, kind: str) -> None:
    source, target = await filled(new("sqlite")), new(kind)
    await asyncio.to_thread(copied, source, target)

    def later(writer: Writer) -> None:
        draw = HistoryDraw(SEED + 2)
        for _ in range(20):
            writer.put_report(ACME.id, draw.next_report(), NOON)
            writer.announce(ACME.id, draw.announcement(), NOON)
        writer.add_audit(ACME.id, ENTRY)
        writer.add_key(replace(KEY, id=ADA.id, digest=b"second"))

    for one in (source, target):
        async with opened(one) as storage:
            await storage.write(later)
    assert await shown(target) == await shown(source)


@pytest.mark.parametrize("kind", DRIVERS)
@pytest.mark.parametrize("steps", rounds([(2, 60, 91)], [(n, 2 * n, 3 * n) for n in range(3, 60)]))
async def test_a_copy_that_was_killed_goes_on_and_is_whole(
    new: NewDatabase, kind: str, steps: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "_ROWS", ROWS)
    source, target = await filled(new("sqlite")), new(kind)
    before = await shown(source)
    keys = str(target.secret_key_file or source.secret_key_file or "none")
    for step in steps:
        call = (sys.executable, "-c", CHILD, source.written, target.written)
        killed = await asyncio.to_thread(subprocess.run, [*call, keys, kind, str(step)])
        assert killed.returncode == -signal.SIGKILL
        with pytest.raises(StorageError, match="a copy that is not whole yet; finish it with"):
            open_storage(target)

    seen: list[tuple[str, int]] = []
    await asyncio.to_thread(copied, source, target, tell=lambda *told: seen.append(told))
    assert ("organization", 2) not in seen  # before the comparison: they were there
    assert await shown(target) == before


@pytest.mark.parametrize("kind", DRIVERS)
async def test_only_an_empty_database_takes_a_copy(new: NewDatabase, kind: str) -> None:
    source, target = await filled(new("sqlite")), await filled(new(kind))
    before = await shown(target)

    with pytest.raises(StorageError, match=r"is not empty: its table \w+ has rows; name a new"):
        await asyncio.to_thread(copied, source, target)

    assert await shown(target) == before


@pytest.mark.parametrize("kind", DRIVERS)
async def test_an_unfinished_copy_is_finished_with_its_own_source(
    new: NewDatabase, kind: str
) -> None:
    source, other, target = await filled(new("sqlite")), await filled(new("sqlite")), new(kind)
    stop_midway(source, target)
    with pytest.raises(StorageError, match=f"unfinished copy of {source.file} .*, not of"):
        copied(other, target)
    if kind == "sqlite":
        with pytest.raises(StorageError, match="a copy that is not whole yet"):
            copied(target, new(kind))
    assert copied(source, target)


@pytest.mark.parametrize("kind", DRIVERS)
async def test_what_was_written_meanwhile_is_found_at_the_end(new: NewDatabase, kind: str) -> None:
    source, target = await filled(new("sqlite")), new(kind)
    stop_midway(source, target)
    async with opened(source) as storage:
        await storage.write(lambda writer: writer.set_password(ADA.id, "$argon2id$another"))
    with pytest.raises(StorageError, match=r"Table user of the copy differs from .* begin again"):
        await asyncio.to_thread(copied, source, target)
    with pytest.raises(StorageError, match="a copy that is not whole yet"):
        open_storage(target)


@pytest.mark.parametrize("kind", DRIVERS)
async def test_nothing_is_copied_while_a_server_has_one_of_both(
    new: NewDatabase, kind: str
) -> None:
    source, other = await filled(new(kind)), new("sqlite")
    for of, to in ((source, other), (other, source)):
        async with opened(source):
            if of is other:
                await filled(other)
            with pytest.raises(StorageLockedError, match=r"is in use.*stop .* first"):
                await asyncio.to_thread(copied, of, to)


@pytest.mark.parametrize("kind", DRIVERS)
async def test_what_is_no_sound_source_is_refused(new: NewDatabase, kind: str) -> None:
    target = new(kind)
    older, damaged, twice = [await filled(new("sqlite")) for _ in range(3)]
    with closing(sqlite3.connect(older.written)) as file:
        file.execute("PRAGMA user_version = 0")
    Path(f"{damaged.written}.lock").write_text("damaged: a page")

    with pytest.raises(StorageError, match=r"lacks steps of the schema; .*hwci admin migrate"):
        copied(older, target)
    with pytest.raises(DamagedError):
        copied(damaged, target)
    with pytest.raises(StorageError, match="is the source itself"):
        copied(twice, twice)
    with pytest.raises(StorageError, match="There is no database"):
        copied(Location(f"{twice.written}x"), target)
    assert copied(twice, target)  # nothing of the others is in it
    with closing(open_writer(Path(older.written))):
        assert not steps_after(Path(older.written))
    assert copied(older, new(kind))


async def test_a_full_disk_is_one_line_and_the_copy_goes_on_once_there_is_room(
    new: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "_ROWS", ROWS)
    source, target = await filled(new("sqlite")), new("sqlite")
    before = await shown(source)
    assert target.file is not None
    target.file.write_bytes(empty_database())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (target.file.stat().st_size + 65_536, hard))
        with pytest.raises(StorageError) as refused:
            copied(source, target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(refused.value)
    assert str(target.file) in str(refused.value)

    copied(source, target)
    assert await shown(target) == before


async def test_every_table_is_copied_behind_those_that_it_refers_to(new: NewDatabase) -> None:
    source = await filled(new("sqlite"))
    order = tables_in_order()

    with closing(sqlite3.connect(source.written)) as file:
        query = "SELECT name FROM sqlite_schema WHERE type = 'table'"
        names = {name for (name,) in file.execute(query)}
        filled_tables = {name for name in order if file.execute(f"SELECT 1 FROM {name}").fetchone()}
        for name in order:
            for row in file.execute(f"PRAGMA foreign_key_list({name})"):
                assert order.index(row[2]) < order.index(name)
    assert names - set(order) == {"sqlite_sequence"}
    assert len(order) == len(set(order))
    # The tests above mean each table only if each has rows.
    assert set(order) - filled_tables <= {"underived", "walk_commit"}
