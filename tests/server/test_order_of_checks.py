# SPDX-License-Identifier: Apache-2.0
"""The order of checks, route by route from the route table (contract, "Everywhere")."""

import asyncio
import re
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest

from hwci.server.http.call import Call, parameters_of
from hwci.server.routes.table import ROUTES
from hwci.server.services.access import Member, Person, Viewer
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.storage.records import Box, CiKey, ReaderKey, User
from hwci.wire.endpoint import Endpoint, Who
from tests.server.tenants import CONFIGURATION
from tests.support.asking import Header, Reply, ask, bearer, ci_key
from tests.support.benches import Benches
from tests.support.running import Hands, RunningServer, new_organization, sign_in

OTHER = "other@example.org"
OFF = "off@example.org"


def of(*kinds: Who) -> list[Endpoint]:
    return [route for route in ROUTES if route.who in kinds]


def named(route: Endpoint) -> str:
    return f"{route.method} {route.path}"


BEARER = of(Who.USER, Who.MEMBER, Who.READER, Who.ADMIN, Who.OWNER)
IN_ORG = of(Who.MEMBER, Who.READER, Who.ADMIN, Who.OWNER)
KEYS = of(Who.CI_KEY, Who.BOX, Who.READER_KEY)
each_bearer = pytest.mark.parametrize("route", BEARER, ids=named)
each_in_org = pytest.mark.parametrize("route", IN_ORG, ids=named)
each_key = pytest.mark.parametrize("route", KEYS, ids=named)
each_admin = pytest.mark.parametrize("route", of(Who.ADMIN), ids=named)
each_with_body = pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.body], ids=named
)


def path_of(route: Endpoint, org_id: object) -> str:
    other = str(uuid4())
    path = route.path.replace("{orgId}", str(org_id))
    return path.replace("{keyId}", other).replace("{failureId}", other)


def send(server: RunningServer, route: Endpoint, *headers: Header, org_id: object = None) -> Reply:
    """Send a request whose body is broken in every way, so that earlier checks are seen to win."""
    path = path_of(route, org_id or server.org_id)
    data = b"\xff" if route.body else None
    return ask(server.url, route.method, path, *headers, data=data)


def send_query(server: RunningServer, route: Endpoint, query: str) -> Reply:
    """Send a query with a body that passes, where the route takes one: it is looked at first."""
    path = path_of(route, server.org_id)
    if "{webhookId}" in path:  # a list of what it was sent
        path = path.replace("{webhookId}", webhook(server))
    path += query
    body = CONFIGURATION if route.body else None
    return ask(server.url, route.method, path, credential(server, route), json_body=body)


def webhook(server: RunningServer) -> str:
    """Return the id of a webhook: the first, made if there is none."""
    path = f"/api/orgs/{server.org_id}/webhooks"
    known = ask(server.url, "GET", path, bearer(server.token)).json["items"]
    if known:
        return str(known[0]["id"])
    body = {"address": "https://chat.example/"}
    return str(ask(server.url, "POST", path, bearer(server.token), json_body=body).json["id"])


def credential(server: RunningServer, route: Endpoint) -> Header:
    if route.who is not Who.READER_KEY:
        return bearer(server.token)
    path, named = f"/api/orgs/{server.org_id}/reader-keys", {"name": "wall"}
    made = ask(server.url, "POST", path, bearer(server.token), json_body=named)
    return ci_key(made.json["apiKey"])


@pytest.fixture(scope="module")
def stranger(server: RunningServer) -> str:
    new_organization(server.location, OTHER)
    return asyncio.run(sign_in(server.url, OTHER))


