# SPDX-License-Identifier: Apache-2.0
"""One commit, as a terminal, a spreadsheet or a document shows it: its runs, and a row for each
test that failed. Sentences and figures are the server's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwci.cli.terminal import render, tables
from hwci.cli.terminal.render import Format, Links
from hwci.contract.runs.one_commit import NOT_CHECKED, WHOSE
from hwci.contract.runs.runs import NEVER_REACHED
from hwci.said import counted, joined, percent, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hwci.contract.runs.one_commit import FailureOfCommit, OneCommit, RunOfCommit


def show(commit: OneCommit, form: Format, links: Links | None = None) -> None:
    """Write the answer in the form that was asked for. JSON is the API's own."""
    if form is Format.JSON:
        render.emit_json(commit)
        return
    if form is Format.TABLE:
        render.draw(render.indented(_lines(commit)))
    suites = {run.suite for run in commit.runs}
    view = tables.View(commit.period.end, one_product=len(suites) == 1, only_repo=commit.repo_key)
    render.emit(failures(view), commit.failures, form, links)
    total = sum(count.failures for count in commit.counts)
    if form is Format.TABLE and total > len(commit.failures):
        render.note(f"… {total - len(commit.failures):,} more tests")


def failures(view: tables.View) -> tables.Layout[FailureOfCommit]:
    """Return the layout of the tests that failed."""
    column = tables.Column
    return tables.Layout(
        "failures",
        "Failures",
        [
            column("Whose", _whose),
            column("Test", lambda row: row.test_id),
            *tables.product_columns(view),
            column("Failed on", lambda row: joined(row.failed_on)),
            column("Passed on", lambda row: joined(row.passed_on or ("none",))),
            column("Why", lambda row: f"{row.says} ({row.evidence})", spare=True),
            column("To settle", lambda row: row.to_settle or "", spare=True),
        ],
        "repoKey suite testId failureId failedOn passedOn whose chance since sinceAt says evidence"
        " toSettle logUrl known.ticket known.until",
        "No test failed on it.",
    )


def _whose(row: FailureOfCommit) -> str:
    title = WHOSE.get(row.whose, row.whose)
    whose = title if row.chance is None else f"{title} ({percent(row.chance)})"
    return whose if row.known is None else f"{whose}; {row.known.says}"


def _lines(commit: OneCommit) -> Iterator[str]:
    subject = f" {commit.subject}" if commit.subject else ""
    yield f"{commit.repo_key} {short(commit.sha)}{subject}"
    yield f"Compared with {commit.base_branch}" if commit.base_branch else "Nothing to compare with"
    if not commit.checked:
        yield NOT_CHECKED
    for run in commit.runs:
        yield _run(run, commit)
    for count in commit.counts:
        title = WHOSE.get(count.whose, count.whose)
        yield f"{title}: {counted(count.failures, 'failing test')}"
    if commit.known_failures:
        yield f"{counted(commit.known_failures, 'failing test')} of all known"
    for row in commit.passes:
        yield f"{row.test_id}: {row.says}"
    if commit.unchecked:
        yield f"{counted(commit.unchecked, 'merge')} of this period wait for hardware"


def _run(run: RunOfCommit, commit: OneCommit) -> str:
    at = tables.when(run.started_at, commit.period.end)
    did = f"{run.failed:,} of {counted(run.tests, 'test')} failed"
    return f"{run.box_key} ({run.suite}, {at} UTC): {did if run.hello_ok else NEVER_REACHED}"
