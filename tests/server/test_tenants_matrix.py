# SPDX-License-Identifier: Apache-2.0
"""Every route, asked by every kind of caller about what is theirs, another's, nobody's and nothing:
the statuses of one table, answers that do not tell another's from nobody's, and not a row of the
database changed for anyone else (contract, "Everywhere").
"""

import http.client
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from hwci.contract.ci_systems import SigningSystem
from hwci.server.app import sweeping
from hwci.server.routes.table import ROUTES
from tests.server.crooked import Crooked, crooked_provider
from tests.server.matrix import ROWS, By, Row, World
from tests.server.tenants import (
    OFF,
    OURS,
    THEIRS,
    Tenant,
    found,
    kept,
    register,
    tell_of_an_incident,
)
from tests.support.asking import PATIENCE_SECONDS, Header, Reply, ask, bearer, ci_key
from tests.support.running import RunningServer, running_in_thread

HANDSHAKE = (
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg=="),
)
STREAMS = ("runs/stream", "runs/ws")


class Whose(Enum):
    """What an id in a path is the id of."""

    OWN = "the caller's"
    OTHER = "another tenant's"
    RANDOM = "nobody's"
    MALFORMED = "nothing"


class Caller(NamedTuple):
    """Who asks: a tenant's credential by the name of its field, or what belongs to none."""

    tenant: str | None
    credential: str


ROLES = ("owner", "admin", "member")
CALLERS = [
    *(
        Caller(tenant, credential)
        for tenant in (OURS, THEIRS, OFF)
        for credential in (*ROLES, "reader_key", "ci_key", "job_key", "box_key")
    ),
    Caller(OURS, "revoked_key"),
    Caller(OURS, "revoked_reader_key"),
    Caller(OURS, "ended"),
    Caller(None, "stranger"),
    Caller(None, "nobody"),
]
PEOPLE = {*ROLES, "stranger"}
READERS = {"reader_key", "revoked_reader_key"}
KEYS = {"ci_key", "job_key", "box_key", "revoked_key"}


@pytest.fixture(scope="module")
def issuer() -> Iterator[Crooked]:
    with crooked_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(issuer: Crooked, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    issuers = ((SigningSystem.GITHUB, issuer.url),)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeping, "INCIDENTS_SECONDS", 0.2)
        with running_in_thread(tmp_path_factory.mktemp("server"), ci_issuers=issuers) as running:
            yield running


@pytest.fixture(scope="module")
def world(server: RunningServer, issuer: Crooked) -> World:
    register(server.url, "newcomer")
    tenants = {name: found(server, name, issuer) for name in (OURS, THEIRS, OFF)}
    for tenant in tenants.values():
        tell_of_an_incident(server, tenant)
    return World(
        server=server,
        tenants=tenants,
        stranger=register(server.url, "stranger")["accessToken"],
    )


@dataclass(frozen=True)
class Request:
    """A route, asked about an organization and a thing in it."""

    route: str
    row: Row
    org: Whose
    thing: Whose

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]


def requests() -> Iterator[Request]:
    """Return every request that a caller makes."""
    for route, row in ROWS.items():
        orgs = Whose if "{orgId}" in route else (Whose.OWN,)
        for org in orgs:
            for thing in Whose if row.thing else (Whose.OWN,):
                # Another's organization with nothing at all in it says nothing more.
                if org is Whose.OWN or not row.thing or thing in {Whose.OWN, org}:
                    yield Request(route, row, org, thing)


def expected(caller: Caller, request: Request) -> int:
    """Return the status that the contract promises."""
    row, by = request.row, request.row.by
    if by is By.ANYONE:
        return row.granted
    if by in {By.CI, By.BOX, By.READER_KEY}:
        return of_a_machine(caller, request)
    if by is By.FOLLOWER and caller.credential in {*KEYS, "nobody"}:
        return row.granted  # the first frame has to sign in
    if by in {By.READER, By.FOLLOWER} and caller.credential == "reader_key":
        return of_a_person(caller, request)
    if caller.credential not in PEOPLE:
        return 401
    return row.granted if by is By.USER else of_a_person(caller, request)


MACHINES = {By.CI: {"ci_key", "job_key"}, By.BOX: {"box_key"}, By.READER_KEY: {"reader_key"}}


def of_a_machine(caller: Caller, request: Request) -> int:
    row = request.row
    if caller.credential not in MACHINES[row.by]:
        return 401
    if row.by is By.CI and caller.tenant == OFF:
        return 403
    return row.granted if request.thing is Whose.OWN else 404


