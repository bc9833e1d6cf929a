# SPDX-License-Identifier: Apache-2.0
"""How boxes fare, as a terminal, a spreadsheet or a document shows it: the boxes, and below them
the tests that fail on one of them. Sentences and figures are the server's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwci.cli.terminal import render, tables
from hwci.cli.terminal.render import Format, Links
from hwci.said import tenths

if TYPE_CHECKING:
    from datetime import datetime

    from hwci.contract.boxes.benches import Benches, BoxHealth, TestOnBox
    from hwci.contract.shares import Share

_HOUR = 3600


def show(health: Benches, form: Format, links: Links | None = None) -> None:
    """Write the answer in the form that was asked for. JSON is the API's own."""
    if form is Format.JSON:
        render.emit_json(health)
        return
    render.emit(boxes(health.period.end), health.boxes, form, links)
    _more(health.boxes_total - len(health.boxes), "boxes", form)
    if health.tests or form is not Format.TABLE:
        render.write()
        one_product = health.product is not None and health.product.suite is not None
        view = tables.View(health.period.end, one_product, tables.only_repo(health.tests))
        if form is Format.TABLE:
            render.write(tests(view).title)
        render.emit(tests(view), health.tests, form, links)
        _more(health.tests_total - len(health.tests), "tests", form)


def _more(number: int, what: str, form: Format) -> None:
    if number and form is Format.TABLE:
        render.note(f"… {number:,} more {what} that stand out less")


def boxes(now: datetime) -> tables.Layout[BoxHealth]:
    """Return the layout of the boxes, looked at from the end of the period."""
    column = tables.Column
    return tables.Layout(
        "boxes",
        "Boxes",
        [
            column("Box", lambda row: row.box_key),
            column("Against the others", lambda row: row.says),
            column("Never reached", lambda row: _of(row.never_reached), right=True),
            column("Lost its board", _lost, right=True),
            column("Board hours", _hours, right=True, spare=True),
            tables.time_column(
                "Last clean run", lambda row: row.last_clean_run_at, now, none="none"
            ),
            tables.time_column("Last run", lambda row: row.last_run_at, now, spare=True),
        ],
        "boxKey comparison.named comparison.oddsRatio comparison.low comparison.high"
        " comparison.timesAsOften comparison.chance comparison.falseDiscovery missing"
        " counts.failed counts.results counts.othersFailed counts.othersResults commits"
        " neverReached.part neverReached.total lostBoard.part lostBoard.total boardSeconds"
        " lastCleanRunAt lastRunAt lastSeenAt note.at note.text idle"
        " before.comparison.named before.comparison.oddsRatio before.counts.failed"
        " before.counts.results",
        "No box reported in this period.",
    )


def tests(view: tables.View) -> tables.Layout[TestOnBox]:
    """Return the layout of the tests that fail more on one box."""
    column = tables.Column
    return tables.Layout(
        "tests",
        "Tests that fail more on one box",
        [
            column("Test", lambda row: row.test_id),
            *tables.product_columns(view),
            column("On which box", lambda row: row.says),
        ],
        "repoKey suite testId boxKey only counts.failed counts.results counts.othersFailed"
        " counts.othersResults comparison.oddsRatio comparison.low comparison.high"
        " comparison.chance comparison.falseDiscovery",
        "No test fails more on one box.",
    )


def _of(share: Share) -> str:
    return f"{share.part:,} of {share.total:,}"


def _lost(row: BoxHealth) -> str:
    return "" if row.lost_board is None else _of(row.lost_board)


def _hours(row: BoxHealth) -> str:
    return f"{tenths(row.board_seconds / _HOUR):,}"
