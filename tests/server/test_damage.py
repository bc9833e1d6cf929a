# SPDX-License-Identifier: Apache-2.0
"""A server on a damaged file serves nothing of it, and says why (contract, "Everywhere")."""

import asyncio
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hwci.server.app import check, operate, serving
from hwci.server.errors import StorageError
from hwci.server.services.operator.commands import ListOrganizations
from hwci.server.settings import Settings
from hwci.server.storage.sqlite import checking, condition, store
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import RunningServer, in_thread, report, running_in_thread


def page(url: str, server: RunningServer) -> Reply:
    return ask(url, "GET", f"/api/orgs/{server.org_id}/ci-metrics", bearer(server.token))


def send(url: str, server: RunningServer, run_id: int = 1) -> Reply:
    body = report(run_id=run_id)
    return ask(url, "POST", "/api/ci/run-report", ci_key(server.ci_key), json_body=body)


def refused(reply: Reply) -> str:
    status, message = reply.error
    assert status == 503
    assert int(reply.headers["retry-after"]) >= 1
    return message


def copied_while_open(server: RunningServer, folder: Path) -> Settings:
    """Copy the files of a server that runs, as a crash would leave them, and its key."""
    folder.mkdir()
    for one in server.database.parent.glob("hwci.db*"):
        if one.suffix != ".sock":
            shutil.copy(one, folder / one.name)
    return Settings(database=str(folder / "hwci.db"), port=0, rate_limit="off")


def test_after_a_crash_requests_wait_outside_until_the_file_was_looked_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, look_over = threading.Event(), checking.look_over

    def look_later(*given: Any) -> None:
        go_on.wait(60)
        look_over(*given)

    with running_in_thread(tmp_path) as server:
        assert send(server.url, server).status == 204
        crashed = copied_while_open(server, tmp_path / "crashed")
        monkeypatch.setattr(store, "look_over", look_later)
    with in_thread(serving(crashed)) as again:
        expected = refused(ask(again.url, "GET", "/readyz"))
        assert expected.startswith("The service is checking its database")
        assert refused(send(again.url, server, 2)) == expected
        assert refused(page(again.url, server)) == expected
        assert ask(again.url, "GET", "/healthz").status == 200
        with pytest.raises(StorageError, match="is checking its database"):
            operate(crashed.database, ListOrganizations())
        go_on.set()
        while ask(again.url, "GET", "/readyz").status != 200:
            pass
        assert send(again.url, server, 2).status == 204
        assert page(again.url, server).status == 200


def test_after_the_first_damage_nothing_is_answered_and_nothing_acknowledged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running_in_thread(tmp_path) as server:
        assert send(server.url, server).status == 204
        runs = f"/api/orgs/{server.org_id}/runs"
        (run,) = ask(server.url, "GET", runs, bearer(server.token)).json["items"]
        with closing(sqlite3.connect(server.database, isolation_level=None)) as disk:
            disk.execute("UPDATE report SET conclusion = 'failure'")
        assert ask(server.url, "GET", "/readyz").status == 200

        one = ask(server.url, "GET", f"{runs}/{run['id']}", bearer(server.token))
        assert "cannot use its database" in refused(one)
        expected = refused(ask(server.url, "GET", "/readyz"))
        assert expected == "The database of the service is damaged; its operator has to restore it"
        assert refused(send(server.url, server, 2)) == expected
        assert refused(page(server.url, server)) == expected
        assert ask(server.url, "GET", "/healthz").status == 200
        found = check(str(server.database))  # the server that has it looks
        assert len(found.damage) == 1
        assert not found.whole
    lines = [one.getMessage() for one in caplog.records if one.levelname == "CRITICAL"]
    assert len(lines) == 1
    assert "Report 1 (run 1 attempt 1 of acme/firmware on bench-1) is not what" in lines[0]
    assert "`hwci admin check`, then `hwci admin restore BACKUP`" in lines[0]

    with pytest.raises(StorageError, match="was found damaged"):
        asyncio.run(serve_once(server.database))
    with pytest.raises(StorageError, match="was found damaged"):
        server.operate(ListOrganizations())
    assert check(str(server.database)).damage == tuple(found.damage)


async def serve_once(database: Path) -> None:
    async with serving(Settings(database=str(database), port=0)):
        pass


def test_readyz_shows_a_full_disk_and_that_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_in_thread(tmp_path) as server:
        monkeypatch.setattr(condition, "ROOM_BYTES", 2**62)
        result = refused(ask(server.url, "GET", "/readyz"))
        assert result == "The disk of the database is full; its operator has to make room"
        assert page(server.url, server).status == 200
        monkeypatch.undo()
        assert ask(server.url, "GET", "/readyz").status == 200


@pytest.mark.parametrize("how", ["emptied", "removed"])
def test_a_database_that_is_gone_is_not_replaced_by_a_new_one(tmp_path: Path, how: str) -> None:
    """In an empty one the first who comes could register as the first user."""
    with running_in_thread(tmp_path) as server:
        pass
    server.database.unlink()
    if how == "emptied":
        server.database.touch()

    settings = Settings(database=str(server.database), port=0)
    with (
        pytest.raises(StorageError, match=r"was removed or emptied.*hwci admin restore"),
        in_thread(serving(settings)),
    ):
        pass


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_database_that_goes_under_a_server_keeps_nothing_that_is_acknowledged(
    tmp_path: Path, how: str
) -> None:
    with running_in_thread(tmp_path) as server:
        for one in server.database.parent.glob("hwci.db*"):
            if one.suffix in {".db", ".db-wal", ".db-shm"}:
                one.unlink()
        if how == "replaced":
            server.database.write_bytes(b"another file")

        assert "is damaged" in refused(send(server.url, server))
        assert ask(server.url, "GET", "/readyz").status == 503
