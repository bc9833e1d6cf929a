# SPDX-License-Identifier: Apache-2.0
"""The `hwci` command: which commands there are, under which names, and what each is for in a
sentence. What one does is in its module, which is imported once the command is needed itself:
importing all takes longer than most of them do.
"""

import gc
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from hwci.cli.terminal import lines
from hwci.cli.terminal.grouped import Group, in_words

if TYPE_CHECKING:
    from hwci.client.explained import ErrorMessage

COMMANDS = {
    "metrics": "Show which merges ran on hardware, which failures were firmware bugs, which tests"
    " are flaky.",
    "trends": "Show how the figures of a period changed against the period before.",
    "digest": "Write a day or a week, for mail and chat: what broke, what was fixed,"
    " what did not run.",
    "products": "List the products of an organization, by their last report: the names for"
    " --product.",
    "report": "Show what result files hold, before anything is reported: failures, retries,"
    " verdicts.",
    "merge-announce": "Announce a merge, so that it counts even when no bench is online.",
    "report-run": "Report one attempt of a run when it has ended, whether it passed or failed.",
    "comment": "Write into a pull request what caused each failure of its commit, and set its"
    " status.",
    "doctor": "Check that reports from here will arrive: server, key, clock, git, CI, proxy,"
    " spool, box key.",
    "exec": "Run the tests, report their results, and exit with their exit code.",
    "init": "Write hwci.toml for the repository of this folder, and print a job for its CI.",
    "env": "Show what is known of this job: each field, its value and its source.",
    "register": "Create an account, and sign in with it.",
    "login": "Sign in and keep the sign-in for the commands that follow, in a profile for each"
    " server.",
    "logout": "End the kept sign-in, here and on the server.",
    "whoami": "Show who is signed in, where, and in which organizations; and what HWCI_READER_KEY"
    " reads.",
    "serve": "Run the server on a database file or on PostgreSQL, until Ctrl-C.",
    "demo": "Show ninety days of sample data, with a server of its own.",
    "failures": "Failures: list, show, confirm, dismiss, reset.",
    "incidents": "Incidents, failures with one cause: list, confirm, dismiss, reset.",
    "known": "Known failures, by test or message, with a ticket and an end: add, list, remove.",
    "quarantine": "Write the tests with known failures as pytest, Twister or CTest leave them out.",
    "tests": "Tests, and one over time: list, show.",
    "runs": "Runs: list, show, watch.",
    "bisect": "Find the commit that broke a test, also one that fails only now and then: start,"
    " next, status.",
    "commits": "A commit, and what caused its failures: show.",
    "mcp": "Answer an agent's questions over the Model Context Protocol, read-only.",
    "gate": "Let a release pass only if all that is required of it is met: exit code 0, else 3.",
    "merges": "Merges: list, unchecked (and why), plan (the runs that would check them).",
    "spool": "Pending reports on this machine: list, flush, show, remove.",
    "suite-config": "Suite configurations of products: check, plan, apply, list, show.",
    "profiles": "Kept sign-ins: list, use.",
    "password": "Your password: change.",
    "sessions": "Your sessions: list, end.",
    "orgs": "Organizations: list, create, show, keep, delete, undelete, audit-log.",
    "members": "Members: list, invite, role, remove, leave.",
    "invitations": "Your open invitations: list, accept, decline.",
    "keys": "CI keys and reader keys: create, list, revoke.",
    "trusts": "Repositories whose CI jobs report without a key: create, list, remove.",
    "webhooks": "Webhooks, which are told of bugs, merges and boxes: create, list, deliveries,"
    " resend, remove.",
    "boxes": "Boxes: list, health, show, fit, create, install-token, rename, remove, note, notes,"
    " remove-note.",
    "box": "On a bench: install it, keep it online.",
    "admin": "Operator: CI Metrics, users, backup, restore, copy, check, usage, export, schema,"
    " keys, audit.",
}
"""The commands and groups in the order in which help lists them, and what each is for."""
ADMIN = {
    "ci-metrics": "Turn CI Metrics on or off for an organization, also while the server runs.",
    "create-user": "Create a user, and an organization of their own.",
    "quick-start": "Make all that a first report needs: user, organization, key, hwci.toml.",
    "reset-password": "Print a link that lets a user set a new password once, within 24 hours.",
    "disable-user": "Stop a user from signing in; their sessions end at once, streams within"
    " seconds.",
    "enable-user": "Allow a disabled user to sign in again.",
    "erase-user": "Erase a user: the account, and their name wherever it stands.",
    "vouch": "Say that the e-mail of a user is theirs, before their first single sign-on.",
    "add-owner": "Make a user an owner of an organization, such as one that has none any more.",
    "backup": "Write a whole copy of the database to a new file, also while the server runs.",
    "restore": "Replace the database by a backup, while no server runs.",
    "check": "Look for damage in the database, also while the server runs.",
    "migrate": "Bring the database to the schema of this program.",
    "rebuild": "Rebuild everything that is derived from run reports, also while the server runs.",
    "purge": "Delete what was replaced long ago: reports, configurations, repeated announcements.",
    "copy": "Copy the whole database into an empty one: from a file to PostgreSQL, or back.",
    "usage": "List the bytes that each organization sent, and what it may send.",
    "export": "Write an organization to one SQLite file for other tools.",
    "import": "Import an export, or a folder of kept reports, into an organization.",
    "rotate-secret": "Sign access tokens with a new key, also while the server runs.",
    "audit": "The audit log: verify.",
}
HELP_ERROR = "NoArgsIsHelpError"
"""The library raises it for a group without a command: its text is the help."""
MODULES = {
    "account": {"register", "login", "logout", "whoami", "password", "sessions"},
    "boxes": {"box"},
    "doctor": {"env"},
    "members": {"invitations"},
    "organizations": {"orgs", "keys"},
    "reports": {"merge-announce", "report", "report-run"},
    "admin.accounts": {
        "ci-metrics",
        "create-user",
        "reset-password",
        "disable-user",
        "enable-user",
        "erase-user",
        "vouch",
        "add-owner",
        "rotate-secret",
    },
    "admin.audit": {"audit"},
    "admin.quick_start": {"quick-start"},
    "admin.transfer": {"export", "import"},
    "admin.database": {
        "backup",
        "restore",
        "copy",
        "check",
        "migrate",
        "rebuild",
        "purge",
        "usage",
    },
}
"""Where each command is that has no module of its name."""


