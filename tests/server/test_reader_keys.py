# SPDX-License-Identifier: Apache-2.0
"""Reader keys: how they are made, what one that is bound to products reads, and when it was used
(contract, "Organizations"). What each kind of key opens is in the matrix of tenants.
"""

import re
from typing import Any

import aiohttp
import pytest

from hwci.server.routes.table import ROUTES
from hwci.server.security.api_keys import new_api_key
from hwci.wire.endpoint import Who
from hwci.wire.limits import READER_KEY_PREFIX
from tests.server.tenants import OURS, START, Tenant, found, sha_of, tell
from tests.support.asking import PATIENCE_SECONDS, ask, bearer, ci_key
from tests.support.running import RunningServer, report

OWN = {"repoKey": "acme/firmware", "suite": "hardware"}
NAMED = "repoKey=acme/firmware&suite=hardware"
AS_OF = f"asOf={START:%Y-%m-%d}T23:00:00Z"
BY_ID = {"{runId}": "run", "{failureId}": "real"}
ABOUT = {
    "box": "boxKey=bench-1",
    "commit": f"repoKey=acme/firmware&sha={sha_of(1)}&days=3650",
    "test": f"{NAMED}&testId=i2c",
}
"""What is about one box, commit or test names it, whoever asks."""


@pytest.fixture(scope="module")
def tenant(server: RunningServer) -> Tenant:
    return found(server, OURS)


def made(server: RunningServer, tenant: Tenant, **fields: Any) -> Any:
    body = {"name": "wall display", **fields}
    return tell(server.url, "POST", f"{tenant.path}/reader-keys", bearer(tenant.owner), body=body)


def listed(server: RunningServer, tenant: Tenant, kind: str, key_id: str) -> Any:
    path = f"{tenant.path}/{kind}?limit=100"
    items = tell(server.url, "GET", path, bearer(tenant.member))["items"]
    return next(one for one in items if one["id"] == key_id)


def paths(tenant: Tenant) -> list[str]:
    """Return every address that a reader key may read, but for the WebSocket."""
    found = [route.path for route in ROUTES if route.who is Who.READER]
    found.remove("/api/orgs/{orgId}/ci-analysis/bisection")  # `test_bisection.py` asks it
    for name, thing in BY_ID.items():
        found = [path.replace(name, tenant.ids[thing]) for path in found]
    return [path.replace("{orgId}", tenant.org_id) for path in found]


def naming(tenant: Tenant, path: str) -> str:
    """Return the query by which a request names its product, where it takes one."""
    if path.endswith("/runs/stream"):
        return f"runId={tenant.ids['run']}"
    if path.endswith(("/products", "/suite-configs", *tenant.ids.values())):
        return ""
    if path.endswith("/ci-analysis/test"):
        return AS_OF  # its product is named anyway
    if path.endswith("/ci-analysis/commit"):
        return f"suite=hardware&{AS_OF}"
    return NAMED if path.endswith(("/runs", "/ci-analysis/tests")) else f"{NAMED}&{AS_OF}"


def statuses(
    server: RunningServer, tenant: Tenant, key: str, *, named: bool = False
) -> dict[str, int]:
    asked = {path: naming(tenant, path) if named else "" for path in paths(tenant)}
    return {
        path.removeprefix(tenant.path): ask(
            server.url,
            "HEAD",
            f"{path}?{query}&{ABOUT.get(path.rpartition('/')[2], '')}",
            ci_key(key),
        ).status
        for path, query in asked.items()
    }


def test_a_key_is_shown_once_and_kept_as_a_digest(server: RunningServer, tenant: Tenant) -> None:
    new = made(server, tenant, products=[OWN, OWN])
    key = new["apiKey"]

    assert re.fullmatch("rdr_[0-9a-f]{64}", key)
    assert (new["orgId"], new["products"]) == (tenant.org_id, [OWN])
    kept = listed(server, tenant, "reader-keys", new["id"])
    assert kept == {
        "id": new["id"],
        "name": "wall display",
        "createdAt": new["createdAt"],
        "lastUsedAt": None,
        "revokedAt": None,
        "products": [OWN],
    }
    for file in server.database.parent.iterdir():
        if file.is_file():
            assert key.removeprefix("rdr_").encode() not in file.read_bytes()


