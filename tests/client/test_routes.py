# SPDX-License-Identifier: Apache-2.0
"""The client's calls and the server's routes are one list: what one may ask, the other answers."""

import inspect
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, get_args, get_origin
from uuid import UUID

import pytest
from pydantic import BaseModel

from hwci.analysis.flaky.suspects import RankBy
from hwci.client import Call, calls
from hwci.client._call import Credential, Method
from hwci.engine.vocabulary import FailureClass, Label, Outcome, Role, RunStatus, Trigger
from hwci.server.http.route import Route, Who
from hwci.server.routes.table import ROUTES
from hwci.wire.accounts import KeyProduct
from hwci.wire.analysis.causes import OfTable, OneReview, ReviewsBody, ReviewStep
from hwci.wire.analysis.explanations import UnsentChanges
from hwci.wire.reports import Changes, MergeAnnouncement, RunReport, SuiteConfiguration
from hwci.wire.runs import RunEvents, RunHead, TestEvent

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ID_NAMES = (
    *("orgId", "keyId", "failureId", "userId", "boxId", "runId", "sessionId", "inviteId", "noteId"),
)
IDS = {name: UUID(int=place) for place, name in enumerate(ID_NAMES, 1)}
ORG, KEY, FAILURE, USER, BOX, RUN, SESSION, INVITE, NOTE = IDS.values()
PASSWORD = "correct horse battery"

ANNOUNCEMENT = MergeAnnouncement(repo_key="r", sha="0123abc", branch="main", merged_at=NOON)
CONFIGURATION = SuiteConfiguration(
    repo_key="r", suite="s", firmware_paths=["src/**"], harness_paths=[], merge_trigger=True
)
REPORT = RunReport(
    repo_key="r",
    workflow="hil",
    run_id=1,
    run_attempt=1,
    trigger=Trigger.NIGHTLY,
    branch="main",
    sha="0123abc",
    started_at=NOON,
    ended_at=NOON,
    conclusion="success",
    hello_ok=True,
    box_key="bench",
    tests=[],
)
HEAD = RunHead.model_validate(
    REPORT.model_dump(exclude={"box_key", "tests", "ended_at", "conclusion", "hello_ok"})
)
PRODUCT = KeyProduct(repo_key="r", suite="s")
EVENTS = RunEvents(events=[TestEvent(type="test", id="boot", outcome=Outcome.PASS, attempts=1)])
ONE_REVIEW = OneReview(failure_id=FAILURE, action=ReviewStep.RESET, seen_review_at=NOON)
UNSENT = UnsentChanges(sha="0123abc", changes=Changes(base_sha="fedcba9", commits=[]))
REVIEWS = ReviewsBody(reviews=[ONE_REVIEW])
RUNS: dict[str, Any] = {
    "repo_key": "r",
    "suite": "s",
    "branch": "main",
    "box_key": "bench",
    "sha": "0123abc",
    "ci_run": 4242,
    "status": RunStatus.LOST,
    "hello_ok": False,
    "test_id": "boot",
    "retry_pass": True,
    "failed_attempt": True,
    "start": NOON,
    "end": NOON,
    "page": 2,
    "limit": 5,
}
PERIOD: dict[str, Any] = {
    "days": 7,
    "repo_key": "r",
    "suite": "s",
    "as_of": NOON,
    "start": NOON,
    "limit": 5,
}
FOUND = {**PERIOD, "page": 2, "search": "uart", "sort": "-suite"}
FLAKY = {**FOUND, "flaked": True}
PRODUCT_FILTERS: dict[str, Any] = {"repo_key": "r", "suite": "s"}
COMMIT: dict[str, Any] = {"branch": "main", "sha": "0123abc"}
WHERE = {**COMMIT, "box_key": "bench"}

