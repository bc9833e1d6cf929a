# SPDX-License-Identifier: Apache-2.0
"""What merges look like in a terminal: which run checked them, the causes of others, and as lines
of a shell script the runs that would check them. It computes no figure and prints nothing.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from hwci.cli.terminal.tables import (
    Column,
    Layout,
    View,
    commit_column,
    duration,
    product,
    product_columns,
    run_number,
    time_column,
)
from hwci.contract.page.words import NOTHING_TO_COUNT, TITLES
from hwci.said import counted, short, shortest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hwci.contract.runs.merges import AnnouncedMerge, ExplainedMerge, MergePlan, PlannedRun


def merges(view: View) -> Layout[AnnouncedMerge]:
    """Announced merges, checked and not."""
    return Layout(
        "merges",
        "Merges",
        [
            time_column("Merged", lambda row: row.merged_at, view.now),
            *product_columns(view),
            Column("Branch", lambda row: row.branch, spare=True),
            commit_column("Commit", lambda row: row.sha),
            Column("Checked", lambda row: "yes" if row.checked else "no"),
            Column("Box", lambda row: ", ".join(row.boxes)),
            Column("Why not", lambda row: row.cause_text or ""),
            Column("Subject", lambda row: row.subject or "", spare=True),
        ],
        "repoKey suite sha branch mergedAt ciUrl subject checked run.runRecordId run.runId"
        " run.runAttempt run.boxKey causeText boxes",
        f"{NOTHING_TO_COUNT['mergesChecked']} (hwci merge-announce).",
    )


def unchecked(view: View) -> Layout[ExplainedMerge]:
    """Merges that no run checked, each with its cause."""
    return Layout(
        "unchecked-merges",
        TITLES["uncheckedMerges"],
        [
            time_column("Merged", lambda row: row.merged_at, view.now),
            *product_columns(view),
            Column("Branch", lambda row: row.branch, spare=True),
            commit_column("Commit", lambda row: row.sha),
            Column("Subject", lambda row: row.subject or "", spare=True),
            Column("Why", lambda row: row.cause_text),
            Column("Run", _run, spare=True, brief=partial(_run, digits=shortest)),
        ],
        "repoKey suite sha branch mergedAt ciUrl subject cause causeText run.runRecordId run.runId "
        "run.runAttempt run.suite run.boxKey run.sha run.startedAt run.ciRun otherBoxes",
        "Every announced merge of the period ran on hardware, or none was announced"
        " (hwci merge-announce).",
        _to_do,
    )


def _to_do(rows: Sequence[ExplainedMerge]) -> Iterator[str]:
    """Return what to do about each cause that is there."""
    for text, to_do in dict.fromkeys((row.cause_text, row.to_do) for row in rows):
        yield f"{text}: {to_do[0].lower()}{to_do[1:]}"
    if rows:
        yield "The run that would check one: hwci merges plan --sha COMMIT"


def _run(row: ExplainedMerge, digits: Callable[[str], str] = short) -> str:
    """Name the run that tells the cause, its commit where it is another one, and the other boxes
    with such a run.
    """
    run = row.run
    if run is None:
        return ""
    at = "" if run.sha == row.sha else f" at {digits(run.sha)}"
    also = f", also on {', '.join(row.other_boxes)}" if row.other_boxes else ""
    return f"{run_number(run)} ({run.run_attempt}) on {run.box_key}{at}{also}"


def plan(merge_plan: MergePlan) -> Iterator[str]:
    """Return the lines of a plan: a command for each run, all else as comments of a shell."""
    merges = counted(merge_plan.unchecked_merges, "merge")
    if not merge_plan.unchecked_merges:
        yield "# No merge of the period is unchecked, or none was announced (hwci merge-announce)."
    elif merge_plan.runs.total:
        runs, total = counted(merge_plan.runs.total, "run"), duration(merge_plan.board_seconds)
        yield f"# {merges} not checked. {runs}, about {total} of board time."
        yield f"# {merge_plan.to_fill_in}."
        for job in merge_plan.ci_jobs:
            yield f"# Both are in the CI job of {product(job.repo_key, job.suite)}: {job.ci_url}"
    else:
        yield f"# {merges} not checked, and no run can be planned:"
    for (box_key, *_), of_box in groupby(merge_plan.runs.items, _offer):
        rows = [*of_box]
        yield ""
        yield f"# On {box_key}: {_each(rows[0])}"
        for row in rows:
            subject = f" {row.subject}" if row.subject else ""
            also = f" (checks {row.merges} merges)" if row.merges > 1 else ""
            yield f"# {short(row.sha)}{subject}{also}"
            yield row.command
    for group in merge_plan.unplanned:
        yield ""
        unplanned = f"{counted(group.merges, 'merge')} of {product(group.repo_key, group.suite)}"
        yield f"# {unplanned} without a run here. {group.missing_text}."


def _offer(row: PlannedRun) -> tuple[str, str, str]:
    return row.box_key, row.repo_key, row.suite


def _each(row: PlannedRun) -> str:
    median = f"{duration(row.board_seconds)} a run (median of {counted(row.runs_seen, 'run')})"
    return f"{product(row.repo_key, row.suite)}, {median}"
