# SPDX-License-Identifier: Apache-2.0
"""A small history that fills every tile and every table, sent to a running server.

On box `bench-1` of product `acme/firmware:sensor-fw`, commits a to e in this order: `i2c` breaks
with b (a driver) and is mended with c (the driver again): a real bug. `spi` breaks with b and is
mended with d (a harness file). A test with a hostile name fails and passes on e: a flake. `adc`
fails on e and was not seen since. The merge of b is checked, that of f is not.
"""

import json
from datetime import UTC, datetime, timedelta

from hwci.client import Client, calls
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration
from tests.support.running import RunningServer

REPO = "acme/firmware"
SUITE = "sensor-fw"
PRODUCT = f"{REPO}:{SUITE}"
BOX = "bench-1"
HOSTILE = "[red]can\x1b[31m\u202e|x"
START = datetime.now(UTC).replace(microsecond=0) - timedelta(days=3)  # noqa: TID251 - reports of now
A, B, C, D, E, UNSEEN = (letter * 40 for letter in "abcdef")
FILES = {B: "drivers/i2c.c", C: "drivers/i2c.c", D: "hil/spi_test.py", E: "docs/readme.md"}
BEFORE = {B: A, C: B, D: C, E: D}


def play(server: RunningServer) -> None:
    """Send it all."""
    with Client(server.url, ci_key=server.ci_key) as client:
        client.send(calls.put_suite_config(CONFIGURATION))
        for sha in (B, UNSEEN):
            client.send(calls.announce_merge(merge(sha)))
        for body in REPORTS:
            client.send(calls.report_run(body))


CONFIGURATION = SuiteConfiguration(
    repo_key=REPO,
    suite=SUITE,
    firmware_paths=["drivers/**"],
    harness_paths=["hil/**"],
    merge_trigger=True,
)


def merge(sha: str) -> MergeAnnouncement:
    return MergeAnnouncement(
        repo_key=REPO, suite=SUITE, sha=sha, branch="main", merged_at=START - timedelta(hours=1)
    )


def report(number: int, sha: str, outcomes: dict[str, str] | None = None) -> RunReport:
    """Return the run of a commit: outcomes by test; None if it never reached the bench."""
    changes = None
    if sha in FILES:
        commit = {"sha": sha, "subject": f"Change {FILES[sha]}", "files": [FILES[sha]]}
        changes = {"base_sha": BEFORE[sha], "commits": [commit]}
    tests = [
        {"id": name, "outcome": outcome, "attempts": 1, "duration_s": 1.0, "verdict": "device"}
        for name, outcome in (outcomes or {}).items()
    ]
    body = {
        "repo_key": REPO,
        "workflow": "hil",
        "suite": SUITE,
        "run_id": number,
        "run_attempt": 1,
        "trigger": "merge",
        "branch": "main",
        "sha": sha,
        "started_at": (START + timedelta(hours=number)).isoformat(),
        "ended_at": (START + timedelta(hours=number, minutes=5)).isoformat(),
        "conclusion": "success",
        "hello_ok": outcomes is not None,
        "box_key": BOX,
        "tests": tests,
        **({"changes": changes} if changes else {}),
    }
    return RunReport.model_validate_json(json.dumps(body))


REPORTS = [
    report(1, A, {"i2c": "pass", "spi": "pass"}),
    report(2, B, {"i2c": "fail", "spi": "fail"}),
    report(3, C, {"i2c": "pass", "spi": "fail"}),
    report(4, D, {"i2c": "pass", "spi": "pass"}),
    report(5, E, {HOSTILE: "fail", "adc": "fail"}),
    report(6, E, {HOSTILE: "pass"}),
    report(7, E),
]
