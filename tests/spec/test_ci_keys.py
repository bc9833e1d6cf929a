# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""CI keys: their fields, states and endpoints, and what they open (spec, "CI key", "CI key
management", "Authentication")."""

import re
from typing import Any
from uuid import uuid4

import pytest

from hwci.wire.base import parse_time
from tests.spec.fields import NAMES_BAD, NAMES_OK
from tests.spec.quoting import shows
from tests.spec.service import (
    ANNOUNCE,
    CONFIGURE,
    REPORT,
    Json,
    Service,
    announcement,
    configuration,
    of_server,
    passed,
    report,
)
from tests.support.asking import ask, bearer, ci_key
from tests.support.running import RunningServer

NAME = "| `name` | string, 1 to 255 characters | Required at creation |"
API_KEY = "| `apiKey` | string | Returned only in the creation response: prefix `svc_` followed by 64 hexadecimal characters. Never returned again and never in the list. |"
TIMES = "| creation time, last-used time, revocation time | timestamps | Shown in the list, together with the name |"

CREATE = "| (none) | create | caller is an owner or admin of the organization | active | key value returned once |"
REVOKE = "| active | revoke | caller is an owner or admin | revoked | the key stops working immediately; revocation time is recorded |"

POST = "| POST | `/api/orgs/<org_id>/ci-keys` | body `{name}`; response contains `apiKey` | owners and admins |"
GET = "| GET | `/api/orgs/<org_id>/ci-keys` | response lists name, creation, last-used and revocation times; never the key | every member |"
DELETE = "| DELETE | `/api/orgs/<org_id>/ci-keys/<key_id>` | none | owners and admins |"

SCHEME = "| Box or CI key | boxes, CI | header `X-API-Key: <API_KEY>` | prefix `svc_` followed by 64 hexadecimal characters |"
HASHED = "3. The key is stored by the service only in hashed form (a database leak alone does not yield working keys)."
CI_KEY = "4. A CI key is created with an owner or admin access token. Its value is returned once. It is accepted only by the three CI report endpoints. A revoked key is rejected immediately with 401."
ROLES = "5. Roles shown: owner, admin, member. Owners and admins create and revoke CI keys and review failures; every member may list CI keys."

LIMIT = "| CI key name | 1 to 255 characters | CI key creation |"

KEY = re.compile(r"svc_[0-9a-f]{64}")
ENDPOINTS: list[tuple[tuple[str, str], Json]] = [
    (ANNOUNCE, announcement()),
    (REPORT, report("a", 1, passed())),
    (CONFIGURE, configuration()),
]


def create(service: Service, name: str = "runner") -> Json:
    reply = service.ask("POST", "ci-keys", {"name": name})
    assert reply.status == 201
    return dict(reply.json)


def listed(service: Service, key_id: str) -> Json:
    (found,) = [key for key in service.get("ci-keys", limit=100)["items"] if key["id"] == key_id]
    return dict(found)


@shows(NAME, LIMIT)
def test_a_name_has_1_to_255_characters_and_is_required(service: Service) -> None:
    for name in NAMES_OK:
        assert create(service, name)["name"] == name
    for wrong in (*NAMES_BAD, None):
        reply = service.ask("POST", "ci-keys", {"name": wrong})
        assert reply.issue_paths == [["body", "name"]]
    assert service.ask("POST", "ci-keys", {}).issue_paths == [["body", "name"]]


@shows(API_KEY, POST, SCHEME)
def test_the_key_is_in_the_creation_response_and_nowhere_else(service: Service) -> None:
    made = create(service)
    value = made["apiKey"]

    assert KEY.fullmatch(value)
    assert create(service)["apiKey"] != value
    for path in ("ci-keys", "audit-log"):
        assert b"svc_" not in service.ask("GET", path).body
    assert service.ask("GET", f"ci-keys/{made['id']}").status in {404, 405}


@shows(TIMES, GET)
def test_the_list_shows_the_name_and_three_times(service: Service) -> None:
    made = create(service, "runner 7")
    new = listed(service, made["id"])
    service.send(ANNOUNCE, announcement(), made["apiKey"])
    used = listed(service, made["id"])
    service.ask("DELETE", f"ci-keys/{made['id']}")
    ended = listed(service, made["id"])

    assert new == {
        "id": made["id"],
        "name": "runner 7",
        "createdAt": made["createdAt"],
        "lastUsedAt": None,
        "revokedAt": None,
    }
    created, last = parse_time(new["createdAt"]), parse_time(used["lastUsedAt"])
    assert created <= last <= parse_time(ended["revokedAt"])
    assert ended["lastUsedAt"] == used["lastUsedAt"]


@shows(CREATE)
def test_a_created_key_is_active(service: Service) -> None:
    value = create(service)["apiKey"]

    for endpoint, body in ENDPOINTS:
        assert service.send(endpoint, body, value).status == 204


