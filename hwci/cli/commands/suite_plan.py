# SPDX-License-Identifier: Apache-2.0
"""`hwci suite-config plan`: what a configuration would change, asked before it is sent. Which class
a failure would have is the server's to say.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from hwci import client
from hwci.cli.session.command import connected
from hwci.cli.session.connection import Connection
from hwci.cli.session.reporter import command_context
from hwci.cli.terminal import options, paging, render, tables
from hwci.wire import limits
from hwci.wire.hashes import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.wire.failures import ClassAnswer, ReclassifiedFailure, ReviewAnswer
    from hwci.wire.metrics import RealFwBugs, SuiteConfigPlan

REVIEWED = {"confirm": "confirmed", "dismiss": "dismissed"}


@connected()
def plan(
    server: Connection,
    files: options.ConfigurationFiles = None,
    *,
    days: options.Days = limits.PLAN_DAYS_DEFAULT,
    as_of: options.AsOf = None,
    page: paging.Page = 1,
    limit: paging.Limit = limits.PAGE_LIMIT_DEFAULT,
    json: Annotated[
        bool, typer.Option("--json", help="Write JSON: a list of the API's answers, by product.")
    ] = False,
) -> None:
    """Show which earlier failures configurations would class otherwise; nothing is sent.

    Needs a sign-in, and no CI key: results are people's to read. A failure that somebody reviewed
    counts as reviewed, whatever the checks would say.

    For example:

      hwci suite-config plan

      hwci suite-config plan sensor.json --days 365 --json
    """
    from hwci.ci.reporting import files_or_found, read_configurations

    context = command_context()
    read = read_configurations(
        files_or_found(files, context), "Correct what is named above", context
    )
    end = options.time_of(as_of, "--as-of")
    plans: list[SuiteConfigPlan] = []
    org_id = server.org_id()
    for config in read:
        # All are of one instant: that of the first answer.
        at = plans[0].period.end if plans else end
        plans.append(
            server.send(client.calls.plan_suite_config(org_id, config, days, at, page, limit))
        )
    if json:
        render.emit_json(plans)
        return
    for number, found in enumerate(plans):
        if number:
            render.say()
        _show(found)
        if not found.complete:
            render.note(
                f"The server's time was over when it had looked at the newest {found.looked_at} of"
                f" {found.failures} failures; ask for fewer with --days."
            )
        shown = len(found.changes.items)
        if hint := paging.elsewhere("failure", found.changes.total, shown, page, limit):
            render.note(hint)


def _show(found: "SuiteConfigPlan") -> None:
    product = tables.product(found.product.repo_key, found.product.suite)
    changed = tables.counted(found.changes.total, "failure")
    render.say(f"{product}, last {found.period.days} days: {changed} would be seen otherwise.")
    render.say(_counts(found.before, found.after))
    if found.changes.items:
        render.emit(_layout(found.changes.items), found.changes.items, render.Format.TABLE)


def _counts(before: "RealFwBugs", after: "RealFwBugs") -> str:
    """Write the tile as it is and as it would be: `real firmware bug 3 → 2, …`."""
    figures = (
        ("real_fw_bug", before.real, after.real),
        ("bench_or_harness", before.bench_or_harness, after.bench_or_harness),
        ("ambiguous", before.ambiguous, after.ambiguous),
        ("dismissed", before.dismissed, after.dismissed),
    )
    return ", ".join(
        f"{tables.CLASS_WORDS[name]} {_change(now, then)}" for name, now, then in figures
    )


def _change(now: int, then: int) -> str:
    arrow = "→" if render.unicode_fits() else "->"
    return str(now) if now == then else f"{now} {arrow} {then}"


def _layout(rows: "Sequence[ReclassifiedFailure]") -> "tables.Layout[ReclassifiedFailure]":
    columns: list[tables.Column[ReclassifiedFailure]] = [
        tables.Column("Test", lambda row: row.test_id),
        tables.Column("Box", lambda row: row.box_key),
        tables.Column("Branch", lambda row: row.branch),
        tables.Column("Commit", lambda row: short(row.sha), whole=True),
        tables.Column("First failed (UTC)", lambda row: tables.moment(row.started_at)),
        tables.Column("Class now", lambda row: _class(row.before)),
        tables.Column("Class then", lambda row: _class(row.after)),
    ]
    if any(row.review for row in rows):
        columns.append(tables.Column("Stays", lambda row: _review(row.review)))
    return tables.Layout("plan", "What would change", columns, keys=(), empty="")


def _class(found: "ClassAnswer") -> str:
    words = tables.CLASS_WORDS[found.failure_class]
    return f"{words}: {found.reason_text}" if found.reason_text else words


def _review(review: "ReviewAnswer | None") -> str:
    return f"{REVIEWED[review.action]} by {review.by.name}" if review else ""
