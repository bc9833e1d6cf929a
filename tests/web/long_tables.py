# SPDX-License-Identifier: Apache-2.0
"""Reports and announcements that fill tables with thousands of rows."""

import json
from datetime import timedelta
from typing import Any
from urllib.request import Request, urlopen

from hwci.server.clock import system_clock
from tests.support.running import RunningServer, report

MERGES = 2_000
TESTS = 2_000
TESTS_OF_A_REPORT = 1_000


def send(server: RunningServer, path: str, body: dict[str, Any]) -> None:
    """Send a report as CI does."""
    headers = {"X-API-Key": server.ci_key, "Content-Type": "application/json"}
    with urlopen(Request(f"{server.url}/api/ci/{path}", json.dumps(body).encode(), headers)):
        pass


def announcement(number: int) -> dict[str, Any]:
    """Return a merge that nothing checked."""
    at = system_clock() - timedelta(minutes=number)
    return {
        "repo_key": "acme/firmware",
        "suite": "hardware",
        "branch": "main",
        "sha": f"{number:040x}",
        "merged_at": at.isoformat(),
    }


def flaky_report(
    number: int, box_key: str = "bench-1", attempts: int = 2, sha: str = "f" * 40
) -> dict[str, Any]:
    """Return a report whose tests all passed at the second attempt, or at the first."""
    first = number * TESTS_OF_A_REPORT
    tests = [
        {"id": f"test_{first + i:05}", "outcome": "pass", "attempts": attempts, "duration_s": 1.0}
        for i in range(TESTS_OF_A_REPORT)
    ]
    return report(run_id=int(sha[0], 16) * 100 + number, sha=sha, box_key=box_key, tests=tests)
