# SPDX-License-Identifier: Apache-2.0
"""What the tiles count, close to the midnights around a day of 25 hours, and to the ends of a
period that cuts the days before and after it.
"""

from datetime import datetime, timedelta
from typing import Any

from tests.support.asking import ask, ci_key
from tests.support.running import RunningServer, report

DAYS = 3
HOURS = (-33.5, -32.5, -24.5, -23.5, -0.5, 0.5, 12.5, 24.5, 25.5, 38.5, 39.5)
"""Hours after the day begins: the first is before the period, the last after it."""
PRODUCT = {"repo_key": "acme/firmware", "suite": "fw"}
CONFIGURATION = {
    **PRODUCT,
    "firmware_paths": ["src/**"],
    "harness_paths": ["tests/**"],
    "merge_trigger": True,
}


def end_of_period(day: datetime) -> datetime:
    """Return the end of a period of `DAYS`, in which the day and its hour more lie."""
    return day + timedelta(hours=39)


def tell(server: RunningServer, *days: datetime) -> None:
    """Send what happened around the beginnings of these days."""
    _send(server, "PUT", "suite-config", CONFIGURATION)
    for number, day in enumerate(days):
        for at, hour in enumerate(HOURS):
            _tell_of_an_hour(server, f"{number}{at:x}", day + timedelta(hours=hour))


def _tell_of_an_hour(server: RunningServer, name: str, hour: datetime) -> None:
    """Send two merges, of which one was checked, a firmware bug, a flake, and an infra run."""
    good, bad, fix, unchecked = (f"{name}{letter}".ljust(40, "0") for letter in "abcd")
    for sha in (good, unchecked):
        merge = {**PRODUCT, "branch": name, "sha": sha, "merged_at": hour.isoformat()}
        _send(server, "POST", "merge-announce", merge)
    for minute, sha, before, outcomes in (
        (1, good, None, {"boot": "pass"}),
        (2, bad, good, {"boot": "fail", "radio": "fail"}),
        (3, bad, None, {"radio": "pass"}),
        (4, fix, bad, {"boot": "pass"}),
        (5, fix, None, None),
    ):
        start = (hour + timedelta(minutes=minute)).isoformat()
        body = report(
            **PRODUCT,
            branch=name,
            sha=sha,
            run_id=int(name, 16) * 10 + minute,
            started_at=start,
            ended_at=start,
            hello_ok=outcomes is not None,
            tests=[_item(*one) for one in (outcomes or {}).items()],
        )
        if before is not None:
            commit = {"sha": sha, "subject": f"Change {sha[:3]}", "files": ["src/main.c"]}
            body["changes"] = {"base_sha": before, "commits": [commit]}
        _send(server, "POST", "run-report", body)


def _item(test_id: str, outcome: str) -> dict[str, Any]:
    item = {"id": test_id, "outcome": outcome, "attempts": 1, "duration_s": 1}
    return item | ({"verdict": "device"} if outcome == "fail" else {})


def _send(server: RunningServer, method: str, path: str, body: dict[str, Any]) -> None:
    answer = ask(server.url, method, f"/api/ci/{path}", ci_key(server.ci_key), json_body=body)
    assert answer.status == 204, answer
