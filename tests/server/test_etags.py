# SPDX-License-Identifier: Apache-2.0
"""Answers that the caller has already are 304 (contract, "Everywhere")."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from hwci.server.routes.table import ROUTES
from hwci.server.services.ci_metrics.metrics import Metrics
from hwci.server.storage.opening import open_storage
from hwci.wire.queries import PeriodQuery
from tests.server.storage.examples import ACME, ADA, NOON, REPORT
from tests.server.test_readings import MEMBER
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import RunningServer, report, running_in_thread

START = datetime(2026, 1, 10, tzinfo=UTC)
CONFIG = {
    "repo_key": "acme/firmware",
    "suite": "hardware",
    "firmware_paths": ["src/**"],
    "harness_paths": [],
    "merge_trigger": False,
}
TAGGED = [route.path.removeprefix("/api/orgs/{orgId}/") for route in ROUTES if route.tagged]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path) as found:
        send(found, "POST", "run-report", run("b", 1, "fail"))
        send(found, "POST", "run-report", run("c", 2, "pass"))
        yield found


def run(letter: str, hour: int, outcome: str) -> dict[str, Any]:
    at = (START + timedelta(hours=hour)).isoformat()
    test = {"id": "boot", "outcome": outcome, "attempts": 1, "duration_s": 1, "verdict": "device"}
    return report(run_id=hour, sha=letter * 40, started_at=at, ended_at=at, tests=[test])


def send(server: RunningServer, method: str, path: str, body: Any) -> None:
    reply = ask(server.url, method, f"/api/ci/{path}", ci_key(server.ci_key), json_body=body)
    assert reply.status == 204


def get(server: RunningServer, path: str, tag: str = "", query: str = "days=3650") -> Reply:
    known = [("If-None-Match", tag)] if tag else []
    asked = f"/api/orgs/{server.org_id}/{path}?{query}"
    return ask(server.url, "GET", asked, bearer(server.member_token), *known)


@pytest.mark.parametrize("path", TAGGED)
def test_an_answer_that_the_caller_has_is_not_sent_again(server: RunningServer, path: str) -> None:
    first = get(server, path)
    again = get(server, path, first.headers["etag"])

    assert (first.status, again.status, again.body) == (200, 304, b"")
    assert first.headers["etag"].startswith('W/"')
    assert again.headers["etag"] == first.headers["etag"]
    assert get(server, path, f'"other", {first.headers["etag"]}').status == 304
    assert get(server, path, '"other"').status == 200
    assert get(server, path, "no tag at all").status == 200


def test_whatever_may_change_an_answer_changes_its_tag(server: RunningServer) -> None:
    failure = get(server, "ci-failures").json["items"][0]["id"]
    announced = {"repo_key": "acme/firmware", "sha": "c" * 40, "branch": "main"}
    merge = {**announced, "merged_at": START.isoformat()}
    review = f"/api/orgs/{server.org_id}/ci-failures/{failure}/confirm"

    tags = [get(server, "ci-metrics").headers["etag"]]
    send(server, "POST", "run-report", run("d", 3, "pass"))
    tags.append(get(server, "ci-metrics").headers["etag"])
    send(server, "POST", "merge-announce", merge)
    tags.append(get(server, "ci-metrics").headers["etag"])
    send(server, "PUT", "suite-config", CONFIG)
    tags.append(get(server, "ci-metrics").headers["etag"])
    assert ask(server.url, "POST", review, bearer(server.admin_token)).status == 200
    tags.append(get(server, "ci-metrics").headers["etag"])
    tags.append(get(server, "ci-metrics", query="days=30").headers["etag"])
    tags.append(get(server, "ci-metrics/real-bugs").headers["etag"])

    assert len(set(tags)) == len(tags)
    assert {get(server, "ci-metrics", tag).status for tag in tags[:4]} == {200}
    assert get(server, "ci-metrics", tags[4]).status == 304


def test_who_may_not_ask_is_refused_whatever_tag_they_send(server: RunningServer) -> None:
    tag = ("If-None-Match", get(server, "ci-metrics").headers["etag"])
    path, other = (f"/api/orgs/{org}/ci-metrics?days=3650" for org in (server.org_id, uuid4()))

    assert ask(server.url, "GET", path, tag).status == 401
    assert ask(server.url, "GET", other, bearer(server.member_token), tag).status == 404


async def test_an_answer_stays_until_something_enters_or_leaves_its_period(tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "hwci.db")
    await storage.write(lambda writer: writer.add_user(ADA))
    await storage.write(lambda writer: writer.put_report(ACME.id, REPORT, NOON))
    metrics = Metrics(storage, lambda: NOON)

    async def state(after: timedelta) -> str:
        query = {"days": 1, "as_of": REPORT.started_at + after}
        return await metrics.state(MEMBER, PeriodQuery.model_validate(query))

    seen = [await state(timedelta(hours=hours)) for hours in (1, 2, 24)]
    assert len(set(seen)) == 1
    for outside in (timedelta(microseconds=-1), timedelta(hours=24, microseconds=1)):
        assert await state(outside) != seen[0]
    await storage.close()
