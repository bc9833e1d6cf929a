# SPDX-License-Identifier: Apache-2.0
"""`hwci runs watch`: one live run to its end, or all runs as they go. It decides when watching
ends and with which exit code; how events are got is decided in `hwci.client.following`.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.commands.runs import LATEST, resolve
from hwci.cli.session.connection import signed_in
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options, render, run_tables, tables
from hwci.client.explained import ExitCode
from hwci.engine.vocabulary import Outcome, RunEventType, RunStatus
from hwci.wire.hashes import short

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from hwci.cli.session.connection import Connection
    from hwci.wire.runs import RunAnswer, RunDetail, RunEvent, RunItem, RunTest

Watched = Annotated[
    str | None,
    typer.Argument(
        metavar="[ID]",
        help=f"Id of the run, or its first 8 digits if it is of the latest {LATEST} [all runs].",
        show_default=False,
    ),
]


def watch_runs(
    run: Watched = None,
    json: Annotated[
        bool, typer.Option("--json", help="Write each event as the API gives it, one per line.")
    ] = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Watch a run until it is reported, its failing tests as they come; without ID, all runs until
    Ctrl-C. A connection that is cut is taken up again.

    Exit code 0: the run was reported, whatever its tests did; 1: it was lost.

    For example:

      hwci runs watch 4f1c9a02

      hwci runs watch --json
    """
    with signed_in(Flags(url, profile, org)) as connection:
        org_id = connection.org_id()
        if run is None:
            with suppress(KeyboardInterrupt):
                _watch_all(connection, org_id, json)
        elif (
            _watch_one(connection, org_id, resolve(connection, org_id, run), json) is RunStatus.LOST
        ):
            raise typer.Exit(ExitCode.FAILED)


def _watch_all(connection: Connection, org_id: UUID, json: bool) -> None:
    with connection.client.follow(org_id) as events:
        render.note("Watching all runs; Ctrl-C ends it.")
        for event in events:
            _say(event, json)


def _watch_one(connection: Connection, org_id: UUID, run_id: UUID, json: bool) -> RunStatus:
    """Watch a run to its end, and give how it ended."""
    from hwci.client import calls

    # First the events, then how the run stands: what happens in between is in both, never in none.
    with connection.client.follow(org_id, run_id) as events:
        run = connection.client.send(calls.get_run(org_id, run_id))
        render.note(f"Watching {_title(run)}; Ctrl-C ends it.")
        coming = _until_the_end(events) if run.status is RunStatus.RUNNING else iter(())
        if sys.stdout.isatty() and not json:
            _show(run, coming)
        else:
            for event in coming:
                _say(event, json)
    run = connection.client.send(calls.get_run(org_id, run_id))
    (render.note if json else render.say)(f"{_title(run)}: {_end(run)}")
    return run.status


def _until_the_end(events: Iterator[RunEvent]) -> Iterator[RunEvent]:
    for event in events:
        yield event
        if event.type in {RunEventType.REPORTED, RunEventType.LOST}:
            return


def _show(run: RunDetail, events: Iterator[RunEvent]) -> None:
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
                render.say(_test(test))
            outcomes[test.id] = test.outcome
            ended = sum(outcome is not None for outcome in outcomes.values())
            bar.update(task, completed=ended, total=len(outcomes))


def _say(event: RunEvent, json: bool) -> None:
    if json:
        render.say_json(event.model_dump_json(exclude_unset=True))
    else:
        run_id = str(event.run_id)[: tables.ID_SHOWN]
        render.say(f"{event.at:%Y-%m-%d %H:%M:%S}  {run_id}  {_told(event)}")


def _told(event: RunEvent) -> str:
    if event.test is not None:
        return _test(event.test)
    if event.run is None:
        return run_tables.STATUS_WORDS[RunStatus.LOST]
    if event.type is RunEventType.REPORTED:
        return f"{_title(event.run)}: {_end(event.run)}"
    of = tables.product(event.run.repo_key, event.run.suite)
    return f"{_title(event.run)} begins: {of}, {event.run.branch} {short(event.run.sha)}"


def _title(run: RunAnswer) -> str:
    return f"Run {run.run_id} ({run.run_attempt}) on {run.box_key}"


def _test(test: RunTest | RunItem) -> str:
    attempts = f" after {tables.counted(test.attempts, 'attempt')}" if test.attempts else ""
    return f"{test.outcome or 'running'}: {test.id}{attempts}"


def _end(run: RunAnswer) -> str:
    if run.status is not RunStatus.REPORTED:
        return run_tables.STATUS_WORDS[run.status]
    tests = run.tests
    return (
        f"{run.conclusion}, {tables.counted(tests.total, 'test')}:"
        f" {tests.passed} passed, {tests.failed} failed, {tests.retried} retried"
    )
