# SPDX-License-Identifier: Apache-2.0
"""The limit of connections: one address cannot keep others out, a full process pauses with one log
line, and a server that stops resets no connection of the queue (contract, "Everywhere").
"""

import asyncio
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import ip_network
from pathlib import Path

import pytest
from aiohttp import web

from hwci.server.app import process
from hwci.server.http.connections import connection, listener
from hwci.server.http.connections.listener import Places
from hwci.server.http.connections.runner import SpecRunner
from tests.support.asking import first_reply, read_reply

KEEP = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
MINE, OTHERS = "127.0.0.66", "127.0.0.2"
PATIENCE_SECONDS = 120

# Places


def test_an_address_holds_a_quarter_of_the_places_and_leaves_the_others_theirs() -> None:
    places = Places(40)
    held = [places.take("192.0.2.1") for _ in range(11)]

    assert [free is not None for free in held] == [True] * 10 + [False]
    assert places.take("192.0.2.2") is not None
    assert not places.full


def test_a_subscriber_of_ipv6_is_one_address() -> None:
    places = Places(4)

    assert places.take("2001:db8::1") is not None
    assert places.take("2001:db8::2") is None
    assert places.take("2001:db8:0:1::2") is not None


def test_a_trusted_proxy_may_hold_every_place_and_no_more() -> None:
    places = Places(4, [ip_network("10.0.0.0/8")])
    for _ in range(4):
        assert not places.full
        assert places.take("::ffff:10.1.2.3") is not None

    assert places.full


def test_a_place_that_is_given_back_is_free() -> None:
    places = Places(4)
    for _ in range(100):
        free = places.take("192.0.2.1")
        assert free is not None
        assert places.take("192.0.2.1") is None
        free()

    assert not places.full
    assert not places._held, "nothing is kept of who has gone"


def test_full_is_logged_once_until_half_was_free(
    caplog: pytest.LogCaptureFixture,
) -> None:
    places = Places(16)
    held = [taken(places) for _ in range(4)]
    for _ in range(10):  # at the brink
        assert places.take("192.0.2.1") is None
        held.pop()()
        held.append(taken(places))
    assert len(caplog.records) == 1

    for _ in range(2):
        held.pop()()
    held += [taken(places) for _ in range(2)]
    assert places.take("192.0.2.1") is None
    assert len(caplog.records) == 2


def test_a_full_server_logs_once_that_others_wait_and_once_that_they_do_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    places = Places(2, [ip_network("192.0.2.1/32")])
    held = [taken(places), taken(places)]
    for _ in range(10):
        assert places.full
        places.warn_full("the limit is reached")
    for free in held:
        free()

    assert [one.getMessage().partition(":")[0] for one in caplog.records] == [
        "New connections wait",
        "New connections no longer wait",
    ]


def taken(places: Places) -> Callable[[], None]:
    free = places.take("192.0.2.1")
    assert free is not None
    return free


# A process


@contextmanager
def serving_with(folder: Path, files: int) -> Iterator[tuple[int, Path]]:
    """Run a server with a limit of descriptors; yield its port and the file of its log."""

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files // 2, files))

    log = folder / "log"
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            [sys.executable, "-m", "hwci", "serve", "--quiet", "--port", "0"],
            env={**os.environ, "HWCI_DATABASE": str(folder / "hwci.db")},
            stderr=stderr,
            preexec_fn=few,  # noqa: PLW1509 - nothing else runs in this process
        ) as process,
    ):
        try:
            while not (found := re.search(r"http://127\.0\.0\.1:(\d+) from", log.read_text())):
                assert process.poll() is None, log.read_text()
                time.sleep(0.05)
            limits = Path(f"/proc/{process.pid}/limits").read_text()
            assert re.search(rf"Max open files +{files} +{files} ", limits), "the limit is raised"
            yield int(found[1]), log
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0


def line_from(address: str, port: int) -> socket.socket:
    return socket.create_connection(
        ("127.0.0.1", port), timeout=PATIENCE_SECONDS, source_address=(address, 0)
    )


