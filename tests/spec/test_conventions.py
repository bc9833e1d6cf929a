# SPDX-License-Identifier: Apache-2.0
"""How ids and times are written in every answer (spec, "Conventions")."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from tests.spec.quoting import shows
from tests.spec.service import Service, changes, commit, failed, passed
from tests.support.asking import ask, bearer

IDS = "1. IDs are UUIDs."
TIMES = "2. Timestamps are ISO 8601 with a time zone offset."

IDENTIFIERS = {"id", "groupId", "runRecordId", "target"}
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
NOT_IDS = {"runId", "testId"}
"""Names that the CI gives: a run's number and a test's name."""


def fields(answer: Any) -> Iterator[tuple[str, Any]]:
    """Return every field of an answer, however deep."""
    if isinstance(answer, dict):
        for name, value in answer.items():
            yield name, value
            yield from fields(value)
    if isinstance(answer, list):
        for value in answer:
            yield from fields(value)


@pytest.fixture
def answers(service: Service) -> list[Any]:
    """What there is to read of an organization with something of everything."""
    service.configure()
    service.announce("lost")
    cause = commit("a", "src/a.c", committed_at="2026-02-28T10:00:00-05:00")
    service.report("a", 1, failed(), failed("usb"), changes=changes("base", cause))
    service.report("b", 2, passed(), changes=changes("a", commit("b", "src/a.c")))
    failure = service.failure_id("boot", "a")
    service.review(failure, "dismiss")
    token = bearer(service.token)
    return [
        *(service.get(path) for path in ("ci-keys", "audit-log", "products", "suite-configs")),
        service.page(),
        service.get("ci-failures", asOf="2026-03-03T00:00:00+02:00"),
        service.get(f"ci-failures/{failure}"),
        ask(service.url, "GET", "/api/auth/me", token).json,
        ask(service.url, "GET", "/api/orgs", token).json,
        ask(service.url, "GET", f"/api/orgs/{service.org_id}", token).json,
    ]


@shows(IDS)
def test_ids_are_uuids(answers: list[Any]) -> None:
    found = [
        (name, value)
        for name, value in fields(answers)
        if (name == "id" or name.endswith("Id") or name == "target") and name not in NOT_IDS
    ]

    assert {name for name, _ in found} == IDENTIFIERS
    for _, value in found:
        assert value is None or str(UUID(value)) == value


@shows(TIMES)
def test_times_have_an_offset(answers: list[Any]) -> None:
    def is_time(name: str, value: Any) -> bool:
        return name == "at" or name.endswith("At") or (name in {"from", "to"} and "T" in value)

    found = [(name, value) for name, value in fields(answers) if is_time(name, value)]
    named = {name for name, value in found if value is not None}
    assert {"at", "createdAt", "lastUsedAt", "mergedAt", "startedAt", "committedAt"} <= named
    assert {"from", "to", "firstStartedAt", "lastReportAt", "updatedAt"} <= named
    for _, value in found:
        assert value is None or INSTANT.fullmatch(value), value
    for _, value in fields(answers):
        if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d", value):
            assert INSTANT.fullmatch(value), value


@shows(TIMES)
def test_a_time_without_an_offset_is_refused_wherever_it_is_sent(service: Service) -> None:
    for naive in ("2026-03-01T00:00:00", "2026-03-01"):
        assert service.ask("GET", "ci-metrics", asOf=naive).issue_paths == [["query", "asOf"]]
    for offset in ("Z", "+02:00", "-0830"):
        assert service.ask("GET", "ci-metrics", asOf=f"2026-03-01T00:00:00{offset}").status == 200
