# SPDX-License-Identifier: Apache-2.0
"""A person who is erased: not a word of theirs is left in the database, what they decided stays,
and the audit log verifies.
"""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from hwci.server.app import AddOwner, EraseUser
from hwci.server.errors import RefusedError
from hwci.server.services.operator.commands import Check, VerifyAudit
from tests.server.tenants import (
    OURS,
    THEIRS,
    Tenant,
    found,
    sign_in_of,
    tell,
    where_it_stands,
)
from tests.support.asking import ask, bearer, ci_key
from tests.support.databases import about_a_file
from tests.support.joining import invite
from tests.support.running import RunningServer, running_in_thread

EMAIL, ADMIN = f"owner-{OURS}@example.net", f"admin-{OURS}@example.net"
NAMED = {"user", "review", "box_note", "known_failure", "delivery"}
NOBODY = "someone who was removed"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path) as running:
        yield running


@pytest.fixture
def tenant(server: RunningServer) -> Tenant:
    return found(server, OURS)


def with_another_owner(server: RunningServer, tenant: Tenant) -> str:
    """Make the admin an owner, and return the id of the one who was alone."""
    server.operate(AddOwner(org_id=UUID(tenant.org_id), email=ADMIN))
    return str(tell(server.url, "GET", "/api/auth/me", bearer(tenant.owner))["user"]["id"])


def test_no_word_of_an_erased_person_is_left_and_what_they_decided_stays(
    server: RunningServer, tenant: Tenant
) -> None:
    user_id = with_another_owner(server, tenant)
    failure = f"{tenant.path}/ci-failures/{tenant.ids['reviewed']}"
    before = tell(server.url, "GET", failure, bearer(tenant.admin))
    assert where_it_stands(server, EMAIL) >= NAMED

    done = server.operate(EraseUser(email=EMAIL))

    assert (done.reviews, done.notes) == (1, 1)
    assert where_it_stands(server, EMAIL) == set()
    after = tell(server.url, "GET", failure, bearer(tenant.admin))
    assert before["resolved"]["review"]["by"]["name"] == EMAIL
    assert after["resolved"]["review"]["by"] == {"id": user_id, "name": NOBODY}
    assert after["resolved"]["class"] == before["resolved"]["class"]
    (note,) = tell(server.url, "GET", f"{tenant.path}/box-notes", bearer(tenant.admin))["items"]
    assert note["by"]["name"] == NOBODY
    (rule,) = tell(server.url, "GET", f"{tenant.path}/known-failures", bearer(tenant.admin))[
        "items"
    ]
    assert rule["by"] == {"id": user_id, "name": NOBODY}
    path = f"{tenant.path}/webhooks/{tenant.ids['webhook']}/deliveries"
    (told,) = tell(server.url, "GET", path, bearer(tenant.admin))["items"]
    assert told["data"]["by"] == NOBODY
    assert told["data"]["text"].endswith(f"(confirmed by {NOBODY})")


@about_a_file  # a server of PostgreSQL does not check it
def test_a_check_of_the_database_finds_it_whole(server: RunningServer, tenant: Tenant) -> None:
    with_another_owner(server, tenant)
    server.operate(EraseUser(email=EMAIL))

    checked = server.operate(Check()).checked
    assert checked is not None
    assert checked.whole, (checked.damage, checked.stale)


def test_the_audit_log_verifies_and_has_the_id_alone(server: RunningServer, tenant: Tenant) -> None:
    user_id = with_another_owner(server, tenant)
    head = server.operate(VerifyAudit()).audit
    assert head is not None
    assert "audit_entry" not in where_it_stands(server, ADMIN)  # whom the operator made an owner

    server.operate(EraseUser(email=EMAIL))

    audit = server.operate(VerifyAudit(head=head.head)).audit
    assert audit is not None
    assert audit.whole
    log = tell(server.url, "GET", f"{tenant.path}/audit-log?limit=100", bearer(tenant.admin))
    assert log["items"][0]["action"] == "user.erased"
    assert log["items"][0]["details"] == {"email": NOBODY}
    names = {entry["actor"]["name"] for entry in log["items"] if entry["actor"]["id"] == user_id}
    assert names == {NOBODY}


def test_an_erased_person_is_out_at_once_and_may_come_anew(
    server: RunningServer, tenant: Tenant
) -> None:
    with_another_owner(server, tenant)
    other = found(server, THEIRS)
    sent = invite(server, server.token, EMAIL).json["inviteToken"]
    refresh = tell(server.url, "POST", "/api/auth/login", body=sign_in_of(f"owner-{OURS}"))

    server.operate(EraseUser(email=EMAIL.upper()))

    assert ask(server.url, "GET", "/api/auth/me", bearer(tenant.owner)).status == 401
    body = {"refreshToken": refresh["refreshToken"]}
    assert ask(server.url, "POST", "/api/auth/refresh", json_body=body).status == 401
    signing_in = sign_in_of(f"owner-{OURS}")
    assert ask(server.url, "POST", "/api/auth/login", json_body=signing_in).status == 401
    anew = {**signing_in, "inviteToken": sent}
    assert ask(server.url, "POST", "/api/auth/register", json_body=anew).status == 403
    again = tell(server.url, "POST", "/api/auth/register", body=signing_in)
    assert again["organization"] is None
    beat = ask(server.url, "POST", "/api/box/heartbeat", ci_key(tenant.box_key))
    assert beat.status == 204  # what they made for the organization goes on working
    assert tell(server.url, "GET", other.path, bearer(other.owner))["name"] == THEIRS


def test_the_only_owner_of_an_organization_is_not_erased(
    server: RunningServer, tenant: Tenant
) -> None:
    with pytest.raises(RefusedError, match=f"is the only owner of {OURS}; make another one first"):
        server.operate(EraseUser(email=EMAIL))

    assert tell(server.url, "GET", tenant.path, bearer(tenant.owner))["role"] == "owner"
    log = tell(server.url, "GET", f"{tenant.path}/audit-log", bearer(tenant.owner))["items"]
    assert log[0]["action"] != "user.erased"


def test_nobody_is_erased_who_is_not_there(server: RunningServer) -> None:
    with pytest.raises(RefusedError, match="There is no user with the e-mail no@"):
        server.operate(EraseUser(email="no@example.net"))