# Each function of `calls`, asked for all that it can be asked for.
WHOLE: dict[Callable[..., Call[Any]], Call[Any]] = {
    calls.announce_merge: calls.announce_merge(ANNOUNCEMENT),
    calls.report_run: calls.report_run(REPORT),
    calls.put_suite_config: calls.put_suite_config(CONFIGURATION),
    calls.register: calls.register("a@b", PASSWORD, "Ada", "Engines", "token"),
    calls.login: calls.login("a@b", PASSWORD, device_token="d"),
    calls.refresh: calls.refresh("token"),
    calls.logout: calls.logout("token"),
    calls.me: calls.me(page=2),
    calls.change_password: calls.change_password(PASSWORD, "another good password"),
    calls.reset_password: calls.reset_password("token", PASSWORD),
    calls.list_sessions: calls.list_sessions(2, 5),
    calls.end_session: calls.end_session(SESSION),
    calls.end_other_sessions: calls.end_other_sessions(),
    calls.list_orgs: calls.list_orgs(2, 5),
    calls.create_org: calls.create_org("Engines"),
    calls.get_org: calls.get_org(ORG),
    calls.create_ci_key: calls.create_ci_key(ORG, "ci"),
    calls.list_ci_keys: calls.list_ci_keys(ORG, 2, 5),
    calls.revoke_ci_key: calls.revoke_ci_key(ORG, KEY),
    calls.create_reader_key: calls.create_reader_key(ORG, "wall", [PRODUCT]),
    calls.list_reader_keys: calls.list_reader_keys(ORG, 2, 5),
    calls.own_reader_key: calls.own_reader_key(),
    calls.revoke_reader_key: calls.revoke_reader_key(ORG, KEY),
    calls.audit_log: calls.audit_log(ORG, 2, 5),
    calls.list_products: calls.list_products(ORG, 2, 5, unassigned=True, **PRODUCT_FILTERS),
    calls.list_suite_configs: calls.list_suite_configs(ORG, 2, 5, **PRODUCT_FILTERS),
    calls.plan_suite_config: calls.plan_suite_config(ORG, CONFIGURATION, 7, NOON, 2, 5),
    calls.metrics: calls.metrics(ORG, **PERIOD),
    calls.trend: calls.trend(ORG, 7, "r", "s", NOON, start=NOON),
    calls.box_health: calls.box_health(ORG, 7, "r", "s", NOON, start=NOON),
    calls.one_box: calls.one_box(ORG, "bench", 7, "r", "s", NOON, start=NOON),
    calls.one_test: calls.one_test(
        ORG, "r", "s", "boot", days=7, as_of=NOON, start=NOON, zone="Europe/Berlin"
    ),
    calls.list_tests: calls.list_tests(ORG, "r", "s", "boot", 2, 5, **WHERE),
    calls.unchecked_merges: calls.unchecked_merges(ORG, **FOUND, **COMMIT),
    calls.checked_merges: calls.checked_merges(ORG, **FOUND, **WHERE),
    calls.real_bugs: calls.real_bugs(ORG, **FOUND, **WHERE),
    calls.other_failures: calls.other_failures(ORG, FailureClass.AMBIGUOUS, **FOUND, **WHERE),
    calls.flakiest_tests: calls.flakiest_tests(ORG, False, **FLAKY),
    calls.flaky_history: calls.flaky_history(ORG, False, "UTC", **FLAKY),
    calls.list_merges: calls.list_merges(ORG, **FOUND, **WHERE),
    calls.explain_unchecked_merges: calls.explain_unchecked_merges(ORG, **FOUND, **WHERE),
    calls.plan_merges: calls.plan_merges(
        ORG, "0123abc", **PERIOD, page=2, branch="main", box_key="bench"
    ),
    calls.suspects: calls.suspects(ORG, False, RankBy.LOWER_BOUND, **FLAKY),
    calls.suspects_in_few_words: calls.suspects_in_few_words(
        ORG, False, RankBy.LOWER_BOUND, **FLAKY
    ),
    calls.ranked_tests: calls.ranked_tests(ORG, False, **FLAKY),
    calls.ranked_history: calls.ranked_history(ORG, False, "UTC", **FLAKY),
    calls.bisection: calls.bisection(
        ORG,
        "boot",
        "0123abc",
        "4567def",
        repo_key="r",
        suite="s",
        box_key="bench",
        boxes=4,
        days=7,
        as_of=NOON,
        start=NOON,
    ),
    calls.list_incidents: calls.list_incidents(ORG, Label.PENDING, **PERIOD, **WHERE, page=2),
    calls.list_failures: calls.list_failures(ORG, Label.FLAKE, "boot", **FOUND, **WHERE),
    calls.get_failure: calls.get_failure(ORG, FAILURE),
    calls.list_gaps: calls.list_gaps(ORG, 7, "r", "s", NOON, start=NOON),
    calls.times_to_fix: calls.times_to_fix(ORG, **PERIOD, page=2, box_key="bench"),
    calls.box_trends: calls.box_trends(ORG, **PERIOD, page=2, box_key="bench"),
    calls.metrics_by_day: calls.metrics_by_day(ORG, 7, "r", "s", NOON, "Europe/Berlin", start=NOON),
    calls.trends: calls.trends(ORG, 7, "r", "s", NOON, start=NOON),
    calls.explain_failure: calls.explain_failure(ORG, FAILURE),
    calls.explain_failure_with_git: calls.explain_failure_with_git(ORG, FAILURE, [UNSENT]),
    calls.list_causes: calls.list_causes(
        ORG,
        OfTable.REAL_BUGS,
        FailureClass.DISMISSED,
        True,
        "i2c",
        True,
        lost_board=True,
        **PERIOD,
        page=2,
    ),
    calls.lost_boards: calls.lost_boards(ORG, 7, "r", "s", NOON, start=NOON),
    calls.lost_resolved: calls.lost_resolved(
        ORG, OfTable.REAL_BUGS, FailureClass.DISMISSED, **FOUND, **WHERE
    ),
    calls.lost_failures: calls.lost_failures(ORG, Label.FLAKE, "boot", **FOUND, **WHERE),
    calls.review_failures: calls.review_failures(ORG, REVIEWS),
    calls.confirm_failure: calls.confirm_failure(ORG, FAILURE, "why", "https://issues.example/7"),
    calls.dismiss_failure: calls.dismiss_failure(ORG, FAILURE, "why", "https://issues.example/7"),
    calls.reset_failure: calls.reset_failure(ORG, FAILURE, "why", "https://issues.example/7"),
    calls.health: calls.health(),
    calls.wheel: calls.wheel(),
    calls.list_members: calls.list_members(ORG, 2, 5),
    calls.change_member: calls.change_member(ORG, USER, Role.ADMIN),
    calls.remove_member: calls.remove_member(ORG, USER),
    calls.invite: calls.invite(ORG, "a@b", Role.MEMBER),
    calls.list_sent_invites: calls.list_sent_invites(ORG, 2, 5),
    calls.withdraw_invite: calls.withdraw_invite(ORG, INVITE),
    calls.list_invites: calls.list_invites(2, 5),
    calls.accept_invite: calls.accept_invite(INVITE, "token"),
    calls.decline_invite: calls.decline_invite(INVITE),
    calls.list_boxes: calls.list_boxes(ORG, 2, 5, reported=True, **PRODUCT_FILTERS, **WHERE),
    calls.create_box: calls.create_box(ORG, "bench"),
    calls.rename_box: calls.rename_box(ORG, BOX, "bench"),
    calls.remove_box: calls.remove_box(ORG, BOX),
    calls.new_install_token: calls.new_install_token(ORG, BOX),
    calls.list_box_notes: calls.list_box_notes(ORG, "bench", 2, 5),
    calls.add_box_note: calls.add_box_note(ORG, "bench", "new cable", NOON),
    calls.remove_box_note: calls.remove_box_note(ORG, NOTE),
    calls.install_box: calls.install_box("token"),
    calls.heartbeat: calls.heartbeat(),
    calls.open_run: calls.open_run(HEAD),
    calls.feed_run: calls.feed_run(RUN, EVENTS),
    calls.list_runs: calls.list_runs(ORG, **RUNS),
    calls.get_run: calls.get_run(ORG, RUN),
    calls.sso_providers: calls.sso_providers(),
    calls.exchange_sso_code: calls.exchange_sso_code("code", "verifier"),
}

