# SPDX-License-Identifier: Apache-2.0
"""Operators' commands: exactly one process writes a database (contract, "Organizations")."""

import asyncio
import fcntl
import os
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from hwci.demo.history import history
from hwci.server.app import (
    CreateUser,
    ListOrganizations,
    Rebuild,
    RotateSecret,
    Server,
    SetCiMetrics,
    check,
    fill,
    operate,
    serving,
)
from hwci.server.clock import system_clock
from hwci.server.errors import (
    ListenError,
    OperatorUnreachableError,
    RefusedError,
    StorageError,
)
from hwci.server.security.passwords import Passwords
from hwci.server.security.secret_key import signing_keys
from hwci.server.security.signing import Signer
from hwci.server.services.operator.commands import COMMANDS
from hwci.server.services.operator.operator import Operator, Secret
from hwci.server.settings import Settings
from hwci.server.storage.location import MEMORY, Location
from hwci.server.storage.opening import open_storage
from hwci.server.storage.sqlite.locking import database_lock
from hwci.wire.reports import RunReport
from tests.support.asking import ask, bearer, ci_key
from tests.support.databases import about_a_file
from tests.support.moved import INSTANT
from tests.support.running import (
    EMAIL,
    PASSWORD,
    Hands,
    RunningServer,
    in_thread,
    new_organization,
    report,
    running_in_thread,
    sign_in,
)

USER = CreateUser(email=EMAIL, password=PASSWORD, organization="Acme")


def served(database: Path) -> AbstractContextManager[Server]:
    """Start a server on a database that is there."""
    return in_thread(serving(Settings(database=str(database), port=0)))


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
        assert server.operate(command).org_id == server.org_id
        assert enabled(server) is wanted


def test_a_user_created_while_the_server_runs_can_sign_in(server: RunningServer) -> None:
    new_organization(server.location, "new@example.org")

    assert asyncio.run(sign_in(server.url, "new@example.org"))


def test_a_command_opens_a_free_database_itself(tmp_path: Path) -> None:
    database = tmp_path / "folder" / "hwci.db"
    made = operate(str(database), USER, may_create=True)
    assert made.org_id is not None

    switched = operate(str(database), SetCiMetrics(org_id=made.org_id, enabled=True))

    assert switched.org_id == made.org_id
    assert made.user_id is not None
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o700


@about_a_file
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


@pytest.mark.demo
def test_a_history_that_is_kept_at_once_is_whole(tmp_path: Path) -> None:
    database = tmp_path / "hwci.db"
    org_id = new_organization(database)
    bodies = list(history(INSTANT, days=4))

    fill(str(database), org_id, bodies)

    kept = check(str(database))
    assert kept.whole
    assert kept.reports == sum(isinstance(body, RunReport) for body in bodies) > 0


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


def test_the_socket_stands_beside_the_database_however_long_its_path_is(tmp_path: Path) -> None:
    folder = tmp_path / ("d" * 120)
    folder.mkdir()

    with running_in_thread(folder) as server:
        path = socket_of(server.database)
        assert path == server.database.resolve().with_name("hwci.db.sock")
        assert path.is_socket()
        assert isinstance(new_organization(server.location, "long@example.org"), UUID)
    assert not path.exists()


def test_a_database_of_a_long_name_has_a_socket_of_a_short_one(tmp_path: Path) -> None:
    database = tmp_path / ("d" * 200)
    new_organization(database)

    with served(database):
        assert socket_of(database).parent == tmp_path.resolve()
        assert isinstance(new_organization(database, "long@example.org"), UUID)


STRANGER = 12345
SQUATTER = """
import os, socket, sys
os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
line = socket.socket(socket.AF_UNIX)
line.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777); line.listen()
print("ready", flush=True)
print(line.accept()[0].recv(1), flush=True)
"""


@contextmanager
def squatted(path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Have another user of the machine listen at a path."""
    command = [sys.executable, "-c", SQUATTER, str(path), str(STRANGER)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that everybody may write to, as /tmp is."""
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o1777)
        yield Path(folder)


