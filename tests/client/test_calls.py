# SPDX-License-Identifier: Apache-2.0
"""Calls are values: what each endpoint is sent, and what is refused before anything is sent."""

import json
import traceback
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from hwci.client import calls, errors
from hwci.contract.vocabulary import Label, Trigger
from hwci.wire.reports import Changes, MergeAnnouncement, RunReport

ORG = UUID("7b0a3c0e-1111-4222-8333-444455556666")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_calls_are_values() -> None:
    assert calls.metrics(ORG, days=7) == calls.metrics(ORG, days=7)
    assert len({calls.me(), calls.me(), calls.metrics(ORG)}) == 2


def test_only_what_was_asked_stands_in_the_query() -> None:
    assert calls.real_bugs(ORG).query == ()
    assert calls.real_bugs(ORG, suite=None, days=7).query == (("days", "7"),)


def test_a_query_is_written_in_the_contracts_names_and_in_utc() -> None:
    vienna = timezone(timedelta(hours=1))
    call = calls.list_failures(
        ORG,
        label=Label.PENDING,
        repo_key="acme/fw & more",
        suite="hil",
        as_of=NOON.astimezone(vienna),
        page=2,
        limit=100,
    )

    assert dict(call.query) == {
        "label": "pending",
        "repoKey": "acme/fw & more",
        "suite": "hil",
        "asOf": "2026-03-02T12:00:00Z",
        "page": "2",
        "limit": "100",
    }


def test_an_argument_that_a_call_does_not_have_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"no argument .repo.; did you mean repo_key"):
        calls.list_runs(ORG, repo="acme/firmware")  # type: ignore[call-arg]  # what is tested
    with pytest.raises(TypeError, match="no argument 'repoKey'"):
        calls.flakiest_tests(ORG, repoKey=None)  # type: ignore[call-arg]  # what is tested


def test_a_list_of_runs_is_asked_for_by_the_contracts_names_for_its_period_and_its_flag() -> None:
    call = calls.list_runs(ORG, hello_ok=False, start=NOON, end=NOON + timedelta(days=1))

    assert dict(call.query) == {
        "helloOk": "false",
        "from": "2026-03-02T12:00:00Z",
        "to": "2026-03-03T12:00:00Z",
    }


@pytest.mark.parametrize(
    ("ask", "place"),
    [
        (lambda: calls.metrics(ORG, days=0), "query.days"),
        (lambda: calls.metrics(ORG, limit=101), "query.limit"),
        (lambda: calls.metrics(ORG, suite="hil"), "query.suite"),
        (lambda: calls.metrics(ORG, as_of=datetime(2026, 3, 2)), "query.as_of"),  # noqa: DTZ001 - the fault
        (lambda: calls.list_orgs(page=0), "query.page"),
        (lambda: calls.list_runs(ORG, start=NOON, end=NOON - timedelta(days=1)), "query.end"),
        (lambda: calls.list_runs(ORG, sha="abc"), "query.sha"),
        (lambda: calls.list_failures(ORG, test_id=""), "query.test_id"),
        (lambda: calls.create_ci_key(ORG, ""), "body.name"),
        (lambda: calls.register("nobody", "short"), "body.email"),
    ],
)
def test_what_breaks_the_field_rules_is_refused_before_it_is_sent(ask: object, place: str) -> None:
    assert callable(ask)
    with pytest.raises(errors.InvalidCallError) as caught:
        ask()

    assert ".".join(map(str, caught.value.issues[0].path)) == place
    assert place in str(caught.value)


def test_a_password_that_is_refused_is_not_repeated() -> None:
    password = "hunter2"
    with pytest.raises(errors.InvalidCallError) as caught:
        calls.register("a@example.org", password)

    assert password not in "".join(traceback.format_exception(caught.value))


def test_a_body_holds_what_was_given_and_no_default() -> None:
    call = calls.register("a@example.org", "correct horse battery", organization="Acme")

    assert json.loads(call.body or b"") == {
        "email": "a@example.org",
        "password": "correct horse battery",
        "organization": "Acme",
    }


def test_a_ci_body_is_written_in_the_specs_names() -> None:
    call = calls.announce_merge(
        MergeAnnouncement(repo_key="fw", sha="0123ABC", branch="main", merged_at=NOON)
    )

    assert json.loads(call.body or b"") == {
        "repo_key": "fw",
        "sha": "0123abc",
        "branch": "main",
        "merged_at": "2026-03-02T12:00:00Z",
    }


def test_a_base_that_is_null_is_sent_as_null() -> None:
    report = RunReport(
        repo_key="fw",
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
        changes=Changes(base_sha=None, commits=[]),
    )

    assert json.loads(calls.report_run(report).body or b"")["changes"] == {
        "base_sha": None,
        "commits": [],
    }
