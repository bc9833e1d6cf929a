# SPDX-License-Identifier: Apache-2.0
"""`hwci doctor`: show what would keep a report from here from arriving whole (contract, "Command
line"). The checks stand in `hwci.bench.checks`.
"""

import json as json_text
from dataclasses import asdict

import typer

from hwci.cli.commands.admin.database import sqlite_here
from hwci.cli.session.reporter import command_context, destination
from hwci.cli.session.settings import Flags, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.render import say, say_json
from hwci.client.explained import ExitCode


def doctor(
    json: options.Json = False, url: options.Url = None, profile: options.Profile = None
) -> None:
    """Check that reports from here will arrive: server, key, clock, git, CI, proxy, spool, box key.

    In a job of a bench, the run and the push before this one are looked for, too, as a report
    would: without them it says less.

    Exit code 1 when something fails; a warning is none. Nothing is changed, nothing is reported.

    For example:

      hwci doctor

      hwci doctor --json
    """
    from hwci.bench.checks import State, check_reporting
    from hwci.ci.reporting import JobFlags, look_around

    to = destination(resolve(Flags(url, profile)))
    context = look_around(JobFlags(), command_context())
    found = [*check_reporting(context, to), sqlite_here()]
    if json:
        say_json(json_text.dumps([asdict(one) for one in found], indent=2, ensure_ascii=False))
    else:
        for one in found:
            say(f"{one.state:4}  {one.check}: {one.what}")
            if one.fix:
                say(f"      fix: {one.fix}")
    if any(one.state is State.FAIL for one in found):
        raise typer.Exit(ExitCode.FAILED)
