# SPDX-License-Identifier: Apache-2.0
"""`hwci exec -- COMMAND`: run the tests and report them (contract, "Command line"). The order of
things is in `hwci.bench.run`.
"""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.session.reporter import command_context, sending
from hwci.cli.session.settings import Flags, box_credential
from hwci.cli.terminal import options
from hwci.cli.terminal.errors import report, warn

if TYPE_CHECKING:
    from hwci.bench.run import Ran
    from hwci.ci.reporting import JobFlags

Junit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[BOX=]FILE", help="Result files that COMMAND writes, or a quoted pattern of them."
    ),
]
Command = Annotated[list[str], typer.Argument(metavar="COMMAND", help="The tests, after `--`.")]


@options.of_the_job(
    "box_key",
    "repo_key",
    "workflow",
    "suite",
    "run_id",
    "run_attempt",
    "trigger",
    "branch",
    "sha",
    "ci_run",
    "ci_url",
    "rerun_of",
)
def exec(  # noqa: A001 - named as the command
    *,
    command: Command,
    junit: Junit = None,
    hello_cmd: options.HelloCommand = None,
    flags: "JobFlags",
    messages: options.Messages = None,
    strict: options.Strict = False,
    deadline: options.Deadline = None,
    no_summary: options.NoSummary = False,
    key_file: options.KeyFile = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Run the tests and report them."""
    from hwci.bench.run import run_tests
    from hwci.ci.reporting import RunRequest

    request = RunRequest(flags, tuple(junit or ()), hello_cmd=hello_cmd, messages=messages)
    ran = run_tests(
        command,
        request,
        lambda: sending(Flags(url, profile), deadline, summary=not no_summary),
        lambda: box_credential(url, key_file, os.environ),
        command_context(),
        strict=strict,
    )
    raise typer.Exit(_show(ran, strict=strict))


exec.__doc__ = """\
Run the tests, report their results, and exit with their exit code. Needs HWCI_CI_KEY.

What stops a report stops no test, except with --strict: a warning says it, and the exit code is
theirs. It measures start and end, forwards signals, and also reports a run that was cancelled.
Result files from before the run do not count; if the run wrote none, it is reported without tests.
Only --hello-cmd can report that the box was not reached: when it fails or is cut short, COMMAND is
not run, and the exit code is 1 or the signal's. If COMMAND cannot be run, nothing is reported, and
the exit code is 127 (not found) or 126, as in a shell. On a box that has its key, people can watch
the run live.

For example:

  hwci exec --junit hil.xml -- pytest hil --junit-xml hil.xml

  hwci exec --hello-cmd 'ping -c 1 dut' --junit 'out/*.xml' -- make hil
"""


def _show(ran: "Ran", *, strict: bool) -> int:
    """Show what came of the report; return the exit code: that of the tests, but for a strict
    caller whose tests passed.
    """
    done = ran.done
    for message in (*done.messages, *([done.error.message] if done.error else [])):
        if strict and ran.code != 0:
            report(message, "warning")
        else:
            warn(message, strict=strict)
    return ran.code
