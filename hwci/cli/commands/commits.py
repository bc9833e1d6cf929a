# SPDX-License-Identifier: Apache-2.0
"""`hwci commits`: what became of a commit. `one_commit.py` decides how that looks."""

from typing import Annotated

import typer

from hwci import client
from hwci.cli.session.connection import Connection, connected
from hwci.cli.terminal import one_commit, options
from hwci.client.explained import command_error, wrong_usage
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
        repo_key=repo_key or _repository(server, commit),
        suite=suite,
        sha=commit,
        days=days,
        as_of=options.time_of(as_of, "--as-of"),
    )
    one_commit.show(server.send(call), form, server.links)


def _repository(server: Connection, commit: str) -> str:
    """Return the repository that has runs of a commit."""
    runs = server.items(
        client.calls.list_runs(server.org_id(), sha=commit, limit=limits.PAGE_LIMIT_MAX)
    )
    known = sorted({run.repo_key for run in runs})
    if len(known) == 1:
        return known[0]
    if not known:
        raise command_error(
            "The commit was not found",
            f"no run is of a commit that begins with {commit}",
            "hwci runs list shows the commits that ran",
        )
    raise wrong_usage(
        "It is not clear which commit is meant",
        f"several repositories have one that begins so: {', '.join(known)}",
        "Use --repo-key REPO",
    )