def of_a_person(caller: Caller, request: Request) -> int:
    row = request.row
    if request.org is not Whose.OWN or caller.tenant is None:
        return 404
    if row.by is By.ADMIN and caller.credential == "member":
        return 403
    if row.by is By.OWNER and caller.credential != "owner":
        return 403
    if row.metrics and caller.tenant == OFF:
        return 403
    return row.granted if request.thing is Whose.OWN else 404


def test_every_route_has_a_row_and_every_row_a_route() -> None:
    assert {f"{route.method} {route.path}" for route in ROUTES} == set(ROWS)


def test_what_is_compared_is_all_that_a_tenant_has(world: World) -> None:
    for tenant in world.tenants.values():
        empty = {table for table, rows in kept(world.server, tenant).items() if not rows}
        assert empty == set()


@pytest.mark.parametrize("caller", CALLERS, ids=lambda one: f"{one.credential} of {one.tenant}")
def test_a_caller_gets_what_is_theirs_and_hears_and_changes_nothing_of_others(
    world: World, caller: Caller
) -> None:
    others = [one for name, one in world.tenants.items() if name != caller.tenant]
    before = [kept(world.server, other) for other in others]
    unexpected, told_apart = [], []
    refusals: dict[tuple[str, bool], Reply] = {}
    for request in requests():
        reply = asked(world, caller, request)
        if reply.status != expected(caller, request):
            unexpected.append((request, reply.status, reply.body[:200]))
        if request.org is request.thing is Whose.OWN:
            continue
        first = refusals.setdefault((request.route, request.org is Whose.OWN), reply)
        if bare(first) != bare(reply):
            told_apart.append((request, bare(first), bare(reply)))

    assert unexpected == []
    assert told_apart == []
    assert [kept(world.server, other) for other in others] == before


def bare(reply: Reply) -> tuple[int, dict[str, str], bytes]:
    """Return an answer without what differs from one to the next."""
    varying = {"x-request-id", "date"}
    headers = {name: value for name, value in reply.headers.items() if name not in varying}
    return reply.status, headers, reply.body


def asked(world: World, caller: Caller, request: Request) -> Reply:
    """Send the request, and put back what it changed."""
    home = world.tenants[caller.tenant or OURS]
    other = world.tenants[OURS if home.name == THEIRS else THEIRS]
    path = path_of(request, home, other)
    headers = credential(world, caller)
    url = world.server.url
    if path.endswith(STREAMS):
        extra = HANDSHAKE if path.endswith("ws") else ()
        return peek(url, path, *headers, *extra)
    body = request.row.body(world) if request.row.body else None
    reply = ask(url, request.method, path, *headers, json_body=body)
    undo = request.row.undo
    if undo is not None and reply.status < 300:
        undo(world, home)
    return reply


def path_of(request: Request, home: Tenant, other: Tenant) -> str:
    """Write the path: the organization's id, then that of the thing. Provider and session: none."""
    path = request.route.partition(" ")[2].replace("{provider}", "nobody")
    path = path.replace("{sessionId}", str(uuid4()))
    path = path.replace("{orgId}", an_id(request.org, home.org_id, other.org_id))
    path += request.row.query
    thing = request.row.thing
    if thing is None:
        return path
    one = an_id(request.thing, home.ids[thing], other.ids[thing])
    return re.sub(r"\{\w+\}", one, path)


def an_id(whose: Whose, own: str, other: str) -> str:
    return {
        Whose.OWN: own,
        Whose.OTHER: other,
        Whose.RANDOM: str(uuid4()),
        Whose.MALFORMED: "nonsense",
    }[whose]


def credential(world: World, caller: Caller) -> tuple[Header, ...]:
    if caller.credential == "nobody":
        return ()
    if caller.tenant is None:
        return (bearer(world.stranger),)
    value: str = getattr(world.tenants[caller.tenant], caller.credential)
    return (ci_key(value) if caller.credential in KEYS | READERS else bearer(value),)


def peek(url: str, path: str, *headers: Header) -> Reply:
    """Ask for a stream, and leave when it has begun."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", path, headers=dict(headers))
        answer = connection.getresponse()
        headers_of = {name.lower(): value for name, value in answer.getheaders()}
        body = answer.read() if answer.status >= 400 else b""
        return Reply(answer.status, headers_of, body)
    finally:
        connection.close()