@pytest.mark.skipif(sys.platform != "linux", reason="all of 127.0.0.0/8 is this machine on Linux")
def test_a_holder_of_many_connections_keeps_no_other_out_and_fills_no_log(tmp_path: Path) -> None:
    with serving_with(tmp_path, files=64) as (port, log), ExitStack() as held:
        before = log.stat().st_size
        for _ in range(200):
            held.enter_context(line_from(MINE, port))
        for _ in range(10):
            with line_from(OTHERS, port) as line:
                line.sendall(KEEP)
                assert first_reply(line).status == 200
        said = log.read_bytes()[before:].decode()

    assert "127.0.0.66 holds 8 connections" in said
    assert len(said.splitlines()) < 5


@pytest.mark.skipif(sys.platform != "linux", reason="all of 127.0.0.0/8 is this machine on Linux")
def test_a_server_without_a_place_pauses_and_goes_on_when_there_is_one(tmp_path: Path) -> None:
    with serving_with(tmp_path, files=64) as (port, log), ExitStack() as held:
        for number in range(32):
            line = held.enter_context(line_from(f"127.0.1.{1 + number // 8}", port))
            line.sendall(KEEP)
            assert first_reply(line).status == 200
        with line_from(OTHERS, port) as waiting:
            waiting.sendall(KEEP)
            while "New connections wait" not in log.read_text():
                time.sleep(0.05)
            waiting.settimeout(1)
            with pytest.raises(TimeoutError):
                waiting.recv(1)
            held.close()
            waiting.settimeout(PATIENCE_SECONDS)
            assert first_reply(waiting).status == 200
        told = [line.partition(":")[0] for line in log.read_text().splitlines()]

    # What a server says of itself at its start may come after its first answers.
    assert told[told.index("New connections wait") :] == [
        "New connections wait",
        "New connections no longer wait",
    ]


def test_a_part_of_the_descriptors_is_kept_from_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for files, most in ((64, 32), (1_024, 768), (65_536, 4_096), (resource.RLIM_INFINITY, 4_096)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert process.connections_most() == most


# Leaving


async def answered(_: web.Request) -> web.Response:
    return web.Response()


async def test_connections_in_the_queue_of_a_stopping_server_are_answered() -> None:
    app = web.Application()
    app.router.add_get("/", answered)
    runner = SpecRunner(app)
    await runner.setup()
    await runner.listen("127.0.0.1", 0)
    port = runner.addresses[0][1]
    lines = [line_from("127.0.0.1", port) for _ in range(100)]  # nothing is accepted meanwhile
    for line in lines:
        line.sendall(LAST)
    await runner.cleanup()

    for line in lines:
        with line:
            assert read_reply(line.recv(65_536)).status == 200


async def test_a_full_server_that_listens_at_two_addresses_can_stop() -> None:
    runner = SpecRunner(web.Application())
    await runner.setup()
    assert isinstance(runner.server, connection.SpecServer)
    sockets = [one for _ in range(2) for one in await listener.bound("127.0.0.1", 0)]
    await listener.Listener(sockets, runner.server, Places(0), None).close()
    await runner.cleanup()

    assert [one.fileno() for one in sockets] == [-1, -1]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the option")
def test_no_connection_enters_the_queue_of_a_socket_that_is_about_to_close() -> None:
    with ExitStack() as held:
        one = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        held.enter_context(socket.create_connection(one.getsockname()))
        listener._drop_new_connections(one)
        late = held.enter_context(socket.socket())
        for line in (one, late):
            line.setblocking(False)

        with pytest.raises(BlockingIOError):
            late.connect(one.getsockname())
        one.accept()[0].close()
        with pytest.raises(BlockingIOError):
            one.accept()


async def test_a_request_that_waits_to_be_read_when_idle_connections_are_closed_is_answered() -> (
    None
):
    app = web.Application()
    app.router.add_get("/", answered)
    runner = SpecRunner(app)
    await runner.setup()
    await runner.listen("127.0.0.1", 0)
    server = runner.server
    assert isinstance(server, connection.SpecServer)
    with await asyncio.to_thread(line_from, "127.0.0.1", runner.addresses[0][1]) as line:
        line.sendall(LAST.replace(b"Connection: close\r\n", b""))
        assert (await asyncio.to_thread(first_reply, line)).status == 200
        server.leaving = True
        line.sendall(LAST)  # the loop does not read it before what follows
        for kept in server.connections:
            assert isinstance(kept, connection.SpecProtocol)
            kept.leave()
        assert (await asyncio.to_thread(first_reply, line)).status == 200
    await runner.cleanup()