WITHOUT_CALL = {
    ("GET", "/readyz"): "asked by what starts and balances servers, never by a person or a job",
    ("GET", "/api/auth/sso/{provider}/login"): "opened in a browser",
    ("POST", "/api/auth/sso/{provider}/login"): "asked by a page, which goes on to the provider",
    ("GET", "/api/auth/sso/{provider}/callback"): "opened in a browser",
    ("GET", "/api/auth/sso/command-line"): "asked by a page, with a cookie of the browser",
    ("POST", "/api/auth/sso/command-line"): "asked by a page, with a cookie of the browser",
    ("GET", "/api/orgs/{orgId}/runs/stream"): "a stream is followed, not called",
    ("GET", "/api/orgs/{orgId}/runs/ws"): "a stream is followed, not called",
    ("GET", "/api/orgs/{orgId}/ci-analysis/page"): "for the dashboard: each part has its own call",
    ("GET", "/api/openapi.json"): "read by tools, which know the form and need no model of it",
}

SIGNED_BY = {
    Who.ANYONE: Credential.NONE,
    Who.USER: Credential.TOKEN,
    Who.MEMBER: Credential.TOKEN,
    Who.READER: Credential.READER,
    Who.READER_KEY: Credential.READER_KEY,
    Who.ADMIN: Credential.TOKEN,
    Who.CI_KEY: Credential.CI_KEY,
    Who.BOX: Credential.BOX_KEY,
}

