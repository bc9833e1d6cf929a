# SPDX-License-Identifier: Apache-2.0
"""`hwci metrics`: show the metrics page, or the whole of one table. `metrics_page.py` decides how
they look; the server computes the figures.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hwci.cli.session.connection import Connection, connected
from hwci.cli.terminal import options, render, tables
from hwci.cli.terminal.metrics_page import Overview, Scope, TableName, layout, show, view_of
from hwci.cli.terminal.render import Format
from hwci.client.explained import wrong_usage
from hwci.engine.vocabulary import Label
from hwci.said import counted
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from hwci.client import Call, Client
    from hwci.wire.base import ListPage
    from hwci.wire.metrics import MetricsPage

LIMIT_DEFAULT = 10


@connected(by_key=True)
def metrics(
    server: Connection,
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
    hide_broken: Annotated[
        bool,
        typer.Option("--hide-broken", help="With --table flakiest-tests: leave out broken tests."),
    ] = False,
    lower_bound: Annotated[
        bool,
        typer.Option(
            "--lower-bound",
            help="With --table flakiest-tests or suspects: rank by the interval's lower end.",
        ),
    ] = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Write JSON: the page as the API gives it; with --table, a list of its items.",
        ),
    ] = False,
    output: options.Output = None,
) -> None:
    """Show which merges ran on hardware, which failures were firmware bugs, which tests are flaky.

    Below, it lists what is still failing.

    For example:

      hwci metrics --days 7

      hwci metrics --product acme/firmware:sensor-fw --json

      hwci metrics --table flakiest-tests --output csv > flaky.csv

      hwci metrics --table checked-merges --days 90

      hwci metrics --table flakiest-tests --lower-bound
    """
    _require_table(table, hide_broken=hide_broken, lower_bound=lower_bound)
    form = options.form_of(json, output)
    scope = Scope(days, *options.scope_of(product, repo), options.time_of(as_of, "--as-of"))
    if table is not None:
        _show_whole(server, table, scope, form, hide_broken=hide_broken, lower_bound=lower_bound)
    elif form is Format.JSON:
        render.emit_json(server.send(_page(server.org_id(), scope, limit)))
    else:
        found = ask(server.client, server.org_id(), scope, limit)
        show(found, form, server.settings.url, server.links)


def _require_table(table: TableName | None, *, hide_broken: bool, lower_bound: bool) -> None:
    """Refuse a flag of one table that stands without it."""
    if hide_broken and table is not TableName.FLAKIEST_TESTS:
        raise wrong_usage(
            "Broken tests can be left out of the whole table only",
            "--hide-broken stands without --table flakiest-tests",
            "Add --table flakiest-tests, or leave --hide-broken out",
        )
    if lower_bound and table not in {TableName.FLAKIEST_TESTS, TableName.SUSPECTS}:
        raise wrong_usage(
            "Only flaky tests can be ranked by the lower end of an interval",
            "--lower-bound stands without --table flakiest-tests or suspects",
            "Add one of these, or leave --lower-bound out",
        )


def _page(org_id: "UUID", scope: Scope, limit: int) -> "Call[MetricsPage]":
    from hwci.client import calls

    return calls.metrics(org_id, **scope._asdict(), limit=limit)


def ask(client: "Client", org_id: "UUID", scope: Scope, limit: int) -> Overview:
    """Ask for the page, then for the rest of the overview at the page's own instant."""
    from hwci.client import calls
    from hwci.wire.analysis.causes import OfTable

    page = client.send(_page(org_id, scope, limit))
    same = scope._replace(as_of=page.period.end)._asdict()
    pending = client.send(calls.list_failures(org_id, Label.PENDING, **same, limit=limit))
    incidents = client.send(calls.list_incidents(org_id, Label.PENDING, **same, limit=1))
    causes = client.send(calls.list_causes(org_id, OfTable.REAL_BUGS, **same, limit=1))
    trends = client.send(calls.trends(org_id, **same))
    return Overview(page, causes.total, trends, pending, incidents.total, scope)


def _show_whole(
    server: Connection,
    name: TableName,
    scope: Scope,
    form: Format,
    *,
    hide_broken: bool,
    lower_bound: bool,
) -> None:
    """Write one table with all of its rows, all as of one instant."""
    from hwci.analysis.flaky.suspects import RankBy
    from hwci.client import calls

    end = scope.as_of or options.now()
    asked = scope._replace(as_of=end)._asdict()
    if hide_broken:
        asked["broken"] = False
    table = getattr(calls, name.name.lower())
    shaped: Callable[[tables.View], tables.Layout[Any]] = partial(layout, name)
    if lower_bound and name is TableName.SUSPECTS:
        asked["rank_by"] = RankBy.LOWER_BOUND
    elif lower_bound:
        table, shaped = calls.ranked_tests, tables.ranked_tests
    whole: Call[ListPage[Any]] = table(server.org_id(), **asked, limit=limits.PAGE_LIMIT_MAX)
    rows = list(server.items(whole))
    shape = shaped(view_of(rows, scope, end))
    if hide_broken and _note_broken(server, asked):
        shape = replace(shape, empty="No other test of the period had a failed attempt.")
    render.emit(shape, rows, form, server.links)


def _note_broken(server: Connection, asked: dict[str, Any]) -> int:
    """Note how many tests are left out as broken, and return that number."""
    from hwci.client import calls

    others = calls.flakiest_tests(server.org_id(), **{**asked, "broken": True}, limit=1)
    hidden = server.send(others).total
    if hidden:
        render.note(f"{counted(hidden, 'broken test')} left out.")
    return hidden
