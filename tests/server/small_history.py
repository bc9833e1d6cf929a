# SPDX-License-Identifier: Apache-2.0
"""A few runs of one product by hand, and how a test reads what a server says of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.asking import ask, bearer
from tests.support.running import RunningServer, report

START = datetime(2026, 1, 10, tzinfo=UTC)
AS_OF = "asOf=2026-02-01T00:00:00Z"


def commit(letter: str, *files: str) -> dict[str, Any]:
    """Return the commit that a letter names."""
    return {"sha": letter * 40, "subject": f"Change {letter}", "files": list(files)}


def run(letter: str, hour: int, outcomes: dict[str, str], *files: str) -> dict[str, Any]:
    """A run on commit `letter`, whose changes are that commit alone, after the letter before."""
    started = START + timedelta(hours=hour)
    return report(
        run_id=hour,
        sha=letter * 40,
        started_at=started.isoformat(),
        ended_at=started.isoformat(),
        tests=[
            {"id": test, "outcome": outcome, "attempts": 1, "duration_s": 1, "verdict": "device"}
            for test, outcome in outcomes.items()
        ],
        changes={"base_sha": chr(ord(letter) - 1) * 40, "commits": [commit(letter, *files)]},
    )


RUNS = [
    run("b", 1, {"boot": "fail", "usb": "fail", "adc": "fail"}, "src/boot.c"),
    run("b", 2, {"usb": "pass"}),
    run("c", 3, {"boot": "pass", "usb": "pass", "adc": "fail"}, "src/boot.c"),
]
CONFIG = {
    "repo_key": "acme/firmware",
    "suite": "hardware",
    "firmware_paths": ["src/**"],
    "harness_paths": ["ci/**"],
    "merge_trigger": False,
}


def get(server: RunningServer, path: str, query: str = AS_OF) -> Any:
    """Read a page of the organization."""
    url = f"/api/orgs/{server.org_id}/{path}?{query}"
    reply = ask(server.url, "GET", url, bearer(server.member_token))
    assert reply.status == 200, reply
    return reply.json


def failure_id(server: RunningServer, test: str, letter: str = "b") -> str:
    """Return the id of a test's failure."""
    items = get(server, "ci-failures")["items"]
    found = [item for item in items if (item["testId"], item["sha"][0]) == (test, letter)]
    return str(found[0]["id"])
