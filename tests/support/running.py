# SPDX-License-Identifier: Apache-2.0
"""A real server for tests of any room: it listens, has a database, and knows an organization. The
database is a file, or one on PostgreSQL where `databases.py` wants that.

`async with running(folder) as server:` for tests that wait, `with running_in_thread(folder) as
server:` for those that do not (the synchronous client, the command line). Both give a
`RunningServer`: where it is, an organization with CI Metrics on, access tokens of its owner, admin
and member, and a CI key. `in_thread` holds anything else that serves.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from uuid import UUID, uuid4

import aiohttp

from hwci.contract.vocabulary import Role
from hwci.server.app import CreateUser, SetCiMetrics, operate, serving
from hwci.server.clock import system_clock
from hwci.server.services.operator.commands import Command, CommandResult
from hwci.server.settings import Registration, Settings
from hwci.server.storage.location import Location
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.sqlite.connections import open_writer
from hwci.server.storage.sqlite.page_sums import begin_sums
from tests.support.databases import file_of, new_location
from tests.support.held_port import held_port
from tests.support.pending import RUN

EMAIL = "owner@example.org"
ADMIN_EMAIL = "admin@example.org"
MEMBER_EMAIL = "member@example.org"
MEMBERS = {ADMIN_EMAIL: Role.ADMIN, MEMBER_EMAIL: Role.MEMBER}
PASSWORD = "correct horse battery"
NAME = "Olga Owner"
ORGANIZATION = "Acme Firmware"

Served = TypeVar("Served")


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
    """What a test needs to know of a server that runs."""

    url: str
    location: Location
    org_id: UUID
    email: str
    password: str
    token: str
    admin_token: str
    member_token: str
    ci_key: str

    @property
    def org_url(self) -> str:
        return f"{self.url}/api/orgs/{self.org_id}"

    @property
    def database(self) -> Path:
        """The file of the database. A test that asks for it is skipped where there is none."""
        return file_of(self.location)

    @property
    def key_file(self) -> Path:
        """The file of the key that signs access tokens."""
        found = self.location.secret_key_file or self.location.key_file
        assert found is not None
        return found

    def operate(self, command: Command) -> CommandResult:
        """Carry out an operator's command on the database."""
        return operate_on(self.location, command)

    def open_storage(self) -> Storage:
        """Open the database, which no server may have if it is a file."""
        return open_storage(self.location)


@asynccontextmanager
async def running(
    folder: Path,
    clock: Callable[[], datetime] = system_clock,
    registration: Registration = Registration.OPEN,
    **others: Any,
) -> AsyncIterator[RunningServer]:
    """Run a server on a new database in `folder`, with a user, an organization and a key.

    `others`: of its settings. Without them it has no rate limits, which tests of other rules meet.
    With providers of single sign-on, or issuers of jobs' tokens, its base URL is its own address.
    """
    with new_location(folder) as location:
        settings = replace(
            settings_of(location, registration=registration),
            **{"rate_limit": "off", "auth_rate_limit": "off", **others},
        )
        org_id = await asyncio.to_thread(new_organization, location)
        await add_members(location, org_id, clock())
        async with _at_own_address(settings) as settled, serving(settled, clock=clock) as server:
            token = await sign_in(server.url, EMAIL)
            yield RunningServer(
                url=server.url,
                location=location,
                org_id=org_id,
                email=EMAIL,
                password=PASSWORD,
                token=token,
                admin_token=await sign_in(server.url, ADMIN_EMAIL),
                member_token=await sign_in(server.url, MEMBER_EMAIL),
                ci_key=await create_key(server.url, org_id, token),
            )


def settings_of(location: Location, **others: Any) -> Settings:
    """Return the settings of a server of this database."""
    return Settings(
        database=location.written, secret_key_file=location.secret_key_file, port=0, **others
    )


def operate_on(location: Location, command: Command, *, may_create: bool = False) -> CommandResult:
    """Carry out an operator's command."""
    return operate(
        location.written,
        command,
        may_create=may_create,
        settings=Settings(secret_key_file=location.secret_key_file),
    )


