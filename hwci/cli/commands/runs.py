# SPDX-License-Identifier: Apache-2.0
"""`hwci runs`: list run records, live ones among them, show one with its tests, and watch them. How
events are received is decided in `hwci.client.following`.
"""

import sys
from contextlib import suppress
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci import client
from hwci.cli.session import ids, narrowing
from hwci.cli.session.connection import Connection, connected
from hwci.cli.terminal import options, render, run_tables, tables
from hwci.client.explained import ExitCode
from hwci.contract.vocabulary import Outcome, RunEnding, RunEventType, RunStatus
from hwci.said import counted, short
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hwci.contract.runs.runs import Run, RunDetail, RunEvent, RunItem, RunTest
    from hwci.contract.shape import ListPage

    Found = ListPage[Run] | list[Run]

LATEST = 500
FARTHEST = 10_000
"""How many runs, the latest ones, are looked through for an abbreviated id, and how many if it is
none of these.
"""

runs = typer.Typer(no_args_is_help=True)


class Hello(StrEnum):
    """How the check before the tests ended, as `--hello` sets it in reports."""

    OK = "ok"
    FAILED = "failed"


class ShownStatus(StrEnum):
    """The words of the list for how a run stands or ended; `reported` is each run that ended."""

    RUNNING = RunStatus.RUNNING
    LOST = RunStatus.LOST
    REPORTED = RunStatus.REPORTED
    PASSED = RunEnding.PASSED
    FAILED = RunEnding.FAILED
    NEVER_REACHED = RunEnding.NEVER_REACHED


