# SPDX-License-Identifier: Apache-2.0
"""`hwci runs`: list run records, live ones among them, and show one with its tests."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.session import ids
from hwci.cli.session.connection import signed_in
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options, paging, render, run_tables, tables
from hwci.engine.vocabulary import RunStatus
from hwci.wire import limits

if TYPE_CHECKING:
    from uuid import UUID

    from hwci.cli.session.connection import Connection
    from hwci.wire.base import ListPage
    from hwci.wire.runs import RunAnswer, RunDetail

LATEST = 500
"""How many runs, the latest ones, are looked through for an abbreviated id."""

runs = typer.Typer(no_args_is_help=True, help="Runs: list, show, watch.")


class Hello(StrEnum):
    """How the check before the tests ended, as reports are told it by `--hello`, too."""

    OK = "ok"
    FAILED = "failed"


RunId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help=f"Id of the run, or its first 8 digits if it is of the latest {LATEST}."
    ),
]
Status = Annotated[RunStatus | None, typer.Option(help="Only running, reported or lost runs.")]
Sha = Annotated[
    str | None, typer.Option(metavar="SHA", help="A commit: its first digits, four or more.")
]
HelloOk = Annotated[
    Hello | None,
    typer.Option(help="Only reports that reached their hardware (ok) or did not (failed)."),
]
TestId = Annotated[
    str | None, typer.Option("--test", metavar="ID", help="Reports with this test: its whole id.")
]
RetryPass = Annotated[
    bool | None,
    typer.Option(
        "--retry-pass/--no-retry-pass", help="With --test: it passed on a retry, or did not."
    ),
]
FailedAttempt = Annotated[
    bool | None,
    typer.Option(
        "--failed-attempt/--no-failed-attempt",
        help="With --test: an attempt of it failed, or none did.",
    ),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="TIME", help="Runs that began then or later: a date-time."),
]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="TIME", help="Runs that began then or before: a date-time."),
]


@runs.command("list")
def list_runs(
    *,
    status: Status = None,
    product: options.Product = None,
    repo: options.Repo = None,
    branch: Annotated[str | None, typer.Option(help="Name of the branch.")] = None,
    box: Annotated[str | None, typer.Option(help="Name of the box.")] = None,
    sha: Sha = None,
    hello: HelloOk = None,
    test: TestId = None,
    retry_pass: RetryPass = None,
    failed_attempt: FailedAttempt = None,
    start: From = None,
    end: To = None,
    page: paging.Page = 1,
    limit: paging.Limit = limits.PAGE_LIMIT_DEFAULT,
    json: options.Json = False,
    output: options.Output = None,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """List runs, the latest start first: those that were reported, and those still running.

    For example:

      hwci runs list --status running

      hwci runs list --product acme/firmware:sensor-fw --box bench-7 --output csv

      hwci runs list --hello failed --from 2026-03-01T00:00:00Z

      hwci runs list --product acme/firmware:sensor-fw --test boot --retry-pass
    """
    from hwci.client import calls

    form = options.form_of(json, output)
    repo_key, suite = options.scope_of(product, repo)
    period = {"start": options.time_of(start, "--from"), "end": options.time_of(end, "--to")}
    with signed_in(Flags(url, profile, org)) as connection:
        found = connection.client.send(
            calls.list_runs(
                connection.org_id(),
                repo_key=repo_key,
                suite=suite,
                branch=branch,
                box_key=box,
                sha=sha,
                status=status,
                hello_ok=None if hello is None else hello is Hello.OK,
                test_id=test,
                retry_pass=retry_pass,
                failed_attempt=failed_attempt,
                **period,
                page=page,
                limit=limit,
            )
        )
    _show(found, form)


def _show(found: ListPage[RunAnswer], form: render.Format) -> None:
    if form is render.Format.JSON:
        render.emit_json(found)
        return
    beyond = found.total and not found.items
    if not (beyond and form is render.Format.TABLE):
        render.emit(run_tables.runs(tables.View(options.now())), found.items, form)
    if hint := paging.elsewhere("run", found.total, len(found.items), found.page, found.limit):
        render.note(hint)


@runs.command("show")
def show_run(
    run: RunId,
    all_tests: Annotated[
        bool, typer.Option("--all", help="Show tests that passed at the first attempt, too.")
    ] = False,
    json: options.Json = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Show one run: how it stands, its failing tests first, and the commits that it tests.

    For example:

      hwci runs show 4f1c9a02
    """
    from hwci.client import calls

    with signed_in(Flags(url, profile, org)) as connection:
        org_id = connection.org_id()
        found = connection.client.send(calls.get_run(org_id, resolve(connection, org_id, run)))
    if json:
        render.emit_json(found)
    else:
        _draw(found, all_tests=all_tests)


def resolve(connection: Connection, org_id: UUID, text: str) -> UUID:
    """Complete an abbreviated id from the latest runs.

    Raises:
        ExplainedError: not an id, or none or several begin with it.
    """
    from itertools import islice

    from hwci.client import calls

    named = ids.Named("run", "hwci runs list", f"among the latest {LATEST}", "Give")
    listed = connection.client.items(calls.list_runs(org_id, limit=limits.PAGE_LIMIT_MAX))
    return ids.complete(text, named, lambda: [run.id for run in islice(listed, LATEST)])


def _draw(run: RunDetail, *, all_tests: bool) -> None:
    from rich.text import Text

    def section(title: str, lines: list[str]) -> None:
        body = "\n".join(f"  {render.safe(line)}" for line in lines)
        render.draw(Text(render.safe(title), style="bold"), Text(f"{body}\n"))

    view = tables.View(options.now())
    section(f"Run {run.run_id} on {run.box_key} ({run.id})", list(run_tables.head(run, view)))
    shown = (run_tables.failing_first if all_tests else run_tables.notable)(run.items)
    if shown:
        render.draw(render.grid(run_tables.tests(), shown))
    if hidden := len(run.items) - len(shown):
        render.note(f"{tables.counted(hidden, 'test')} passed at the first attempt: --all")
    if lines := list(run_tables.commits(run.changes)):
        section("Commits under test", lines)
