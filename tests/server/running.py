# SPDX-License-Identifier: Apache-2.0
"""A real server for tests of any room: it listens, has a database, and knows an organization.

`async with running(folder) as server:` for tests that wait, `with running_in_thread(folder) as
server:` for those that do not (the synchronous client, the command line). Both give a
`RunningServer`: where it is, an owner's access token, an organization with CI Metrics on, a CI key.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp

from hwci.server.app import CreateUser, SetCiMetrics, serving
from hwci.server.clock import system_clock
from hwci.server.security.passwords import Passwords
from hwci.server.services.operator import Operator
from hwci.server.settings import Registration, Settings
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage

EMAIL = "owner@example.org"
PASSWORD = "correct horse battery"
NAME = "Olga Owner"
ORGANIZATION = "Acme Firmware"


class Hands:
    """A clock that a test can move."""

    def __init__(self, start: datetime | None = None) -> None:
        self.now = start or system_clock()

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass(frozen=True)
class RunningServer:
    """What a test needs to know of a server that runs. `database`: its file."""

    url: str
    database: Path
    org_id: UUID
    email: str
    password: str
    token: str
    ci_key: str

    @property
    def org_url(self) -> str:
        return f"{self.url}/api/orgs/{self.org_id}"


@asynccontextmanager
async def running(
    folder: Path,
    clock: Callable[[], datetime] = system_clock,
    registration: Registration = Registration.OPEN,
    storage: Storage | None = None,
) -> AsyncIterator[RunningServer]:
    """Run a server on a new database in `folder`, with a user, an organization and a key."""
    settings = Settings(database=str(folder / "hwci.db"), port=0, registration=registration)
    own = open_storage(settings.database) if storage is None else None
    kept = storage or own
    assert kept is not None
    try:
        org_id = await _set_up(kept, clock)
        async with serving(settings, clock=clock, storage=kept) as server:
            token, key = await _sign_in(server.url, org_id)
            yield RunningServer(server.url, folder / "hwci.db", org_id, EMAIL, PASSWORD, token, key)
    finally:
        if own is not None:
            await own.close()


async def _set_up(storage: Storage, clock: Callable[[], datetime]) -> UUID:
    passwords = Passwords()
    try:
        operator = Operator(storage, clock, passwords)
        made = await operator.carry_out(
            CreateUser(email=EMAIL, password=PASSWORD, name=NAME, organization=ORGANIZATION)
        )
        assert made.org_id is not None
        await operator.carry_out(SetCiMetrics(org_id=made.org_id, enabled=True))
        return made.org_id
    finally:
        passwords.close()


async def _sign_in(url: str, org_id: UUID) -> tuple[str, str]:
    async with aiohttp.ClientSession(url, raise_for_status=True) as http:
        body = {"email": EMAIL, "password": PASSWORD}
        async with http.post("/api/auth/login", json=body) as response:
            token = (await response.json())["accessToken"]
        async with http.post(
            f"/api/orgs/{org_id}/ci-keys",
            json={"name": "tests"},
            headers={"Authorization": f"Bearer {token}"},
        ) as response:
            return token, (await response.json())["apiKey"]


@contextmanager
def running_in_thread(folder: Path, **options: Any) -> Iterator[RunningServer]:
    """Run a server in a thread of its own; `options` as of `running`."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="server-of-a-test")
    thread.start()
    context = running(folder, **options)
    try:
        server = asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result()
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(context.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def report(**fields: Any) -> dict[str, Any]:
    """Give the body of a run report with one test, `fields` laid over it."""
    now = datetime.now(UTC).replace(microsecond=0)  # noqa: TID251
    return {
        "repo_key": "acme/firmware",
        "workflow": "hardware",
        "run_id": 1,
        "run_attempt": 1,
        "trigger": "merge",
        "branch": "main",
        "sha": "a" * 40,
        "started_at": (now - timedelta(hours=1)).isoformat(),
        "ended_at": now.isoformat(),
        "conclusion": "success",
        "hello_ok": True,
        "box_key": "bench-1",
        "tests": [{"id": "boot", "outcome": "pass", "attempts": 1, "duration_s": 1.5}],
        **fields,
    }