PARTS = {**IDS, "provider": "{provider}"}
BY_PLACE = {(route.method, route.path.format(**PARTS)): route for route in ROUTES}
each = pytest.mark.parametrize("call", WHOLE.values(), ids=[ask.__name__ for ask in WHOLE])


def route_of(call: Call[Any]) -> Route:
    return BY_PLACE[call.method, call.path]


def names(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def test_every_function_that_makes_a_call_is_claimed_here() -> None:
    functions = {
        function
        for name, function in inspect.getmembers(calls, inspect.isfunction)
        if get_origin(inspect.signature(function).return_annotation) is Call
        and not name.startswith("_")
    }

    assert functions == set(WHOLE)


def test_every_route_has_one_call_or_a_reason_to_have_none() -> None:
    asked = [(route_of(call).method, route_of(call).path) for call in WHOLE.values()]

    assert len(set(asked)) == len(asked)
    assert {(route.method, route.path) for route in ROUTES} == {*asked, *WITHOUT_CALL}
    assert not set(asked) & set(WITHOUT_CALL)


@each
def test_a_call_is_answered_and_signed_as_its_route_says(call: Call[Any]) -> None:
    route = route_of(call)

    assert call.method in get_args(Method)
    assert (call.status, call.answer) == (route.status, route.answer)
    assert call.credential is SIGNED_BY[route.who]


@each
def test_a_call_asks_for_everything_that_its_route_can_be_asked_for(call: Call[Any]) -> None:
    query = route_of(call).query

    assert {name for name, _ in call.query} == (set() if query is None else names(query))
    if query is not None:
        query.model_validate(dict(call.query), by_alias=True, by_name=False)


@each
def test_a_body_is_one_that_its_route_reads(call: Call[Any]) -> None:
    body = route_of(call).body

    assert (call.body is None) is (body is None)
    if body is not None and call.body is not None:
        body.model_validate_json(call.body, by_alias=True, by_name=False)


@pytest.mark.parametrize("ask", WHOLE, ids=[ask.__name__ for ask in WHOLE])
def test_a_body_can_hold_every_field_of_its_route(ask: Callable[..., Call[Any]]) -> None:
    call, given = WHOLE[ask], inspect.signature(ask).parameters
    body = route_of(call).body

    if "body" in given:
        assert given["body"].annotation is body, "the caller gives the whole body"
    elif body is not None:
        assert set(json.loads(call.body or b"")) == names(body) - {"session"}, "cookies: browsers'"
