# SPDX-License-Identifier: Apache-2.0
"""A run on a bench, from the check before its tests to its report: the order of `hwci exec`, and of
`hwci report-run --hello-cmd` (contract, "Command line"). How a command runs is decided in
`hwci.bench.child`, what is reported in `hwci.ci.reporting`.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from hwci.bench.box_key import BoxCredential, NotInstalledError
from hwci.bench.child import BY_SIGNAL, Ended, Signals, check_executable, signals_taken
from hwci.bench.live_run import live_run, no_live_run
from hwci.ci.project import names_by_file
from hwci.ci.reporting import (
    CommandContext,
    Done,
    Job,
    RunRequest,
    Sending,
    check_run,
    report_run,
    times_of,
)
from hwci.client.explained import ErrorMessage, ExitCode, ExplainedError

NOT_RUN = (ExitCode.NOT_EXECUTABLE, ExitCode.NOT_FOUND)
"""A mistyped check blames no bench."""
NOT_REPORTED = "The run was not reported"


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run. `code`: the exit code of its tests, or that of a signal that came after
    them; it counts more than an error of the report.
    """

    done: Done
    code: int


def run_tests(
    command: Sequence[str],
    request: RunRequest,
    sending: Callable[[], Sending],
    box: Callable[[], BoxCredential],
    context: CommandContext,
    *,
    strict: bool,
) -> Ran:
    """Run the tests and report them. `sending` is asked before and after the run, as the key may be
    renewed meanwhile. `box` returns the key of this bench, or raises. `strict`: nothing is run that
    could not be reported.

    Raises:
        ExplainedError: nothing was run, as it could not be, or not be reported to a strict caller.
    """
    check_executable(command[0])
    request = replace(request, flags=replace(request.flags, started_at=context.clock()))
    live: AbstractContextManager[None] = nullcontext()
    unreportable: ErrorMessage | None = None
    try:
        request, live = _planned(request, box, context)
        if (to := sending().to) is not None:
            to.check("Nothing was run: it could not be reported" if strict else NOT_REPORTED)
    except ExplainedError as fault:
        if strict:
            raise
        unreportable = fault.message  # a bench is there to test
    with signals_taken() as signals:
        hello = ended = _checked(request.hello_cmd, signals, context)
        if hello is None or hello.code == 0:
            with live:
                ended = signals.run(command)
        assert ended is not None
        if unreportable is None:
            done = _reported_end(request, (hello, ended), sending, signals, context)
        else:
            done = _not_reported(unreportable)
        return Ran(done, _code(signals, ended.code))


def _planned(
    request: RunRequest, box: Callable[[], BoxCredential], context: CommandContext
) -> tuple[RunRequest, AbstractContextManager[None]]:
    """Return what to report of a run that begins now, and its live run.

    Raises:
        ExplainedError: it cannot be reported.
    """
    started_at = request.flags.started_at
    assert started_at is not None, "the run begins"
    job, boxes, project = check_run(request.flags, request.files, started_at, context)
    request = replace(
        request,
        before=times_of(request.files),
        by_file=names_by_file(project),
        platforms=project.platforms if project else None,
    )
    return request, _live(box, (job, boxes, request), context)


def _reported_end(
    request: RunRequest,
    ran: tuple[Ended | None, Ended],
    sending: Callable[[], Sending],
    signals: Signals,
    context: CommandContext,
) -> Done:
    """Report a run that has ended. `ran`: its hello command, if it has one, and its tests."""
    hello, tests = ran
    flags = replace(
        request.flags,
        ended_at=context.clock(),
        conclusion=_conclusion(tests),
        hello_ok=None if hello is None else hello.code == 0,
    )
    try:
        how = sending()
        if tests.cancelled:
            context.notify("The run was cancelled: reporting that.")
            how = how.hurried()
        return _reported(replace(request, flags=flags), how, signals, context)
    except ExplainedError as fault:
        return _not_reported(fault.message)


def _not_reported(why: ErrorMessage) -> Done:
    """Return the result of a run that is not reported, before or after its tests."""
    cause = why.cause if why.what == NOT_REPORTED else f"{why.what}: {why.cause}"
    return Done(messages=(replace(why, what=NOT_REPORTED, cause=cause),))


def check_and_report(
    hello_cmd: str, request: RunRequest, how: Sending, context: CommandContext
) -> Ran:
    """Run the check before the tests, then report their run. A signal that comes meanwhile waits
    until the report is on the disk.

    Raises:
        ExplainedError: as `report_run`.
    """
    done = Done()
    with signals_taken() as signals:
        ended = run_hello(hello_cmd, signals, context.notify)
        answer = reached(ended)
        if ended.cancelled:
            context.notify("The hello command was cut short: reporting the run without it.")
            # Without a file of any test there is no sign that the hardware was reached.
            answer = None if times_of(request.files) else False
            how = how.hurried()
        request = replace(request, flags=replace(request.flags, hello_ok=answer))
        if how.to is not None:
            done = _reported(request, how, signals, context)
    if how.to is None and not ended.cancelled:
        done = report_run(request, how, context)
    return Ran(done, _code(signals, ended.code if ended.cancelled else ExitCode.OK))


def _reported(request: RunRequest, how: Sending, signals: Signals, context: CommandContext) -> Done:
    return report_run(request, replace(how, when_kept=signals.obeying), context)


def _code(signals: Signals, code: int) -> int:
    return code if signals.meanwhile is None else BY_SIGNAL + signals.meanwhile


def _conclusion(ended: Ended) -> str:
    if ended.cancelled:
        return "cancelled"
    return "success" if ended.code == 0 else "failure"


def _live(
    box: Callable[[], BoxCredential],
    run: tuple[Job, Sequence[str], RunRequest],
    context: CommandContext,
) -> AbstractContextManager[None]:
    """Return the live run of this box; nothing if this machine is not a box."""
    try:
        return live_run(box(), *run, context.notify)
    except NotInstalledError:
        return nullcontext()
    except ExplainedError as fault:
        context.notify(no_live_run(fault.message.cause))
        return nullcontext()


# The hello command: a connectivity check, whose exit status shows whether the hardware was reached


def _checked(command: str | None, signals: Signals, context: CommandContext) -> Ended | None:
    """Run the check before the tests: it failed, or was cut short, and so did the run. None: there
    is none, or the shell could not run it.
    """
    if command is None:
        return None
    ended = run_hello(command, signals, context.notify)
    if ended.cancelled:
        context.notify(
            "The hello command was cut short, so no test began: the box was not reached."
        )
        return ended
    if reached(ended) is None:
        return None
    return ended if ended.code == 0 else replace(ended, code=ExitCode.FAILED)


def run_hello(command: str, signals: Signals, notify: Callable[[str], None]) -> Ended:
    """Run the hello command in the shell, its output on stderr, as stdout is for data. One that a
    signal cut short failed, even if it ended with 0.
    """
    ended = signals.run(("/bin/sh", "-c", command), stdout=2)
    if ended.cancelled:
        return replace(ended, code=ended.code or ExitCode.FAILED)
    if reached(ended) is None:
        notify(
            f"warning: The hello command could not be run (status {ended.code}), so it is not "
            "known whether the box was reached. Correct --hello-cmd."
        )
    elif ended.code != 0:
        notify(f"The hello command failed with status {ended.code}: the box was not reached.")
    return ended


def reached(ended: Ended) -> bool | None:
    """Return whether the hardware was reached; None if the shell could not run the command."""
    return None if ended.code in NOT_RUN else ended.code == 0
