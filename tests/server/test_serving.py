# SPDX-License-Identifier: Apache-2.0
"""A server's life, as a process and as a block; its settings and its secret key."""

import asyncio
import logging
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from uuid import uuid4

import pytest

from hwci.server.app import serving
from hwci.server.clock import system_clock
from hwci.server.errors import (
    ForbiddenError,
    ListenError,
    SettingsError,
    StorageLockedError,
    UnauthenticatedError,
)
from hwci.server.security.secret_key import announce_key, rotate_keys, signing_keys
from hwci.server.security.signing import FormerKey, Signer, SigningKeys
from hwci.server.security.tokens import AccessTokens, Claims
from hwci.server.settings import Registration, Settings, read_settings
from hwci.server.storage.opening import open_storage
from hwci.wire import limits
from tests.support.asking import ask, bearer, ci_key
from tests.support.running import EMAIL, PASSWORD, Hands, new_organization, running
from tests.support.streaming import streaming

PROCESS = """
import sys
from hwci.server.app import run
from hwci.server.settings import Settings
run(Settings(database=sys.argv[1], port=0), lambda line: print(line, flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_process_with_success(tmp_path: Path, number: signal.Signals) -> None:
    database = tmp_path / "hwci.db"
    with subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(database)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        url = line.split()[2]
        assert ask(url, "GET", "/readyz").json == {"status": "ok"}
        process.send_signal(number)
        assert process.wait(60) == 0

    assert str(database) in line
    assert not Path(f"{database}.sock").exists()


@pytest.mark.parametrize("quiet", [False, True])
def test_each_request_is_a_line_of_the_log_unless_it_is_to_be_quiet(
    tmp_path: Path, quiet: bool
) -> None:
    program = PROCESS.replace("flush=True)", f"flush=True), access_log={not quiet}")
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "hwci.db")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[2]
        claimed = ("X-Forwarded-For", "192.0.2.7")
        ask(url, "GET", "/api/x%0Ay%1b?token=secret", ("x-request-id", "mine"), claimed)
        process.send_signal(signal.SIGTERM)
        log = process.communicate()[1]

    line = (
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ 127\.0\.0\.1 GET /api/x%0Ay%1B 404 \d+B [\d.]+ms mine\n"
    )
    assert re.fullmatch("" if quiet else line, log)


async def test_the_log_has_the_whole_address_that_a_trusted_proxy_gives(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    trusted = (ip_network("127.0.0.1/32"),)
    async with serving(Settings(database="memory:", port=0, trusted_proxies=trusted)) as server:
        given = ("X-Forwarded-For", "2001:db8::1:2:3:4")
        await asyncio.to_thread(ask, server.url, "GET", "/healthz", given)

    assert "2001:db8::1:2:3:4 GET /healthz 200 " in caplog.text


async def test_a_database_that_fails_is_one_line_of_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with streaming(tmp_path) as scene:
        await scene.storage.close()
        caplog.clear()
        signed = dict([bearer(scene.owner["accessToken"])])
        async with scene.http.get(scene.runs, headers=signed) as reply:
            assert reply.status == 503

        (said,) = [one for one in caplog.records if one.levelno >= logging.WARNING]
        path = tmp_path / "hwci.db"
        request = f"request {reply.headers['x-request-id']}"
        assert caplog.handler.format(said).endswith(
            f"{request}: The database {path} is closed; start the server"
        )
        assert "Traceback" in caplog.text, "the level of debug tells how it came to it"


async def test_what_was_taken_is_answered_before_the_server_stops(tmp_path: Path) -> None:
    """The database is held up while a sign-in waits for it and the server is told to stop."""
    database = tmp_path / "hwci.db"
    await asyncio.to_thread(new_organization, database)
    storage = open_storage(database)
    taken, go_on = asyncio.Event(), threading.Event()

    def clock() -> datetime:
        taken.set()  # a request looks at the clock as soon as it was read
        return system_clock()

    held = asyncio.create_task(storage.write(lambda _: go_on.wait(30)))
    context = serving(Settings(database=str(database), port=0), clock=clock, storage=storage)
    server = await context.__aenter__()
    taken.clear()  # the server looked at the clock, too, to start
    body = {"email": EMAIL, "password": PASSWORD}
    answer = asyncio.create_task(
        asyncio.to_thread(ask, server.url, "POST", "/api/auth/login", json_body=body)
    )
    await taken.wait()
    stopped = asyncio.create_task(context.__aexit__(None, None, None))
    await asyncio.to_thread(wait_until_refused, server.url)
    go_on.set()

    assert (await answer).status == 200
    await asyncio.gather(stopped, held)
    await storage.close()


def wait_until_refused(url: str) -> None:
    host, port = url.removeprefix("http://").split(":")
    while True:
        try:
            socket.create_connection((host, int(port))).close()
        except ConnectionRefusedError:
            return


async def test_a_second_server_on_one_database_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path):
        with pytest.raises(StorageLockedError):
            async with serving(Settings(database=str(tmp_path / "hwci.db"), port=0)):
                pass


async def test_a_taken_port_is_one_clear_line_and_lets_go_of_the_database(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ListenError, match=f"Cannot listen on 127.0.0.1 port {port}"):
            async with serving(Settings(database=str(tmp_path / "hwci.db"), port=port)):
                pass
    async with running(tmp_path):
        pass


def test_a_database_in_memory_needs_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def serve() -> str:
        async with serving(Settings(database="memory:", port=0)) as server:
            return server.url

    monkeypatch.chdir(tmp_path)

    assert asyncio.run(serve()).startswith("http://127.0.0.1:")
    assert list(tmp_path.iterdir()) == []


async def test_a_sign_in_outlives_the_server(tmp_path: Path) -> None:
    async with running(tmp_path) as first:
        token = first.token
    async with serving(Settings(database=str(tmp_path / "hwci.db"), port=0)) as second:
        reply = await asyncio.to_thread(ask, second.url, "GET", "/api/auth/me", bearer(token))

    assert reply.status == 200


async def test_when_a_key_was_used_outlives_the_server(tmp_path: Path) -> None:
    async with running(tmp_path) as first:
        await asyncio.to_thread(ask, first.url, "POST", "/api/ci/run-report", ci_key(first.ci_key))
        path, token = f"/api/orgs/{first.org_id}/ci-keys", bearer(first.token)
        before = await asyncio.to_thread(ask, first.url, "GET", path, token)
    async with serving(Settings(database=str(tmp_path / "hwci.db"), port=0)) as second:
        after = await asyncio.to_thread(ask, second.url, "GET", path, token)

    [used] = before.json["items"]
    assert used["lastUsedAt"] is not None
    assert after.json["items"] == [used]


def test_a_secret_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "key"

    first = signing_keys(path)

    assert signing_keys(path) == first
    assert len(first.present) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert signing_keys(None) != signing_keys(None)


def test_an_announced_key_is_known_before_it_signs(tmp_path: Path) -> None:
    path, now = tmp_path / "key", system_clock()
    until = now + timedelta(minutes=15)
    first = signing_keys(path)

    key = announce_key(path, until)
    announced = signing_keys(path)
    rotated = rotate_keys(path, now, until, key)

    assert announced == SigningKeys(first.present, (FormerKey(key, until),))
    assert rotated == SigningKeys(key, (FormerKey(first.present, until),))
    assert signing_keys(path) == rotated


def test_a_former_key_knows_devices_for_a_year_and_opens_nothing_after_its_time(
    tmp_path: Path,
) -> None:
    path, hands = tmp_path / "key", Hands()

    def tokens() -> AccessTokens:
        keys = signing_keys(path)
        return AccessTokens(Signer(keys.present, hands, keys.former))

    def opens(token: str) -> bool:
        with suppress(UnauthenticatedError):
            return tokens().read(token).user_id == user
        return False

    user = uuid4()
    signing_keys(path)
    device = tokens().issue_device("ada@example.org")
    for _ in range(3):
        access = tokens().issue(Claims(user, uuid4()))
        rotate_keys(path, hands(), hands() + limits.ACCESS_TOKEN_LIFETIME)
        assert opens(access)
        stolen = Signer(signing_keys(path).former[0].value, hands)
        hands.move(minutes=15)
        forged = {"sub": str(user), "sid": str(uuid4())}
        assert not opens(stolen.sign("at+jwt", forged, timedelta(minutes=1)))
        hands.move(days=100)
        assert tokens().device([device], "ada@example.org") is not None
    hands.move(days=65)
    assert tokens().device([device], "ada@example.org") is None, "its own year is over"
    rotate_keys(path, hands(), hands() + limits.ACCESS_TOKEN_LIFETIME)
    assert len(signing_keys(path).former) == 3, "the first key can have no token any more"

    device = tokens().issue_device("ada@example.org")
    rotate_keys(path, hands(), None)
    assert tokens().device([device], "ada@example.org") is None


def test_a_secret_key_that_is_read_only_is_the_operators_to_change(tmp_path: Path) -> None:
    path = tmp_path / "key"
    first = signing_keys(path)
    path.chmod(0o400)

    with pytest.raises(ForbiddenError) as refused:
        rotate_keys(path, system_clock(), None)

    assert str(refused.value) == (
        f"The secret key file {path} cannot be written (its mode is read-only): it is yours to"
        " change. Put a new key (openssl rand -hex 32) before its first line, restart the server,"
        " and remove the former line after 15 minutes"
    )
    assert signing_keys(path) == first


async def test_a_secret_key_in_a_folder_that_is_not_there_makes_none(tmp_path: Path) -> None:
    """A mistyped name would sign with another key than the one that was meant."""
    settings = Settings(
        database=str(tmp_path / "new" / "hwci.db"), port=0, secret_key_file=tmp_path / "typo/key"
    )
    with pytest.raises(SettingsError) as refused:
        async with serving(settings):
            pass
    assert str(refused.value) == (
        f"There is no folder {tmp_path / 'typo'} for the secret key file key;"
        " make it, or name another file"
    )
    assert not (tmp_path / "typo").exists()

    async with serving(replace(settings, secret_key_file=None)):
        assert (tmp_path / "new" / "hwci.db.key").exists()


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 31, b" " * 64, b"\xff" * 64])
def test_a_short_secret_key_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").touch(0o600)
    (tmp_path / "key").write_bytes(content)

    said = "is not a secret key: it is shorter than 32 bytes, or not text"
    with pytest.raises(SettingsError, match=f"A line of {tmp_path / 'key'} {said}"):
        signing_keys(tmp_path / "key")


def test_a_secret_key_that_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(SettingsError, match="secret key file cannot be used"):
        signing_keys(tmp_path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_secret_key_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    signing_keys(tmp_path / "key")
    (tmp_path / "key").chmod(mode)

    with pytest.raises(SettingsError, match=f"run: chmod 600 {tmp_path / 'key'}$"):
        signing_keys(tmp_path / "key")


def test_a_mounted_secret_of_root_may_be_read_by_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a file of root")
    path = tmp_path / "key"
    keys = signing_keys(path)
    path.chmod(0o440)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert signing_keys(path) == keys
    path.chmod(0o444)
    with pytest.raises(SettingsError, match="Others than its owner"):
        signing_keys(path)


def test_former_keys_stand_below_the_present_one_with_the_time_of_their_end(
    tmp_path: Path,
) -> None:
    path = tmp_path / "key"
    path.touch(0o600)
    path.write_text(f"{'a' * 32}\n{'b' * 64} 2026-03-07T12:00:00+00:00\n{'c' * 43}=\n")

    present, former = signing_keys(path)

    assert present == b"a" * 32
    assert [key.value for key in former] == [b"b" * 64, b"c" * 43 + b"="]
    noon = datetime(2026, 3, 7, 12, tzinfo=UTC)
    assert [key.good(noon - timedelta(seconds=1)) for key in former] == [True, True]
    assert [key.good(noon) for key in former] == [False, True]


@pytest.mark.parametrize("line", ["b" * 31, "b" * 64 + " soon", "b" * 64 + " 2026-03-07T12:00:00"])
def test_a_line_that_is_no_key_is_refused_without_being_shown(tmp_path: Path, line: str) -> None:
    path = tmp_path / "key"
    path.touch(0o600)
    path.write_text(f"{'a' * 64}\n{line}\n")

    with pytest.raises(SettingsError, match="openssl rand -hex 32") as refused:
        signing_keys(path)

    assert "bbb" not in str(refused.value)


def test_settings_have_defaults() -> None:
    assert read_settings({}) == Settings()
    assert read_settings({"HWCI_DATABASE": "", "HWCI_REGISTRATION": ""}) == Settings()
    assert Settings().registration is Registration.INVITE


def test_settings_are_read_from_the_environment(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("/var/lib/hwci.db\n")

    found = read_settings(
        {
            "HWCI_DATABASE_FILE": str(tmp_path / "url"),
            "HWCI_REGISTRATION": "closed",
            "HWCI_SECRET_KEY_FILE": "/run/key",
        }
    )

    assert found == Settings(
        database="/var/lib/hwci.db",
        registration=Registration.CLOSED,
        secret_key_file=Path("/run/key"),
    )


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"HWCI_BASE_URL": "https://h.example/hwci"}, "host name of its own, such as https://hwci"),
        ({"HWCI_BASE_URL": "https://h.example:port"}, "an address such as https://hwci"),
        ({"HWCI_BASE_URL": "https://[h"}, "an address such as https://hwci"),
        ({"HWCI_REGISTRATION": "everyone"}, "it may be open, invite, closed"),
        ({"HWCI_DATABASE": "a", "HWCI_DATABASE_FILE": "b"}, "are both set"),
        ({"HWCI_DATABASE_FILE": "/nowhere/at/all"}, "cannot be read"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_clear_line(
    environ: dict[str, str], words: str
) -> None:
    with pytest.raises(SettingsError, match=words) as raised:
        read_settings(environ)

    assert "\n" not in str(raised.value)
    assert next(iter(environ)) in str(raised.value)
