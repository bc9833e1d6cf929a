# SPDX-License-Identifier: Apache-2.0
"""What a CI system shows of a report on the page of its job, and in whose words it is told so.

This module writes texts: Markdown of at most 20 rows, and the commands by which a line of output
becomes a warning. Names of tests, boxes and branches are whatever someone committed, so no letter
of them is left with a meaning of its own. Where the texts go is decided by the caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hwci.engine.vocabulary import Outcome
from hwci.wire.hashes import short
from hwci.wire.reports import Changes, RunReport, TestItem

ROWS_MAX = 20
TEXT_MAX = 200
_PLAIN = frozenset(" -/.,")


@dataclass(frozen=True, slots=True)
class Shown:
    """What was reported. `kept`: what was not sent waits on the machine of the job. `notes`: what
    people should know of it.
    """

    reports: Sequence[RunReport]
    sent: bool
    notes: Sequence[str] = ()
    kept: bool = False

    def fate(self) -> str:
        """Say what became of the reports."""
        if self.sent:
            return "reported"
        if self.kept:
            return (
                "not reported yet: it is kept on this machine, and the next report sends it, too; "
                "the log of this step says why"
            )
        return "not reported: the log of this step says why"


def markdown(shown: Shown) -> str:
    """Write a summary: the boxes, then the failed tests as far as there is room."""
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
        *_table(("Box", "Tests", "Failed", "Retried", "Hello"), rows, len(boxes)),
        *_failures(failed, ROWS_MAX - len(rows)),
        f"- {shown.fate().capitalize()}.",
        f"- Changes: {changes_said(first.changes)}.",
        *(f"- {inert(note)}" for note in shown.notes),
    ]
    return "\n".join(lines) + "\n"


def changes_said(changes: Changes | None) -> str:
    """Say what a report told of commits, or why it told less."""
    if changes is None:
        return "not sent"
    if changes.base_sha is None:
        return "sent without the run before, which is not known"
    many = "1 commit" if len(changes.commits) == 1 else f"{len(changes.commits):,} commits"
    cut = " (cut short)" if changes.truncated else ""
    return f"{many} after {short(changes.base_sha)}{cut}"


def inert(text: str) -> str:
    """Make a text mean itself in Markdown: every sign is written as the number of its letter."""
    short = text if len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 1]}…"
    return "".join(_letter(letter) for letter in short)


def _letter(letter: str) -> str:
    if letter.isalnum() or letter in _PLAIN:
        return letter
    return f"&#{ord(letter)};" if letter.isprintable() else "\N{REPLACEMENT CHARACTER}"


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
    return _table(("Failed test", "Box", "Attempts", "Verdict"), rows, len(failed))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], total: int) -> list[str]:
    lines = [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]
    more = [f"… {total - len(rows):,} more", ""] if total > len(rows) else []
    return [*lines, "", *more]


def github_warning(text: str) -> str:
    """Write a line that GitHub shows as a warning."""
    return f"::warning title=hwci::{_line(text, percent='%25')}"


def azure_warning(text: str) -> str:
    """Write a line that Azure shows as a warning."""
    return f"##vso[task.logissue type=warning]{_line(text, percent='%AZP25')}"


def azure_summary(path: str) -> str:
    """Write a line by which Azure takes a file as a summary."""
    return f"##vso[task.uploadsummary]{path}"


def _line(text: str, percent: str) -> str:
    """Keep a text on the line of its command."""
    return text.replace("%", percent).replace("\r", "%0D").replace("\n", "%0A")
