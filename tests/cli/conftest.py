# SPDX-License-Identifier: Apache-2.0
"""The real command, in this process, against a real server: `cli("metrics", "--json")`."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from hwci.ci.systems import SYSTEMS
from hwci.client import Client, calls
from hwci.contract.vocabulary import Role
from tests.support.commands import invoked
from tests.support.running import RunningServer, running_in_thread
from tests.support.scene import play


class Answer(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


class Command(Protocol):
    """Runs `hwci` with arguments; keywords lay variables over the environment."""

    def __call__(self, *arguments: str, stdin: str | bytes = "", **env: str | None) -> Answer: ...


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command with no settings but those of the test."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HWCI_DEADLINE", "0")  # each report is tried once
    monkeypatch.setenv("COLUMNS", "160")
    for system in SYSTEMS:  # these tests may run in one
        monkeypatch.delenv(system.variable, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "sleep", lambda _: None)  # no test waits between two tries

    def run(*arguments: str, stdin: str | bytes = "", **env: str | None) -> Answer:
        result = invoked(arguments, stdin, env)
        return Answer(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that knows an organization, and nothing else yet."""
    with running_in_thread(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def busy_server(server: RunningServer) -> RunningServer:
    """The server after the reports of `scene.py`."""
    play(server)
    return server


def invite_owner(server: RunningServer, organization: str) -> None:
    """Have the owner invited to another organization."""
    with Client(server.url, token=server.admin_token) as other:
        made = other.send(calls.create_org(organization))
        other.send(calls.invite(made.id, server.email, Role.MEMBER))


@pytest.fixture
def signed_in(cli: Command, server: RunningServer) -> Command:
    """The command with a person's token."""
    return _with(cli, HWCI_URL=server.url, HWCI_TOKEN=server.token)


@pytest.fixture
def in_ci(cli: Command, server: RunningServer) -> Command:
    """The command with a CI key."""
    return _with(cli, HWCI_URL=server.url, HWCI_CI_KEY=server.ci_key)


def _with(cli: Command, **settings: str) -> Command:
    def run(*arguments: str, stdin: str | bytes = "", **env: str | None) -> Answer:
        return cli(*arguments, stdin=stdin, **{**settings, **env})

    return run