class Later(TyperCommand):
    """A command or group whose module is not imported yet: a list shows it like any other."""

    def make_context(self, *args: Any, **settings: Any) -> Any:  # noqa: ANN401 - typer's own signature
        """Return the context of the command itself: it parses, completes, explains itself, runs."""
        return self.itself.make_context(*args, **settings)

    @cached_property
    def itself(self) -> Any:  # noqa: ANN401 - of the library that typer is built on
        """The command itself, for what asks more of it than its name and sentence."""
        name = str(self.name)
        attribute = name.replace("-", "_") + "_" * iskeyword(name)
        module = next((file for file, names in MODULES.items() if name in names), attribute)
        command = getattr(import_module(f"hwci.cli.commands.{module}"), attribute)
        room = typer.Typer(rich_markup_mode=None)
        if isinstance(command, typer.Typer):
            room.add_typer(command, name=name, help=self.help)
        else:
            # The flags of what `exec` runs are not its own.
            room.command(name, context_settings={"allow_interspersed_args": name != "exec"})(
                command
            )
        in_words(room)
        return typer.main.get_group(room).commands[name]


class Commands(Group):
    """The root of all commands: here their errors become lines and an exit code."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _listed(COMMANDS)
        self.commands["admin"] = Group(
            name="admin",
            commands=_listed(ADMIN),
            help=COMMANDS["admin"],
            no_args_is_help=True,
            rich_markup_mode=None,
        )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own
        """Parse the flags of the root: all are yes or no, and for an unset one, which is neither,
        typer would import pydantic.
        """
        for flag in self.get_params(ctx):
            flag.default = False
        # The library takes no terminal for narrower than 50 columns.
        ctx.terminal_width = (
            min(lines.width(sys.stdout) or lines.USUAL_WIDTH, lines.USUAL_WIDTH) - 2
        )
        with _called_rightly():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own signature
        """Run a command."""
        from hwci.cli.terminal import again
        from hwci.client.explained import ExplainedError, explained

        again.begin(ctx)
        try:
            with _called_rightly(), explained():
                return super().invoke(ctx)
        except ExplainedError as fault:
            _end(fault.message)


@contextmanager
def _called_rightly() -> Iterator[None]:
    """End with what the library says of a wrong call, as the three lines of every error."""
    try:
        yield
    except typer.TyperException as fault:
        if type(fault).__name__ == HELP_ERROR:
            raise
        from hwci.cli.terminal.usage import message_of

        _end(message_of(fault))


def _end(message: "ErrorMessage") -> NoReturn:
    from hwci.cli.terminal.errors import report

    report(message)
    raise typer.Exit(message.code)


def _listed(commands: dict[str, str]) -> dict[str, Any]:
    return {name: Later(name, help=sentence) for name, sentence in commands.items()}


app = typer.Typer(
    name="hwci",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda name: "repo-key" if name == "repo" else name,
    },
)


def _version(wanted: bool) -> None:
    if wanted:
        from hwci.version import build_version

        typer.echo(f"hwci {build_version()}")
        raise typer.Exit


@app.callback()
def root(
    _version_asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Metrics for hardware-in-the-loop CI.

    It shows which merges ran on real boards, which failures were firmware bugs, and which tests are
    flaky. A box is a test bench, the harness is what tests the firmware on it.

    Data goes to stdout, everything else to stderr. Exit codes: 0 ok, 1 refused or failed, 2 wrong
    usage, 3 what a gate requires is not met, 4 not signed in or not allowed, 5 server unreachable.

    For example:

      hwci demo

      hwci metrics --days 30

      hwci report-run --help
    """


_VALUES_PER_COLLECTION = 10_000
"""Results of 100,000 tests are values without cycles: to look for these after every 700 takes a
sixth of the time.
"""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(_VALUES_PER_COLLECTION)
    # Python has None for a stream that was closed before it started: what is written there is lost.
    if not (sys.stdout and sys.stderr):
        from hwci.cli.terminal.render import nowhere

        sys.stdout, sys.stderr = sys.stdout or nowhere(), sys.stderr or nowhere()
    # A letter that the terminal lacks is shown as a number; undecodable input is refused as data.
    for stream, errors in (
        (sys.stdin, "surrogateescape"),
        (sys.stdout, "backslashreplace"),
        (sys.stderr, "backslashreplace"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
    app(prog_name="hwci")
