# SPDX-License-Identifier: Apache-2.0
"""What a CI system shows of a report on the page of its job: Markdown of at most 20 rows, and
warnings. How it is made to show them is decided in the system's module of `hwci.ci.systems`.

Names of tests, boxes and branches are text that anyone may have committed, so none of it may act as
Markdown.
"""

import re
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from hwci.ci.job import Job
from hwci.ci.systems import system_of
from hwci.contract.vocabulary import Outcome
from hwci.said import short
from hwci.wire.reports import Changes, RunReport, TestItem

ROWS_MAX = 20
TEXT_MAX = 200
_PLAIN = frozenset(" -/.,")
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks that count as printable, and show nothing."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What was reported. `waits`: what was not sent is kept on the machine of the job. `notes`: for
    people.
    """

    reports: Sequence[RunReport]
    sent: bool
    notes: Sequence[str] = ()
    waits: bool = False

    def fate(self) -> str:
        """Return what became of the reports."""
        if self.sent:
            return "reported"
        if self.waits:
            return (
                "not reported yet: it is kept on this machine, and the next report sends it, too; "
                "see the log of this step"
            )
        return "not reported: see the log of this step"


def show(shown: Shown, job: Job, ci_command: Callable[[str], None]) -> None:
    """Leave a summary where the CI system of a job shows one. `ci_command` takes a line of output
    that the system obeys.
    """
    system = system_of(job)
    if system is None or system.show_summary is None or not shown.reports:
        return
    warnings = list(shown.notes)
    if not shown.sent:
        warnings.append(f"The run was {shown.fate()}")
    # A page that cannot be written is no reason to fail a build.
    with suppress(OSError, subprocess.SubprocessError):
        system.show_summary(job.environ, markdown(shown), warnings, ci_command)


def markdown(shown: Shown) -> str:
    """Write a summary: the boxes, then as many failed tests as fit."""
    first = shown.reports[0]
    boxes = list(dict.fromkeys(report.box_key for report in shown.reports))
    where = f"{first.repo_key}, {first.suite or first.workflow}, {first.branch}"
    failed = [
        (report.box_key, item)
        for report in shown.reports
        for item in report.tests
        if item.outcome is Outcome.FAIL
    ]
    rows = [_box_row(box, shown.reports) for box in boxes[:ROWS_MAX]]
    lines = [
        f"### Hardware tests: {inert(where)}, {short(first.sha)}",
        "",
        *table(("Box", "Tests", "Failed", "Retried", "Hello"), rows, len(boxes)),
        *_failures(failed, ROWS_MAX - len(rows)),
        f"- {shown.fate().capitalize()}.",
        f"- Changes: {changes_said(first.changes)}.",
        *(f"- {inert(note)}" for note in shown.notes),
    ]
    return "\n".join(lines) + "\n"


def changes_said(changes: Changes | None) -> str:
    """Return how much a report holds of commits."""
    if changes is None:
        return "not sent"
    if changes.base_sha is None:
        return "sent without the run before, which is not known"
    many = "1 commit" if len(changes.commits) == 1 else f"{len(changes.commits):,} commits"
    cut = " (cut short)" if changes.truncated else ""
    return f"{many} after {short(changes.base_sha)}{cut}"


def inert(text: str) -> str:
    """Escape a text for Markdown: every special sign becomes a numeric character reference."""
    escaped = "".join(
        letter if letter.isalnum() or letter in _PLAIN else f"&#{ord(letter)};"
        for letter in plain(text)
    )
    return escaped.replace("www.", "www&#46;")  # else it is a link, without any other sign


def code(text: str) -> str:
    """Write a name as HTML, also within Markdown: it acts as nothing else."""
    return f"<code>{inert(text)}</code>"


def plain(text: str) -> str:
    """Write a name where nothing is markup; a long one is cut."""
    return visible(text if len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 1]}…")


def visible(text: str) -> str:
    """Return a text in which nothing hides, breaks the line, or turns what follows around."""
    return "".join(letter if _is_seen(letter) else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _is_seen(letter: str) -> bool:
    return letter.isprintable() and not _UNSEEN.match(letter)


def _box_row(box: str, reports: Sequence[RunReport]) -> tuple[str, ...]:
    of_box = [report for report in reports if report.box_key == box]
    tests = [item for report in of_box for item in report.tests]
    failed = sum(item.outcome is Outcome.FAIL for item in tests)
    retried = sum(item.attempts > 1 for item in tests)
    hello = "ok" if all(report.hello_ok for report in of_box) else "failed"
    return inert(box), f"{len(tests):,}", f"{failed:,}", f"{retried:,}", hello


def _failures(failed: Sequence[tuple[str, TestItem]], room: int) -> list[str]:
    if not failed or room < 1:
        return []
    rows = [
        (inert(item.id), inert(box), f"{item.attempts:,}", item.verdict.value)
        for box, item in failed[:room]
    ]
    return table(("Failed test", "Box", "Attempts", "Verdict"), rows, len(failed))


def table(header: Sequence[str], rows: Sequence[Sequence[str]], total: int) -> list[str]:
    """Return the lines of a table of inert cells. `total`: how many rows there are to show."""
    lines = [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]
    more = [f"… {total - len(rows):,} more", ""] if total > len(rows) else []
    return [*lines, "", *more]