@each_bearer
@pytest.mark.parametrize("case", ["none", "empty", "scheme", "garbage", "key", "twice"])
def test_without_a_good_access_token_is_401(
    server: RunningServer, route: Endpoint, case: str
) -> None:
    headers: dict[str, list[Header]] = {
        "none": [],
        "empty": [("Authorization", "")],
        "scheme": [("Authorization", f"Basic {server.token}")],
        "garbage": [bearer(server.token[:-4] + "AAAA")],
        "key": [bearer(server.ci_key), ci_key(server.ci_key)],
        "twice": [bearer(server.token), bearer(server.token)],
    }

    reply = send(server, route, *headers[case])

    assert reply.error[0] == 401
    key_too = ', ApiKey realm="hwci"' if route.who is Who.READER else ""
    assert reply.headers["www-authenticate"] == f'Bearer realm="hwci"{key_too}'


@each_key
@pytest.mark.parametrize("case", ["none", "empty", "garbage", "wrong", "token", "twice", "é"])
def test_without_a_good_key_is_401(server: RunningServer, route: Endpoint, case: str) -> None:
    headers: dict[str, list[Header]] = {
        "none": [],
        "empty": [("X-API-Key", "")],
        "garbage": [ci_key("svc_")],
        "wrong": [ci_key("svc_" + "0" * 64)],
        "token": [bearer(server.token), ci_key(server.token)],
        "twice": [ci_key(server.ci_key), ci_key(server.ci_key)],
        "é": [ci_key("é")],
    }

    reply = send(server, route, *headers[case])

    assert reply.error[0] == 401
    assert reply.headers["www-authenticate"] == 'ApiKey realm="hwci"'


@each_in_org
def test_an_organization_of_others_looks_like_none(
    server: RunningServer, route: Endpoint, stranger: str
) -> None:
    of_others = send(server, route, bearer(stranger))
    unknown = send(server, route, bearer(stranger), org_id=uuid4())
    malformed = [
        send(server, route, bearer(stranger), org_id=text)
        for text in ("x", "0", server.org_id.hex, f"%7B{server.org_id}%7D", "%00")
    ]

    assert of_others.error == (404, "Organization not found")
    assert {reply.body for reply in malformed} | {unknown.body} == {of_others.body}
    assert {reply.status for reply in malformed} | {unknown.status} == {404}


@each_admin
def test_a_member_without_the_role_is_403(server: RunningServer, route: Endpoint) -> None:
    assert send(server, route, bearer(server.member_token)).error == (
        403,
        "This needs the role owner or admin; you are member",
    )


@pytest.fixture(scope="module")
def off(server: RunningServer) -> tuple[str, str, str]:
    """An organization without CI Metrics: its id, its owner's token and a key of it."""
    org_id = str(new_organization(server.location, OFF, ci_metrics=False))
    token = asyncio.run(sign_in(server.url, OFF))
    path = f"/api/orgs/{org_id}/ci-keys"
    made = ask(server.url, "POST", path, bearer(token), json_body={"name": "k"})
    return org_id, token, made.json["apiKey"]


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.metrics or route.who is Who.CI_KEY], ids=named
)
def test_while_ci_metrics_is_off_the_feature_is_403(
    server: RunningServer, route: Endpoint, off: tuple[str, str, str]
) -> None:
    org_id, token, key = off

    reply = send(server, route, bearer(token), ci_key(key), org_id=org_id)

    assert reply.error == (403, "CI Metrics is not enabled for this organization")


def test_ci_keys_can_be_managed_while_ci_metrics_is_off(
    server: RunningServer, off: tuple[str, str, str]
) -> None:
    org_id, token, _ = off
    listed = ask(server.url, "GET", f"/api/orgs/{org_id}/ci-keys", bearer(token))

    assert [item["name"] for item in listed.json["items"]] == ["k"]


@pytest.fixture(scope="module")
def box_key(server: RunningServer) -> str:
    return Benches(server, Hands()).installed("bench-1")


@pytest.fixture
def api_key(server: RunningServer, route: Endpoint, box_key: str) -> Header:
    """The key that opens the route, if a key does."""
    return ci_key(box_key if route.who is Who.BOX else server.ci_key)