@asynccontextmanager
async def _at_own_address(settings: Settings) -> AsyncIterator[Settings]:
    """Settle the address of a server that has to know it before it listens."""
    needed = settings.sso_file is not None or settings.ci_issuers
    if not needed or settings.base_url is not None:
        yield settings
        return
    with held_port() as port:
        yield replace(settings, port=port, base_url=f"http://127.0.0.1:{port}")


def new_organization(
    database: Location | Path, email: str = EMAIL, *, ci_metrics: bool = True
) -> UUID:
    """Create a user and an organization of theirs, as an operator does, server or no server."""
    location = database if isinstance(database, Location) else Location(str(database))
    if location.file is not None and not location.file.exists():
        location.file.parent.mkdir(parents=True, exist_ok=True)
        location.file.touch(0o600)
        location.file.write_bytes(empty_database())
        begin_sums(location.file)
    user = CreateUser(email=email, password=PASSWORD, name=NAME, organization=ORGANIZATION)
    made = operate_on(location, user, may_create=True)
    assert made.org_id is not None
    operate_on(location, SetCiMetrics(org_id=made.org_id, enabled=ci_metrics))
    return made.org_id


@cache
def empty_database() -> bytes:
    """Return an empty database: to make its tables takes as long as to start a server."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hwci.db"
        open_writer(path).close()
        return path.read_bytes()


async def add_members(
    location: Location, org_id: UUID, now: datetime, members: Mapping[str, Role] = MEMBERS
) -> None:
    """Add members by their e-mail, whose password is the owner's."""

    def work(writer: Writer) -> None:
        owner = writer.user_by_email(EMAIL)
        assert owner is not None
        for email, role in members.items():
            user = replace(owner, id=uuid4(), email=email, email_key=email, name="")
            writer.add_user(user)
            writer.add_membership(org_id, user.id, role, now)

    storage = open_storage(location)
    try:
        await storage.write(work)
    finally:
        await storage.close()


async def sign_in(url: str, email: str) -> str:
    """Return an access token of a user whose password is `PASSWORD`."""
    async with aiohttp.ClientSession(url, raise_for_status=True) as http:
        body = {"email": email, "password": PASSWORD}
        async with http.post("/api/auth/login", json=body) as response:
            return str((await response.json())["accessToken"])


async def create_key(url: str, org_id: UUID, token: str) -> str:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        aiohttp.ClientSession(url, raise_for_status=True, headers=headers) as http,
        http.post(f"/api/orgs/{org_id}/ci-keys", json={"name": "tests"}) as response,
    ):
        return str((await response.json())["apiKey"])


@contextmanager
def running_in_thread(folder: Path, **options: Any) -> Iterator[RunningServer]:
    """Run a server in a thread of its own; `options` as of `running`."""
    with in_thread(running(folder, **options)) as server:
        yield server


@contextmanager
def in_thread(served: AbstractAsyncContextManager[Served]) -> Iterator[Served]:
    """Hold what serves in an event loop and a thread of its own while the block runs."""
    started: Future[Served] = Future()
    stop = threading.Event()

    async def hold() -> None:
        async with served as found:
            started.set_result(found)
            await asyncio.to_thread(stop.wait)

    with ThreadPoolExecutor(1, "server-of-a-test") as thread:
        held = thread.submit(lambda: asyncio.run(hold()))
        either: list[Future[Any]] = [started, held]
        wait(either, return_when=FIRST_COMPLETED)
        if held.done():
            held.result()
        try:
            yield started.result()
        finally:
            stop.set()
            held.result()


def report(**fields: Any) -> dict[str, Any]:
    """Return the body of a report of a run that ends now, `fields` laid over it."""
    now = datetime.now(UTC).replace(microsecond=0)  # noqa: TID251 - reports of now
    times = {"started_at": now - timedelta(hours=1), "ended_at": now}
    return deepcopy(RUN) | {name: time.isoformat() for name, time in times.items()} | fields
