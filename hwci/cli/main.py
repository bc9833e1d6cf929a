# SPDX-License-Identifier: Apache-2.0
"""The `hwci` command: which commands there are, and under which names. What each does stands in
the module that it comes from.
"""

import io
import sys
from typing import Annotated

import typer

from hwci import __version__
from hwci.cli.commands.account import login, logout, password, register, sessions, whoami
from hwci.cli.commands.admin import admin
from hwci.cli.commands.boxes import box, boxes
from hwci.cli.commands.demo import demo
from hwci.cli.commands.doctor import doctor, env
from hwci.cli.commands.exec import EXEC_HELP, exec_command
from hwci.cli.commands.failures import failures
from hwci.cli.commands.init import init
from hwci.cli.commands.members import invitations, members
from hwci.cli.commands.metrics import metrics
from hwci.cli.commands.organizations import keys, orgs
from hwci.cli.commands.products import products
from hwci.cli.commands.profiles import profiles
from hwci.cli.commands.reports import (
    MERGE_ANNOUNCE_HELP,
    REPORT_RUN_HELP,
    merge_announce,
    report_run,
)
from hwci.cli.commands.runs import runs
from hwci.cli.commands.serve import serve
from hwci.cli.commands.spool import spool
from hwci.cli.commands.suite_config import suite_config
from hwci.cli.terminal.errors import Commands
from hwci.cli.terminal.grouped import in_words
from hwci.cli.terminal.render import nowhere, write

app = typer.Typer(
    name="hwci",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        write(f"hwci {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _version_asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Metrics for hardware-in-the-loop CI.

    Which merges ran on real boards, which failures were firmware bugs, which tests are flaky.

    Data goes to stdout, all else to stderr. Exit codes: 0 ok, 1 refused or failed, 2 wrong usage,
    4 sign in or forbidden, 5 server unreachable.

    For example:

      hwci demo

      hwci metrics --days 30

      hwci report-run --help
    """


app.command("metrics")(metrics)
app.add_typer(failures, name="failures")
app.add_typer(runs, name="runs")
app.command("products")(products)
app.command("merge-announce", help=MERGE_ANNOUNCE_HELP)(merge_announce)
app.command("report-run", help=REPORT_RUN_HELP)(report_run)
app.command("doctor")(doctor)
app.command("exec", help=EXEC_HELP, context_settings={"allow_interspersed_args": False})(
    exec_command
)
app.add_typer(spool, name="spool")
app.command("init")(init)
app.add_typer(suite_config, name="suite-config")
app.command("env")(env)
app.command("register")(register)
app.command("login")(login)
app.command("logout")(logout)
app.command("whoami")(whoami)
app.add_typer(profiles, name="profiles")
app.add_typer(password, name="password")
app.add_typer(sessions, name="sessions")
app.add_typer(orgs, name="orgs")
app.add_typer(members, name="members")
app.add_typer(invitations, name="invitations")
app.add_typer(keys, name="keys")
app.add_typer(boxes, name="boxes")
app.add_typer(box, name="box")
app.command("serve")(serve)
app.command("demo")(demo)
app.add_typer(admin, name="admin")
in_words(app)


def main() -> None:
    """Run the command line."""
    # A stream that was closed before this began is none: what is written there goes nowhere.
    sys.stdout, sys.stderr = sys.stdout or nowhere(), sys.stderr or nowhere()
    # A terminal that lacks a letter is shown its number; input of no encoding is refused as data.
    for stream, errors in (
        (sys.stdin, "surrogateescape"),
        (sys.stdout, "backslashreplace"),
        (sys.stderr, "backslashreplace"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
    app(prog_name="hwci")
