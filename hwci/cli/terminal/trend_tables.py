# SPDX-License-Identifier: Apache-2.0
"""A period beside the one before, as a terminal, a spreadsheet or a document shows it. Figures are
the server's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwci.cli.terminal import render, tables
from hwci.cli.terminal.render import Format, Links
from hwci.contract.page.words import TITLES
from hwci.said import signed

if TYPE_CHECKING:
    from hwci.contract.periods.trends import ShareChange, TileFigure, TileTrend, Trends

NONE = {"mergesChecked": "no merge was announced", "infraRuns": "no run was reported"}
"""What a share says where nothing can be counted."""


def show(trends: Trends, form: Format, links: Links | None = None) -> None:
    """Write the answer in the form that was asked for. JSON is the API's own."""
    if form is Format.JSON:
        render.emit_json(trends)
        return
    days = trends.period.days
    render.emit(tiles(days), trends.tiles, form, links)
    if trends.missing and form is Format.TABLE:
        since = trends.recorded_since
        first = f"the first record is of {tables.moment(since)} UTC" if since else "no record yet"
        render.note(f"Not enough data for the {_days(days)} before: {first}")


def tiles(days: int) -> tables.Layout[TileTrend]:
    """Return the layout of the tiles in both periods."""
    column = tables.Column
    return tables.Layout(
        "trends",
        "Trends",
        [
            column("Tile", lambda row: TITLES[row.tile]),
            column(f"Last {_days(days)} (95 % within)", _now, right=True),
            column(f"The {_days(days)} before", _before, right=True),
            column("Change", _change, right=True),
        ],
        "tile now.part now.total before.part before.total change shareChange.change"
        " shareChange.low shareChange.high now.low now.high before.low before.high",
        "No tile.",
    )


def _days(days: int) -> str:
    return "day" if days == 1 else f"{days} days"


def _now(row: TileTrend) -> str:
    return _figure(row.tile, row.now)


def _before(row: TileTrend) -> str:
    return _figure(row.tile, row.before)


def _figure(tile: str, count: TileFigure | None) -> str:
    if count is None:
        return "not enough data"
    if count.total is None:
        return str(count.part)
    return f"{share(count)} · {count.part} of {count.total}" if count.total else NONE[tile]


def share(count: TileFigure) -> str:
    """Write the share of a tile with its interval; its total is not 0."""
    assert count.total
    low, high = tables.percent(count.low), tables.percent(count.high)
    return tables.within(100 * count.part / count.total, low, high)


def _change(row: TileTrend) -> str:
    if row.change is None:
        return ""
    if row.now.total is not None:
        return _points(row.share_change)
    return f"{row.change:+}" if row.change else "0"


def _points(share: ShareChange | None) -> str:
    """Return the change of a share: its counts have different totals in both periods."""
    if share is None:
        return ""
    ends = f"{signed(100 * share.low)} to {signed(100 * share.high)}"
    return f"{signed(100 * share.change)} points ({ends})"
