# SPDX-License-Identifier: Apache-2.0
"""A server process with two organizations: one that attacks, and its victim.

They ask from different loopback addresses, so that limits for an address tell them apart. The
server counts no requests unless an attack wants it to: an attacker has many addresses.
"""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp

from hwci.server.storage.location import Location
from tests.support.running import create_key, new_organization, report, sign_in

ATTACKER_ADDRESS, VICTIM_ADDRESS = "127.0.0.66", "127.0.0.2"
RUNS, TESTS = 60, 84


@dataclass(frozen=True)
class Tenant:
    """An organization with CI Metrics on, its owner's access token, its CI key and its address."""

    org_id: UUID
    email: str
    token: str
    ci_key: str
    address: str

    @property
    def bearer(self) -> Mapping[str, str]:
        """The header of its owner."""
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def key(self) -> Mapping[str, str]:
        """The header of its CI."""
        return {"X-API-Key": self.ci_key}

    def path(self, rest: str) -> str:
        """Return the path of a route below the organization."""
        return f"/api/orgs/{self.org_id}/{rest}"

    def asking(self, url: str, **options: Any) -> aiohttp.ClientSession:
        """Return a session that asks from the tenant's address, over any number of connections."""
        connector = aiohttp.TCPConnector(limit=0, local_addr=(self.address, 0))
        return aiohttp.ClientSession(url, connector=connector, **options)


@dataclass(frozen=True)
class Scene:
    """A running server. `process`: of `hwci serve`; `log`: what it has written to stderr so far."""

    url: str
    port: int
    process: asyncio.subprocess.Process
    log: list[bytes]
    database: Path
    attacker: Tenant
    victim: Tenant


@contextmanager
def a_file(folder: Path) -> Iterator[Location]:
    """Give a server a file."""
    yield Location(str(folder / "hwci.db"))


@dataclass(frozen=True)
class Attack:
    """One attack. `run` attacks until it returns or is cancelled after `seconds`, and may assert.
    It returns the figure that it measured, in words, if it has one.

    `before`: the same figure of the server that did not withstand it yet, and its commit.
    `environment`: settings of the server; `{folder}` is its folder. `prefix`: a command that starts
    the server, such as one that lowers a limit of the process. `database`: gives it a database in a
    folder. `beside`: what runs beside the server, with files in a folder, and gives settings, too.
    `probed`: the victim's page and reports must hold meanwhile.
    """

    run: Callable[[Scene], Awaitable[str | None]]
    seconds: float = 30.0
    before: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    prefix: Sequence[str] = ()
    database: Callable[[Path], AbstractContextManager[Location]] = a_file
    beside: Callable[[Path], AbstractContextManager[Mapping[str, str]]] = lambda _: nullcontext({})
    probed: bool = True


@asynccontextmanager
async def scene(folder: Path, attack: Attack) -> AsyncIterator[Scene]:
    """Start a server for an attack, with both organizations and a history of the victim's."""
    with attack.database(folder) as location, attack.beside(folder) as settings:
        async with _server(location, folder, attack, settings) as running:
            yield running


@asynccontextmanager
async def _server(
    location: Location, folder: Path, attack: Attack, settings: Mapping[str, str]
) -> AsyncIterator[Scene]:
    orgs = {
        email: await asyncio.to_thread(new_organization, location, email)
        for email in ("attacker@example.org", "victim@example.org")
    }
    process = await asyncio.create_subprocess_exec(
        *(*attack.prefix, sys.executable, "-m", "hwci", "serve", "--port", "0"),
        env={
            **os.environ,
            "HWCI_DATABASE": location.written,
            "HWCI_RATE_LIMIT": "off",
            "HWCI_AUTH_RATE_LIMIT": "off",
            **_key_file(location),
            **{
                name: value.replace("{folder}", str(folder))
                for name, value in attack.environment.items()
            },
            **settings,
        },
        stderr=asyncio.subprocess.PIPE,
    )
    log: list[bytes] = []
    reading = None
    try:
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, line + (await process.stderr.read()).decode()
        reading = asyncio.create_task(_read(process.stderr, log))
        port = int(found[1])
        url = f"http://127.0.0.1:{port}"
        attacker, victim = [
            await tenant(url, email, org_id, address)
            for (email, org_id), address in zip(
                orgs.items(), (ATTACKER_ADDRESS, VICTIM_ADDRESS), strict=True
            )
        ]
        await _fill(url, victim)
        await _warm_up(url, attacker)
        yield Scene(url, port, process, log, folder / "hwci.db", attacker, victim)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        if reading is not None:
            await reading


def _key_file(location: Location) -> Mapping[str, str]:
    file = location.secret_key_file
    return {} if file is None else {"HWCI_SECRET_KEY_FILE": str(file)}


async def _read(stderr: asyncio.StreamReader, log: list[bytes]) -> None:
    while chunk := await stderr.read(64 * 1024):
        log.append(chunk)


async def tenant(url: str, email: str, org_id: UUID, address: str) -> Tenant:
    """Sign in as an organization's owner, with a CI key."""
    token = await sign_in(url, email)
    return Tenant(org_id, email, token, await create_key(url, org_id, token), address)


async def _fill(url: str, victim: Tenant) -> None:
    """Send a history that a page has to read."""
    async with victim.asking(url, headers=victim.key, raise_for_status=True) as http:
        for number in range(RUNS):
            await http.post("/api/ci/run-report", json=victim_report(number))


async def _warm_up(url: str, attacker: Tenant) -> None:
    """Ask for what loads a library when it is first asked for: that is no memory of an attack."""
    async with attacker.asking(url, headers=attacker.bearer, raise_for_status=True) as http:
        await http.get(attacker.path("ci-analysis/flaky-tests?days=30"))


def victim_report(number: int) -> dict[str, object]:
    """Return the body of a run whose every tenth test fails."""
    tests = [
        {
            "id": f"test_{index:03}",
            "outcome": "fail" if (index + number) % 10 == 0 else "pass",
            "attempts": 1,
            "duration_s": 1.0,
        }
        for index in range(TESTS)
    ]
    return report(run_id=number, sha=f"{number:040x}", tests=tests)
