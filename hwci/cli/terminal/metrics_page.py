# SPDX-License-Identifier: Apache-2.0
"""The metrics page (spec, "Metrics page") as a terminal, a spreadsheet or a document shows it: the
tiles, the four tables, and below them what is still failing. The figures are the server's; which
columns a table has is decided in `tables.py`.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hwci.cli.terminal import render, tables, trend_tables
from hwci.cli.terminal.again import in_full
from hwci.cli.terminal.render import Format, Links
from hwci.cli.terminal.tables import TableName
from hwci.contract.page.words import IN_LOST_RUNS, NOTHING_TO_COUNT, TITLES
from hwci.said import counted
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from rich.console import RenderableType

    from hwci.contract.failures.failures import Failure
    from hwci.contract.failures.lost_boards import LostBoardCounts
    from hwci.contract.flaky.suspects import RatedTest
    from hwci.contract.page.metrics import MetricsPage
    from hwci.contract.periods.trends import TileFigure, Trends
    from hwci.contract.shape import ListPage

ROW_OF_TILES_WIDTH = 120
TILE_HEIGHT = 6
TILES_IN_A_ROW = {4: ROW_OF_TILES_WIDTH, 2: 60, 1: 0}
"""So many stand in a row of the terminal, from so many columns on."""


class Scope(NamedTuple):
    """Of what and of when figures are asked for. `as_of` None: now, by the server's clock."""

    days: int
    repo_key: str | None = None
    suite: str | None = None
    as_of: datetime | None = None


class Flakiest(NamedTuple):
    """Rows of "Flakiest tests". `sure`: with the intervals of their rates."""

    rows: ListPage[RatedTest]
    sure: bool


class Overview(NamedTuple):
    """The metrics page, and of the same instant its flakiest tests with their intervals, how many
    causes its real firmware bugs have, its tiles with their intervals, which resolved failures lie
    in runs that lost their board, what is still failing, and how many incidents that is.
    """

    page: MetricsPage
    flakiest: Flakiest
    causes: int
    trends: Trends
    lost_boards: LostBoardCounts
    pending: ListPage[Failure]
    incidents: int
    scope: Scope


class Tile(NamedTuple):
    """A figure with its name and what stands below it."""

    name: str
    figure: str
    below: str


class TileRow(NamedTuple):
    """A tile as a program reads it: its numbers, each in a column of its own."""

    tile: str
    part: int
    total: int | None = None
    bench_or_harness: int | None = None
    ambiguous: int | None = None
    dismissed: int | None = None
    causes: int | None = None
    low: float | None = None
    high: float | None = None
    lost_board: int | None = None


TILE_KEYS = (
    *("tile", "part", "total", "benchOrHarness", "ambiguous", "dismissed", "causes"),
    *("low", "high", "lostBoard"),
)


class Block(NamedTuple):
    """A table as the page shows it. `more`: the way to the rows that do not; `incidents`: how
    many all rows are, where that is known; `beside`: other lines below it.
    """

    layout: tables.Layout[Any]
    rows: ListPage[Any]
    more: str
    incidents: int = 0
    beside: Sequence[str] = ()

    @property
    def title(self) -> str:
        """The title with the number of all rows."""
        incidents = f" in {counted(self.incidents, 'incident')}" if self.incidents else ""
        return f"{self.layout.title} ({self.rows.total:,}{incidents})"

    @property
    def below(self) -> list[str]:
        """The lines below the rows."""
        rest = self.rows.total - len(self.rows.items)
        flakiest = self.layout.name == TableName.FLAKIEST_TESTS
        legend = _legend(self.rows.items) if flakiest else []
        more = [f"… {rest:,} more: {self.more}"] if rest > 0 else []
        return [*legend, *more, *self.beside]


def layout(name: TableName, view: tables.View) -> tables.Layout[Any]:
    """Return the layout of a table other than the flakiest tests: the function of its name makes
    it.
    """
    layout: tables.Layout[Any] = getattr(tables, name.name.lower())(view)
    return layout


def show(overview: Overview, form: Format, server: str, links: Links | None = None) -> None:
    """Write the page in the form that was asked for. JSON is the API's page, and no more. `links`
    as in `render.emit`.
    """
    if form is Format.JSON:
        render.emit_json(overview.page)
    elif form is Format.CSV:
        _csv(overview)
    elif form is Format.MD:
        _markdown(overview, server)
    else:
        _terminal(overview, server, links)


def header(page: MetricsPage, server: str) -> str:
    """Return the header: product, period and server."""
    period, product = page.period, page.product
    if product is None:
        name = "All products"
    elif product.suite is None:
        name = f"All products of {product.repo_key}"
    else:
        name = tables.product(product.repo_key, product.suite)
    days = f"last {counted(period.days, 'day')}"
    ends = f"{tables.moment(period.start)} to {tables.moment(period.end)} UTC"
    return f"{name} · {days} ({ends}) · {server}"


