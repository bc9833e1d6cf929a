# SPDX-License-Identifier: Apache-2.0
"""One test over time, as a terminal, a spreadsheet or a document shows it: a row for each box.
Figures are the server's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwci.cli.terminal import render, tables
from hwci.cli.terminal.render import Format, Links
from hwci.said import counted

if TYPE_CHECKING:
    from datetime import datetime

    from hwci.contract.flaky.one_test import Given, OneTest, TriesOnBox


def show(
    test: OneTest, form: Format, links: Links | None = None, only_box: str | None = None
) -> None:
    """Write the answer in the form that was asked for. JSON is the API's own. `only_box`: that of
    the rows; what is said of a test is of all its boxes.
    """
    if form is Format.JSON:
        render.emit_json(test)
        return
    if form is Format.TABLE:
        for line in (_head(test), test.answer, test.says):
            if line:
                render.note(line)
        if only_box is not None:
            render.note(f"The row is of {only_box}; what is said here is of all boxes of the test.")
    render.emit(boxes(test.period.end), test.boxes, form, links)
    if form is Format.TABLE and test.all is not None:
        more = test.boxes_total - len(test.boxes)
        if more:
            render.note(f"… {more:,} more boxes")
        render.note(_given(test.retries, "Retried in the same run", "result"))
        again = "Run again on the commit and box of a failed run"
        render.note(_given(test.reruns, again, "run"))


def _head(test: OneTest) -> str:
    product, period = tables.product(test.repo_key, test.suite), test.period
    days = f"last {counted(period.days, 'day')} to {tables.moment(period.end)} UTC"
    return f"{product} {test.test_id} · {days}"


def boxes(now: datetime) -> tables.Layout[TriesOnBox]:
    """Return the layout of the boxes, looked at from the end of the period."""
    column = tables.Column
    return tables.Layout(
        "boxes",
        "Boxes",
        [
            column("Box", lambda row: row.box_key),
            column("First attempt failed (95 % within)", _rate, right=True),
            column("Runs passed", lambda row: f"{row.passed:,}", right=True),
            column("On a retry", lambda row: f"{row.retried:,}", right=True),
            column("Runs failed", lambda row: f"{row.failed:,}", right=True),
            column("Runs lost", lambda row: f"{row.lost:,}", right=True),
            column("Took (9 of 10 within)", _took, right=True, spare=True),
            tables.time_column("Last run", lambda row: row.last_run_at, now, spare=True),
        ],
        "boxKey passed retried failed lost attempts failedAttempts first.part first.total"
        " first.low first.high verdicts.device verdicts.infra verdicts.unknown"
        " took.middle took.nineOfTen lastRunAt",
        "No run of this period had the test. Look further back with --days.",
    )


def _rate(row: TriesOnBox) -> str:
    first = row.first
    return f"{first.part:,} of {first.total:,}: {tables.share(first)}" if first.total else ""


def _took(row: TriesOnBox) -> str:
    took = row.took
    if took is None:
        return ""
    return f"{tables.duration(took.middle)} ({tables.duration(took.nine_of_ten)})"


def _given(share: Given, what: str, noun: str) -> str:
    if not share.tries:
        return f"{what}: none."
    return f"{what}: {counted(share.tries, noun)}, of which {share.passed:,} passed then."
