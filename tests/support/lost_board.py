# SPDX-License-Identifier: Apache-2.0
"""Runs of one box that twice lost its board, and met one real bug: what the API is sent, for every
room that shows it.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.asking import ask, ci_key
from tests.support.running import RunningServer, report

TESTS = [f"test_{number:02d}" for number in range(12)]
LOST_AT = "test_06"
"""Where the board is lost on commit 333…; the next firmware commit "fixes" all that failed then."""
LOST_AGAIN_AT = "test_07"
"""Where it is lost on commit 777…; the next commit changes the harness."""
BUG = "test_01"
"""What a real bug breaks on commit 555…."""
REAL = TESTS[6:]
OTHERS = TESTS[7:]
_FAILING = {"3": REAL, "5": [BUG], "7": OTHERS}
_HARNESS = "8"
_DIGITS = "0123456789ab"
CONFIG = {
    "repo_key": "acme/firmware",
    "suite": "hardware",
    "firmware_paths": ["src/**"],
    "harness_paths": ["ci/**"],
    "merge_trigger": False,
}


def lose_boards(server: RunningServer) -> None:
    """Send the configuration and a run for each commit, an hour apart, the last one now."""
    key = ci_key(server.ci_key)
    assert ask(server.url, "PUT", "/api/ci/suite-config", key, json_body=CONFIG).status < 300
    for number, digit in enumerate(_DIGITS):
        body = _run(digit, number)
        assert ask(server.url, "POST", "/api/ci/run-report", key, json_body=body).status == 204


def _run(digit: str, number: int) -> dict[str, Any]:
    now = datetime.now(UTC).replace(microsecond=0)  # noqa: TID251 - reports of now
    at = (now - timedelta(hours=len(_DIGITS) - number)).isoformat()
    failing = _FAILING.get(digit, [])
    files = ["ci/bench.py" if digit == _HARNESS else "src/driver.c"]
    subject = f"Change {digit}"
    return report(
        run_id=number + 1,
        sha=digit * 40,
        started_at=at,
        ended_at=at,
        tests=[
            {
                "id": test,
                "outcome": "fail" if test in failing else "pass",
                "attempts": 1,
                "duration_s": 1,
                "verdict": "device",
            }
            for test in TESTS
        ],
        changes={
            "base_sha": _DIGITS[number - 1] * 40 if number else None,
            "commits": [{"sha": digit * 40, "subject": subject, "files": files}],
        },
    )
