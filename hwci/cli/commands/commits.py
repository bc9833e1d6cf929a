# SPDX-License-Identifier: Apache-2.0
"""`hwci commits`: what became of a commit. `one_commit.py` decides how that looks."""

from typing import Annotated

import typer

from hwci import client
from hwci.cli.session.connection import Connection, connected
from hwci.cli.session.ids import repository_of
from hwci.cli.terminal import one_commit, options
from hwci.wire import limits

commits = typer.Typer(no_args_is_help=True)

Sha = Annotated[
    str, typer.Argument(metavar="COMMIT", help="The commit, or the first digits of its hash.")
]


@commits.command("show")
@connected(by_key=True)
def show(
    server: Connection,
    commit: Sha,
    *,
    product: options.Product = None,
    repo: options.Repo = None,
    days: options.Days = limits.DAYS_DEFAULT,
    as_of: options.AsOf = None,
    json: options.Json = False,
    output: options.Output = None,
) -> None:
    """Show what became of a commit: its runs, and what caused each of its failures.

    A failure is of this change, of a bug that its base branch has, of a flaky test or of the bench;
    where the runs of the period do not tell, it says which run would.

    For example:

      hwci commits show 4f1c9a02

      hwci commits show 4f1c9a02 --product acme/firmware:sensor-fw --json
    """
    form = options.form_of(json, output)
    repo_key, suite = server.scope_of(product, repo)
    call = client.calls.one_commit(
        server.org_id(),
        repo_key=repo_key or repository_of(server, commit),
        suite=suite,
        sha=commit,
        days=days,
        as_of=options.time_of(as_of, "--as-of"),
    )
    one_commit.show(server.send(call), form, server.links)