def test_making_and_revoking_is_in_the_audit_log(server: RunningServer, tenant: Tenant) -> None:
    key = made(server, tenant, products=[OWN])
    path = f"{tenant.path}/reader-keys/{key['id']}"
    for _ in range(2):
        tell(server.url, "DELETE", path, bearer(tenant.admin))

    log = tell(server.url, "GET", f"{tenant.path}/audit-log?limit=100", bearer(tenant.owner))
    of_key = [one for one in log["items"] if one["target"] == key["id"]]
    assert [(one["action"], one["details"]) for one in of_key] == [
        ("reader_key.revoked", {"name": "wall display"}),
        (
            "reader_key.created",
            {"name": "wall display", "products": [["acme/firmware", "hardware"]]},
        ),
    ]
    kept = listed(server, tenant, "reader-keys", key["id"])
    assert of_key[0]["at"] == kept["revokedAt"], "the first of the two revocations"


@pytest.mark.parametrize(
    "products", [[], [{"repoKey": "r"}], [OWN] * 101, [{**OWN, "branch": "x"}], "r:s"]
)
def test_a_binding_is_a_list_of_products_or_left_out(
    server: RunningServer, tenant: Tenant, products: Any
) -> None:
    body = {"name": "wall display", "products": products}
    path = f"{tenant.path}/reader-keys"

    assert ask(server.url, "POST", path, bearer(tenant.owner), json_body=body).error[0] == 400


def test_a_bound_key_reads_its_products_where_they_are_named_and_nothing_else(
    server: RunningServer, tenant: Tenant
) -> None:
    own = made(server, tenant, products=[OWN])["apiKey"]
    other = made(server, tenant, products=[{**OWN, "suite": "other"}])["apiKey"]
    of_all = {"/products"}
    of_one = {
        path.removeprefix(tenant.path)
        for path in paths(tenant)
        if any(tenant.ids[thing] in path for thing in BY_ID.values())
    }
    never = {"/suite-configs"}

    everything = statuses(server, tenant, tenant.reader_key)
    assert set(everything.values()) == {200}
    unnamed = statuses(server, tenant, own)
    always = of_all | of_one | {"/ci-analysis/test"}
    assert {path for path, status in unnamed.items() if status == 200} == always
    named = statuses(server, tenant, own, named=True)
    assert {path for path, status in named.items() if status == 403} == never
    assert set(named.values()) == {200, 403}
    foreign = statuses(server, tenant, other, named=True)
    assert {path for path, status in foreign.items() if status == 200} == of_all
    assert set(foreign.values()) == {200, 403}


def test_a_bound_key_is_told_what_to_name(server: RunningServer, tenant: Tenant) -> None:
    key = made(server, tenant, products=[OWN])["apiKey"]

    for query in ("", "?repoKey=acme/firmware"):
        refused = ask(server.url, "GET", f"{tenant.path}/ci-metrics{query}", ci_key(key))
        assert refused.error[0] == 403
        assert "name one of them with repoKey and suite" in refused.error[1]
    products = tell(server.url, "GET", f"{tenant.path}/products", ci_key(key))
    assert [(one["repoKey"], one["suite"]) for one in products["items"]] == [tuple(OWN.values())]
    other = made(server, tenant, products=[{**OWN, "suite": "other"}])["apiKey"]
    assert tell(server.url, "GET", f"{tenant.path}/products", ci_key(other))["total"] == 0