RunId = Annotated[
    str,
    typer.Argument(metavar="ID", help="Id of the run, or the start of it, eight digits or more."),
]
Status = Annotated[
    ShownStatus | None,
    typer.Option(
        help="Only runs of this status: a reported one passed, failed or never reached its"
        " hardware."
    ),
]
CiRun = Annotated[
    int | None, typer.Option(min=0, help="The number that the CI shows for the run or build.")
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
@connected(by_key=True)
def list_runs(
    server: Connection,
    *,
    status: Status = None,
    product: options.Product = None,
    repo: options.Repo = None,
    branch: options.OfBranch = None,
    box: options.OfBox = None,
    sha: options.OfSha = None,
    ci_run: CiRun = None,
    hello: HelloOk = None,
    test: TestId = None,
    retry_pass: RetryPass = None,
    failed_attempt: FailedAttempt = None,
    start: From = None,
    end: To = None,
    page: options.Page = 1,
    limit: options.Limit = limits.PAGE_LIMIT_DEFAULT,
    every: options.All = False,
    json: options.Json = False,
    output: options.Output = None,
) -> None:
    """List runs, the latest start first: those that were reported, and those still running. JSON is
    the page; with --all, a list.

    For example:

      hwci runs list --status failed --branch main

      hwci runs list --product acme/firmware:sensor-fw --box bench-7 --output csv

      hwci runs list --hello failed --from 2026-03-01T00:00:00Z

      hwci runs list --product acme/firmware:sensor-fw --test boot --retry-pass
    """
    from hwci.contract.shape import ListPage

    form = options.form_of(json, output)
    flags = {"box": box, "branch": branch, "sha": sha, "test": test, "product": product}
    filters = narrowing.filters_of(server, flags, repo)
    filters |= _of_status(status)
    call = client.calls.list_runs(
        server.org_id(),
        **filters,
        ci_run=ci_run,
        hello_ok=None if hello is None else hello is Hello.OK,
        retry_pass=retry_pass,
        failed_attempt=failed_attempt,
        start=options.time_of(start, "--from"),
        end=options.time_of(end, "--to"),
        **options.pages(page, limit, every=every),
    )
    none: Found = [] if every else ListPage(items=(), total=0, page=page, limit=limit)
    ask = partial(_all if every else Connection.send, server, call)
    answer = narrowing.answer_or(server, filters, ask, none)
    _list(server, answer, filters, form, of_test=test is not None)


def _of_status(status: ShownStatus | None) -> narrowing.Filters:
    """Return what a call gets of --status."""
    word = str(status)
    return {
        "status": RunStatus(word) if word in {*RunStatus} else None,
        "ending": RunEnding(word) if word in {*RunEnding} else None,
    }


def _list(
    server: Connection,
    answer: "Found",
    filters: narrowing.Filters,
    form: render.Format,
    *,
    of_test: bool,
) -> None:
    view = tables.View(options.now(), "suite" in filters, tables.only_repo(_rows(answer)))
    layout = run_tables.runs(view, of_test=of_test)
    if not (answer if isinstance(answer, list) else answer.total):
        layout = narrowing.explained(server, layout, filters, "run", form)
    render.emit_found(answer, layout, form, "run", server.links)


def _rows(answer: "Found") -> "Sequence[Run]":
    return answer if isinstance(answer, list) else answer.items


def _all(server: Connection, call: "client.Call[ListPage[Run]]") -> "list[Run]":
    """Read all pages. A run that begins meanwhile moves others on: each is listed once."""
    return list({run.id: run for run in server.items(call)}.values())


@runs.command("show")
@connected(by_key=True)
def show_run(
    server: Connection,
    run: RunId,
    all_tests: Annotated[
        bool, typer.Option("--all", help="Show tests that passed at the first attempt, too.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Show one run: how it stands, its failing tests first, and the commits that it tests.

    For example:

      hwci runs show 4f1c9a02
    """
    org_id = server.org_id()
    detail = server.send(client.calls.get_run(org_id, _resolve(server, org_id, run)))
    if json:
        render.emit_json(detail)
    else:
        _draw(detail, server.links(detail), all_tests=all_tests)


def _resolve(server: Connection, org_id: UUID, text: str) -> UUID:
    """Complete an abbreviated id from the latest runs; with a bound key, of each product."""
    named = ids.Named("run", "hwci runs list", f"among the latest {FARTHEST:,}", "Use")
    call = partial(client.calls.list_runs, org_id, limit=limits.PAGE_LIMIT_MAX)

    def listed(most: int) -> "list[UUID]":
        return [run.id for run in server.readable(call, most)]

    return ids.complete(text, named, partial(listed, LATEST), partial(listed, FARTHEST))


def _draw(run: "RunDetail", links: "Mapping[str, str]", *, all_tests: bool) -> None:
    def section(title: str, lines: list[str]) -> None:
        render.draw(render.paragraph(title, "bold"), render.indented(lines), links=links)

    view = tables.View(options.now())
    section(f"Run {run.run_id} on {run.box_key} ({run.id})", list(run_tables.head(run, view)))
    shown = (run_tables.failing_first if all_tests else run_tables.notable)(run.items)
    if shown:
        render.draw(render.grid(run_tables.tests(shown), shown))
    if hidden := len(run.items) - len(shown):
        render.note(f"{counted(hidden, 'test')} passed at the first attempt: --all")
    if lines := list(run_tables.commits(run.changes)):
        section("Commits under test", lines)
    if step := run_tables.next_step(run):
        render.note(step)


Watched = Annotated[
    str | None,
    typer.Argument(
        metavar="ID",
        help="Id of the run, or the start of it, eight digits or more [all runs].",
    ),
]


@runs.command("watch")
@connected(by_key=True)
def watch_runs(
    server: Connection,
    run: Watched = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Write each event as the API gives it, one per line; of an ended run, the run.",
        ),
    ] = False,
) -> None:
    """Watch a run until it is reported, its failing tests as they come; without ID, all runs until
    Ctrl-C. A connection that is cut is taken up again.

    Exit code 0: the run was reported, whatever its tests did; 1: it was lost.

    For example:

      hwci runs watch 4f1c9a02

      hwci runs watch --json
    """
    org_id = server.org_id()
    if run is None:
        with suppress(KeyboardInterrupt):
            _watch_all(server, org_id, json)
    elif _watch_one(server, org_id, _resolve(server, org_id, run), json) is RunStatus.LOST:
        raise typer.Exit(ExitCode.FAILED)


def _watch_all(server: Connection, org_id: UUID, json: bool) -> None:
    with server.client.follow(org_id) as events:
        render.note(
            "Watching all runs; Ctrl-C ends it. Tests show as they run where a job uses `hwci exec`"
            " on an installed box; other runs show when their report comes."
        )
        for event in events:
            _show_event(event, json)


def _watch_one(server: Connection, org_id: UUID, run_id: UUID, json: bool) -> RunStatus:
    """Watch a run to its end, and return its last status."""
    # First the events, then how the run stands: what happens in between is in both, never in none.
    with server.client.follow(org_id, run_id) as events:
        run = server.send(client.calls.get_run(org_id, run_id))
        render.note(f"Watching {_title(run)}; Ctrl-C ends it.")
        coming = _until_the_end(events) if run.status is RunStatus.RUNNING else iter(())
        if sys.stdout.isatty() and not json:
            _show_bar(run, coming)
        else:
            for event in coming:
                _show_event(event, json)
        if json and run.status is not RunStatus.RUNNING:
            from hwci.wire.codec import as_json

            render.write_json(as_json(type(run), run).decode())
    run = server.send(client.calls.get_run(org_id, run_id))
    (render.note if json else render.write)(f"{_title(run)}: {_end(run)}")
    return run.status


def _until_the_end(events: "Iterator[RunEvent]") -> "Iterator[RunEvent]":
    for event in events:
        yield event
        if event.type in {RunEventType.REPORTED, RunEventType.LOST}:
            return


def _show_bar(run: "RunDetail", events: "Iterator[RunEvent]") -> None:
    """Show a bar of the tests that are known, and above it those that failed, as they do."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    title = TextColumn(render.safe(_title(run)), markup=False)
    outcomes: dict[str, Outcome | None] = {}
    with Progress(
        title, BarColumn(), MofNCompleteColumn(), console=render.console(), transient=True
    ) as bar:
        task = bar.add_task("", total=None)
        for test in chain(run.items, (event.test for event in events)):
            if test is None:
                continue
            if test.outcome is Outcome.FAIL and outcomes.get(test.id) is not Outcome.FAIL:
                render.write(_test(test))
            outcomes[test.id] = test.outcome
            ended = sum(outcome is not None for outcome in outcomes.values())
            bar.update(task, completed=ended, total=len(outcomes))


def _show_event(event: "RunEvent", json: bool) -> None:
    if json:
        from hwci.wire.runs import event_json

        render.write_json(event_json(event))
    else:
        render.write(f"{event.at:%Y-%m-%d %H:%M:%S}  {event.run_id}  {_event_words(event)}")


def _event_words(event: "RunEvent") -> str:
    if event.test is not None:
        return _test(event.test)
    if event.run is None:
        return run_tables.STATUS_WORDS[RunStatus.LOST]
    if event.type is RunEventType.REPORTED:
        return f"{_title(event.run)}: {_end(event.run)}"
    product = tables.product(event.run.repo_key, event.run.suite)
    return f"{_title(event.run)} begins: {product}, {event.run.branch} {short(event.run.sha)}"


def _title(run: "Run") -> str:
    return f"Run {run.run_id} ({run.run_attempt}) on {run.box_key}"


def _test(test: "RunTest | RunItem") -> str:
    attempts = f" after {counted(test.attempts, 'attempt')}" if test.attempts else ""
    return f"{test.outcome or 'running'}: {test.id}{attempts}"


def _end(run: "Run") -> str:
    if run.status is not RunStatus.REPORTED:
        return run_tables.STATUS_WORDS[run.status]
    tests = run.tests
    return (
        f"{run_tables.status(run)}, {counted(tests.total, 'test')}:"
        f" {tests.passed} passed, {tests.failed} failed, {tests.retried} retried"
    )