def send_body(
    server: RunningServer, route: Endpoint, api_key: Header, *headers: Header, data: bytes
) -> Reply:
    """Send a body with whatever the route asks who sends it."""
    path = path_of(route, server.org_id)
    by = bearer(server.token), api_key
    return ask(server.url, route.method, path, *by, *headers, data=data)


@each_with_body
@pytest.mark.parametrize(
    "types",
    [
        [],
        ["text/plain"],
        ["application/json; charset=punycode"],
        ["application/json; charset=utf-16"],
        ["application/json, text/plain"],
        ["application/jsonx"],
    ],
    ids=str,
)
def test_a_body_of_another_type_is_415(
    server: RunningServer, route: Endpoint, api_key: Header, types: list[str]
) -> None:
    reply = send_body(
        server, route, api_key, *(("Content-Type", value) for value in types), data=b"{}"
    )

    assert reply.error == (415, "Send the body as Content-Type: application/json, in UTF-8")


@each_with_body
@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "zstd"])
def test_a_body_in_another_encoding_is_415(
    server: RunningServer, route: Endpoint, api_key: Header, encoding: str
) -> None:
    headers = [("Content-Type", "application/json"), ("Content-Encoding", encoding)]
    reply = send_body(server, route, api_key, *headers, data=b"{}")

    assert reply.error[0] == 415


@each_with_body
def test_a_body_that_says_it_is_too_large_is_413_before_it_is_read(
    server: RunningServer, route: Endpoint, api_key: Header
) -> None:
    headers = [
        ("Content-Type", "application/json"),
        ("Content-Length", str(route.body_bytes + 1)),
        ("Connection", "close"),
    ]
    reply = send_body(server, route, api_key, *headers, data=b"{")

    assert reply.error == (413, f"The body is larger than {route.body_bytes} bytes")


@each_with_body
@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b'{"a":"\xff"}', b"\xef\xbb\xbf{}", b"[" * 5000],
    ids=repr,
)
def test_a_body_that_is_no_json_object_is_400_at_the_body(
    server: RunningServer, route: Endpoint, api_key: Header, data: bytes
) -> None:
    reply = send_body(server, route, api_key, ("Content-Type", "application/json"), data=data)

    if route.bodiless and not data:
        assert reply.error == (404, "Failure not found")
        return
    assert reply.issue_paths == [["body"]]


NO_NUMBERS = ["0", "-1", "x", "", "1.5", "+1", "1_0", "٣", "9" * 30]


@pytest.mark.parametrize(
    ("route", "name"),
    [
        (route, name)
        for route in ROUTES
        for name in ("page", "limit", "days")
        if route.query is not None and name in route.query.model_fields
    ],
    ids=lambda value: named(value) if isinstance(value, Endpoint) else value,
)
def test_a_query_that_breaks_the_rules_is_400_at_its_parameter(
    server: RunningServer, route: Endpoint, name: str
) -> None:
    too_large = {"page": str(2**63), "limit": "101", "days": "3651"}[name]
    assert route.query is not None
    fields = route.query.model_fields.items()
    wrong = [about.alias or one for one, about in fields if one == name or about.is_required()]

    for value in (*NO_NUMBERS, too_large):
        reply = send_query(server, route, f"?{name}={quote(value)}")

        assert reply.issue_paths == [["query", one] for one in wrong]


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.query and route.query.model_fields], ids=named
)
def test_a_parameter_given_twice_is_400(server: RunningServer, route: Endpoint) -> None:
    assert route.query is not None
    field, about = next(iter(route.query.model_fields.items()))
    name = about.alias or field
    reply = send_query(server, route, f"?{name}=1&{name}=2")

    assert reply.issue_paths == [["query", name]]


PROVIDERS_WRITE_IT = "/api/auth/sso/{provider}/callback"


