# SPDX-License-Identifier: Apache-2.0
"""Each kind of credential opens its own routes only, whichever header carries it, and none is read
from an address (spec, "Authentication").
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple
from uuid import uuid4

import aiohttp
import pytest

from hwci.contract.ci_systems import SigningSystem
from hwci.server.app import ResetPassword
from tests.server.crooked import Crooked, crooked_provider
from tests.server.matrix import ROWS, By
from tests.server.tenants import OURS, found, sign_in_of, tell
from tests.support.asking import Header, ask, bearer, ci_key
from tests.support.running import RunningServer, running_in_thread

MACHINES = {
    By.CI: ("CI key", "key of a job"),
    By.BOX: ("box key",),
    By.READER_KEY: ("reader key",),
}


class Held(NamedTuple):
    """Every credential that one tenant has, by kind, and the paths of its routes."""

    url: str
    secrets: Mapping[str, str]
    paths: Mapping[str, str]


@pytest.fixture(scope="module")
def issuer() -> Iterator[Crooked]:
    with crooked_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(issuer: Crooked, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    issuers = ((SigningSystem.GITHUB, issuer.url),)
    with running_in_thread(tmp_path_factory.mktemp("server"), ci_issuers=issuers) as running:
        yield running


@pytest.fixture(scope="module")
def held(server: RunningServer, issuer: Crooked) -> Held:
    tenant = found(server, OURS, issuer)
    url, by_owner = server.url, bearer(tenant.owner)
    signed_in = tell(url, "POST", "/api/auth/login", body=sign_in_of(f"owner-{OURS}"))
    box = f"{tenant.path}/boxes/{tenant.ids['box']}/install-token"
    invited = {"email": "invited@example.net", "role": "owner"}
    secrets = {
        "access token": signed_in["accessToken"],
        "refresh token": signed_in["refreshToken"],
        "CI key": tenant.ci_key,
        "key of a job": tenant.job_key,
        "revoked CI key": tenant.revoked_key,
        "box key": tenant.box_key,
        "reader key": tenant.reader_key,
        "revoked reader key": tenant.revoked_reader_key,
        "install token": tell(url, "POST", box, by_owner)["installToken"],
        "invitation": tell(url, "POST", f"{tenant.path}/invites", by_owner, body=invited)[
            "inviteToken"
        ],
        "reset link": server.operate(ResetPassword(email=f"owner-{OURS}@example.net")).reset_token
        or "",
        "password": sign_in_of("")["password"],
        "organization": tenant.org_id,
    }
    return Held(url, secrets, {route: path(route, tenant.org_id, tenant.ids) for route in ROWS})


def path(route: str, org_id: str, ids: Mapping[str, str]) -> str:
    """Return the path of a route, with ids that the tenant has."""
    thing = ids.get(ROWS[route].thing or "", str(uuid4()))
    written = route.partition(" ")[2].replace("{orgId}", org_id)
    for name in (
        "{userId}",
        "{keyId}",
        "{boxId}",
        "{runId}",
        "{failureId}",
        "{sessionId}",
        "{inviteId}",
        "{trustId}",
    ):
        written = written.replace(name, thing)
    return written


def opened(held: Held, route: str, *headers: Header, query: str = "") -> int:
    method = route.partition(" ")[0]
    return ask(held.url, method, held.paths[route] + query, *headers).status


def routes(*kinds: By) -> list[str]:
    found = [route for route, row in ROWS.items() if row.by in kinds]
    assert found
    return found


def basic(secret: str) -> Header:
    return ("Authorization", "Basic " + b64encode(f"owner:{secret}".encode()).decode())


def bare(secret: str) -> Header:
    return ("Authorization", secret)


WAYS: Mapping[str, Callable[[str], Header]] = {
    "bearer": bearer,
    "key": ci_key,
    "basic": basic,
    "bare": bare,
}
PEOPLE = (By.USER, By.MEMBER, By.READER, By.ADMIN, By.OWNER)


@pytest.mark.parametrize("way", WAYS)
def test_only_an_access_token_as_bearer_opens_routes_of_people(held: Held, way: str) -> None:
    for kind, secret in held.secrets.items():
        if (kind, way) == ("access token", "bearer"):
            continue
        reads = (kind, way) == ("reader key", "key")  # its own routes are in the matrix
        header = WAYS[way](secret)
        asked = [one for one in PEOPLE if one is not By.READER or not reads]
        statuses = {route: opened(held, route, header) for route in routes(*asked)}
        assert set(statuses.values()) == {401}, (kind, statuses)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("by", MACHINES)
def test_only_a_key_of_its_kind_opens_routes_of_machines(held: Held, way: str, by: By) -> None:
    for kind, secret in held.secrets.items():
        if kind in MACHINES[by] and way == "key":
            continue
        header = WAYS[way](secret)
        statuses = {route: opened(held, route, header) for route in routes(by)}
        assert set(statuses.values()) == {401}, (kind, statuses)


def test_each_credential_opens_its_own_routes(held: Held) -> None:
    by_person = bearer(held.secrets["access token"])

    assert opened(held, "GET /api/auth/me", by_person) == 200
    assert opened(held, "POST /api/box/heartbeat", ci_key(held.secrets["box key"])) == 204
    for route in routes(By.CI):
        for kind in MACHINES[By.CI]:  # accepted, but no body came
            assert opened(held, route, ci_key(held.secrets[kind])) == 415


def test_an_access_token_beside_a_key_opens_no_route_of_boxes(held: Held) -> None:
    both = (bearer(held.secrets["access token"]), ci_key(held.secrets["CI key"]))

    assert opened(held, "GET /api/auth/me", *both) == 200
    assert opened(held, "POST /api/box/heartbeat", *both) == 401


@pytest.mark.parametrize("name", ["token", "access_token", "api_key", "apiKey", "key", "X-API-Key"])
def test_no_credential_is_taken_from_an_address(held: Held, name: str) -> None:
    for kind in ("access token", "CI key", "key of a job", "box key", "reader key"):
        query = f"?{name}={held.secrets[kind]}"
        asked = routes(*PEOPLE, *MACHINES)
        assert {opened(held, route, query=query) for route in asked} == {401}, kind


@pytest.mark.parametrize("kind", ["access token", "CI key", "install token", "invitation"])
def test_no_other_credential_renews_or_ends_a_session(held: Held, kind: str) -> None:
    body = {"refreshToken": held.secrets[kind]}
    refused = ask(held.url, "POST", "/api/auth/refresh", json_body=body)

    assert refused.error[0] == 401
    assert opened(held, "GET /api/auth/me", bearer(held.secrets["access token"])) == 200


@pytest.mark.parametrize("kind", ["access token", "refresh token", "CI key", "invitation"])
def test_no_other_credential_installs_a_box(held: Held, kind: str) -> None:
    body = {"installToken": held.secrets[kind]}

    assert ask(held.url, "POST", "/api/boxes/install", json_body=body).error[0] == 401


@pytest.mark.parametrize("kind", ["access token", "CI key", "key of a job", "reader key"])
def test_no_other_credential_signs_a_job_in(held: Held, kind: str) -> None:
    body = {"orgId": held.secrets["organization"], "token": held.secrets[kind]}

    assert ask(held.url, "POST", "/api/ci/job-key", json_body=body).error[0] == 401


@pytest.mark.parametrize("kind", ["access token", "refresh token", "CI key", "install token"])
def test_no_other_credential_registers_as_an_invitation(held: Held, kind: str) -> None:
    body = {
        "email": "uninvited@example.net",
        "password": held.secrets["password"],
        "inviteToken": held.secrets[kind],
    }
    refused = ask(held.url, "POST", "/api/auth/register", json_body=body)

    assert refused.error[0] == 403


@pytest.mark.parametrize("kind", ["refresh token", "CI key", "box key", "install token"])
async def test_no_other_credential_signs_a_follower_in(held: Held, kind: str) -> None:
    (route,) = routes(By.FOLLOWER)
    secret = held.secrets[kind]
    address = held.url + held.paths[route]

    assert opened(held, route, bearer(secret)) == 401
    async with (
        aiohttp.ClientSession() as http,
        http.ws_connect(address, headers={"X-API-Key": secret}) as ws,
    ):
        await ws.send_json({"type": "auth", "token": secret})
        assert (await ws.receive()).type is aiohttp.WSMsgType.CLOSE
        assert ws.close_code == 4401
