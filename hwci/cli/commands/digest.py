# SPDX-License-Identifier: Apache-2.0
"""`hwci digest`: a day or a week of a product, for mail and chat. The server decides what it
tells, `hwci.ci.reporting` how that is written.
"""

from typing import Annotated

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

    Fixed is what passed again in these days, and failed in them or in the two weeks before. A bench
    is listed if it ran in the weeks before, and not in these days. With HWCI_READER_KEY,
    cron needs no sign-in.

    For example:

      hwci digest --days 1

      hwci digest --md --product acme/firmware:sensor-fw > week.md
    """
    from hwci.ci import reporting

    repo_key, suite = server.scope_of(product, repo)
    call = client.calls.digest(
        server.org_id(),
        repo_key=repo_key,
        suite=suite,
        days=days,
        as_of=options.time_of(as_of, "--as-of"),
    )
    of = ":".join(filter(None, (repo_key, suite))) or "all products"
    form = reporting.MARKDOWN if md else reporting.TEXT
    for line in reporting.digest_lines(server.send(call), of, form):
        write(line)
