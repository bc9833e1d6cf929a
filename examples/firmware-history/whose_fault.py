# SPDX-License-Identifier: Apache-2.0
"""Turns a repository's history and the results of its bench into what CI would have sent, and
shows which commit broke each test and which one fixed it.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from hwci.ci.project import read_project
from hwci.contract.failures.failures import ResolvedFailure
from hwci.contract.vocabulary import Label, Outcome, Trigger, Verdict
from hwci.engine.facts import Facts, Product
from hwci.engine.full_history import FullHistory
from hwci.engine.history import Scope
from hwci.engine.page.overview import read_page
from hwci.engine.page.reading import read_failures
from hwci.engine.page.tables import FailureSelection, labelled_failures
from hwci.engine.patterns import PathList
from hwci.engine.periods import last_days
from hwci.wire.reports import (
    Changes,
    CommitItem,
    MergeAnnouncement,
    RunReport,
    TestItem,
)

HERE = Path(__file__).parent
AS_OF = datetime(2026, 3, 20, tzinfo=UTC)
BRANCH = "main"
CONFIGURATION = read_project(HERE / "hwci.toml").products[0].configuration()
REPOSITORY, SUITE = CONFIGURATION.repo_key, CONFIGURATION.suite
TESTS = (
    *("adc.full_scale", "boot.cold_start", "settings.many_writes", "timer.one_hour_drift"),
    *("uart.burst", "uart.flow_control", "uart.wake_up_byte"),
)


@dataclass(frozen=True)
class Run:
    """What the bench did: the failed tests with the harness's verdict, or that it was not there."""

    sha: str
    started_at: datetime
    failed: dict[str, str]
    reached: bool = True


def lines_of(name: str) -> Iterator[dict[str, Any]]:
    with (HERE / name).open() as file:
        yield from map(json.loads, file)


def read_commits() -> list[CommitItem]:
    return [
        CommitItem(
            sha=line["sha"],
            subject=line["subject"],
            committed_at=datetime.fromisoformat(line["committed_at"]),
            files=line["files"],
        )
        for line in lines_of("commits.jsonl")
    ]


def read_runs() -> list[Run]:
    return [
        Run(**{**line, "started_at": datetime.fromisoformat(line["started_at"])})
        for line in lines_of("runs.jsonl")
    ]


def announcements(commits: Sequence[CommitItem]) -> Iterator[MergeAnnouncement]:
    """Announce each commit with a pull request's number, if it starts the suite."""
    trigger = PathList.parse(CONFIGURATION.trigger_paths or ())
    for commit in commits:
        if commit.committed_at is None or "(#" not in commit.subject:
            continue
        if any(map(trigger.matches, commit.files)):
            yield MergeAnnouncement(
                repo_key=REPOSITORY,
                suite=SUITE,
                sha=commit.sha,
                branch=BRANCH,
                merged_at=commit.committed_at,
            )


def reports(commits: Sequence[CommitItem], runs: Sequence[Run]) -> Iterator[RunReport]:
    """Each run lists the commits since the last one that reached the hardware."""
    places = {commit.sha: place for place, commit in enumerate(commits)}
    base: str | None = None
    for number, run in enumerate(runs, start=1):
        start = 0 if base is None else places[base] + 1
        since = commits[start : places[run.sha] + 1]
        yield RunReport(
            repo_key=REPOSITORY,
            workflow="hil",
            suite=SUITE,
            run_id=number,
            run_attempt=1,
            trigger=Trigger.MERGE,
            branch=BRANCH,
            sha=run.sha,
            started_at=run.started_at,
            ended_at=run.started_at + timedelta(minutes=9),
            conclusion="success" if run.reached and not run.failed else "failure",
            hello_ok=run.reached,
            box_key="bench-1",
            tests=list(results(run)) if run.reached else [],
            covers_shas=[run.sha],
            changes=Changes(base_sha=base, commits=since),
        )
        base = run.sha if run.reached else base


def results(run: Run) -> Iterator[TestItem]:
    for test in TESTS:
        failed = test in run.failed
        yield TestItem(
            id=test,
            outcome=Outcome.FAIL if failed else Outcome.PASS,
            attempts=3 if failed else 1,
            duration_s=4.0,
            verdict=Verdict(run.failed.get(test, "unknown")),
        )


def story(row: ResolvedFailure, subjects: dict[str, str]) -> Iterator[str]:
    yield f"{row.test_id}: {'not counted' if row.reason else 'a real firmware bug'}"
    if row.reason_text is not None:
        yield f"  because    {row.reason_text}"
    first = row.first_failure.sha
    yield f"  failed on  {subjects[first]}, tested commits: {row.failing_commits}"
    for commit in () if row.broken_by is None else row.broken_by.commits:
        yield f"  broken by  {commit.sha[:10]} {commit.subject}"
    if row.fix is not None:
        yield f"  fixed by   {row.fix.sha[:10]} {subjects[row.fix.sha]}"


def main() -> int:
    commits, runs = read_commits(), read_runs()
    facts = Facts(
        tuple(body.fact() for body in announcements(commits)),
        tuple(body.fact() for body in reports(commits, runs)),
        {Product(REPOSITORY, SUITE): CONFIGURATION.fact()},
    )
    history = FullHistory(UUID(int=0), facts)
    period = last_days(90, AS_OF)
    page = read_page(history, Scope(), period, 100)
    failures = read_failures(history, Scope(), period)
    pending = labelled_failures(failures, FailureSelection(label=Label.PENDING, limit=100))
    subjects = {commit.sha: commit.subject for commit in commits}

    checked = page.tiles.merges_checked
    print(f"{checked.checked} of {checked.announced} merges ran on hardware. Not:")
    for merge in page.unchecked_merges.items:
        print(f"  {merge.sha[:10]} {subjects[merge.sha]}")
    resolved = [*page.real_bugs.items, *page.other_failures.items]
    for row in sorted(resolved, key=lambda row: row.first_failure.started_at):
        print()
        print(*story(row, subjects), sep="\n")
    for failure in pending.items:
        key = failure.failure.key
        print(f"\n{key.lane.test_id}: still failing, since {subjects[key.sha]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
