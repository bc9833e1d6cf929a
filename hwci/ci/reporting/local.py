# SPDX-License-Identifier: Apache-2.0
"""What result files say before anything is reported: which tests failed, which passed on a retry,
and whom the failures blame, by the readers and rules of a report.

This module decides what stands in that look and how it is written as Markdown. It knows no server,
asks neither git nor the CI, and needs no job.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from hwci.ci.job import Job, Sourced
from hwci.ci.project import ProjectFileError, find_project
from hwci.ci.reporting.base import NOBODY
from hwci.ci.reporting.context import CommandContext, JobContext
from hwci.ci.reporting.results import UNNAMED, Results, results_of, unblamed
from hwci.ci.reporting.summary import inert, table
from hwci.client.explained import ExplainedError, wrong_usage
from hwci.contract.runs.runs import PASSED_ON_A_RETRY, RunItem, TestCounts
from hwci.contract.shape import shape
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.said import counted
from hwci.wire.reports import TestItem

ROWS_MAX = 100
"""Tests that a table of Markdown names."""


@shape
class LocalItem(RunItem):
    """One test of the files. `box_key`: null if its file is of no named box."""

    box_key: str | None


@shape
class LocalResults:
    """What result files hold. `conclusion`: that of the run, unless its CI says another one.
    `faults`: what could not be read, `notes`: what was read otherwise than it stands, each a line.
    """

    conclusion: str
    tests: TestCounts
    skipped: int
    items: tuple[LocalItem, ...]
    faults: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def failed(self) -> Sequence[LocalItem]:
        """The tests that failed."""
        return [item for item in self.items if item.outcome is Outcome.FAIL]

    @property
    def retried(self) -> Sequence[LocalItem]:
        """The tests that passed on a retry."""
        return [item for item in self.items if item.outcome is Outcome.PASS and _is_retried(item)]

    @property
    def counts(self) -> str:
        """The counts, in one line."""
        boxes = dict.fromkeys(item.box_key for item in self.items)
        named = list(filter(None, boxes))
        where = f" on {named[0] if len(named) == 1 else f'{len(named):,} boxes'}" if named else ""
        if named and None in boxes:
            where += " and an unnamed one"
        blamed = Counter(item.verdict for item in self.failed)
        verdicts = [f"{blamed[name]:,} {name}" for name in Verdict if blamed[name]]
        whose = f" ({', '.join(verdicts)})" if verdicts else ""
        parts = [
            f"{self.tests.passed:,} passed",
            f"{self.tests.failed:,} failed{whose}",
            f"{len(self.retried):,} {PASSED_ON_A_RETRY}",
            f"{self.skipped:,} skipped",
        ]
        return f"{counted(self.tests.total, 'test')}{where}: {', '.join(parts)}"


def look(
    files: Sequence[str], command: CommandContext
) -> tuple[LocalResults, ExplainedError | None]:
    """Return what files hold, each `FILE` or `BOX=FILE`, and the error of those that cannot be
    read. Notices are handed over as in a report.

    Raises:
        ExplainedError: wrong usage: hwci.toml is broken, or a name is empty.
    """
    results = results_of(_context(command), files, messages=True)
    command.show(results.notices)
    items = tuple(_items(results))
    if (note := unblamed(item for box in results.boxes.values() for item in box.tests)) is not None:
        command.notify(f"note: {note}")
    local = LocalResults(
        conclusion=results.conclusion(),
        tests=TestCounts(
            total=len(items),
            passed=sum(item.outcome is Outcome.PASS for item in items),
            failed=sum(item.outcome is Outcome.FAIL for item in items),
            retried=sum(map(_is_retried, items)),
        ),
        skipped=sum(box.skipped for box in results.boxes.values()),
        items=items,
        faults=results.faults,
        notes=results.notes,
    )
    return local, _unread(results)


def _context(command: CommandContext) -> JobContext:
    """Return the context of a report of which nothing but the project file is known."""
    try:
        project = find_project(command.folder())
    except ProjectFileError as fault:
        raise wrong_usage("hwci.toml cannot be read", str(fault), "Correct it") from fault
    # The results have no other start: what is said of theirs is about reports.
    fields: dict[str, Sourced[Any]] = {
        "box_key": Sourced(UNNAMED, NOBODY),
        "started_at": Sourced(command.clock(), NOBODY),
    }
    job = Job(None, "", fields, Sourced((), NOBODY))
    context = JobContext(job, None, project, command)
    command.warn(*context.left_out())
    return context


def _items(results: Results) -> Iterator[LocalItem]:
    for key, box in results.boxes.items():
        name = key.removeprefix(UNNAMED).removeprefix(":")  # a platform may be a box
        for item in box.tests:
            yield _item(item, name or None)


def _item(item: TestItem, box_key: str | None) -> LocalItem:
    return LocalItem(
        id=item.id,
        box_key=box_key,
        outcome=item.outcome,
        attempts=item.attempts,
        duration_s=item.duration_s,
        verdict=item.verdict if item.outcome is Outcome.FAIL else None,
        message=item.message,
        board=item.board,
    )


def _is_retried(item: RunItem) -> bool:
    return (item.attempts or 1) > 1


def _unread(results: Results) -> ExplainedError | None:
    if not results.unread:
        return None
    what = f"{counted(len(results.unread), 'result file')} cannot be read"
    return wrong_usage(what, "each is named above", "Correct it, or leave it out")


def markdown(local: LocalResults) -> str:
    """Write what files hold for the summary of a job."""
    lines = [
        "### Test results",
        "",
        *_rows("Failed test", local.failed),
        *_rows(PASSED_ON_A_RETRY.capitalize(), local.retried),
        f"- {inert(local.counts)}.",
        *(f"- {inert(line)}" for line in (*local.faults, *local.notes)),
    ]
    return "\n".join(lines)


def _rows(title: str, items: Sequence[LocalItem]) -> Sequence[str]:
    """Return the table of tests, with the columns that say something."""
    columns = {
        title: [item.id for item in items],
        "Box": [item.box_key or "" for item in items],
        "Attempts": [f"{item.attempts:,}" for item in items],
        "Verdict": [item.verdict or "" for item in items],
        "Board": [item.board or "" for item in items],
        "Message": [(item.message or "").partition("\n")[0] for item in items],
    }
    filled = {header: cells[:ROWS_MAX] for header, cells in columns.items() if any(cells)}
    rows = [tuple(map(inert, row)) for row in zip(*filled.values(), strict=True)]
    return table(tuple(filled), rows, len(items)) if items else ()
