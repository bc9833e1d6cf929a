# SPDX-License-Identifier: Apache-2.0
"""What runs look like in a terminal: their list, and one of them with its failing tests first. It
computes no figure and prints nothing.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from hwci.cli.terminal import tables
from hwci.cli.terminal.tables import Column, Layout, View, moment, run_number, when
from hwci.contract.runs.runs import NEVER_REACHED, ONLY_KNOWN, PASSED_ON_A_RETRY, TOOK_MORE
from hwci.contract.vocabulary import Outcome, RunEnding, RunStatus
from hwci.said import counted, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hwci.ci.reporting import LocalItem
    from hwci.contract.runs.commits import ChangeList
    from hwci.contract.runs.runs import Run, RunDetail, RunItem

Item = TypeVar("Item", bound="RunItem")
COMMITS_SHOWN = 12
_PLAIN = 3  # the rank of a pass at the first attempt, which comes last
STATUS_WORDS = {
    RunStatus.RUNNING: "running",
    RunStatus.LOST: "lost: its box sent nothing for 10 minutes, and no report came",
    RunStatus.REPORTED: "reported",
}


def _number(run: Run) -> str:
    """Return the number of a run, and its attempt."""
    return f"{run_number(run)} ({run.run_attempt})"


def runs(view: View, *, of_test: bool) -> Layout[Run]:
    """Run records, the latest start first. `of_test`: with what each gave for a test."""
    result: Column[Run] = Column("This test", _result)
    return Layout(
        "runs",
        "Runs",
        [
            tables.id_column(lambda row: row.id),
            tables.time_column("Started", lambda row: row.started_at, view.now),
            Column("Status", status, brief=_brief_status),
            *([result] if of_test else []),
            *tables.product_columns(view),
            Column("Box", lambda row: row.box_key),
            Column("Branch", lambda row: row.branch, spare=True),
            tables.commit_column("Commit", lambda row: row.sha),
            Column("Failed", lambda row: str(row.tests.failed), right=True),
            Column("Tests", lambda row: str(row.tests.total), right=True, spare=True),
            Column("Retried", lambda row: str(row.tests.retried), right=True, spare=True),
            Column("Run", _number, right=True, spare=True),
        ],
        "id repoKey suite workflow runId runAttempt boxKey trigger branch sha status "
        "startedAt endedAt conclusion helloOk tests.total tests.passed tests.failed "
        "tests.retried ciRun ciUrl ending"
        + (" result.outcome result.attempts result.verdict" if of_test else ""),
        "No run fits. Drop a filter, or report one: hwci report-run",
    )


def status(run: Run) -> str:
    """Return how a run stands or ended, with the word of the CI if it says more: `failed
    (cancelled)`.
    """
    if run.hello_ok is False:
        return NEVER_REACHED.lower()
    conclusion = run.conclusion or ""
    plain = conclusion.lower() in {"", "success", "failure", *RunEnding} or run.ending is None
    return _brief_status(run) if plain else f"{run.ending} ({conclusion})"


def _brief_status(run: Run) -> str:
    if run.hello_ok is False:
        return "never reached"
    return run.ending or run.status


def _result(run: Run) -> str:
    if run.result is None:
        return ""
    if run.hello_ok is False:
        return "never reached"
    failed, attempts = run.result.outcome is Outcome.FAIL, run.result.attempts
    if attempts == 1:
        return "failed" if failed else "passed"
    return f"{'failed' if failed else PASSED_ON_A_RETRY} ({attempts} attempts)"


def tests(items: Sequence[RunItem]) -> Layout[RunItem]:
    """Tests of one run; their boards, and the first line of messages, where there are any."""
    board: Column[RunItem] = Column("Board", lambda row: row.board or "")
    message: Column[RunItem] = Column("Message", lambda row: (row.message or "").partition("\n")[0])
    return Layout(
        "tests",
        "Tests",
        [
            Column("Test", lambda row: row.id),
            Column("Outcome", _outcome),
            Column("Attempts", lambda row: str(row.attempts or ""), right=True),
            Column("Duration", _duration, right=True),
            Column("Verdict", lambda row: row.verdict or ""),
            *([board] if any(item.board for item in items) else []),
            *([message] if any(item.message for item in items) else []),
        ],
        "id outcome attempts durationS verdict message board logUrl known.ticket known.until",
        "No test of this run was reported.",
    )


def _outcome(item: RunItem) -> str:
    outcome = item.outcome or "running"
    return outcome if item.known is None else f"{outcome} ({item.known.says})"


def local_tests(items: Sequence[LocalItem]) -> Layout[LocalItem]:
    """Tests of result files, each with its box."""
    box: Column[LocalItem] = Column("Box", lambda row: row.box_key or "")
    layout: Layout[Any] = tests(items)
    test, *others = layout.columns
    return replace(layout, columns=[test, box, *others])


def notable(items: Sequence[Item]) -> list[Item]:
    """Return the tests that did not pass at the first attempt: failing, running, then retried."""
    return [item for item in failing_first(items) if _rank(item) < _PLAIN]


def failing_first(items: Sequence[Item]) -> list[Item]:
    """Return all tests, failing ones first, then running ones, then passes after a retry."""
    return sorted(items, key=_rank)


def _rank(item: RunItem) -> int:
    if item.outcome is Outcome.FAIL:
        return 0
    if item.outcome is None:
        return 1
    return 2 if (item.attempts or 1) > 1 else _PLAIN


def _duration(item: RunItem) -> str:
    return "" if item.duration_s is None else tables.duration(item.duration_s)


def head(run: RunDetail, view: View) -> Iterator[str]:
    """Return the lines about a run and its status."""
    known = f", {ONLY_KNOWN}" if run.has_only_known_failures else ""
    yield f"status     {STATUS_WORDS[run.status] if run.ending is None else status(run)}{known}"
    if run.conclusion is not None:
        yield f"conclusion {run.conclusion}"
    yield f"product    {tables.product(run.repo_key, run.suite)}, branch {run.branch}"
    yield f"commit     {run.sha}"
    yield f"run        {run.run_id}, attempt {run.run_attempt}, of {run.workflow} ({run.trigger})"
    if run.ci_run is not None:
        yield f"CI number  {run.ci_run}"
    if run.ci_url is not None:
        yield f"CI job     {run.ci_url}"
    if run.rerun_of is not None:
        earlier = run.rerun_of.run_record_id
        show = "not reported here" if earlier is None else f"hwci runs show {earlier}"
        yield f"rerun of   {run.rerun_of.run_id} ({show})"
    yield f"started    {when(run.started_at, view.now)} UTC"
    if run.ended_at is not None:
        yield f"ended      {moment(run.ended_at)} UTC"
    if run.hello_ok is False:
        yield "hello      failed: the run never reached the hardware, so its results do not count"
    yield f"tests      {_counts(run)}"
    if run.covers_shas:
        yield f"covers     {counted(len(run.covers_shas), 'commit')}"


def _counts(run: RunDetail) -> str:
    tests = run.tests
    going = tests.total - tests.passed - tests.failed
    running = f", {going:,} running" if going else ""
    known = f" ({run.known_failures:,} known)" if run.known_failures else ""
    passed = f"{tests.passed:,} passed, {tests.failed:,} failed{known}{running}"
    return f"{tests.total:,}: {passed}; {tests.retried:,} {TOOK_MORE}"


def next_step(run: RunDetail) -> str:
    """Return the command that shows more of a run that goes on, or failed."""
    if run.status is RunStatus.RUNNING:
        return f"To follow it: hwci runs watch {run.id}"
    command = ("hwci", "failures", "list", "--product", tables.product(run.repo_key, run.suite))
    return f"Failures of this product: {shlex.join(command)}" if run.tests.failed else ""


def commits(changes: ChangeList | None) -> Iterator[str]:
    """Return the lines about the commits that a run tests, if reported."""
    if changes is None:
        return
    for commit in changes.commits[:COMMITS_SHOWN]:
        yield f"{short(commit.sha)} {commit.subject}"
    more = len(changes.commits) - COMMITS_SHOWN
    if more > 0:
        yield f"… {counted(more, 'commit')} not shown"
    if changes.truncated:
        yield "(the list of commits was cut short)"
