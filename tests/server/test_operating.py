# SPDX-License-Identifier: Apache-2.0
"""Operators' commands: exactly one process writes a database (contract, "Organizations")."""

import asyncio
import fcntl
import os
import socket
import stat
import tempfile
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from hwci.server.app import CreateUser, SetCiMetrics, operate, serving
from hwci.server.errors import (
    ListenError,
    OperatorUnreachableError,
    RefusedError,
    StorageError,
)
from hwci.server.settings import Settings
from hwci.server.storage.location import Location
from tests.server.asking import ask, bearer
from tests.server.running import (
    EMAIL,
    PASSWORD,
    RunningServer,
    new_organization,
    running_in_thread,
    sign_in,
)

USER = CreateUser(email=EMAIL, password=PASSWORD, organization="Acme")


def enabled(server: RunningServer) -> bool:
    path = f"/api/orgs/{server.org_id}"
    return bool(ask(server.url, "GET", path, bearer(server.token)).json["ciMetricsEnabled"])


def socket_of(database: Path) -> Path:
    path = Location(str(database)).socket
    assert path is not None
    return path


def test_ci_metrics_are_switched_while_the_server_runs(server: RunningServer) -> None:
    for wanted in (False, True):
        command = SetCiMetrics(org_id=server.org_id, enabled=wanted)
        assert operate(str(server.database), command).org_id == server.org_id
        assert enabled(server) is wanted


def test_a_user_created_while_the_server_runs_can_sign_in(server: RunningServer) -> None:
    new_organization(server.database, "new@example.org")

    assert asyncio.run(sign_in(server.url, "new@example.org"))


def test_a_command_opens_a_free_database_itself(tmp_path: Path) -> None:
    database = tmp_path / "folder" / "hwci.db"
    made = operate(str(database), USER, may_create=True)
    assert made.org_id is not None

    switched = operate(str(database), SetCiMetrics(org_id=made.org_id, enabled=True))

    assert switched.org_id == made.org_id
    assert made.user_id is not None
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o700


@pytest.mark.parametrize("runs", [True, False])
def test_a_refused_command_says_why_the_same_way_server_or_not(tmp_path: Path, runs: bool) -> None:
    database = tmp_path / "hwci.db"

    def refused() -> None:
        with pytest.raises(RefusedError, match="A record with this email already exists"):
            operate(str(database), USER)
        with pytest.raises(RefusedError, match="There is no organization"):
            operate(str(database), SetCiMetrics(org_id=uuid4(), enabled=True))

    if runs:
        with running_in_thread(tmp_path):
            refused()
    else:
        operate(str(database), USER, may_create=True)
        refused()


def test_a_mistyped_database_is_named_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="There is no database"):
        operate(str(tmp_path / "typo.db"), SetCiMetrics(org_id=uuid4(), enabled=True))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [USER, SetCiMetrics(org_id=UUID(int=1), enabled=True)])
def test_a_database_in_memory_takes_no_commands(command: CreateUser | SetCiMetrics) -> None:
    with pytest.raises(StorageError, match="name a database file"):
        operate("memory:", command)


def test_a_command_reaches_the_server_through_any_link(server: RunningServer) -> None:
    link = server.database.with_name("link.db")
    link.symlink_to(server.database)

    assert operate(str(link), SetCiMetrics(org_id=server.org_id, enabled=True)).org_id


def test_a_database_held_by_no_server_is_one_clear_line(tmp_path: Path) -> None:
    database = tmp_path / "hwci.db"
    operate(str(database), USER, may_create=True)
    held = os.open(f"{database}.lock", os.O_RDWR)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OperatorUnreachableError, match="takes no commands"):
            operate(str(database), USER)
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(socket_of(database)))
        with pytest.raises(OperatorUnreachableError, match="takes no commands"):
            operate(str(database), USER)
    finally:
        os.close(held)


def test_the_socket_is_its_owners_and_goes_with_the_server(tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        path = socket_of(server.database)
        assert path == tmp_path.resolve() / "hwci.db.sock"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    assert not path.exists()


def test_a_socket_that_a_crash_left_behind_is_replaced(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as crashed:
        crashed.bind(str(tmp_path / "hwci.db.sock"))

    with running_in_thread(tmp_path) as server:
        assert operate(
            str(server.database), SetCiMetrics(org_id=server.org_id, enabled=True)
        ).org_id


async def test_a_file_in_the_sockets_place_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "hwci.db.sock").write_text("mine")

    with pytest.raises(ListenError, match="operator socket"):
        async with serving(Settings(database=str(tmp_path / "hwci.db"), port=0)):
            pass
    assert (tmp_path / "hwci.db.sock").read_text() == "mine"


def test_a_long_path_has_a_short_socket_whatever_the_temp_folder_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("d" * 120)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    with running_in_thread(folder) as server:
        path = socket_of(server.database)
        assert len(str(path)) <= 100
        assert path.is_socket()
        assert isinstance(new_organization(server.database, "long@example.org"), UUID)


def test_operators_commands_cannot_be_given_over_the_network(server: RunningServer) -> None:
    for path in ("/ci-metrics", "/create-user"):
        assert ask(server.url, "POST", path, json_body={}).status == 404
