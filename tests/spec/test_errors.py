# SPDX-License-Identifier: Apache-2.0
"""The shape of errors, and what each status is for (spec, "Errors")."""

from uuid import uuid4

import pytest

from tests.spec.quoting import shows
from tests.spec.service import ANNOUNCE, REPORT, Service, announcement, of_server, report
from tests.support.asking import Reply, ask, bearer, ci_key, read_reply, say
from tests.support.running import EMAIL, PASSWORD, RunningServer

STATUS_CODE = "| `statusCode` | integer |"
ERROR = "| `error` | string (HTTP reason phrase) |"
MESSAGE = "| `message` | string |"
NOT_FOUND = "| 404 | Resource not found (a body of this kind names the resource) |"
CLASH = "| 409 | Unique-constraint violation; the message names the clashing field |"
BROKEN = "| 400 | Request body breaks the field rules (including CI report endpoints) |"

PHRASES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    413: "Content Too Large",
    415: "Unsupported Media Type",
}


def register(server: RunningServer, email: str) -> Reply:
    body = {"email": email, "password": PASSWORD}
    return ask(server.url, "POST", "/api/auth/register", json_body=body)


def refusals(server: RunningServer) -> list[Reply]:
    """Return an error of every kind, the parser's own included."""
    service = of_server(server)
    member = service.acting(server.member_token)
    key, path = ci_key(service.key), ANNOUNCE[1]
    text = ("Content-Type", "text/plain")
    return [
        service.send(ANNOUNCE, {}),
        ask(server.url, "POST", path, key, ("Content-Type", "application/json"), data=b"{"),
        service.send(ANNOUNCE, announcement(), "svc_wrong"),
        ask(server.url, "GET", "/api/auth/me"),
        member.ask("POST", "ci-keys", {"name": "x"}),
        service.ask("DELETE", f"ci-keys/{uuid4()}"),
        ask(server.url, "GET", "/api/nothing"),
        ask(server.url, "PATCH", path),
        register(server, EMAIL),
        service.send(ANNOUNCE, {"x": "x" * 70_000}),
        ask(server.url, "POST", path, key, text, data=b"{}"),
        service.ask("GET", "ci-metrics", days=0),
        read_reply(say(server.url, b"NONSENSE\r\n\r\n")),
    ]


@shows(STATUS_CODE, ERROR, MESSAGE)
def test_every_error_has_its_status_phrase_and_message(server: RunningServer) -> None:
    replies = refusals(server)

    assert {reply.status for reply in replies} == set(PHRASES)
    for reply in replies:
        body = reply.json
        assert body["statusCode"] == reply.status
        assert type(body["statusCode"]) is int
        assert body["error"] == PHRASES[reply.status]
        assert isinstance(body["message"], str)
        assert body["message"]


def test_every_response_carries_a_request_id(server: RunningServer, service: Service) -> None:
    good = [
        service.send(ANNOUNCE, announcement()),
        service.ask("GET", "ci-metrics"),
        ask(server.url, "GET", "/healthz"),
        ask(server.url, "GET", "/api/openapi.json"),
    ]
    ids = [reply.headers["x-request-id"] for reply in [*good, *refusals(server)]]

    assert all(ids)
    assert len(set(ids)) == len(ids)
    named = ask(server.url, "GET", "/healthz", ("x-request-id", "build-77"))
    assert named.headers["x-request-id"] == "build-77"


@shows(BROKEN)
def test_a_validation_error_lists_issues_by_path(server: RunningServer, service: Service) -> None:
    reply = service.send(REPORT, report("a", 1, {"id": ""}, sha="x"))

    body = reply.json
    assert (body["statusCode"], body["error"]) == (400, "Bad Request")
    assert body["message"] == "Validation failed"
    assert [issue["path"] for issue in body["issues"]] == [
        ["body", "sha"],
        ["body", "tests", 0, "id"],
        ["body", "tests", 0, "outcome"],
        ["body", "tests", 0, "attempts"],
        ["body", "tests", 0, "duration_s"],
    ]
    assert all(isinstance(issue["message"], str) and issue["message"] for issue in body["issues"])
    assert service.ask("GET", "ci-keys", limit=0).issue_paths == [["query", "limit"]]
    others = [reply for reply in refusals(server) if reply.status != 400]
    assert not any("issues" in reply.json for reply in others)


@shows(BROKEN)
def test_other_bodies_are_held_to_their_rules_too(server: RunningServer) -> None:
    token = bearer(server.token)
    for path, where in (
        ("/api/auth/login", ["email", "password"]),
        ("/api/auth/register", ["email", "password"]),
        ("/api/orgs", ["name"]),
        (f"/api/orgs/{server.org_id}/ci-keys", ["name"]),
    ):
        reply = ask(server.url, "POST", path, token, json_body={})
        assert reply.issue_paths == [["body", name] for name in where]


@shows(NOT_FOUND)
@pytest.mark.parametrize("missing", ["00000000-0000-4000-8000-000000000000", "none"])
def test_a_404_names_the_resource(service: Service, missing: str) -> None:
    calls = {
        "CI key not found": service.ask("DELETE", f"ci-keys/{missing}"),
        "Failure not found": service.ask("GET", f"ci-failures/{missing}"),
        "Organization not found": ask(
            service.url, "GET", f"/api/orgs/{missing}", bearer(service.token)
        ),
    }
    for message, reply in calls.items():
        assert reply.error == (404, message)
    assert service.review(missing, "confirm").error == (404, "Failure not found")


@shows(CLASH)
def test_a_409_names_the_clashing_field(server: RunningServer) -> None:
    assert register(server, "twice@example.org").status == 201

    status, message = register(server, "twice@example.org").error
    assert status == 409
    assert "email" in message
