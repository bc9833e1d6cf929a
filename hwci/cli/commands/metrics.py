# SPDX-License-Identifier: Apache-2.0
"""`hwci metrics`: show the metrics page, or the whole of one table. `metrics_page.py` decides how
they look; the server computes the figures.
"""

from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from hwci.cli.session import narrowing
from hwci.cli.session.connection import Connection, connected
from hwci.cli.terminal import options, render, tables
from hwci.cli.terminal.lists import flags_of
from hwci.cli.terminal.metrics_page import (
    Flakiest,
    Overview,
    Scope,
    layout,
    of_announced,
    show,
    view_of,
)
from hwci.cli.terminal.render import Format
from hwci.cli.terminal.tables import TableName
from hwci.client.explained import wrong_usage
from hwci.contract.vocabulary import Label
from hwci.said import counted
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from uuid import UUID

    from hwci.client import Call, Client
    from hwci.contract.flaky.flaky_tests import FlakyTest
    from hwci.contract.flaky.suspects import RatedTest
    from hwci.contract.page.metrics import MetricsPage
    from hwci.contract.shape import ListPage

    Shaped = Callable[[tables.View], tables.Layout[Any]]

LIMIT_DEFAULT = 10
_OF_MERGES = {TableName.UNCHECKED_MERGES, TableName.CHECKED_MERGES}


Limit = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=limits.PAGE_LIMIT_MAX,
        help=f"Rows of each table [{LIMIT_DEFAULT}; with --table, all].",
    ),
]
Table = Annotated[TableName | None, typer.Option("--table", help="One table only.")]
HideBroken = Annotated[
    bool,
    typer.Option("--hide-broken", help="With --table flakiest-tests: leave out broken tests."),
]
LowerBound = Annotated[
    bool,
    typer.Option(
        "--lower-bound",
        help="With --table flakiest-tests or suspects: rank by the interval's lower end.",
    ),
]
LostBoard = Annotated[
    bool,
    typer.Option(
        "--lost-board",
        help="With --table real-bugs or other-failures: only those in runs that lost their board.",
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Write JSON: the page as the API gives it; with --table, a list of its items.",
    ),
]


@connected(by_key=True)
def metrics(
    server: Connection,
    *,
    days: options.Days = limits.DAYS_DEFAULT,
    box: options.OfBox = None,
    branch: options.OfBranch = None,
    sha: options.OfSha = None,
    product: options.Product = None,
    repo: options.Repo = None,
    as_of: options.AsOf = None,
    limit: Limit = None,
    table: Table = None,
    hide_broken: HideBroken = False,
    lower_bound: LowerBound = False,
    lost_board: LostBoard = False,
    json: Json = False,
    output: options.Output = None,
) -> None:
    """Show which merges ran on hardware, which failures were firmware bugs, which tests are flaky.

    Below, it lists what is still failing. --box, --branch and --sha go with a --table whose rows
    have one. Of flaky tests, --branch may also be default, others (all but that) or a pattern.

    For example:

      hwci metrics --days 7

      hwci metrics --product acme/firmware:sensor-fw --json

      hwci metrics --table flakiest-tests --output csv > flaky.csv

      hwci metrics --table checked-merges --days 90

      hwci metrics --table flakiest-tests --lower-bound

      hwci metrics --table suspects --branch default
    """
    _require_table(table, hide_broken=hide_broken, lower_bound=lower_bound, lost_board=lost_board)
    flags = {"box": box, "branch": branch, "sha": sha}
    _require_narrowing(table, flags)
    form = options.form_of(json, output)
    scope = Scope(days, *server.scope_of(product, repo), options.time_of(as_of, "--as-of"))
    if table is not None:
        where = narrowing.filters_of(server, flags)
        wanted = Wanted(table, scope, where, limit, hide_broken, lower_bound, lost_board)
        _show_whole(server, wanted, form)
    elif form is Format.JSON:
        render.emit_json(server.send(_page(server.org_id(), scope, limit or LIMIT_DEFAULT)))
    else:
        overview = ask(server.client, server.org_id(), scope, limit or LIMIT_DEFAULT)
        show(overview, form, server.settings.url, server.links)


