# SPDX-License-Identifier: Apache-2.0
"""What a reviewer writes about a failure: a note and the address of an issue, kept with the review,
shown with the failure and in the audit log (contract, "A resolved failure").
"""

from typing import Any

import pytest

from hwci.server.app import check
from tests.server.tenants import OURS, Tenant, found, tell
from tests.support.asking import ask, bearer
from tests.support.running import RunningServer

NOTE = "A loose cable,\nsee the photo: <b>#7</b>"
ISSUE = "https://issues.example.org/hw/7?tab=1#photo"
WORDS = {"note": NOTE, "issue": ISSUE}


@pytest.fixture(scope="module")
def tenant(server: RunningServer) -> Tenant:
    return found(server, OURS)


def review(server: RunningServer, tenant: Tenant, action: str, body: Any = None) -> Any:
    path = f"{tenant.path}/ci-failures/{tenant.ids['harness']}/{action}"
    return tell(server.url, "POST", path, bearer(tenant.owner), body=body)


def shown(server: RunningServer, tenant: Tenant) -> Any:
    path = f"{tenant.path}/ci-failures/{tenant.ids['harness']}"
    return tell(server.url, "GET", path, bearer(tenant.member))["resolved"]["review"]


def test_a_note_and_an_issue_are_kept_shown_and_in_the_audit_log(
    server: RunningServer, tenant: Tenant
) -> None:
    answered = review(server, tenant, "confirm", WORDS)["review"]
    assert {name: answered[name] for name in WORDS} == WORDS
    assert shown(server, tenant) == answered

    dismissed = review(server, tenant, "dismiss", {"note": "no bug"})["review"]
    assert (dismissed["note"], dismissed["issue"]) == ("no bug", None)
    assert review(server, tenant, "reset", {"issue": ISSUE})["review"] is None

    log = tell(server.url, "GET", f"{tenant.path}/audit-log", bearer(tenant.owner))["items"][:3]
    said = [(one["action"], one["details"].get("note"), one["details"].get("issue")) for one in log]
    assert said == [("reset", None, ISSUE), ("dismiss", "no bug", None), ("confirm", NOTE, ISSUE)]


def test_a_review_needs_no_body_and_holds_then_no_words(
    server: RunningServer, tenant: Tenant
) -> None:
    bodies: tuple[Any, ...] = (None, {})
    for body in bodies:
        review(server, tenant, "confirm", body)
        kept = shown(server, tenant)
        assert (kept["note"], kept["issue"]) == (None, None)
        review(server, tenant, "reset", body)


FAULTY = [
    {"note": ""},
    {"note": "x" * 1_001},
    {"note": "\0"},
    {"note": 7},
    {"issue": ""},
    {"issue": "javascript:alert(1)"},
    {"issue": "data:text/html,x"},
    {"issue": "//issues.example.org/7"},
    {"issue": "https://user:secret@issues.example.org/7"},
    {"issue": "https://issues.example.org/ 7"},
    {"issue": "https://issues.example.org/" + "7" * 2_000},
]


@pytest.mark.parametrize("body", FAULTY, ids=lambda body: str(body)[:40])
def test_a_faulty_note_or_issue_is_named_and_nothing_is_reviewed(
    server: RunningServer, tenant: Tenant, body: dict[str, object]
) -> None:
    path = f"{tenant.path}/ci-failures/{tenant.ids['harness']}/confirm"
    refused = ask(server.url, "POST", path, bearer(tenant.owner), json_body=body)

    assert refused.issue_paths == [["body", *body]]
    assert shown(server, tenant) is None


def test_an_unknown_field_is_refused(server: RunningServer, tenant: Tenant) -> None:
    path = f"{tenant.path}/ci-failures/{tenant.ids['harness']}/confirm"
    refused = ask(server.url, "POST", path, bearer(tenant.owner), json_body={"reason": "x"})

    assert refused.issue_paths == [["body", "reason"]]


def test_the_longest_words_are_taken_and_the_check_finds_them_whole(
    server: RunningServer, tenant: Tenant
) -> None:
    longest = {"note": "ü" * 1_000, "issue": "https://example.org/" + "7" * 1_980}
    assert review(server, tenant, "confirm", longest)["review"]["note"] == longest["note"]

    assert check(str(server.database)).whole
    review(server, tenant, "reset")
