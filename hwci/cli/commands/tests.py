# SPDX-License-Identifier: Apache-2.0
"""`hwci tests`: list the tests, and show one over time. `one_test.py` decides how that looks."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hwci import client
from hwci.cli.session import narrowing
from hwci.cli.session.connection import Connection, connected
from hwci.cli.session.listing import listing
from hwci.cli.terminal import one_test, options, render, tables
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hwci.contract.scope import TestName

tests = typer.Typer(no_args_is_help=True)

Search = Annotated[
    str | None,
    typer.Option("--search", metavar="TEXT", help="Only tests in which every word occurs."),
]
Test = Annotated[str, typer.Argument(metavar="TEST", help="The whole id of the test.")]


@tests.command("show")
@connected(by_key=True)
def show(
    server: Connection,
    test: Test,
    *,
    box: options.OfBox = None,
    product: options.Product = None,
    days: options.Days = limits.DAYS_DEFAULT,
    as_of: options.AsOf = None,
    json: options.Json = False,
    output: options.Output = None,
) -> None:
    """Show what a test did on each box: how often it failed, and what a retry gave.

    Lost runs never reached the hardware, or had lost their board before the test; the rate leaves
    them out. It counts first attempts, and has its interval.

    For example:

      hwci tests show test_boot

      hwci tests show test_boot --product acme/firmware:sensor-fw --days 7 --json
    """
    form = options.form_of(json, output)
    repo_key, suite = server.product(product, test)
    end = options.time_of(as_of, "--as-of")
    call = client.calls.one_test(
        server.org_id(), repo_key=repo_key, suite=suite, test_id=test, days=days, as_of=end
    )
    answer = server.send(call)
    if box is not None:
        rows = tuple(row for row in answer.boxes if row.box_key == box)
        answer = replace(answer, boxes=rows, boxes_total=len(rows))
        if not rows:
            filters = {"box_key": box, "repo_key": repo_key, "suite": suite, "days": days}
            render.note(narrowing.nothing_fits(server, filters, "run"))
            if form is render.Format.TABLE:
                return
    one_test.show(answer, form, server.links, box)


def _layout(view: tables.View) -> "tables.Layout[TestName]":
    return tables.Layout(
        "tests",
        "Tests",
        [
            tables.Column("Test", lambda row: row.test_id),
            *tables.product_columns(view),
        ],
        "repoKey suite testId",
        "No report names such a test",
    )


@tests.command("list")
@listing(_layout, "tests list", "test", by_key=True)
def listed(server: Connection, *, search: Search = None, **where: Any) -> "Iterable[TestName]":
    """List the tests that reports name: the names for hwci tests show.

    For example:

      hwci tests list --search uart

      hwci tests list --box bench-2 --branch main
    """
    most = limits.PAGE_LIMIT_MAX
    return server.items(
        client.calls.list_tests(server.org_id(), search=search, limit=most, **where)
    )