@pytest.mark.parametrize(
    "route", [each for each in ROUTES if each.query and each.path != PROVIDERS_WRITE_IT], ids=named
)
def test_a_parameter_that_does_not_exist_is_400(server: RunningServer, route: Endpoint) -> None:
    reply = send_query(server, route, "?colour=red&repo_key=A")

    assert reply.issue_paths == [["query", "colour"], ["query", "repo_key"]]


def test_the_nearest_parameter_is_named(server: RunningServer) -> None:
    def messages_of(path: str) -> list[str]:
        reply = ask(server.url, "GET", f"/api/orgs/{server.org_id}{path}", bearer(server.token))
        return [issue["message"] for issue in reply.json["issues"]]

    none = "There is no such parameter"
    known = "repoKey, suite, asOf, from, days, limit"
    assert messages_of("/ci-metrics?repo_key=A") == [f"{none}; did you mean repoKey?"]
    assert messages_of("/ci-metrics?colour=A") == [f"{none}; known: {known}"]
    assert messages_of("?days=7") == [none]


def test_parameters_that_a_provider_adds_are_ignored(server: RunningServer) -> None:
    reply = ask(server.url, "GET", "/api/auth/sso/nobody/callback?code=x&session_state=y")

    assert reply.status == 404


@pytest.mark.parametrize(
    "route",
    [route for route in ROUTES if route.query and "page" in route.query.model_fields],
    ids=named,
)
def test_a_page_past_the_end_is_empty(server: RunningServer, route: Endpoint) -> None:
    assert route.query is not None
    limit = "&limit=100" if "limit" in route.query.model_fields else ""
    reply = send_query(server, route, f"?page={2**63 - 1}{limit}")

    assert reply.status == 200
    paged = next((name for name in ("changes", "runs") if name in reply.json), None)
    found = reply.json if paged is None else reply.json[paged]
    items = "organizations" if route.path == "/api/auth/me" else "items"
    assert (found[items], found["page"]) == ([], 2**63 - 1)


NOTHING = {"keyId": "key", "failureId": "Failure", "boxId": "Box", "webhookId": "Webhook"}


@pytest.mark.parametrize("text", ["x", "00000000-0000-0000-0000-000000000000"])
@pytest.mark.parametrize(
    ("route", "name"),
    [(route, name) for route in ROUTES for name in NOTHING if f"{{{name}}}" in route.path],
    ids=lambda value: named(value) if isinstance(value, Endpoint) else value,
)
def test_an_id_of_nothing_is_404(
    server: RunningServer, route: Endpoint, name: str, text: str
) -> None:
    path = route.path.replace("{orgId}", str(server.org_id)).replace(f"{{{name}}}", text)
    body: dict[str, object] | None = (
        {"unsent": []} if route.reads else None
    )  # it is looked at first
    if route.method == "PATCH":
        body = {"enabled": True} if name == "webhookId" else {"name": "other"}
    reply = ask(server.url, route.method, path, bearer(server.token), json_body=body)

    kind = re.findall("(ci|reader)-keys", route.path)
    whose = {"ci": "CI ", "reader": "Reader "}[kind[0]] if kind else ""
    assert reply.error == (404, f"{whose}{NOTHING[name]} not found")


CALLERS: dict[Who, set[object]] = {
    Who.ANYONE: set(),
    Who.USER: {Person, User},
    Who.MEMBER: {Member},
    Who.READER: {Viewer},
    Who.FOLLOWER: set(),
    Who.ADMIN: {Member},
    Who.OWNER: {Member},
    Who.READER_KEY: {ReaderKey},
    Who.CI_KEY: {CiKey},
    Who.BOX: {Box},
}


@pytest.mark.parametrize("route", ROUTES, ids=named)
def test_a_handler_takes_what_its_route_has(route: Endpoint) -> None:
    ids = [name for name in re.findall(r"{(\w+Id)}", route.path) if name != "orgId"]
    kinds = {Call, Tags, *CALLERS[route.who], route.body, route.query}
    others = [kind for kind in parameters_of(ROUTES[route]) if kind not in kinds]

    assert others == [UUID | None] * len(ids)