@shows(REVOKE, CI_KEY, DELETE)
def test_a_revoked_key_stops_at_once_and_other_keys_work_on(service: Service) -> None:
    made = create(service)
    for endpoint, body in ENDPOINTS:
        assert service.send(endpoint, body, made["apiKey"]).status == 204

    revoked = service.ask("DELETE", f"ci-keys/{made['id']}")
    assert (revoked.status, revoked.body) == (204, b"")
    for endpoint, body in ENDPOINTS:
        assert service.send(endpoint, body, made["apiKey"]).error[0] == 401
        assert service.send(endpoint, body).status == 204
    assert listed(service, made["id"])["revokedAt"] is not None


@shows(CREATE, REVOKE, POST, GET, DELETE, ROLES, CI_KEY)
def test_owners_and_admins_create_and_revoke_and_every_member_lists(server: RunningServer) -> None:
    owner = of_server(server)
    admin, member = owner.acting(server.admin_token), owner.acting(server.member_token)

    assert member.ask("POST", "ci-keys", {"name": "x"}).error[0] == 403
    for manager in (owner, admin):
        made = create(manager)
        assert member.ask("DELETE", f"ci-keys/{made['id']}").error[0] == 403
        for anyone in (owner, admin, member):
            assert listed(anyone, made["id"])["revokedAt"] is None
        assert manager.ask("DELETE", f"ci-keys/{made['id']}").status == 204
        assert listed(member, made["id"])["revokedAt"] is not None


@shows(POST, GET, DELETE)
def test_the_keys_of_an_organization_are_its_own(server: RunningServer, service: Service) -> None:
    made = create(service)
    stranger = service.acting(server.member_token)

    assert stranger.ask("GET", "ci-keys").error == (404, "Organization not found")
    assert stranger.ask("POST", "ci-keys", {"name": "x"}).error[0] == 404
    other = of_server(server)
    assert other.ask("DELETE", f"ci-keys/{made['id']}").error == (404, "CI key not found")
    assert other.ask("DELETE", f"ci-keys/{uuid4()}").error == (404, "CI key not found")
    assert made["id"] not in {key["id"] for key in other.get("ci-keys", limit=100)["items"]}


@shows(CI_KEY, SCHEME)
def test_a_ci_key_opens_the_three_report_endpoints_and_nothing_else(service: Service) -> None:
    routes = ask(service.url, "GET", "/api/openapi.json").json["paths"]
    reports = {path for _, path in (ANNOUNCE, REPORT, CONFIGURE)}
    closed = []
    for path, methods in routes.items():
        for method, route in methods.items():
            # A plain request to the WebSocket is refused as such, whoever sends it.
            if path not in reports and route["security"] and "101" not in route["responses"]:
                address = re.sub("{orgId}", str(service.org_id), path)
                address = re.sub("{[^}]+}", str(uuid4()), address)
                for headers in ((ci_key(service.key),), (bearer(service.key),)):
                    reply = ask(service.url, method.upper(), address, *headers, json_body={})
                    closed.append((path, method, reply.status))

    assert len(closed) > 30
    assert {status for *_, status in closed} == {401}


@shows(SCHEME)
@pytest.mark.parametrize("endpoint", [endpoint for endpoint, _ in ENDPOINTS])
def test_a_key_is_carried_in_x_api_key_alone(service: Service, endpoint: tuple[str, str]) -> None:
    method, path = endpoint
    body: dict[str, Any] = dict(dict(ENDPOINTS)[endpoint])
    for header in (bearer(service.key), bearer(service.token), ("Cookie", service.key)):
        assert ask(service.url, method, path, header, json_body=body).error[0] == 401
    query = f"{path}?X-API-Key={service.key}"
    assert ask(service.url, method, query, json_body=body).error[0] == 401
    assert ask(service.url, method, path, ci_key(service.key), json_body=body).status == 204


@shows(HASHED)
def test_the_database_does_not_hold_the_key(server: RunningServer, service: Service) -> None:
    value = create(service)["apiKey"]
    service.send(ANNOUNCE, announcement(), value)
    digits = value.removeprefix("svc_")
    files = [file for file in server.database.parent.iterdir() if file.is_file()]

    assert any(b"ci_key" in file.read_bytes() for file in files)
    for file in files:
        data = file.read_bytes()
        assert digits.encode() not in data
        assert bytes.fromhex(digits) not in data


@shows(ROLES)
def test_an_organization_says_what_the_caller_is_in_it(server: RunningServer) -> None:
    people = {"owner": server.token, "admin": server.admin_token, "member": server.member_token}
    for role, token in people.items():
        (found,) = [
            organization
            for organization in ask(server.url, "GET", "/api/auth/me", bearer(token)).json[
                "organizations"
            ]
            if organization["id"] == str(server.org_id)
        ]
        assert found["role"] == role
