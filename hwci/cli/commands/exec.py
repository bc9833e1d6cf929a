# SPDX-License-Identifier: Apache-2.0
"""`hwci exec -- COMMAND`: run the tests and report them (contract, "Command line"). Here stands the
order of things; how a command runs is decided in `hwci.bench`, what is reported in `run_report.py`.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.bench import child
from hwci.bench.box_key import NotInstalledError
from hwci.cli.reporting import needs
from hwci.cli.reporting import report_options as run
from hwci.cli.reporting.delivery import see_address
from hwci.cli.reporting.job import JobFlags, here
from hwci.cli.reporting.run_report import Asked, report_job, see_that_it_fits
from hwci.cli.reporting.run_results import placed, times_of, unsaid
from hwci.cli.reporting.run_sending import Sending
from hwci.cli.session.settings import Flags, box_credential, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.errors import report
from hwci.cli.terminal.options import Branch, NoSummary, RepoKey, Sha, Strict, Suite
from hwci.cli.terminal.render import note
from hwci.client.explained import ExitCode, ExplainedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from hwci.ci.job import Job

Junit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[BOX=]FILE", help="Result files that COMMAND writes, or a quoted pattern of them."
    ),
]
Command = Annotated[list[str], typer.Argument(metavar="COMMAND...", help="The tests, after `--`.")]


@dataclass(frozen=True, slots=True)
class Live:
    """Where the key of the box is, and of which server."""

    url: str | None
    key_file: Path | None


def exec_command(
    *,
    command: Command,
    junit: Junit = None,
    hello_cmd: run.HelloCommand = None,
    box: run.Box = None,
    repo_key: RepoKey = None,
    workflow: run.Workflow = None,
    suite: Suite = None,
    run_id: run.RunId = None,
    run_attempt: run.RunAttempt = None,
    trigger: run.TriggerName = None,
    branch: Branch = None,
    sha: Sha = None,
    strict: Strict = False,
    deadline: options.Deadline = options.DEADLINE_S,
    no_summary: NoSummary = False,
    key_file: options.KeyFile = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Run the tests, report them at their end, and end with their exit code. Needs HWCI_CI_KEY.

    It measures start and end, hands signals on, and reports a run that was cancelled, too. Result
    files from before the run do not count; without any from it, a run without tests is reported.
    Only --hello-cmd tells that the box was not reached: when it fails or is cut short, COMMAND is
    not run, and the exit code is 1 or the signal's. A COMMAND that cannot be run is no test:
    nothing is reported, and the exit code is 127 (there is none) or 126, as in a shell. On a box
    that has its key, the run can be watched as it goes.

    For example:

      hwci exec --junit hil.xml -- pytest hil --junit-xml hil.xml

      hwci exec --hello-cmd 'ping -c 1 dut' --junit 'out/*.xml' -- make hil
    """
    flags = JobFlags(
        repo_key=repo_key,
        workflow=workflow,
        suite=suite,
        run_id=run_id,
        run_attempt=run_attempt,
        trigger=trigger,
        branch=branch,
        sha=sha,
        box_key=options.one_box(box),
    )
    asked = Asked(tuple(junit or ()), hello_cmd=hello_cmd)
    sending = Sending(
        Flags(url, profile), strict=strict, summary=not no_summary, deadline_s=deadline
    )
    raise typer.Exit(_run(command, flags, asked, sending, Live(url, key_file)))


def _run(
    command: Sequence[str], flags: JobFlags, asked: Asked, sending: Sending, live: Live
) -> int:
    """Run and report; give the exit code.

    Raises:
        ExplainedError: nothing was run, as it could not be, or could not be reported; or the
            report failed where the tests did not, and the caller is strict.
    """
    started_at = options.now()
    flags = replace(flags, started_at=started_at)
    job, boxes = _reportable(command, flags, asked, started_at)
    see_address(resolve(sending.flags), "Nothing was run: it could not be reported")
    asked = replace(asked, before=times_of(asked.files))
    with child.signals_taken() as signals:
        hello = _hello(asked.hello_cmd, signals)
        ended = hello
        if hello is None or hello.code == 0:
            with _live(live, job, boxes, started_at):
                ended = signals.run(command)
        assert ended is not None
        flags = replace(
            flags,
            ended_at=options.now(),
            conclusion=_conclusion(ended),
            hello_ok=None if hello is None else hello.code == 0,
        )
        return _reported(flags, asked, sending, ended, signals)


def _reportable(
    command: Sequence[str], flags: JobFlags, asked: Asked, started_at: datetime
) -> tuple[Job, Sequence[str]]:
    """See that the run can begin and be reported before a bench is kept busy with it. Give what is
    known of it, and its boxes.

    Raises:
        ExplainedError: wrong usage; or there is no such command.
    """
    child.check_executable(command[0])
    # The run itself tells its end. One that no CI counts is named by its start, as in its report.
    flags = replace(flags, ended_at=started_at, conclusion="success")
    job = here(flags).job.dated(started_at)
    missing = unsaid(job, asked.files, ran=True)
    if missing:
        raise needs.lacking("report", missing)
    named = dict.fromkeys(box for box, _ in placed(job, asked.files))
    boxes = list(named) or [job.value("box_key")]
    see_that_it_fits(job, boxes, started_at)
    return job, boxes


def _hello(command: str | None, signals: child.Signals) -> child.Ended | None:
    """Run the check before the tests: it failed, or was cut short, and so did the run. None:
    there is none.
    """
    if command is None:
        return None
    from hwci.bench.hello import reached, run_hello

    ended = run_hello(command, signals, note)
    if ended.cancelled:
        note("The hello command was cut short, so no test began: the box was not reached.")
        return ended
    if reached(ended) is None:
        return None
    return ended if ended.code == 0 else replace(ended, code=ExitCode.FAILED)


def _live(
    live: Live, job: Job, boxes: Sequence[str], started_at: datetime
) -> AbstractContextManager[None]:
    """Return the live run of this box; nothing if this machine is no box."""
    from hwci.bench.live_run import live_run, no_live_run

    try:
        credential = box_credential(live.url, live.key_file, os.environ)
    except NotInstalledError:
        return nullcontext()
    except ExplainedError as fault:
        note(no_live_run(fault.message.cause))
        return nullcontext()
    return live_run(credential, job, boxes, started_at, note)


def _conclusion(ended: child.Ended) -> str:
    if ended.cancelled:
        return "cancelled"
    return "success" if ended.code == 0 else "failure"


def _reported(
    flags: JobFlags, asked: Asked, sending: Sending, ended: child.Ended, signals: child.Signals
) -> int:
    """Report, and give the exit code of the tests, or that of a signal that came meanwhile.

    Raises:
        ExplainedError: the tests passed, and the report failed.
    """
    if ended.cancelled:
        note("The run was cancelled: reporting that.")
    try:
        report_job(flags, asked, sending.after(ended, signals))
    except ExplainedError as fault:
        if ended.code == 0 and signals.meanwhile is None:
            raise
        report(fault.message)
    return ended.code if signals.meanwhile is None else child.BY_SIGNAL + signals.meanwhile
