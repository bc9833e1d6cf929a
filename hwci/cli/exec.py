# SPDX-License-Identifier: Apache-2.0
"""`hwci exec -- COMMAND`: run the tests and report them (contract, "Command line"). Here stands the
order of things; how a command runs is decided in `child.py`, what is reported in `run_report.py`.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli import child, options
from hwci.cli.box import KeyFile
from hwci.cli.failing import CommandError, ExitCode, report, wrong_usage
from hwci.cli.job import JobFlags, here, lacking
from hwci.cli.options import Branch, NoSummary, RepoKey, Sha, Strict, Suite
from hwci.cli.render import note
from hwci.cli.report import Box, HelloCommand, RunAttempt, RunId, TriggerName, Workflow
from hwci.cli.run_report import REQUIRED, Asked, report_job
from hwci.cli.run_results import times_of
from hwci.cli.run_sending import Sending
from hwci.cli.settings import Flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.ci.job import Job

CANCELLED_DEADLINE_S = 5.0
"""Who cancels a job waits a few seconds; what is not sent then, waits in the spool."""

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
    hello_cmd: HelloCommand = None,
    box: Box = None,
    repo_key: RepoKey = None,
    workflow: Workflow = None,
    suite: Suite = None,
    run_id: RunId = None,
    run_attempt: RunAttempt = None,
    trigger: TriggerName = None,
    branch: Branch = None,
    sha: Sha = None,
    strict: Strict = False,
    deadline: options.Deadline = options.DEADLINE_S,
    no_summary: NoSummary = False,
    key_file: KeyFile = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Run the tests, report them at their end, and end with their exit code. Needs HWCI_CI_KEY.

    It measures start and end, hands signals on, and reports a run that was cancelled, too. Result
    files from before the run do not count; without any from it, the box counts as not reached,
    unless --hello-cmd reached it. When --hello-cmd fails, COMMAND is not run, and the exit code is
    1. On a box that has its key, the run can be watched as it goes.

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
        box_key=box,
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
        CommandError: nothing was run, as it could not be reported; or the report failed where the
            tests did not, and the caller is strict.
    """
    started_at = options.now()
    job = _reportable(command, replace(flags, started_at=started_at), asked)
    flags = replace(flags, started_at=started_at, run_id=job.value("run_id"))
    asked = replace(asked, before=times_of(asked.files))
    reached = _hello(asked.hello_cmd)
    if reached is False:
        ended = child.Ended(ExitCode.FAILED, cancelled=False)
    else:
        from hwci.cli.live import live_run

        with live_run(job, started_at, live.url, live.key_file):
            ended = child.run(command)
    flags = replace(
        flags,
        ended_at=options.now(),
        conclusion=_conclusion(ended),
        hello_ok=reached,
    )
    return _reported(flags, replace(asked, hello_cmd=None), sending, ended)


def _reportable(command: Sequence[str], flags: JobFlags, asked: Asked) -> Job:
    """See that the run can be reported before a bench is kept busy with it.

    Raises:
        CommandError: wrong usage.
    """
    if shutil.which(command[0]) is None:
        raise wrong_usage(
            f"{command[0]} cannot be run", "there is no such command", "Check it, and the PATH"
        )
    job = here(flags).job
    named = asked.files and all("=" in text for text in asked.files)
    fault = lacking(job, REQUIRED if named else (*REQUIRED, "box_key"))
    if fault is not None:
        raise fault
    return job


def _hello(command: str | None) -> bool | None:
    if command is None:
        return None
    from hwci.cli.hello import hello_ok

    return hello_ok(command)


def _conclusion(ended: child.Ended) -> str:
    if ended.cancelled:
        return "cancelled"
    return "success" if ended.code == 0 else "failure"


def _reported(flags: JobFlags, asked: Asked, sending: Sending, ended: child.Ended) -> int:
    """Report, and give the exit code of the tests.

    Raises:
        CommandError: the tests passed, and the report failed.
    """
    if ended.cancelled:
        note("The tests were cancelled: reporting that.")
        shorter = min(sending.deadline_s, CANCELLED_DEADLINE_S)
        sending = replace(sending, deadline_s=shorter)
    try:
        report_job(flags, asked, sending)
    except CommandError as fault:
        if ended.code == 0:
            raise
        report(fault.failing)
    except typer.Exit as fault:
        return ended.code or fault.exit_code
    return ended.code