def tiles(overview: Overview) -> list[Tile]:
    """Put the four tiles into words."""
    counts = overview.page.tiles
    merges, bugs, infra = counts.merges_checked, counts.real_fw_bugs, counts.infra_runs
    shares = _shares(overview)
    causes = f" from {counted(overview.causes, 'cause')}"
    return [
        _of_all(
            TITLES["mergesChecked"],
            (merges.checked, merges.announced),
            shares["mergesChecked"],
            NOTHING_TO_COUNT["mergesChecked"],
        ),
        Tile(
            TITLES["realFwBugs"],
            f"{bugs.real}{causes}" if bugs.real else "0",
            f"{bugs.bench_or_harness} bench or harness,\n"
            f"{bugs.ambiguous} ambiguous, {bugs.dismissed} dismissed",
        ),
        Tile(
            TITLES["flakyFailures"],
            str(counts.flaky_failures.count),
            "the test also passed on\nthe same commit and box",
        ),
        _of_all(
            TITLES["infraRuns"],
            (infra.infra, infra.total),
            shares["infraRuns"],
            NOTHING_TO_COUNT["infraRuns"],
        ),
    ]


def _of_all(name: str, counts: tuple[int, int], share: TileFigure | None, none: str) -> Tile:
    """Return the tile of a share. `none`: what it says where nothing can be counted."""
    part, total = counts
    if not total:
        return Tile(name, none, "")
    sure = trend_tables.share(share) if share and share.total else ""
    return Tile(name, f"{part} of {total}", sure)


def tile_rows(overview: Overview) -> list[TileRow]:
    """Put the four tiles into numbers, under the names that people see."""
    counts, shares = overview.page.tiles, _shares(overview)
    merges, bugs, infra = counts.merges_checked, counts.real_fw_bugs, counts.infra_runs
    checked, real, flaky, lost = (tile.name for tile in tiles(overview))
    classes = bugs.bench_or_harness, bugs.ambiguous, bugs.dismissed
    merged, reached = (shares[name] for name in ("mergesChecked", "infraRuns"))
    return [
        _with_interval(TileRow(checked, merges.checked, merges.announced), merged),
        TileRow(
            *(real, bugs.real, None, *classes, overview.causes),
            lost_board=overview.lost_boards.real_bugs,
        ),
        TileRow(flaky, counts.flaky_failures.count),
        _with_interval(TileRow(lost, infra.infra, infra.total), reached),
    ]


def _with_interval(row: TileRow, share: TileFigure) -> TileRow:
    return row._replace(low=tables.percent(share.low), high=tables.percent(share.high))


def _shares(overview: Overview) -> dict[str, TileFigure]:
    """Return the figures of the tiles that are shares, with their intervals."""
    return {tile.tile: tile.now for tile in overview.trends.tiles}


def _blocks(overview: Overview) -> Iterator[Block]:
    """Return the four tables of the spec, then what is still failing."""
    page = overview.page
    four: dict[TableName, ListPage[Any]] = {
        TableName.UNCHECKED_MERGES: page.unchecked_merges,
        TableName.REAL_BUGS: page.real_bugs,
        TableName.OTHER_FAILURES: page.other_failures,
        TableName.FLAKIEST_TESTS: overview.flakiest.rows,
    }
    shown = [row for rows in (*four.values(), overview.pending) for row in rows.items]
    view = view_of(shown, overview.scope, page.period.end)
    for name, rows in four.items():
        fits = rows.total <= limits.PAGE_LIMIT_MAX
        way = f"--limit {rows.total}" if fits else f"--table {name}"
        if name is TableName.FLAKIEST_TESTS:
            shape = tables.flakiest_tests(view, sure=overview.flakiest.sure)
            yield Block(shape, rows, way, beside=SURE if rows.items else ())
        else:
            shape = layout(name, view)
            if name is TableName.UNCHECKED_MERGES:
                shape = of_announced(shape, page)
            yield Block(shape, rows, way, beside=[*_in_lost_runs(overview, name)])
    ways = [pending_command(overview.scope, group) for group in ("failures", "incidents")]
    beside = [f"a row for each incident: {ways[1]}"] if overview.incidents else []
    yield Block(tables.pending(view), overview.pending, ways[0], overview.incidents, beside)


def of_announced(shape: tables.Layout[Any], page: MetricsPage) -> tables.Layout[Any]:
    """Return a table of merges that says so where none was announced in the period of the page."""
    if page.tiles.merges_checked.announced:
        return shape
    return replace(shape, empty=f"{NOTHING_TO_COUNT['mergesChecked']} (hwci merge-announce).")


