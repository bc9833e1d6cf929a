# SPDX-License-Identifier: Apache-2.0
"""`hwci exec -- COMMAND`: run the tests and report them (contract, "Command line"). Here stands the
order of things; how a command runs is decided in `hwci.bench`, what is reported in
`hwci.ci.reporting`.
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
from hwci.cli.session.reporter import command_context, sending, show
from hwci.cli.session.settings import Flags, box_credential
from hwci.cli.terminal import options
from hwci.cli.terminal.errors import report
from hwci.cli.terminal.options import Branch, NoSummary, RepoKey, Sha, Strict, Suite
from hwci.cli.terminal.render import note
from hwci.client.explained import ExitCode, ExplainedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from hwci.ci.reporting import CommandContext, Job, RunRequest, Sending

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
    hello_cmd: options.HelloCommand = None,
    box: options.Box = None,
    repo_key: RepoKey = None,
    workflow: options.Workflow = None,
    suite: Suite = None,
    run_id: options.RunId = None,
    run_attempt: options.RunAttempt = None,
    trigger: options.TriggerName = None,
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

    It measures start and end, forwards signals, and also reports a run that was cancelled. Result
    files from before the run do not count; without any from it, a run without tests is reported.
    Only --hello-cmd reports that the box was not reached: when it fails or is cut short, COMMAND is
    not run, and the exit code is 1 or the signal's. A COMMAND that cannot be run is no test:
    nothing is reported, and the exit code is 127 (there is none) or 126, as in a shell. On a box
    that has its key, the run can be watched as it goes.

    For example:

      hwci exec --junit hil.xml -- pytest hil --junit-xml hil.xml

      hwci exec --hello-cmd 'ping -c 1 dut' --junit 'out/*.xml' -- make hil
    """
    from hwci.ci.reporting import JobFlags, RunRequest

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
    request = RunRequest(flags, tuple(junit or ()), hello_cmd=hello_cmd)

    def how() -> Sending:
        return sending(Flags(url, profile), deadline, summary=not no_summary)

    raise typer.Exit(_run(command, request, how, Live(url, key_file), strict=strict))


def _run(
    command: Sequence[str],
    request: RunRequest,
    how: Callable[[], Sending],
    live: Live,
    *,
    strict: bool,
) -> int:
    """Run and report; return the exit code. `how`: asked before and after the run, as the key may
    be renewed meanwhile.

    Raises:
        ExplainedError: nothing was run, as it could not be, or not be reported; or the report
            failed where the tests did not, and the caller is strict.
    """
    from hwci.ci.reporting import check_run, times_of

    child.check_executable(command[0])
    context, started_at = command_context(), options.now()
    flags = replace(request.flags, started_at=started_at)
    job, boxes = check_run(flags, request.files, started_at, context)
    if (to := how().to) is not None:
        to.check("Nothing was run: it could not be reported")
    request = replace(request, before=times_of(request.files))
    with child.signals_taken() as signals:
        hello = _hello(request.hello_cmd, signals)
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
        request = replace(request, flags=flags)
        return _reported(request, how(), context, ended, signals, strict=strict)


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
    request: RunRequest,
    how: Sending,
    context: CommandContext,
    ended: child.Ended,
    signals: child.Signals,
    *,
    strict: bool,
) -> int:
    """Report, and return the exit code of the tests, or that of a signal that came meanwhile.

    Raises:
        ExplainedError: the tests passed, and the report failed.
    """
    from hwci.ci.reporting import report_run

    if ended.cancelled:
        note("The run was cancelled: reporting that.")
        how = how.hurried()
    try:
        how = replace(how, when_kept=signals.obeying)
        show(report_run(request, how, context), strict=strict)
    except ExplainedError as fault:
        if ended.code == 0 and signals.meanwhile is None:
            raise
        report(fault.message)
    return ended.code if signals.meanwhile is None else child.BY_SIGNAL + signals.meanwhile
