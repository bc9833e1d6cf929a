# SPDX-License-Identifier: Apache-2.0
"""A server with failures that the demo has not: a range of commits that may have broken a test, a
fix that nothing connects, a product without configuration, a failure over hundreds of commits.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.asking import ask, ci_key
from tests.support.running import RunningServer, report, running_in_thread

DRIVER, HARNESS = "d" * 40, "e" * 40
FILES = 540
LONG = 210
Commit = dict[str, Any]
NOW = datetime.now(UTC).replace(microsecond=0)  # noqa: TID251 - reports of now


@contextmanager
def failing_server(folder: Path) -> Iterator[RunningServer]:
    """Run a server that was sent the failures of `_stories`."""
    with running_in_thread(folder) as server:
        _send(server, "PUT", "/api/ci/suite-config", _CONFIGURATION)
        for number, (test_id, suite, runs) in enumerate(_stories()):
            for at, run in enumerate(runs):
                body = _run(test_id, suite, number * 1000 + at, run)
                _send(server, "POST", "/api/ci/run-report", body)
        yield server


_CONFIGURATION = {
    "repo_key": "acme/firmware",
    "suite": "fw",
    "firmware_paths": ["src/**"],
    "harness_paths": ["tests/**"],
    "merge_trigger": True,
}


def _stories() -> Sequence[tuple[str, str, Sequence[dict[str, Any]]]]:
    """Return each failure's test, suite and runs: their commit, outcome and changes."""
    return (
        ("range", "fw", _range()),
        ("still-failing", "fw", _range()[:2]),
        ("unconnected", "fw", _failure("3", connected=False)),
        ("unconfigured", "bare", _failure("4", connected=True)),
        ("passes-later", "fw", _failure("6", connected=False)),
        ("long", "fw", _long()),
        ("cut", "fw", _cut()),
    )


def pass_on_the_failing_commit(server: RunningServer) -> None:
    """Send a pass that makes a flake of "passes-later", unless it was reviewed."""
    run = {"sha": _sha("6b"), "outcome": "pass"}
    _send(server, "POST", "/api/ci/run-report", _run("passes-later", "fw", 9000, run))


def _range() -> Sequence[dict[str, Any]]:
    sources = [f"src/driver/part{number}.c" for number in range(FILES)]
    suspects = [
        {**_commit(DRIVER, sources), "files_truncated": True},
        _commit(HARNESS, ["tests/bench.py"]),
        _commit(_sha("2b"), ["src/main.c"]),
    ]
    return (
        {"sha": _sha("2a"), "outcome": "pass"},
        {"sha": _sha("2b"), "outcome": "fail", "changes": _since(_sha("2a"), *suspects)},
        {"sha": _sha("2c"), "outcome": "pass", "changes": _step("2b", "2c")},
    )


def _failure(stem: str, *, connected: bool) -> Sequence[dict[str, Any]]:
    passed, failed, fixed = (stem + letter for letter in "abc")
    fix = {"changes": _step(failed, fixed)} if connected else {}
    return (
        {"sha": _sha(passed), "outcome": "pass"},
        {"sha": _sha(failed), "outcome": "fail", "changes": _step(passed, failed)},
        {"sha": _sha(fixed), "outcome": "pass", **fix},
    )


def _long() -> Sequence[dict[str, Any]]:
    shas = [f"5{number:03}" for number in range(LONG + 2)]
    outcomes = ("pass", *("fail" for _ in range(LONG)), "pass")
    return [
        {"sha": _sha(sha), "outcome": outcome, "changes": _step(before, sha)}
        for before, sha, outcome in zip(("5", *shas), shas, outcomes, strict=False)
    ]


def _cut() -> Sequence[dict[str, Any]]:
    """Return a failure with more commits under test than a page shows."""
    suspects = [_commit(_sha(f"7c{number:03}"), ["src/main.c"]) for number in range(LONG)]
    suspects.append(_commit(_sha("7b"), ["src/main.c"]))
    return (
        {"sha": _sha("7a"), "outcome": "pass"},
        {"sha": _sha("7b"), "outcome": "fail", "changes": _since(_sha("7a"), *suspects)},
        {"sha": _sha("7d"), "outcome": "pass", "changes": _step("7b", "7d")},
    )


def _sha(stem: str) -> str:
    return stem.ljust(40, "0")


def _commit(sha: str, files: Sequence[str]) -> Commit:
    return {"sha": sha, "subject": f"change {sha[:6]}", "files": list(files)}


def _since(base: str, *commits: Commit) -> dict[str, Any]:
    return {"base_sha": base, "commits": list(commits)}


def _step(before: str, after: str) -> dict[str, Any]:
    """Return the changes of a run that tested one firmware commit."""
    return _since(_sha(before), _commit(_sha(after), ["src/main.c"]))


def _run(test_id: str, suite: str, number: int, run: dict[str, Any]) -> dict[str, Any]:
    start = NOW - timedelta(hours=12) + timedelta(minutes=number % 1000)
    item = {"id": test_id, "outcome": run["outcome"], "attempts": 1, "duration_s": 1.5}
    verdict = {"verdict": "device"} if run["outcome"] == "fail" else {}
    return report(
        suite=suite,
        branch=test_id,
        sha=run["sha"],
        run_id=number + 1,
        started_at=start.isoformat(),
        ended_at=(start + timedelta(seconds=30)).isoformat(),
        tests=[{**item, **verdict}],
        changes=run.get("changes"),
    )


def _send(server: RunningServer, method: str, path: str, body: dict[str, Any]) -> None:
    answer = ask(server.url, method, path, ci_key(server.ci_key), json_body=body)
    assert answer.status == 204, answer.body
