# SPDX-License-Identifier: Apache-2.0
"""`hwci metrics`: the metrics page (spec, "Metrics page") as a terminal, a spreadsheet or a
document shows it. The figures are the server's.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from hwci.cli import options, render, tables
from hwci.cli.connection import signed_in
from hwci.cli.render import Format
from hwci.cli.settings import Flags
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from rich.console import RenderableType

    from hwci.wire.base import ListPage
    from hwci.wire.metrics import MetricsPage, TilesAnswer

LIMIT_DEFAULT = 10
ROW_OF_TILES_WIDTH = 120
TILE_HEIGHT = 6


class TableName(StrEnum):
    """The four tables of the page."""

    UNCHECKED_MERGES = "unchecked-merges"
    REAL_BUGS = "real-bugs"
    OTHER_FAILURES = "other-failures"
    FLAKIEST_TESTS = "flakiest-tests"


class Tile(NamedTuple):
    """A figure with its name and what stands below it."""

    name: str
    figure: str
    below: str


def metrics(
    *,
    days: options.Days = limits.DAYS_DEFAULT,
    product: options.Product = None,
    repo: options.Repo = None,
    as_of: options.AsOf = None,
    limit: Annotated[
        int, typer.Option(min=1, max=limits.PAGE_LIMIT_MAX, help="Rows of each table.")
    ] = LIMIT_DEFAULT,
    table: Annotated[
        TableName | None, typer.Option("--table", help="One table only, with all of its rows.")
    ] = None,
    json: options.Json = False,
    output: options.Output = None,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Show which merges ran on hardware, which failures were firmware bugs, which tests are flaky.

    For example:

      hwci metrics --days 7

      hwci metrics --product acme/firmware:sensor-fw --json

      hwci metrics --table flakiest-tests --output csv > flaky.csv
    """
    from hwci.client import calls

    form = options.form_of(json, output)
    repo_key, suite = options.scope_of(product, repo)
    asked: dict[str, Any] = {
        "days": days,
        "repo_key": repo_key,
        "suite": suite,
        "as_of": options.time_of(as_of, "--as-of"),
    }
    with signed_in(Flags(url, profile, org)) as connection:
        org_id = connection.org_id()
        if table is not None:
            whole = _whole_table(table)(org_id, **asked, limit=limits.PAGE_LIMIT_MAX)
            rows = list(connection.client.items(whole))
            view = tables.View(asked["as_of"] or _now(), suite is not None, tables.only_repo(rows))
            render.emit(_layout(table, view), rows, form)
            return
        page = connection.client.send(calls.metrics(org_id, **asked, limit=limit))
    show(page, form, connection.settings.url)


def _now() -> datetime:
    from datetime import UTC, datetime

    return datetime.now(UTC)  # noqa: TID251 - the command line may read the clock


def _whole_table(name: TableName) -> Any:  # noqa: ANN401 - one call of four
    from hwci.client import calls

    return {
        TableName.UNCHECKED_MERGES: calls.unchecked_merges,
        TableName.REAL_BUGS: calls.real_bugs,
        TableName.OTHER_FAILURES: calls.other_failures,
        TableName.FLAKIEST_TESTS: calls.flakiest_tests,
    }[name]


def _layout(name: TableName, view: tables.View) -> tables.Layout[Any]:
    layouts: dict[TableName, Callable[[tables.View], tables.Layout[Any]]] = {
        TableName.UNCHECKED_MERGES: tables.unchecked_merges,
        TableName.REAL_BUGS: tables.real_bugs,
        TableName.OTHER_FAILURES: tables.other_failures,
        TableName.FLAKIEST_TESTS: tables.flakiest_tests,
    }
    return layouts[name](view)


def _tables(page: MetricsPage) -> Iterator[tuple[tables.Layout[Any], ListPage[Any]]]:
    one_product = page.product is not None and page.product.suite is not None
    found: dict[TableName, ListPage[Any]] = {
        TableName.UNCHECKED_MERGES: page.unchecked_merges,
        TableName.REAL_BUGS: page.real_bugs,
        TableName.OTHER_FAILURES: page.other_failures,
        TableName.FLAKIEST_TESTS: page.flakiest_tests,
    }
    shown = [row for rows in found.values() for row in rows.items]
    view = tables.View(page.period.end, one_product, tables.only_repo(shown))
    for name, rows in found.items():
        yield _layout(name, view), rows


def show(page: MetricsPage, form: Format, server: str) -> None:
    """Write the page in the form that was asked for."""
    if form is Format.JSON:
        render.emit_json(page)
    elif form is Format.CSV:
        _csv(page)
    elif form is Format.MD:
        _markdown(page, server)
    else:
        _terminal(page, server)