def _require_table(
    table: TableName | None, *, hide_broken: bool, lower_bound: bool, lost_board: bool
) -> None:
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
    if lost_board and table not in {TableName.REAL_BUGS, TableName.OTHER_FAILURES}:
        raise wrong_usage(
            "Only resolved failures are listed by whether their runs lost the board",
            "--lost-board stands without --table real-bugs or other-failures",
            "Add one of these, or list all failures: hwci failures list --lost-board",
        )


def _require_narrowing(table: TableName | None, flags: dict[str, str | None]) -> None:
    """Refuse a flag that the rows of a table cannot answer."""
    command = " --table ".join(filter(None, ("metrics", table)))
    for name, value in flags.items():
        if value is not None and name not in flags_of(command):
            tables_of = [table for table in TableName if name in table.flags.split()]
            raise wrong_usage(
                f"hwci {command} is not narrowed by --{name}",
                f"--{name} goes with --table {', '.join(tables_of)}",
                f"Name one of these, or leave --{name} out",
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
    flakiest = _flakiest(client, org_id, same, page, limit)
    pending = client.send(calls.list_failures(org_id, label=Label.PENDING, **same, limit=limit))
    incidents = client.send(calls.list_incidents(org_id, label=Label.PENDING, **same, limit=1))
    causes = client.send(calls.list_causes(org_id, table=OfTable.REAL_BUGS, **same, limit=1))
    trends = client.send(calls.trends(org_id, **same))
    lost = client.send(calls.lost_boards(org_id, **same))
    return Overview(
        page=page,
        flakiest=flakiest,
        causes=causes.total,
        trends=trends,
        lost_boards=lost,
        pending=pending,
        incidents=incidents.total,
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
    from hwci.contract.shape import ListPage
    from hwci.wire.queries import Detail

    plain = page.flakiest_tests
    if plain.total:
        with suppress(ApiError):
            rates = calls.suspects(org_id, **same, detail=Detail.RATES, limit=limit)
            return Flakiest(client.send(rates), sure=True)
    rows = _unsure(plain.items)
    unsure = ListPage(items=rows, total=plain.total, page=plain.page, limit=plain.limit)
    return Flakiest(unsure, sure=False)


def _unsure(rows: "Iterable[FlakyTest]") -> "tuple[RatedTest, ...]":
    from hwci.contract.flaky.suspects import RatedTest

    return tuple(RatedTest(**vars(row), low=None, high=None) for row in rows)


class Wanted(NamedTuple):
    """One table, and which of its rows. `limit` None: all."""

    table: TableName
    scope: Scope
    where: narrowing.Filters
    limit: int | None
    hide_broken: bool
    lower_bound: bool
    lost_board: bool


def _show_whole(server: Connection, wanted: Wanted, form: Format) -> None:
    """Write one table, all of it as of one instant."""
    from hwci.client import calls
    from hwci.contract.vocabulary import RankBy
    from hwci.wire.analysis.causes import OfTable

    scope, name = wanted.scope, wanted.table
    end = scope.as_of or options.now()
    filters = {**scope._replace(as_of=end)._asdict(), **wanted.where}
    if wanted.hide_broken:
        filters["broken"] = False
    shaped: Shaped
    if name is TableName.FLAKIEST_TESTS:
        rows, shaped = _whole_flakiest(server, filters, wanted, form)
    else:
        if wanted.lower_bound:
            filters["rank_by"] = RankBy.LOWER_BOUND
        call = getattr(calls, name.name.lower())
        rows_of = _rows
        if name is TableName.UNCHECKED_MERGES and "box_key" in wanted.where:
            call, rows_of = calls.explain_unchecked_merges, _plain_merges
        if wanted.lost_board:
            call = partial(calls.lost_resolved, table=OfTable[name.name])
        rows = narrowing.answer_or(
            server, filters, lambda: rows_of(server, call, filters, wanted.limit), []
        )
        shaped = partial(layout, name)
    shape = shaped(view_of(rows, scope, end))
    if wanted.hide_broken and _note_broken(server, filters):
        shape = replace(shape, empty="No other test of the period had a failed attempt.")
    if not rows:
        shape = _without_rows(server, shape, wanted, filters, form)
    render.emit(shape, rows, form, server.links)


def _without_rows(
    server: Connection,
    shape: tables.Layout[Any],
    wanted: Wanted,
    filters: dict[str, Any],
    form: Format,
) -> tables.Layout[Any]:
    """Return a table that says why it has no row: what of its flags fits none, or no merge."""
    if wanted.table in _OF_MERGES and form is Format.TABLE and not wanted.where:
        scope = wanted.scope._replace(as_of=filters["as_of"])
        shape = of_announced(shape, server.send(_page(server.org_id(), scope, 1)))
    known = {name: value for name, value in filters.items() if value is not None}
    return narrowing.explained(server, shape, known, "row", form)


def _whole_flakiest(
    server: Connection, filters: dict[str, Any], wanted: Wanted, form: Format
) -> tuple[list[Any], "Shaped"]:
    """Return the flakiest tests: by the lower bound, as the API gives them, or these with their
    intervals, if the server tells them.
    """
    from hwci.client import calls
    from hwci.client.errors import ApiError
    from hwci.contract.vocabulary import RankBy
    from hwci.wire.queries import Detail

    rates = partial(calls.suspects, detail=Detail.RATES)
    if wanted.lower_bound:
        by_low = partial(rates, rank_by=RankBy.LOWER_BOUND)
        return _rows(server, by_low, filters, wanted.limit), tables.ranked_tests
    if "branch" in wanted.where:  # the page's own table is of all branches
        return _rows(server, rates, filters, wanted.limit), tables.ranked_tests
    if form is not Format.JSON:
        with suppress(ApiError):
            rows = _rows(server, rates, filters, wanted.limit)
            return rows, partial(tables.flakiest_tests, sure=True)
    plain = _rows(server, calls.flakiest_tests, filters, wanted.limit)
    shown = plain if form is Format.JSON else [*_unsure(plain)]
    return shown, partial(tables.flakiest_tests, sure=False)


def _rows(
    server: Connection,
    table: "Callable[..., Call[ListPage[Any]]]",
    filters: dict[str, Any],
    limit: int | None,
) -> list[Any]:
    """Return all rows of a table, or the first ones, and note that there are more."""
    call = table(server.org_id(), **filters, limit=limit or limits.PAGE_LIMIT_MAX)
    if limit is None:
        return list(server.items(call))
    page = server.send(call)
    if page.total > limit:
        render.note(f"… {page.total - limit:,} more: leave --limit out")
    return list(page.items)


def _plain_merges(
    server: Connection,
    table: "Callable[..., Call[ListPage[Any]]]",
    filters: dict[str, Any],
    limit: int | None,
) -> list[Any]:
    """Return the unchecked merges of a box as the table has them: only the runs that tell why are
    of a box, so the call gives these, too.
    """
    from hwci.contract.runs.merges import Merge

    names = [column.name for column in fields(Merge)]
    rows = _rows(server, table, filters, limit)
    return [Merge(**{name: getattr(row, name) for name in names}) for row in rows]


def _note_broken(server: Connection, filters: dict[str, Any]) -> int:
    """Note how many tests are left out as broken, and return that number."""
    from hwci.client import calls
    from hwci.wire.queries import Detail

    broken = {**filters, "broken": True, "limit": 1}
    if "branch" in filters:
        hidden = server.send(calls.suspects(server.org_id(), detail=Detail.RATES, **broken)).total
    else:
        hidden = server.send(calls.flakiest_tests(server.org_id(), **broken)).total
    if hidden:
        render.note(f"{counted(hidden, 'broken test')} left out.")
    return hidden
