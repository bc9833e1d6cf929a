# SPDX-License-Identifier: Apache-2.0
"""The wheels that a server hands out (contract, "Install")."""

import asyncio
import hashlib
import logging
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from shutil import rmtree

import pytest

import hwci
from hwci.client import Client, calls, errors
from hwci.server.services import wheels
from hwci.version import build_version
from hwci.wire.wheels import WheelAnswer
from tests.support.asking import ask
from tests.support.running import RunningServer, running_in_thread

FORMER = "hwci-0.0.9-py3-none-any.whl"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def wheel(server: RunningServer) -> WheelAnswer:
    with Client(server.url) as client:
        return client.send(calls.wheel())


def kept(server: RunningServer, content: bytes, folder: str | None = None) -> str:
    """Keep a wheel of an earlier version; return its path at the server."""
    named = folder or hashlib.sha256(content).hexdigest()[:12]
    into = Path(f"{server.database}.wheels") / named
    into.mkdir(parents=True)
    (into / FORMER).write_bytes(content)
    return f"/dist/{named}/{FORMER}"


def install(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--no-cache-dir"]
    return subprocess.run(
        [*pip, "--target", str(folder), source], check=False, capture_output=True, text=True
    )


def test_pip_installs_the_wheel_that_the_server_runs_from(
    server: RunningServer, wheel: WheelAnswer, tmp_path: Path
) -> None:
    done = install(wheel.at(server.url), tmp_path / "site")
    installed = {
        path.relative_to(tmp_path / "site").as_posix(): path.read_bytes()
        for path in (tmp_path / "site" / "hwci").rglob("*.*")
        if path.suffix != ".pyc"
    }
    here = Path(hwci.__file__).parents[1]

    assert done.returncode == 0, done.stderr
    assert wheel.version == build_version()
    assert "hwci/pytest_plugin.py" in installed
    assert all((here / name).read_bytes() == content for name, content in installed.items())


def test_pip_refuses_a_wheel_whose_hash_differs(
    server: RunningServer, wheel: WheelAnswer, tmp_path: Path
) -> None:
    pinned = wheel.model_copy(update={"sha256": "0" * 64}).at(server.url)
    done = install(pinned, tmp_path / "site")

    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert not (tmp_path / "site" / "hwci").exists()


def test_wheels_of_earlier_versions_stay_served_and_listed(
    server: RunningServer, wheel: WheelAnswer
) -> None:
    path = kept(server, b"a wheel of long ago")
    listed = ask(server.url, "GET", "/dist/").body.decode()

    assert ask(server.url, "GET", path).body == b"a wheel of long ago"
    digest = hashlib.sha256(b"a wheel of long ago").hexdigest()
    assert f'href="{path}#sha256={digest}"' in listed
    assert f'href="{wheel.at("")}"' in listed


def test_the_wheel_is_kept_beside_the_database(server: RunningServer, wheel: WheelAnswer) -> None:
    _, _, folder, file = wheel.path.split("/")
    content = (Path(f"{server.database}.wheels") / folder / file).read_bytes()

    assert hashlib.sha256(content).hexdigest() == wheel.sha256


def test_a_wheel_that_the_disk_damaged_is_not_served(server: RunningServer) -> None:
    path = kept(server, b"not what it was", folder="0123456789ab")

    assert ask(server.url, "GET", path).status == 404
    assert path not in ask(server.url, "GET", "/dist/").body.decode()


def test_a_wheel_that_was_removed_is_made_again(server: RunningServer, wheel: WheelAnswer) -> None:
    rmtree(f"{server.database}.wheels")

    assert hashlib.sha256(ask(server.url, "GET", wheel.path).body).hexdigest() == wheel.sha256


def test_a_download_that_broke_off_goes_on(server: RunningServer, wheel: WheelAnswer) -> None:
    whole = ask(server.url, "GET", wheel.path)
    rest = ask(server.url, "GET", wheel.path, ("Range", "bytes=1000000-"))

    assert rest.status == 206
    assert rest.body == whole.body[1_000_000:]


def test_a_wheel_that_cannot_be_kept_is_served_until_the_server_ends(tmp_path: Path) -> None:
    (tmp_path / "wheels").write_text("no folder")
    own = wheels.Wheels(tmp_path / "wheels")
    _, _, folder, file = asyncio.run(own.current()).path.split("/")
    path = asyncio.run(own.file(folder, file))

    assert path is not None
    assert path.exists()
    own.close()
    assert not path.exists()


@pytest.mark.parametrize("path", ["%2e%2e/hwci.db", "x/hwci.db", "0/..%2F..%2Fhwci.db"])
def test_nothing_but_wheels_is_served(server: RunningServer, path: str) -> None:
    assert ask(server.url, "GET", f"/dist/{path}").status == 404


def test_the_same_files_make_the_same_wheel() -> None:
    assert wheels.make_wheel() == wheels.make_wheel()


def test_a_server_that_can_make_no_wheel_says_why_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hwci, "__version__", "9.9.9")
    with (
        running_in_thread(tmp_path) as server,
        Client(server.url) as client,
        pytest.raises(errors.NotFoundError, match=r"9\.9\.9 runs"),
    ):
        client.send(calls.wheel())
    with caplog.at_level(logging.WARNING, "hwci.server"):
        asyncio.run(wheels.Wheels(None).prepare())

    [line] = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    why = (
        f"This server has no wheel to hand out: hwci 9.9.9 runs, and {version('hwci')} is installed"
    )
    assert line == f"{why}; install it with pip"
