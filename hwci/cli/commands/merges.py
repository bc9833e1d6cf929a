# SPDX-License-Identifier: Apache-2.0
"""`hwci merges`: the announced merges, why each that no run checked is unchecked, and the runs that
would check them. `merge_tables.py` decides how they look.
"""

from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from hwci import client
from hwci.cli.session.connection import Connection, connected, listing_of_a_period
from hwci.cli.terminal import options, render
from hwci.client.explained import not_empty
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.cli.session.connection import Listed
    from hwci.cli.terminal import merge_tables
    from hwci.client.calls import TableFilters
    from hwci.wire.analysis.merges import ExplainedMergeAnswer

merges = typer.Typer(no_args_is_help=True)


@merges.command("list")
@listing_of_a_period(
    "merge",
    box=lambda row: row.boxes,
    branch=lambda row: [row.branch],
    sha=lambda row: [row.sha],
)
def list_merges(
    server: Connection, **period: "Unpack[TableFilters]"
) -> "Listed[merge_tables.AnnouncedMerge]":
    """List the announced merges, the latest first: the run that checked each, or why none did.

    The box of a merge that several checked is that of the first run.

    For example:

      hwci merges list --days 7

      hwci merges list --branch main --box bench-2
    """
    from hwci.cli.terminal import merge_tables

    whole: TableFilters = {**period, "page": 1, "limit": limits.PAGE_LIMIT_MAX}
    whole["as_of"] = period["as_of"] or options.now()
    org_id = server.org_id()
    checked = server.items(client.calls.checked_merges(org_id, **whole))
    unchecked = server.items(client.calls.explain_unchecked_merges(org_id, **whole))
    return merge_tables.announced(checked, unchecked), merge_tables.merges


@merges.command("unchecked")
@listing_of_a_period(
    "merge",
    box=lambda row: [row.run.box_key, *row.other_boxes] if row.run else [],
    branch=lambda row: [row.branch],
    sha=lambda row: [row.sha],
)
def list_unchecked(
    server: Connection, **period: "Unpack[TableFilters]"
) -> "Listed[ExplainedMergeAnswer]":
    """List the merges not checked on hardware, each with the reason why.

    JSON is the page; with --all, a list. `hwci runs list --sha COMMIT` shows what ran on a commit,
    `hwci merges plan --sha COMMIT` what would check it.

    For example:

      hwci merges unchecked --days 7

      hwci merges unchecked --product acme/firmware:sensor-fw --all --output csv
    """
    from hwci.cli.terminal import merge_tables

    return client.calls.explain_unchecked_merges(server.org_id(), **period), merge_tables.unchecked


@merges.command("plan")
@connected(by_key=True)
def plan(
    server: Connection,
    *,
    days: options.Days = limits.DAYS_DEFAULT,
    product: options.Product = None,
    repo: options.Repo = None,
    sha: Annotated[
        str | None,
        typer.Option(metavar="COMMIT", help="Only for merges of this commit, by its first digits."),
    ] = None,
    as_of: options.AsOf = None,
    page: options.Page = 1,
    limit: options.Limit = limits.PAGE_LIMIT_MAX,
    json: options.Json = False,
) -> None:
    """Print the runs that would check these merges, the cheapest boxes first, as commands to paste.

    A run checks the commit that it tests. How long it takes is the median of the product's runs on
    the box in the period; a box that never reached the hardware in its last run is not proposed.
    Run each command in a clone on the box that it names; COMMAND is what runs the tests there.

    For example:

      hwci merges plan --product acme/firmware:sensor-fw

      hwci merges plan --sha 4f1c9a02

      hwci merges plan --days 90 --json
    """
    from hwci.cli.terminal import merge_tables

    repo_key, suite = server.scope_of(product, repo)
    call = client.calls.plan_merges(
        server.org_id(),
        not_empty(sha, "--sha"),
        days=days,
        repo_key=repo_key,
        suite=suite,
        as_of=options.time_of(as_of, "--as-of"),
        page=page,
        limit=limit,
    )
    found = server.send(call)
    if json:
        render.emit_json(found)
        return
    for line in merge_tables.plan(found):
        render.write(line)
    if hint := render.other_pages("run", found.runs.total, len(found.runs.items), page, limit):
        render.note(hint)
