# SPDX-License-Identifier: Apache-2.0
"""Runs of one test, an hour apart, as bodies of reports."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.asking import ask, ci_key
from tests.support.running import RunningServer, report

START = datetime(2026, 1, 10, tzinfo=UTC)


def run(letter: str, hour: int, outcome: str) -> Mapping[str, Any]:
    at = (START + timedelta(hours=hour)).isoformat()
    test = {"id": "boot", "outcome": outcome, "attempts": 1, "duration_s": 1, "verdict": "device"}
    return report(run_id=hour, sha=letter * 40, started_at=at, ended_at=at, tests=[test])


def send(server: RunningServer, body: Mapping[str, Any]) -> None:
    key = ci_key(server.ci_key)
    assert ask(server.url, "POST", "/api/ci/run-report", key, json_body=body).status == 204