def header(page: MetricsPage, server: str) -> str:
    """Say of what, of when and from where the figures are."""
    period, product = page.period, page.product
    if product is None:
        name = "All products"
    elif product.suite is None:
        name = f"All products of {product.repo_key}"
    else:
        name = tables.product(product.repo_key, product.suite)
    days = f"last {tables.counted(period.days, 'day')}"
    ends = f"{tables.moment(period.start)} to {tables.moment(period.end)} UTC"
    return f"{name} · {days} ({ends}) · {server}"


def tiles(found: TilesAnswer) -> list[Tile]:
    """Put the four tiles into words."""
    merges, bugs, infra = found.merges_checked, found.real_fw_bugs, found.infra_runs
    return [
        Tile(
            "Merges checked on hardware",
            f"{merges.checked} of {merges.announced}",
            _share(merges.checked, merges.announced),
        ),
        Tile(
            "Real FW bugs caught",
            str(bugs.real),
            f"{bugs.bench_or_harness} bench or harness,\n"
            f"{bugs.ambiguous} ambiguous, {bugs.dismissed} dismissed",
        ),
        Tile(
            "Flaky failures",
            str(found.flaky_failures.count),
            "the test also passed on\nthe same commit and box",
        ),
        Tile("Infra runs", f"{infra.infra} of {infra.total}", _share(infra.infra, infra.total)),
    ]


def _one_line(tile: Tile) -> Tile:
    return tile._replace(below=tile.below.replace("\n", " "))


def _share(part: int, total: int) -> str:
    return f"{100 * part / total:.1f} %" if total else "none reported"


def _more(layout: tables.Layout[Any], rows: ListPage[Any]) -> str | None:
    rest = rows.total - len(rows.items)
    if rest <= 0:
        return None
    fits = rows.total <= limits.PAGE_LIMIT_MAX
    way = f"--limit {rows.total}" if fits else f"--table {layout.name}"
    return f"… {rest:,} more: {way}"


def _legend(layout: tables.Layout[Any], rows: ListPage[Any]) -> str | None:
    if layout.name == TableName.FLAKIEST_TESTS and any(map(tables.broken, rows.items)):
        return "broken: it never passed on a retry, and never on the same commit and box"
    return None


def _terminal(page: MetricsPage, server: str) -> None:
    from rich.text import Text

    parts: list[RenderableType] = [
        Text(render.safe(header(page, server)), style="bold"),
        _panels(tiles(page.tiles)),
    ]
    for layout, rows in _tables(page):
        parts.append(Text(f"\n{layout.title} ({rows.total:,})", style="bold"))
        if rows.items:
            parts.append(render.grid(layout, rows.items))
        else:
            parts.append(Text(f"  {layout.empty}", style="dim"))
        below = filter(None, (_legend(layout, rows), _more(layout, rows)))
        parts.extend(Text(f"  {line}", style="dim") for line in below)
    render.draw(*parts)


def _panels(found: Sequence[Tile]) -> RenderableType:
    """Lay the tiles out in one row, or in two where the terminal is narrow."""
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    columns = len(found) if render.console().width >= ROW_OF_TILES_WIDTH else 2
    laid = Table.grid(expand=True)
    for _ in range(columns):
        laid.add_column(ratio=1)
    panels = [
        Panel(
            Text.assemble(tile.name, "\n", (tile.figure, "bold"), "\n", (tile.below, "dim")),
            height=TILE_HEIGHT,
        )
        for tile in found
    ]
    for start in range(0, len(panels), columns):
        laid.add_row(*panels[start : start + columns])
    return laid


def _csv(page: MetricsPage) -> None:
    """Write the tiles and the tables as blocks, a blank line between them."""
    render.emit_csv(["tile", "figure", "detail"], map(_one_line, tiles(page.tiles)))
    for layout, rows in _tables(page):
        render.say()
        render.emit_csv(
            ["table", *layout.keys], ([layout.name, *layout.exact(row)] for row in rows.items)
        )


def _markdown(page: MetricsPage, server: str) -> None:
    render.say(f"## {render.md(header(page, server))}")
    render.say()
    render.emit_md(["", "", ""], map(_one_line, tiles(page.tiles)))
    for layout, rows in _tables(page):
        render.say()
        render.say(f"### {layout.title} ({rows.total:,})")
        render.say()
        if rows.items:
            render.emit_md(layout.headers(), (layout.shown(row) for row in rows.items))
        else:
            render.say(layout.empty)
        if more := _more(layout, rows):
            render.say()
            render.say(more)
