# SPDX-License-Identifier: Apache-2.0
"""`hwci merges`: the announced merges, why each that no run checked is unchecked, and the runs that
would check them. `merge_tables.py` decides how they look.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from hwci import client
from hwci.cli.session import narrowing
from hwci.cli.session.connection import Connection, connected
from hwci.cli.session.listing import listing_of_a_period
from hwci.cli.terminal import options, render
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.cli.session.listing import Listed
    from hwci.contract.runs.merges import AnnouncedMerge, ExplainedMerge, MergePlan

merges = typer.Typer(no_args_is_help=True)


@merges.command("list")
@listing_of_a_period("merges list", "merge")
def list_merges(server: Connection, **period: Any) -> "Listed[AnnouncedMerge]":
    """List the announced merges, the latest first: the boxes that checked each, or why none did.

    For example:

      hwci merges list --days 7

      hwci merges list --branch main --box bench-2
    """
    from hwci.cli.terminal import merge_tables

    return client.calls.list_merges(server.org_id(), **period), merge_tables.merges


@merges.command("unchecked")
@listing_of_a_period("merges unchecked", "merge")
def list_unchecked(server: Connection, **period: Any) -> "Listed[ExplainedMerge]":
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
    box: options.OfBox = None,
    branch: options.OfBranch = None,
    sha: options.OfSha = None,
    product: options.Product = None,
    repo: options.Repo = None,
    as_of: options.AsOf = None,
    page: options.Page = 1,
    limit: options.Limit = limits.PAGE_LIMIT_MAX,
    json: options.Json = False,
) -> None:
    """Print the runs that would check these merges, the cheapest boxes first, as commands to paste.

    --branch and --sha plan runs for these merges, --box on this box only. How long a run takes is
    the median of the product's runs on the box in the period; a box that never reached the hardware
    in its last run is not proposed.
    Run each command in a clone on the box that it names; COMMAND is what runs the tests there.

    For example:

      hwci merges plan --product acme/firmware:sensor-fw

      hwci merges plan --sha 4f1c9a02

      hwci merges plan --days 90 --json
    """
    from hwci.cli.terminal import merge_tables

    flags = {"box": box, "branch": branch, "sha": sha, "product": product}
    filters = narrowing.filters_of(server, flags, repo)
    filters |= {"days": days, "as_of": options.time_of(as_of, "--as-of")}
    ask = partial(client.calls.plan_merges, server.org_id(), page=page, limit=limit)
    plan = narrowing.answer_or(server, filters, lambda: server.send(ask(**filters)), None)
    if plan is None:  # nothing names the box: no run can be planned there
        plan = _without_runs(server.send(ask(**{**filters, "box_key": None})))
    if not plan.runs.total and (line := narrowing.nothing_fits(server, filters, "run")):
        render.note(line)
    if json:
        render.emit_json(plan)
        return
    for line in merge_tables.plan(plan):
        render.write(line)
    if hint := render.other_pages("run", plan.runs.total, len(plan.runs.items), page, limit):
        render.note(hint)


def _without_runs(plan: "MergePlan") -> "MergePlan":
    runs = replace(plan.runs, items=(), total=0)
    return replace(plan, runs=runs, board_seconds=0.0, ci_jobs=(), unplanned=())
