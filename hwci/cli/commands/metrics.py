# SPDX-License-Identifier: Apache-2.0
"""`hwci metrics`: show the metrics page, or the whole of one table. `metrics_page.py` decides how
they look; the server computes the figures.
"""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from hwci.cli.session.connection import Connection, connected
from hwci.cli.terminal import options, render, tables
from hwci.cli.terminal.metrics_page import (
    Flakiest,
    Overview,
    Scope,
    TableName,
    layout,
    show,
    view_of,
)
from hwci.cli.terminal.render import Format
from hwci.client.explained import wrong_usage
from hwci.engine.vocabulary import Label
from hwci.said import counted
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from uuid import UUID

    from hwci.client import Call, Client
    from hwci.wire.analysis.suspects import RankedTestAnswer
    from hwci.wire.base import ListPage
    from hwci.wire.metrics import FlakyTestAnswer, MetricsPage

    Shaped = Callable[[tables.View], tables.Layout[Any]]

Told = TypeVar("Told")

LIMIT_DEFAULT = 10
AS_THE_PAGE = "-flakeRate"
"""The order of "Flakiest tests", for an answer that has another one by itself."""


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
    scope = Scope(days, *server.scope_of(product, repo), options.time_of(as_of, "--as-of"))
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
    """Ask for the page, then for the rest of the overview at the page's own instant. What a server
    of the version before does not tell is left out.
    """
    from hwci.client import calls
    from hwci.client.errors import NotFoundError
    from hwci.wire.analysis.causes import OfTable

    def told(call: "Call[Told]") -> "Told | None":
        with suppress(NotFoundError):
            return client.send(call)
        return None

    page = client.send(_page(org_id, scope, limit))
    same = scope._replace(as_of=page.period.end)._asdict()
    flakiest = _flakiest(client, org_id, same, page, limit)
    pending = client.send(calls.list_failures(org_id, Label.PENDING, **same, limit=limit))
    incidents = told(calls.list_incidents(org_id, Label.PENDING, **same, limit=1))
    causes = told(calls.list_causes(org_id, OfTable.REAL_BUGS, **same, limit=1))
    trends = told(calls.trends(org_id, **same))
    return Overview(
        page=page,
        flakiest=flakiest,
        causes=causes.total if causes else None,
        trends=trends,
        pending=pending,
        incidents=incidents.total if incidents else 0,
        scope=scope,
    )


def _flakiest(
    client: "Client", org_id: "UUID", same: dict[str, Any], page: "MetricsPage", limit: int
) -> Flakiest:
    """Return the flakiest tests of a page with their intervals, or without if the server does not
    tell these.
    """
    from hwci.client import calls
    from hwci.client.errors import ApiError
    from hwci.wire.analysis.suspects import RankedTestAnswer
    from hwci.wire.base import ListPage

    plain = page.flakiest_tests
    if plain.total:
        with suppress(ApiError):
            ranked = calls.ranked_tests(org_id, **same, sort=AS_THE_PAGE, limit=limit)
            return Flakiest(client.send(ranked), sure=True)
    unsure = ListPage[RankedTestAnswer](**{**dict(plain), "items": _unsure(plain.items)})
    return Flakiest(unsure, sure=False)


def _unsure(rows: "Iterable[FlakyTestAnswer]") -> "list[RankedTestAnswer]":
    from hwci.wire.analysis.suspects import RankedTestAnswer

    return [RankedTestAnswer(**dict(row), low=None, high=None) for row in rows]


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
    shaped: Shaped
    if name is TableName.FLAKIEST_TESTS:
        rows, shaped = _whole_flakiest(server, asked, form, lower_bound=lower_bound)
    else:
        if lower_bound:
            asked["rank_by"] = RankBy.LOWER_BOUND
        rows = _whole(server, getattr(calls, name.name.lower()), asked)
        shaped = partial(layout, name)
    shape = shaped(view_of(rows, scope, end))
    if hide_broken and _note_broken(server, asked):
        shape = replace(shape, empty="No other test of the period had a failed attempt.")
    render.emit(shape, rows, form, server.links)


def _whole_flakiest(
    server: Connection, asked: dict[str, Any], form: Format, *, lower_bound: bool
) -> tuple[list[Any], "Shaped"]:
    """Return the flakiest tests: by the lower bound, as the API gives them, or these with their
    intervals, if the server tells them.
    """
    from hwci.client import calls
    from hwci.client.errors import ApiError

    if lower_bound:
        return _whole(server, calls.ranked_tests, asked), tables.ranked_tests
    if form is not Format.JSON:
        with suppress(ApiError):
            rows = _whole(server, calls.ranked_tests, {**asked, "sort": AS_THE_PAGE})
            return rows, partial(tables.flakiest_tests, sure=True)
    plain = _whole(server, calls.flakiest_tests, asked)
    shown = plain if form is Format.JSON else _unsure(plain)
    return shown, partial(tables.flakiest_tests, sure=False)


def _whole(
    server: Connection, table: "Callable[..., Call[ListPage[Any]]]", asked: dict[str, Any]
) -> list[Any]:
    return list(server.items(table(server.org_id(), **asked, limit=limits.PAGE_LIMIT_MAX)))


def _note_broken(server: Connection, asked: dict[str, Any]) -> int:
    """Note how many tests are left out as broken, and return that number."""
    from hwci.client import calls

    others = calls.flakiest_tests(server.org_id(), **{**asked, "broken": True}, limit=1)
    hidden = server.send(others).total
    if hidden:
        render.note(f"{counted(hidden, 'broken test')} left out.")
    return hidden
