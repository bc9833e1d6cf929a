# SPDX-License-Identifier: Apache-2.0
"""A backup of a server that works, as its operator asks for it and puts it back."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hwci.server.app import BackUp, migrate, operate, restore, serving
from hwci.server.errors import OperatorUnreachableError, StorageError, StorageLockedError
from hwci.server.settings import Settings
from hwci.server.storage.opening import open_storage
from hwci.server.storage.sqlite import copying
from tests.support.asking import ask, bearer, ci_key
from tests.support.running import (
    RunningServer,
    new_organization,
    report,
    running,
    running_in_thread,
    sign_in,
)
from tests.support.soak import rounds

ROUNDS = rounds(2, 5)
SENDERS = 3


@dataclass
class Ingest:
    """Reports on their way; `acknowledged` holds the numbers of those that were answered 204."""

    server: RunningServer
    acknowledged: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def send(self, first: int) -> None:
        number = first
        while not self.over.is_set():
            body = report(run_id=number)
            reply = ask(
                self.server.url,
                "POST",
                "/api/ci/run-report",
                ci_key(self.server.ci_key),
                json_body=body,
            )
            (self.acknowledged if reply.status == 204 else self.refused).append(number)
            number += SENDERS

    def wait_for(self, count: int) -> None:
        while len(self.acknowledged) < count:
            self.over.wait(0.01)


@contextmanager
def full_ingest(server: RunningServer) -> Iterator[Ingest]:
    ingest = Ingest(server)
    with ThreadPoolExecutor(SENDERS) as senders:
        sending = [senders.submit(ingest.send, first) for first in range(1, SENDERS + 1)]
        try:
            yield ingest
        finally:
            ingest.over.set()
    for one in sending:
        one.result()


async def reports_in(database: Path, server: RunningServer) -> set[int]:
    storage = open_storage(database)
    try:
        facts = await storage.read(lambda reader: reader.facts(server.org_id))
    finally:
        await storage.close()
    return {kept.run_id for kept in facts.reports}


def test_backups_during_full_ingest_lack_nothing_that_was_acknowledged_before(
    tmp_path: Path,
) -> None:
    with running_in_thread(tmp_path) as server, full_ingest(server) as ingest:
        before = []
        for number in range(ROUNDS):
            ingest.wait_for(20 * (number + 1))
            before.append(set(ingest.acknowledged))
            server.operate(BackUp(to=tmp_path / f"copy-{number}.db"))
    assert ingest.refused == []

    for number, acknowledged in enumerate(before):
        restored = tmp_path / f"restored-{number}.db"
        assert restore(str(restored), tmp_path / f"copy-{number}.db") is None
        assert acknowledged <= asyncio.run(reports_in(restored, server))


async def test_a_restored_server_goes_on_where_the_backup_was_made(tmp_path: Path) -> None:
    database, copy = str(tmp_path / "hwci.db"), tmp_path / "copy.db"
    async with running(tmp_path) as server:
        await asyncio.to_thread(operate, database, BackUp(to=copy))
        made = await asyncio.to_thread(new_organization, server.database, "late@example.org")
        with pytest.raises(StorageLockedError):
            restore(database, copy)
    restore(database, copy)

    async with serving(Settings(database=database, port=0)) as again:
        token = await sign_in(again.url, server.email)
        reply = await asyncio.to_thread(ask, again.url, "GET", "/api/orgs", bearer(token))
        posted = await asyncio.to_thread(
            lambda: ask(
                again.url,
                "POST",
                "/api/ci/run-report",
                ci_key(server.ci_key),
                json_body=report(),
            )
        )

    assert [one["id"] for one in reply.json["items"]] == [str(server.org_id)]
    assert str(made) not in reply.body.decode()
    assert posted.status == 204


@pytest.mark.parametrize("runs", [True, False])
def test_a_backup_that_cannot_be_made_says_why_the_same_way_server_or_not(
    tmp_path: Path, runs: bool
) -> None:
    database = tmp_path / "hwci.db"

    def refused() -> None:
        with pytest.raises(StorageError, match=r"hwci\.db exists already"):
            operate(str(database), BackUp(to=database))
        with pytest.raises(StorageError, match=r"There is no folder .*missing; make it"):
            operate(str(database), BackUp(to=tmp_path / "missing" / "copy.db"))

    if runs:
        with running_in_thread(tmp_path):
            refused()
    else:
        new_organization(database)
        refused()


def test_a_server_that_stops_does_not_wait_for_a_copy_and_leaves_no_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copying_now, whole = threading.Event(), copying._require_whole

    def hold(part: Path, shown: Path, stopped: copying.Stopped) -> None:
        copying_now.set()
        for _ in range(500):  # less long than a server waits for what it has taken
            if not stopped():
                threading.Event().wait(0.01)
        whole(part, shown, stopped)

    monkeypatch.setattr(copying, "_require_whole", hold)
    with ThreadPoolExecutor(1) as operator:
        with running_in_thread(tmp_path) as server:
            command = BackUp(to=tmp_path / "copy.db")
            backup = operator.submit(operate, str(server.database), command)
            assert copying_now.wait(30)
        with pytest.raises(OperatorUnreachableError, match="stopped before this was done"):
            backup.result()

    assert not [path for path in tmp_path.iterdir() if "copy" in path.name]


def test_a_database_is_brought_to_the_present_schema_and_says_by_which_steps(
    tmp_path: Path,
) -> None:
    database = tmp_path / "hwci.db"
    with pytest.raises(StorageError, match="There is no database"):
        migrate(str(database), check=False)
    database.touch()

    missing = migrate(str(database), check=True)
    assert database.stat().st_size == 0
    assert list(migrate(str(database), check=False)) == list(missing) != []
    assert list(migrate(str(database), check=True)) == []


def test_a_server_that_runs_has_migrated_its_database(server: RunningServer) -> None:
    for check in (True, False):
        assert list(migrate(str(server.database), check=check)) == []