@pytest.mark.parametrize("own_name", [False, True], ids=["theirs", "in-our-name"])
def test_another_user_who_listens_in_the_servers_place_learns_nothing(
    shared: Path, own_name: bool
) -> None:
    database = shared / "hwci.db"
    new_organization(database)
    with database_lock(database), squatted(socket_of(database)) as process:
        if own_name:  # as if the socket of a server had been swapped after it was looked at
            os.chown(socket_of(database), 0, 0)
        with pytest.raises(OperatorUnreachableError, match="takes no commands"):
            operate(str(database), USER)
        assert process.communicate(timeout=60)[0] == "b''\n"


def test_operators_commands_cannot_be_given_over_the_network(server: RunningServer) -> None:
    for command in COMMANDS:
        assert ask(server.url, "POST", f"/{command.command}", json_body={}).status == 404


def test_deeds_of_the_operator_stand_in_the_audit_log(server: RunningServer) -> None:
    database = str(server.database)
    operate(database, SetCiMetrics(org_id=server.org_id, enabled=False))
    operate(database, SetCiMetrics(org_id=server.org_id, enabled=True))
    operate(database, Rebuild(org_id=server.org_id))
    path = f"/api/orgs/{server.org_id}/audit-log?limit=3"
    entries = ask(server.url, "GET", path, bearer(server.token)).json["items"]

    assert [entry["action"] for entry in entries] == [
        "records.rebuilt",
        "ci_metrics.enabled",
        "ci_metrics.disabled",
    ]
    operator = {"id": "00000000-0000-0000-0000-000000000000", "name": "operator"}
    assert all(entry["actor"] == operator for entry in entries)
    assert all(entry["target"] == str(server.org_id) for entry in entries)


def test_everything_derived_is_rebuilt_while_the_server_runs(tmp_path: Path) -> None:
    body = report(tests=[{"id": "t", "outcome": "fail", "attempts": 1, "duration_s": 1.0}])
    with running_in_thread(tmp_path) as server:
        key, page = ci_key(server.ci_key), f"/api/orgs/{server.org_id}/ci-metrics"
        assert ask(server.url, "POST", "/api/ci/run-report", key, json_body=body).status == 204
        before = ask(server.url, "GET", page, bearer(server.token)).json["tiles"]
    server.database.with_name("hwci.db.sums").unlink()  # a fault of hwci has the sums of its pages
    with closing(sqlite3.connect(server.database, isolation_level=None)) as damaged:
        assert damaged.execute("DELETE FROM failure").rowcount == 1
    with served(server.database) as again:
        ids = server.operate(ListOrganizations()).org_ids
        assert ids == [server.org_id]
        server.operate(Rebuild(org_id=server.org_id))
        assert ask(again.url, "GET", page, bearer(server.token)).json["tiles"] == before
        with pytest.raises(RefusedError, match="There is no organization"):
            server.operate(Rebuild(org_id=uuid4()))


