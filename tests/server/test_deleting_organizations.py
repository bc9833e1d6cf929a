# SPDX-License-Identifier: Apache-2.0
"""An owner deletes an organization: it is closed at once, whoever asks, and an owner undoes it for
seven days. What goes afterwards is in `storage/test_deleted_organizations.py`.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from hwci.contract.ci_systems import SigningSystem
from hwci.wire import limits
from tests.server.crooked import Crooked, crooked_provider
from tests.server.tenants import HEAD, OURS, THEIRS, Tenant, found, kept, tell
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import PASSWORD, Hands, RunningServer, report, running_in_thread

GRACE = timedelta(days=7)
LAST = "Organization not found"


@pytest.fixture
def issuer() -> Iterator[Crooked]:
    with crooked_provider() as provider:
        yield provider


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def server(issuer: Crooked, hands: Hands, tmp_path: Path) -> Iterator[RunningServer]:
    issuers = ((SigningSystem.GITHUB, issuer.url),)
    with running_in_thread(tmp_path, clock=hands, ci_issuers=issuers) as running:
        yield running


@pytest.fixture
def tenant(server: RunningServer, issuer: Crooked) -> Tenant:
    return found(server, OURS, issuer)


def delete(server: RunningServer, tenant: Tenant) -> str:
    """Delete an organization, and return the line that who asks afterwards reads."""
    answer = tell(server.url, "DELETE", tenant.path, bearer(tenant.owner))
    until = datetime.fromisoformat(answer["eraseAt"])
    return (
        f"The organization is deleted; until {until:%Y-%m-%d %H:%M} UTC an owner can undo it:"
        f" hwci orgs undelete {tenant.org_id}"
    )


def undelete(server: RunningServer, tenant: Tenant) -> Reply:
    return ask(server.url, "POST", f"{tenant.path}/undelete", bearer(tenant.owner))


def by_keys(server: RunningServer, tenant: Tenant) -> dict[str, Reply]:
    """Ask what each kind of key is for."""
    return {
        kind: ask(server.url, method, path, header, json_body=body)
        for kind, method, path, header, body in (
            ("CI", "POST", "/api/ci/run-report", ci_key(tenant.ci_key), report(run_id=90)),
            ("job", "POST", "/api/ci/run-report", ci_key(tenant.job_key), report(run_id=91)),
            ("beat", "POST", "/api/box/heartbeat", ci_key(tenant.box_key), None),
            ("live", "POST", "/api/box/runs", ci_key(tenant.box_key), HEAD),
            ("reader", "GET", f"{tenant.path}/runs", ci_key(tenant.reader_key), None),
            ("own", "GET", "/api/reader-key", ci_key(tenant.reader_key), None),
        )
    }


def test_all_keys_stop_at_once_and_work_again_when_it_is_undone(
    server: RunningServer, tenant: Tenant
) -> None:
    line = delete(server, tenant)
    before = kept(server, tenant)

    assert {kind: reply.error for kind, reply in by_keys(server, tenant).items()} == dict.fromkeys(
        ("CI", "job", "beat", "live", "reader", "own"), (401, line)
    )
    assert kept(server, tenant) == before

    assert undelete(server, tenant).json["eraseAt"] is None
    assert {kind: reply.status for kind, reply in by_keys(server, tenant).items()} == {
        "CI": 204,
        "job": 204,
        "beat": 204,
        "live": 201,
        "reader": 200,
        "own": 200,
    }


def test_members_read_that_it_is_deleted_and_others_nothing(
    server: RunningServer, tenant: Tenant
) -> None:
    other = found(server, THEIRS)
    line = delete(server, tenant)

    for path in ("/runs", "/ci-metrics", "/members", "/audit-log", "/ci-keys"):
        for token in (tenant.owner, tenant.admin):
            reply = ask(server.url, "GET", f"{tenant.path}{path}", bearer(token))
            assert reply.error == (404, line), path
        hidden = ask(server.url, "GET", f"{tenant.path}{path}", bearer(other.owner))
        assert hidden.error == (404, LAST)
    again = ask(server.url, "DELETE", tenant.path, bearer(tenant.owner))
    assert again.error == (404, line)
    name = {"name": "new"}
    made = ask(server.url, "POST", f"{tenant.path}/ci-keys", bearer(tenant.owner), json_body=name)
    assert made.error == (404, line)

    shown = tell(server.url, "GET", tenant.path, bearer(tenant.member))
    (listed,) = tell(server.url, "GET", "/api/orgs", bearer(tenant.owner))["items"]
    (mine,) = tell(server.url, "GET", "/api/auth/me", bearer(tenant.owner))["organizations"]
    assert shown["eraseAt"] == listed["eraseAt"] == mine["eraseAt"] is not None
    assert tell(server.url, "GET", other.path, bearer(other.owner))["eraseAt"] is None


def test_only_an_owner_deletes_and_undoes_it(server: RunningServer, tenant: Tenant) -> None:
    refused = "This needs the role owner; you are {}"
    people = {"admin": tenant.admin, "member": tenant.member}
    for role, token in people.items():
        reply = ask(server.url, "DELETE", tenant.path, bearer(token))
        assert reply.error == (403, refused.format(role))
    delete(server, tenant)
    for role, token in people.items():
        reply = ask(server.url, "POST", f"{tenant.path}/undelete", bearer(token))
        assert reply.error == (403, refused.format(role))
    assert undelete(server, tenant).status == 200
    nothing = "The organization is not deleted; there is nothing to undo"
    assert undelete(server, tenant).error == (409, nothing)


def test_it_is_undone_until_the_grace_is_over(
    server: RunningServer, tenant: Tenant, hands: Hands
) -> None:
    assert limits.ORGANIZATION_GRACE == GRACE
    answer = tell(server.url, "DELETE", tenant.path, bearer(tenant.owner))
    assert datetime.fromisoformat(answer["eraseAt"]) == hands.now + GRACE

    hands.move(days=7)
    owner = sign_in_again(server)
    reply = ask(server.url, "POST", f"{tenant.path}/undelete", owner)
    assert reply.error == (404, LAST)
    hands.move(seconds=-1)
    assert ask(server.url, "POST", f"{tenant.path}/undelete", owner).status == 200


def sign_in_again(server: RunningServer) -> tuple[str, str]:
    body = {"email": f"owner-{OURS}@example.net", "password": PASSWORD}
    return bearer(tell(server.url, "POST", "/api/auth/login", body=body)["accessToken"])


def test_both_deeds_are_in_the_audit_log(server: RunningServer, tenant: Tenant) -> None:
    delete(server, tenant)
    undelete(server, tenant)

    path = f"{tenant.path}/audit-log?limit=100"
    log = tell(server.url, "GET", path, bearer(tenant.owner))["items"]
    deeds = [entry for entry in log if entry["action"].startswith("organization.")]
    assert [(entry["action"], entry["target"]) for entry in deeds] == [
        ("organization.undeleted", tenant.org_id),
        ("organization.deleted", tenant.org_id),
    ]
    assert {entry["actor"]["name"] for entry in deeds} == {f"owner-{OURS}@example.net"}


def test_nobody_joins_and_no_box_or_job_comes(
    server: RunningServer, tenant: Tenant, issuer: Crooked, hands: Hands
) -> None:
    org, owner = tenant.path, bearer(tenant.owner)
    sent = tell(
        server.url,
        "POST",
        f"{org}/invites",
        owner,
        body={"email": "late@example.net", "role": "member"},
    )
    box = tell(server.url, "POST", f"{org}/boxes", owner, body={"name": "bench-9"})
    line = delete(server, tenant)

    body = {"email": "late@example.net", "password": PASSWORD}
    late = {**body, "inviteToken": sent["inviteToken"]}
    assert ask(server.url, "POST", "/api/auth/register", json_body=late).status == 403
    token = {"installToken": box["installToken"]}
    installed = ask(server.url, "POST", "/api/boxes/install", json_body=token)
    assert installed.error == (401, line)
    job = ask(
        server.url, "POST", "/api/ci/job-key", json_body=job_token(server, tenant, issuer, hands)
    )
    assert job.error == (401, line)

    undelete(server, tenant)
    assert tell(server.url, "POST", "/api/boxes/install", body=token)["name"] == "bench-9"
    assert tell(server.url, "POST", "/api/auth/register", body=late)["organization"] is not None


def job_token(
    server: RunningServer, tenant: Tenant, issuer: Crooked, hands: Hands
) -> dict[str, str]:
    now = int(hands.now.timestamp())
    claims = {"iss": issuer.url, "aud": server.url, "jti": "late", "iat": now, "exp": now + 300}
    ids = {"repository_id": "74", "repository_owner_id": "65", "repository": "acme/firmware"}
    return {"orgId": tenant.org_id, "token": issuer.signed({**claims, **ids})}
