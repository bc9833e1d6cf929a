# SPDX-License-Identifier: Apache-2.0
"""Machines on which `hwci exec` runs, and the server that takes their reports."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hwci.ci.systems import SYSTEMS
from hwci.client import Client, calls
from hwci.contract.runs.runs import Run
from tests.support.answering import Answer, AnsweringServer, answering
from tests.support.commands import with_children
from tests.support.running import RunningServer

ROOT = str(Path(__file__).parents[2])
KEY = "svc_" + "1" * 64
PASSES = '<testsuite><testcase classname="t" name="a" time="1"/></testsuite>'
JOB = {
    "HWCI_REPO_KEY": "acme/firmware",
    "HWCI_WORKFLOW": "hil",
    "HWCI_RUN_ID": "4711",
    "HWCI_BRANCH": "main",
    "HWCI_SHA": "abcdef0123456789abcdef0123456789abcdef01",
    "HWCI_BOX": "bench-1",
}


@pytest.fixture
def taking() -> Iterator[AnsweringServer]:
    """A server that takes what comes."""
    with answering(Answer(204)) as server:
        yield server


class Bench:
    """A machine on which `hwci exec` runs."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        gone = {system.variable for system in SYSTEMS}
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in gone and not name.startswith("HWCI_")
        }
        own = {name: str(folder / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
        given = {"HWCI_URL": url, "HWCI_CI_KEY": KEY, "HWCI_DEADLINE": "0", "PYTHONPATH": ROOT}
        self.environ = {**inherited, **own, **given, **JOB}

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        """Start `hwci exec` in a process of its own: what gets signals, or waits for the test."""
        return subprocess.Popen(
            [sys.executable, "-m", "hwci", "exec", *arguments],
            cwd=self.folder,
            env=self.environ,
            text=True,
            **{
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                **options,
            },
        )

    def run(self, *arguments: str, **env: str) -> tuple[int, str, str]:
        """Run `hwci exec` in this process; return its exit code, and all output."""
        self.environ = {**self.environ, **env}
        return with_children(self.folder, ["exec", *arguments], self.environ)


@pytest.fixture
def bench(tmp_path: Path, taking: AnsweringServer) -> Bench:
    """The machine of one test."""
    return Bench(tmp_path, taking.url)


def reports(server: AnsweringServer) -> list[Mapping[str, Any]]:
    """Return the reports that a server was sent."""
    return [json.loads(one.body) for one in server.received if one.target == "/api/ci/run-report"]


def shell(script: str) -> list[str]:
    """Return the arguments that run a script."""
    return ["--", "sh", "-c", script]


QUICK = """
from hwci.bench import live_run
from hwci.cli.main import main
live_run.FEED_S = 0.05
main()
"""
"""The command, which looks at its files more often."""
WAIT = """
import time
from pathlib import Path
def until(name):
    while not Path(name).exists():
        time.sleep(0.02)
"""
SUITE = f"""{WAIT}
def test_boot():
    until("boot")
def test_i2c():
    until("i2c")
    assert False
"""


class LiveBench(Bench):
    """A box, and the person who watches it."""

    def __init__(self, folder: Path, server: RunningServer, person: Client, name: str) -> None:
        super().__init__(folder, server.url)
        self.org, self.person, self.name = server.org_id, person, name
        self.ending = ExitStack()
        self.box = person.send(calls.create_box(self.org, name))
        with Client(server.url) as client:
            key = client.send(calls.install_box(self.box.install_token)).api_key
        own = {"HWCI_CI_KEY": server.ci_key, "HWCI_BOX_KEY": key, "HWCI_BOX": name}
        plain = {k: v for k, v in self.environ.items() if not k.startswith("PYTEST")}
        self.environ = plain | own | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def begin(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start `hwci exec`; it is stopped after a minute."""
        self.started = subprocess.Popen(
            [sys.executable, "-c", QUICK, "exec", *arguments],
            cwd=self.folder,
            env=self.environ,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        too_long = threading.Timer(60, self.started.terminate)
        too_long.start()
        self.ending.callback(self.started.communicate, timeout=60)
        self.ending.callback(self.started.terminate)
        self.ending.callback(too_long.cancel)
        return self.started

    def end(self) -> None:
        """End the run, and its tests with it, if one began and is not over."""
        self.ending.close()

    def runs(self) -> Sequence[Run]:
        """Return the runs of this box, as its person sees them."""
        return list(self.person.items(calls.list_runs(self.org, box_key=self.name)))

    def shown(self) -> dict[str, str | None]:
        """Return the tests of the run."""
        for run in self.runs():
            found = self.person.send(calls.get_run(self.org, run.id))
            return {test.id: test.outcome and str(test.outcome) for test in found.items}
        return {}

    def until_shown(self, **tests: str | None) -> None:
        """Wait until the run has exactly these tests."""
        while self.shown() != {f"t.{name}": outcome for name, outcome in tests.items()}:
            self.wait()

    def wait(self) -> None:
        """Wait a moment of a run that is not over."""
        assert self.started.poll() is None, self.started.communicate()[1]
        time.sleep(0.05)

    def lose_key(self) -> None:
        """Install the box again: its earlier key stops once the new one is used."""
        token = self.person.send(calls.new_install_token(self.org, self.box.id)).install_token
        with Client(self.environ["HWCI_URL"]) as client:
            key = client.send(calls.install_box(token)).api_key
        with Client(self.environ["HWCI_URL"], box_key=key) as client:
            client.send(calls.heartbeat())

    def touch(self, name: str) -> None:
        """Make the file that a test of the run waits for."""
        (self.folder / name).touch()
