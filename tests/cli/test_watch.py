# SPDX-License-Identifier: Apache-2.0
"""`hwci runs watch`: a live run to its end, all runs as they go, and a token that ends then."""

import json
import os
import pty
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from hwci.cli.terminal import options
from hwci.client import Client, calls
from hwci.client.following import Follower
from hwci.contract.runs.runs import RunDetail, RunEvent
from hwci.server.app import sweeping
from hwci.server.services.runs import streams
from hwci.wire.codec import from_json
from hwci.wire.runs import RunEvents, RunHead
from tests.cli.conftest import Command
from tests.cli.terminals import watching
from tests.support.running import EMAIL, PASSWORD, Hands, RunningServer, running_in_thread
from tests.support.scene import A, report

BOX = "live-1"
TITLE = re.compile(r"Run \d+ \(1\) on live-1")


class Bench:
    """A box that says what its runs do, and the CI that reports them."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        with Client(server.url, token=server.token) as client:
            made = client.send(calls.create_box(server.org_id, BOX))
            self.key = client.send(calls.install_box(made.install_token)).api_key
        self.number = 0
        self.run = ""

    def open(self) -> str:
        self.number += 1
        body = report(self.number, A).model_dump(mode="json", include=set(RunHead.model_fields))
        with Client(self.server.url, box_key=self.key) as box:
            head = RunHead.model_validate_json(json.dumps(body))
            self.run = str(box.send(calls.open_run(head)).id)
        return self.run

    def feed(self, *tests: tuple[str, str | None]) -> None:
        events = [
            {"type": "test", "id": name, **({} if outcome is None else {"outcome": outcome})}
            for name, outcome in tests
        ]
        result = RunEvents.model_validate_json(json.dumps({"events": events}))
        with Client(self.server.url, box_key=self.key) as box:
            box.send(calls.feed_run(self.run, result))

    def report(self) -> None:
        body = report(self.number, A, {"boot": "pass", "i2c": "fail"})
        with Client(self.server.url, ci_key=self.server.ci_key) as client:
            client.send(calls.report_run(body.model_copy(update={"box_key": BOX})))


@pytest.fixture(scope="module")
def bench(server: RunningServer) -> Bench:
    return Bench(server)


def test_a_run_is_watched_to_its_report(
    tmp_path: Path, server: RunningServer, bench: Bench
) -> None:
    with watching(tmp_path, server, bench.open()) as process:
        bench.feed(("boot", None))
        bench.feed(("boot", "pass"), ("i2c", "fail"))
        bench.report()
        out, err = process.communicate(timeout=60)

    *events, reported, end = out.splitlines()
    assert (process.returncode, err) == (0, "")
    assert [line.split("  ")[2] for line in events] == ["running: boot", "pass: boot", "fail: i2c"]
    assert reported.split("  ")[2] == end
    assert TITLE.match(end)
    assert end.endswith(": failed, 2 tests: 1 passed, 1 failed, 0 retried")


def test_every_run_is_watched_until_it_is_enough(
    tmp_path: Path, server: RunningServer, bench: Bench
) -> None:
    with watching(tmp_path, server, "--json") as process:
        run = bench.open()
        bench.report()
        assert process.stdout is not None
        result = [from_json(RunEvent, process.stdout.readline()) for _ in range(2)]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

    assert (process.returncode, out, err) == (0, "", "")
    assert [event.type for event in result] == ["run.started", "run.reported"]
    assert {str(event.run_id) for event in result} == {run}


def test_a_run_that_is_over_is_shown_at_once(
    cli: Command, server: RunningServer, bench: Bench
) -> None:
    settings = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token}
    run = bench.open()
    bench.report()
    code, out, err = cli("runs", "watch", run[:8], **settings)
    assert (code, out.count("\n")) == (0, 1)
    assert "1 failed" in out
    assert err.startswith("Watching ")

    code, out, err = cli("runs", "watch", run, "--json", **settings)
    assert (code, out.count("\n")) == (0, 1)
    assert from_json(RunDetail, out).tests.failed == 1
    assert "1 failed" in err


def test_a_run_that_is_none_is_not_waited_for(cli: Command, server: RunningServer) -> None:
    settings = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token}
    code, out, err = cli("runs", "watch", str(server.org_id), **settings)

    assert (code, out) == (1, "")
    assert [line.split(":")[0] for line in err.splitlines()] == ["error", "cause", "fix"]


def test_a_terminal_has_a_bar_and_the_tests_that_failed(
    tmp_path: Path, server: RunningServer, bench: Bench
) -> None:
    run = bench.open()
    bench.feed(("boot", "pass"), ("i2c\x1b[31m", "fail"), ("spi", None))
    terminal, inner = pty.openpty()
    shown = b""
    with watching(tmp_path, server, run, stdout=inner):
        os.close(inner)
        while b"2/3" not in shown:
            shown += os.read(terminal, 65_536)
        bench.report()
        with suppress(OSError):  # Linux says so when the other side has left
            while piece := os.read(terminal, 65_536):
                shown += piece
    os.close(terminal)

    for line in (b"fail: i2c\\x1b[31m", b"2 tests: 1 passed, 1 failed"):
        assert line in shown
    assert b"pass: boot" not in shown


def test_a_run_that_is_lost_ends_with_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "SWEEP_SECONDS", 0.05)
    clock = Hands()
    with running_in_thread(tmp_path, clock=clock) as server:
        bench = Bench(server)
        with watching(tmp_path, server, bench.open()) as process:
            clock.move(minutes=10)
            out, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (1, "")
    assert "lost: its box sent nothing for 10 minutes" in out.splitlines()[-1]


def test_watching_outlives_an_access_token(
    tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, begun, begin = Hands(), threading.Semaphore(0), Follower.begin

    def shown(follower: Follower, headers: dict[str, str]) -> None:
        begin(follower, headers)
        begun.release()

    monkeypatch.setattr(Follower, "begin", shown)
    monkeypatch.setattr(streams, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(options, "now", clock)
    with running_in_thread(tmp_path, clock=clock) as server, ThreadPoolExecutor(1) as thread:
        sign_in = ("login", "--url", server.url, "--email", EMAIL, "--password-stdin")
        assert cli(*sign_in, stdin=f"{PASSWORD}\n").code == 0
        bench = Bench(server)
        watched = thread.submit(cli, "runs", "watch", bench.open(), "--json")
        assert begun.acquire(timeout=60)
        clock.move(minutes=6)
        bench.feed(("boot", "pass"))
        clock.move(minutes=9)  # the token's end, and a minute before its box would count as lost
        assert begun.acquire(timeout=60), "it came back with another token"
        bench.report()
        code, out, _ = watched.result(60)

    assert code == 0
    assert [json.loads(line)["type"] for line in out.splitlines()] == ["run.test", "run.reported"]
    assert "HWCI_TOKEN" not in os.environ
