# SPDX-License-Identifier: Apache-2.0
"""`hwci digest`: a day or a week of a product, for mail and chat. What it says is decided in
`hwci.ci.reporting`.
"""

from datetime import timedelta
from typing import Annotated, Any

import typer

from hwci import client
from hwci.cli.session.connection import Connection, connected
from hwci.cli.terminal import options
from hwci.cli.terminal.render import write

WEEK = 7
Days = Annotated[
    int, typer.Option("--days", "-d", min=1, max=31, metavar="N", help="1: a day; 7: a week.")
]
Markdown = Annotated[bool, typer.Option("--md", help="Write Markdown, for a chat or a page.")]


@connected(by_key=True)
def digest(
    server: Connection,
    *,
    days: Days = WEEK,
    product: options.Product = None,
    repo: options.Repo = None,
    as_of: options.AsOf = None,
    md: Markdown = False,
) -> None:
    """Write a day or a week, for mail and chat: what broke, what was fixed, what did not run.

    A bench is listed if it ran in the weeks before, and not in these days. With HWCI_READER_KEY,
    cron needs no sign-in.

    For example:

      hwci digest --days 1

      hwci digest --md --product acme/firmware:sensor-fw > week.md
    """
    from hwci.ci import reporting

    repo_key, suite = server.scope_of(product, repo)
    end = options.time_of(as_of, "--as-of") or options.now()
    start = end - timedelta(days=days)
    scope: dict[str, Any] = {"repo_key": repo_key, "suite": suite}
    of_period = {**scope, "days": days, "as_of": end}
    org_id, calls = server.org_id(), client.calls
    weeks_before = {**scope, "days": max(days, 2 * WEEK), "as_of": start}
    of = ":".join(filter(None, (repo_key, suite))) or "all products"
    made = reporting.Digest(
        days=days,
        of=of,
        start=start,
        end=end,
        incidents=list(server.items(calls.list_incidents(org_id, **of_period))),
        flaky=server.send(calls.flakiest_tests(org_id, **of_period, flaked=True)),
        unchecked=server.send(calls.unchecked_merges(org_id, **of_period)),
        boxes=server.send(calls.box_health(org_id, **of_period)).boxes,
        before=server.send(calls.box_health(org_id, **weeks_before)).boxes,
    )
    for line in reporting.digest_lines(made, reporting.MARKDOWN if md else reporting.TEXT):
        write(line)
