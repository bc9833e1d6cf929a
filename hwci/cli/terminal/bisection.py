# SPDX-License-Identifier: Apache-2.0
"""What a bisection looks like in a terminal: as lines of a shell script what is known and the next
run, and as a table the commits with their runs. It computes no figure and runs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwci.cli.terminal import tables
from hwci.cli.terminal.tables import duration
from hwci.contract.flaky.bisection import NO_BOX_ANSWERS
from hwci.said import counted, percent, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hwci.contract.flaky.bisection import Bisected, Bisection, Candidate, NextRun


def start(bisection: Bisection, bisected: Bisected) -> Iterator[str]:
    """Return the lines that begin a bisection: where the commit may be."""
    good, *others = bisected.commits
    yield f"# {bisection.test_id} began to fail in one of {counted(len(others), 'commit')}"
    yield f"# after {short(good.sha)}, up to {short(others[-1].sha)}."
    yield ""


def next_run(bisected: Bisected) -> Iterator[str]:
    """Return the lines of the next runs, or of the commit that was found."""
    yield f"# {bisected.says}"
    for number, run in enumerate(bisected.next_runs):
        subject = f" {run.subject}" if run.subject else ""
        took = f"about {duration(run.board_seconds)}, the median of {counted(run.runs_seen, 'run')}"
        yield f"# {'At the same time' if number else 'Run next'} on {run.box_key} ({took}):"
        yield f"# {short(run.sha)}{subject}"
        if not run.failed:
            yield f"# {_never_failed(run)}"
        yield run.command
    if bisected.next_runs:
        yield f"# {bisected.to_fill_in}."
    if not bisected.next_runs and bisected.bracket.commits > 1:
        yield f"# {NO_BOX_ANSWERS}: mend one, then ask again."


def _never_failed(run: NextRun) -> str:
    """Return in words why a box is worth a run on which the test did not fail yet."""
    if not run.runs:
        return "No run of the test was on this box yet: what it does there is not known."
    passed = f"The test passed in {counted(run.runs, 'run')} on this box"
    return f"{passed}, which may be chance: a failure there would tell much."


def commits(bisected: Bisected) -> tables.Layout[Candidate]:
    """Return the layout of the commits, the good one first, each with its chance."""
    good = bisected.commits[0].sha
    column = tables.Column
    return tables.Layout(
        "commits",
        "Commits",
        [
            tables.commit_column("Commit", lambda row: row.sha),
            column("Subject", lambda row: "(good)" if row.sha == good else row.subject, spare=True),
            column("Failed", lambda row: str(row.failed), right=True),
            column("Runs", lambda row: str(row.runs), right=True),
            column("Chance", lambda row: percent(row.chance), right=True),
        ],
        "sha subject failed runs chance",
        "No commit.",
    )