def _in_lost_runs(overview: Overview, name: TableName) -> Iterator[str]:
    """Yield how many rows of a table lie in runs that lost their board, and how to list them."""
    lost = overview.lost_boards
    rows = {TableName.REAL_BUGS: lost.real_bugs, TableName.OTHER_FAILURES: lost.other_failures}
    if number := rows.get(name):
        yield f"{number:,} {IN_LOST_RUNS}: --table {name} --lost-board"


def view_of(rows: Sequence[Any], scope: Scope, now: datetime) -> tables.View:
    """Return the view of the rows of a scope."""
    one_product = scope.suite is not None
    return tables.View(now, one_product, tables.only_repo(rows), pending_command(scope))


def pending_command(scope: Scope, group: str = "failures") -> str:
    """Write the command that lists all that is still failing, one by one or as `incidents`."""
    command = ["hwci", group, "list", "--label", "pending", "--days", str(scope.days)]
    if scope.suite is not None:
        command += ["--product", f"{scope.repo_key}:{scope.suite}"]
    elif scope.repo_key is not None:
        command += ["--repo-key", scope.repo_key]
    if scope.as_of is not None:
        command += ["--as-of", scope.as_of.isoformat()]
    return in_full(shlex.join(command))


def _legend(rows: Sequence[RatedTest]) -> list[str]:
    """Explain the words behind the rows of the flakiest tests."""
    unseen = any(not (row.broken or row.flaky_failures or row.retry_passes) for row in rows)
    broken = BROKEN if any(row.broken for row in rows) else ()
    return [*broken, *(NO_FLAKE if unseen else ())]


BROKEN = (
    "broken: it never passed in this period (without these: --table flakiest-tests --hide-broken);",
    "a failure is flaky only if the test also passed on the same commit and box",
)


NO_FLAKE = (
    "no flake seen: no failure of it is a flake, and no retry passed; it is or was broken there",
)


SURE = ("ranked by what each rate is at least: --table flakiest-tests --lower-bound",)


def _terminal(overview: Overview, server: str, links: Links | None) -> None:
    parts: list[RenderableType | str] = [
        render.paragraph(header(overview.page, server), "bold"),
        _panels(tiles(overview)),
    ]
    for block in _blocks(overview):
        parts.append("\n")
        parts.append(render.paragraph(block.title, "bold"))
        if block.rows.items:
            parts.append(render.grid(block.layout, block.rows.items))
        else:
            parts.append(render.paragraph(f"  {block.layout.empty}", "dim"))
        parts.extend(render.paragraph(f"  {line}", "dim") for line in block.below)
    render.draw(*parts, links=links([overview.page, overview.pending]) if links else None)


def _panels(shown: Sequence[Tile]) -> RenderableType | str:
    """Lay the tiles out in one row, in two or in four, as wide as the terminal is; for a program, a
    line each.
    """
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    if render.piped():
        return render.tabbed(tile._replace(below=_joined(tile)) for tile in shown)
    width = render.console().width
    columns = next(number for number, least in TILES_IN_A_ROW.items() if width >= least)
    laid = Table.grid(expand=True)
    laid.width = min(width, ROW_OF_TILES_WIDTH)
    for _ in range(columns):
        laid.add_column(ratio=1)
    panels = [
        Panel(
            Text.assemble(tile.name, "\n", (tile.figure, "bold"), "\n", (tile.below, "dim")),
            height=TILE_HEIGHT,
        )
        for tile in shown
    ]
    for start in range(0, len(panels), columns):
        laid.add_row(*panels[start : start + columns])
    return laid


def _joined(tile: Tile) -> str:
    return tile.below.replace("\n", " ")


def _csv(overview: Overview) -> None:
    """Write the tiles and the tables as blocks, a blank line between them."""
    render.emit_csv(TILE_KEYS, tile_rows(overview))
    for block in _blocks(overview):
        shape, rows = block.layout, block.rows.items
        render.write()
        render.emit_csv(["table", *shape.keys], ([shape.name, *shape.exact(row)] for row in rows))


def _markdown(overview: Overview, server: str) -> None:
    render.write(f"## {render.md(header(overview.page, server))}")
    render.write()
    shown = tiles(overview)
    rows = [tile._replace(below=_joined(tile)) for tile in shown]
    render.emit_md(["", "", ""], rows)
    for block in _blocks(overview):
        render.write()
        render.write(f"### {block.title}")
        render.write()
        if block.rows.items:
            render.emit_md(block.layout.headers(), map(block.layout.shown, block.rows.items))
        else:
            render.write(block.layout.empty)
        for line in block.below:
            render.write()
            render.write(render.md(line))
