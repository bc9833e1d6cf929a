# SPDX-License-Identifier: Apache-2.0
"""`hwci login --sso`: the real command, a real provider, and a browser that is a program."""

import http.client
import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from platform import node
from urllib.parse import unquote_plus

import pytest

from hwci.cli.session import loopback
from hwci.wire import limits
from hwci.wire.sso import code_of
from tests.cli.conftest import Command
from tests.support import browsing
from tests.support.providers import mock_provider, sso_file
from tests.support.running import RunningServer, running_in_thread

ADA = {"sub": "ada", "email": "ada@example.org", "email_verified": True, "name": "Ada"}
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    with (
        mock_provider(ADA) as issuer,
        running_in_thread(folder, sso_file=sso_file(folder, acme=issuer)) as found,
    ):
        yield found


@pytest.fixture
def browser(tmp_path: Path) -> str:
    """A program that signs ada in; it leaves a trace of having run."""
    program, command = tmp_path / "browser", [sys.executable, browsing.__file__, json.dumps(ADA)]
    program.write_text(f'#!/bin/sh\ntouch {tmp_path}/opened\nexec {shlex.join(command)} "$1"\n')
    program.chmod(0o700)
    return str(program)


def started(server: RunningServer, browser: str, *more: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "hwci", "login", "--url", server.url, "--sso", "acme", *more]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "BROWSER": f"{browser} %s"}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def address_of(process: "subprocess.Popen[str]") -> str:
    """Read what the command shows before it waits, and return the address in it."""
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"http://\S+", line):
            assert next(process.stderr).startswith("A page that asks has to show the code ")
            return found[0]
    raise AssertionError("no address was shown")


def get(port: int, path: str) -> tuple[int, str]:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        line.request("GET", path)
        answer = line.getresponse()
        return answer.status, answer.read().decode()
    finally:
        line.close()


def test_a_browser_signs_the_command_line_in(
    cli: Command, server: RunningServer, browser: str, tmp_path: Path
) -> None:
    out, err = started(server, browser).communicate(timeout=60)

    assert out == ""
    first, address, comparing, last = err.splitlines()
    assert first == "Sign in through Acme in a browser of this machine, within 5 minutes:"
    assert address.startswith(f"  {server.url}/api/auth/sso/acme/login?port=")
    port, challenge, machine = re.findall(r"=([^&]+)", address)
    assert unquote_plus(machine) == node()[: limits.MACHINE_MAX]
    code = code_of(challenge)
    assert comparing == f"A page that asks has to show the code {code} and port {port}."
    assert last == f"Signed in at {server.url} as ada@example.org."
    assert (tmp_path / "opened").exists()
    assert cli("whoami").out == f"Ada <ada@example.org> at {server.url}\n"
    assert cli("logout").code == 0


async def test_without_a_browser_of_its_own_it_shows_the_address(
    cli: Command, server: RunningServer, browser: str, tmp_path: Path
) -> None:
    with started(server, browser, "--no-browser") as process:
        async with browsing.browsing(sub="ada") as other:
            stop = await other.open(address_of(process))
        assert (stop.status, stop.body) == (
            200,
            b"You are signed in to hwci. You may close this window.\n",
        )
        assert process.communicate(timeout=60)[1].startswith("Signed in at ")
    assert not (tmp_path / "opened").exists()
    assert cli("whoami").code == 0


async def test_a_person_who_says_no_at_the_provider_is_not_waited_for(
    cli: Command, server: RunningServer, browser: str
) -> None:
    with started(server, browser, "--no-browser") as process:
        async with browsing.browsing(action="deny") as other:
            other.presses = "action"
            stop = await other.open(address_of(process))
        err = process.communicate(timeout=60)[1]

    refusal = "Acme did not sign you in (access_denied); sign in again"
    assert stop.body.decode() == (
        f"The sign-in to hwci failed: {refusal}. You may close this window.\n"
    )
    assert process.returncode == 4
    assert err.splitlines() == [
        "error: The sign-in failed",
        f"cause: {refusal}",
        f"fix: If that is not what you meant, try again: hwci login --url {server.url} --sso acme",
    ]
    assert cli("whoami").code == 4


async def test_a_person_who_says_no_to_the_page_is_not_waited_for(
    cli: Command, server: RunningServer, browser: str
) -> None:
    with started(server, browser, "--no-browser") as process:
        async with browsing.browsing(sub="ada") as other:
            other.accepts = False
            stop = await other.open(address_of(process))
        err = process.communicate(timeout=60)[1]

    assert stop.body.decode().startswith("The sign-in to hwci failed: You said no in the browser.")
    assert process.returncode == 4
    assert "cause: You said no in the browser" in err.splitlines()
    assert cli("whoami").code == 4


def test_what_else_comes_to_the_loopback_address_does_not_disturb(
    cli: Command, server: RunningServer, browser: str
) -> None:
    with started(server, browser, "--no-browser") as process:
        address = address_of(process)
        port = int(re.findall(r"port=(\d+)", address)[0])
        with socket.create_connection(("127.0.0.1", port)):  # as browsers do in advance
            for path in (
                *("/", "/favicon.ico", "/callback", "/callback?code=a&code=b", "/x?code=a"),
                *("/callback?error=no", f"/callback?error=no&challenge={'a' * 43}"),
            ):
                assert get(port, path)[0] == 404
            assert process.poll() is None
            subprocess.run([browser, address], check=True, timeout=60)
        assert process.wait(timeout=60) == 0
    assert cli("whoami").code == 0


def test_a_code_from_another_browser_is_refused(
    cli: Command, server: RunningServer, browser: str
) -> None:
    with started(server, browser, "--no-browser") as process:
        port = int(re.findall(r"port=(\d+)", address_of(process))[0])
        assert get(port, "/callback?code=mine")[0] == 200
        err = process.communicate(timeout=60)[1]

    assert process.returncode == 4
    error, cause, _ = err.splitlines()
    assert error == "error: The sign-in failed"
    refused = "cause: 401 Unauthorized: The code is not valid, has expired or was used before"
    assert cause.startswith(refused)
    assert cli("whoami").code == 4


def test_no_wait_is_endless(
    cli: Command, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loopback, "WAIT_SECONDS", 0.05)

    code, _, err = cli("login", "--url", server.url, "--sso", "acme", "--no-browser")
    assert code == 4
    assert err.splitlines()[-3:] == [
        "error: The sign-in failed",
        "cause: the browser did not come back within 5 minutes",
        (
            "fix: Look at the message in the browser, then try again:"
            f" hwci login --url {server.url} --sso acme"
        ),
    ]


def test_a_provider_that_there_is_not_is_wrong_usage(cli: Command, server: RunningServer) -> None:
    code, _, err = cli("login", "--url", server.url, "--sso", "acne")

    assert code == 2
    assert err.splitlines()[:2] == [
        "error: There is no provider 'acne'",
        "cause: the server has acme",
    ]


def test_a_server_that_is_away_is_exit_code_5(cli: Command) -> None:
    assert cli("login", "--url", "http://127.0.0.1:9", "--sso", "acme").code == 5


@pytest.mark.parametrize(
    "flags",
    [
        ("--sso", "acme", "--email", "a@b"),
        ("--sso", "acme", "--password-stdin"),
        ("--no-browser", "--email", "a@b"),
    ],
)
def test_two_ways_to_sign_in_are_not_mixed(cli: Command, flags: tuple[str, ...]) -> None:
    code, _, err = cli("login", *flags)

    assert code == 2
    assert err.startswith("error: Two ways to sign in are mixed\n")