def test_a_key_is_shown_what_it_reads(server: RunningServer, tenant: Tenant) -> None:
    key = made(server, tenant, products=[OWN])["apiKey"]

    shown = tell(server.url, "GET", "/api/reader-key", ci_key(key))

    assert (shown["name"], shown["products"]) == ("wall display", [OWN])
    assert shown["organization"]["id"] == tenant.org_id
    assert tell(server.url, "GET", "/api/reader-key", ci_key(tenant.reader_key))["products"] == []


def test_a_key_in_the_wrong_place_is_told_the_right_one(
    server: RunningServer, tenant: Tenant
) -> None:
    path = f"{tenant.path}/runs"

    as_token = ask(server.url, "GET", path, bearer(tenant.reader_key)).error
    of_ci = ask(server.url, "GET", path, ci_key(tenant.ci_key)).error
    elsewhere = ask(server.url, "GET", f"{tenant.path}/members", ci_key(tenant.reader_key)).error

    assert (as_token[0], of_ci[0], elsewhere[0]) == (401, 401, 401)
    assert "send it in X-API-Key, without Authorization" in as_token[1]
    assert "a reader key (rdr_…) reads metrics, failures and runs" in of_ci[1]
    assert "for all else send Authorization: Bearer with an access token" in elsewhere[1]


@pytest.mark.parametrize("revoked", [True, False], ids=["revoked", "never made"])
def test_a_reader_key_that_does_not_work_is_told_so(
    server: RunningServer, tenant: Tenant, *, revoked: bool
) -> None:
    key = made(server, tenant)
    value = key["apiKey"] if revoked else new_api_key(READER_KEY_PREFIX)
    tell(server.url, "DELETE", f"{tenant.path}/reader-keys/{key['id']}", bearer(tenant.admin))

    assert ask(server.url, "GET", "/api/reader-key", ci_key(value)).error == (
        401,
        "X-API-Key is not a reader key that works; create a new one",
    )


def test_a_reader_key_reports_nothing(server: RunningServer, tenant: Tenant) -> None:
    refused = ask(
        server.url,
        "POST",
        "/api/ci/run-report",
        ci_key(tenant.reader_key),
        json_body=report(run_id=900),
    )

    assert refused.error == (
        401,
        "X-API-Key is a reader key, which reads and reports nothing; report with a CI key",
    )


async def test_a_stream_takes_the_key_in_the_first_frame_and_ends_when_it_is_revoked(
    server: RunningServer, tenant: Tenant
) -> None:
    key = made(server, tenant)
    async with (
        aiohttp.ClientSession() as http,
        http.ws_connect(f"{server.url}{tenant.path}/runs/ws") as ws,
    ):
        await ws.send_json({"type": "auth", "token": key["apiKey"]})
        path = f"{tenant.path}/reader-keys/{key['id']}"
        by_owner = {"Authorization": f"Bearer {tenant.owner}"}
        async with http.delete(server.url + path, headers=by_owner) as revoked:
            assert revoked.status == 204
        assert (await ws.receive(timeout=PATIENCE_SECONDS)).type is aiohttp.WSMsgType.CLOSE
        assert ws.close_code == 4401


def test_a_read_and_a_refused_report_count_as_use(server: RunningServer, tenant: Tenant) -> None:
    reader = made(server, tenant)
    ci = tell(
        server.url, "POST", f"{tenant.path}/ci-keys", bearer(tenant.owner), body={"name": "ci"}
    )
    assert listed(server, tenant, "reader-keys", reader["id"])["lastUsedAt"] is None
    assert listed(server, tenant, "ci-keys", ci["id"])["lastUsedAt"] is None

    tell(server.url, "GET", f"{tenant.path}/runs", ci_key(reader["apiKey"]))
    for body in ({}, {"repo_key": ""}):
        refused = ask(
            server.url, "POST", "/api/ci/run-report", ci_key(ci["apiKey"]), json_body=body
        )
        assert refused.status == 400

    assert listed(server, tenant, "reader-keys", reader["id"])["lastUsedAt"] is not None
    assert listed(server, tenant, "ci-keys", ci["id"])["lastUsedAt"] is not None
