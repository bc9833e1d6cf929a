# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""What owners and admins lay over an automatic label (spec, "Review of a resolved failure")."""

import pytest

from tests.spec.quoting import shows
from tests.spec.service import Json, Service, changes, commit, failed, of_server, passed, sha
from tests.support.running import ADMIN_EMAIL, NAME, RunningServer

CONFIRM = "| any resolved failure outside the real-bug list | Confirm | owner or admin | counted as a real firmware bug |"
DISMISS = "| a real firmware bug | Dismiss | owner or admin | moved to the other list with reason Dismissed by an admin |"
RESET = "| a reviewed failure | Reset | owner or admin | automatic label restored |"

ACTIONS = ("confirm", "dismiss", "reset")


def tell(service: Service, repo_key: str = "acme/firmware") -> None:
    """Report a real bug, a bench problem, an ambiguous failure, a flake and a pending failure."""
    tests = [
        failed("bug"),
        failed("bench", verdict="infra"),
        failed("unclear", verdict="unknown"),
        failed("flaky"),
        failed("pending"),
    ]
    fixed = [passed(test) for test in ("bug", "bench", "unclear")]
    under_test = changes("base", commit("a", "src/a.c"))
    before_fix = changes("a", commit("b", "src/a.c"))
    service.configure(repo_key=repo_key)
    service.report("a", 1, *tests, changes=under_test, repo_key=repo_key)
    service.report("a", 2, passed("flaky"), repo_key=repo_key)
    service.report("b", 3, *fixed, changes=before_fix, repo_key=repo_key)


def lists(service: Service) -> tuple[set[str], dict[str, str]]:
    """Return the tests in the real-bug list, and those in the other list with their reasons."""
    page = service.page()
    real = {row["testId"] for row in page["realBugs"]["items"]}
    return real, {row["testId"]: row["reasonText"] for row in page["otherFailures"]["items"]}


def review(service: Service, test: str, action: str) -> tuple[int, Json]:
    reply = service.review(service.failure_id(test, "a"), action)
    return reply.status, reply.json


OTHERS = {
    "bench": "Harness verdict: bench or infrastructure",
    "unclear": "No harness verdict was reported",
}


@shows(CONFIRM)
def test_any_resolved_failure_outside_the_real_bug_list_can_be_confirmed(service: Service) -> None:
    tell(service)
    assert lists(service) == ({"bug"}, OTHERS)

    for test in OTHERS:
        status, row = review(service, test, "confirm")
        assert (status, row["class"], row["reason"]) == (200, "real_fw_bug", None)

    assert lists(service) == ({"bug", *OTHERS}, {})
    assert service.tiles()["realFwBugs"]["real"] == 3


@shows(CONFIRM)
def test_a_dismissed_failure_can_be_confirmed(service: Service) -> None:
    tell(service)
    review(service, "bug", "dismiss")

    assert review(service, "bug", "confirm")[0] == 200
    assert lists(service) == ({"bug"}, OTHERS)


@shows(DISMISS)
def test_a_real_bug_can_be_dismissed(service: Service) -> None:
    tell(service)

    status, row = review(service, "bug", "dismiss")
    assert (status, row["class"], row["reasonText"]) == (200, "dismissed", "Dismissed by an admin")
    assert lists(service) == (set(), {**OTHERS, "bug": "Dismissed by an admin"})


@shows(DISMISS)
def test_a_confirmed_failure_is_a_real_bug_and_can_be_dismissed(service: Service) -> None:
    tell(service)
    review(service, "bench", "confirm")

    assert review(service, "bench", "dismiss")[0] == 200
    assert lists(service)[1]["bench"] == "Dismissed by an admin"


@shows(RESET)
def test_a_reset_restores_the_automatic_label(service: Service) -> None:
    tell(service)
    before = lists(service)
    for test, action in (("bug", "dismiss"), ("bench", "confirm")):
        review(service, test, action)
        assert lists(service) != before

        assert review(service, test, "reset")[0] == 200
        assert lists(service) == before


# The states in which a row of the table does not hold.
@shows(CONFIRM, DISMISS, RESET)
@pytest.mark.parametrize(
    ("test", "action"),
    [
        ("bug", "confirm"),
        ("bench", "dismiss"),
        ("unclear", "dismiss"),
        ("bug", "reset"),
        ("bench", "reset"),
        *((test, action) for test in ("flaky", "pending") for action in ACTIONS),
    ],
)
def test_an_action_that_no_row_allows_is_409_and_changes_nothing(
    service: Service, test: str, action: str
) -> None:
    tell(service)
    before, log = service.page(), service.get("audit-log")

    assert review(service, test, action)[0] == 409
    assert service.page() == before
    assert service.get("audit-log") == log


@shows(CONFIRM, DISMISS, RESET)
def test_owners_and_admins_review_and_members_do_not(server: RunningServer) -> None:
    owner = of_server(server)
    admin, member = owner.acting(server.admin_token), owner.acting(server.member_token)
    tell(owner, "acme/roles")
    bench = owner.failure_id("bench", "a")

    for reviewer in (owner, admin):
        for action in ("confirm", "dismiss", "reset"):
            assert member.review(bench, action).error[0] == 403
            assert reviewer.review(bench, action).status == 200


def test_the_status_is_automatic_or_the_person_who_reviewed(server: RunningServer) -> None:
    owner = of_server(server)
    tell(owner, "acme/status")
    bench = owner.failure_id("bench", "a")
    admin = owner.acting(server.admin_token)

    assert owner.review(bench, "confirm").json["status"] == NAME
    assert admin.review(bench, "dismiss").json["status"] == ADMIN_EMAIL
    assert admin.review(bench, "reset").json["status"] == "Automatic"


def test_a_review_is_kept_when_labels_are_recalculated(service: Service) -> None:
    tell(service)
    review(service, "bug", "dismiss")
    review(service, "bench", "confirm")
    kept = lists(service)

    service.configure(firmware_paths=["none"])
    service.report("c", 4, failed("bug"), passed("bench"))
    service.report("a", 5, failed("usb"))

    assert lists(service) == ({"bench"}, kept[1])


def test_the_audit_log_records_every_review(service: Service) -> None:
    tell(service)
    for action in ("dismiss", "confirm", "reset"):
        review(service, "bug", action)

    log = service.get("audit-log")["items"][:3]
    assert [entry["action"] for entry in log] == ["reset", "confirm", "dismiss"]
    assert {entry["target"] for entry in log} == {service.failure_id("bug", "a")}
    assert {entry["details"]["sha"] for entry in log} == {sha("a")}
    assert {entry["actor"]["name"] for entry in log} == {NAME}