class TestSigningKey:
    """Another key for access tokens, and what becomes of those of the former."""

    def me(self, server: RunningServer, token: str) -> int:
        return ask(server.url, "GET", "/api/auth/me", bearer(token)).status

    @about_a_file
    def test_a_new_key_signs_at_once_and_the_formers_tokens_live_out_their_time(
        self, tmp_path: Path
    ) -> None:
        clock = Hands()
        with running_in_thread(tmp_path, clock=clock) as server:
            first = signing_keys(tmp_path / "hwci.db.key").present
            server.operate(RotateSecret())
            assert self.me(server, server.token) == 200
            renewed = asyncio.run(sign_in(server.url, EMAIL))
            assert self.me(server, renewed) == 200

            forged = Signer(first, clock)
            user, session = (str(uuid4()) for _ in range(2))
            clock.move(minutes=15)
            late = forged.sign("at+jwt", {"sub": user, "sid": session}, timedelta(days=1))
            result = ask(server.url, "GET", "/api/auth/me", bearer(late)).error
            assert self.me(server, server.token) == 401

        assert result == (401, "The access token is not valid or has ended; sign in again")
        keys = signing_keys(tmp_path / "hwci.db.key")
        assert keys.present != first
        assert [key.value for key in keys.former] == [first]

    @about_a_file  # elsewhere a server looks at its keys every few seconds
    def test_tokens_of_the_former_key_can_be_refused_at_once(self, tmp_path: Path) -> None:
        with running_in_thread(tmp_path) as server:
            server.operate(RotateSecret())
            server.operate(RotateSecret(drop_former=True))
            assert self.me(server, server.token) == 401
            assert self.me(server, asyncio.run(sign_in(server.url, EMAIL))) == 200

        assert signing_keys(tmp_path / "hwci.db.key").former == ()

    def test_servers_that_start_at_once_have_one_first_key(self, tmp_path: Path) -> None:
        files = [tmp_path / str(number) for number in range(20)]
        with ThreadPoolExecutor(16) as starting:
            for file in files:
                made = list(starting.map(signing_keys, [file] * 16))
                assert {keys.present for keys in made} == {signing_keys(file).present}
        assert set(tmp_path.iterdir()) == set(files)

    async def test_keys_that_are_changed_together_are_all_kept(self, tmp_path: Path) -> None:
        file = tmp_path / "key"
        first = signing_keys(file)
        storage, passwords = open_storage(MEMORY), Passwords()
        signer = Signer(first.present, system_clock)
        operator = Operator(storage, system_clock, passwords, Secret(file, signer))
        try:
            await asyncio.gather(*(operator.carry_out(RotateSecret()) for _ in range(5)))
        finally:
            passwords.close()
            await storage.close()

        keys = signing_keys(file)
        assert [key.value for key in keys.former][-1] == first.present
        assert len({keys.present, *(key.value for key in keys.former)}) == 6
        said = signer.sign("kind", {"sub": "ada"}, timedelta(minutes=1))
        assert Signer(keys.present, system_clock).read("kind", said, ["sub"]) is not None

    def test_a_server_that_starts_later_reads_the_same_tokens(self, tmp_path: Path) -> None:
        with running_in_thread(tmp_path) as server:
            server.operate(RotateSecret())
            renewed = asyncio.run(sign_in(server.url, EMAIL))
        server.operate(RotateSecret())  # and once more while none runs

        with served(server.database) as again:
            for token in (server.token, renewed):
                assert ask(again.url, "GET", "/api/auth/me", bearer(token)).status == 200

    @about_a_file
    def test_a_server_says_what_is_wrong_with_the_file(self, tmp_path: Path) -> None:
        with running_in_thread(tmp_path) as server:
            key = tmp_path / "hwci.db.key"
            key.chmod(0o644)
            with pytest.raises(RefusedError, match=f"run: chmod 600 {key}$"):
                server.operate(RotateSecret())
            assert self.me(server, server.token) == 200

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
    def test_a_key_that_root_changes_still_belongs_to_the_service(self, tmp_path: Path) -> None:
        database = tmp_path / "hwci.db"
        new_organization(database)
        operate(str(database), RotateSecret())
        key = tmp_path / "hwci.db.key"
        os.chown(key, 12345, 54321)
        operate(str(database), RotateSecret())

        assert (key.stat().st_uid, key.stat().st_gid) == (12345, 54321)

    @about_a_file
    def test_a_file_that_the_operator_keeps_is_left_to_the_operator(self, tmp_path: Path) -> None:
        kept = tmp_path / "mounted"
        kept.write_text("k" * 64)
        kept.chmod(0o400)
        with running_in_thread(tmp_path, secret_key_file=kept) as server:
            with pytest.raises(RefusedError, match="it is yours to change"):
                server.operate(RotateSecret())
            assert self.me(server, server.token) == 200

        assert kept.read_text() == "k" * 64
        assert not (tmp_path / "hwci.db.key").exists()
