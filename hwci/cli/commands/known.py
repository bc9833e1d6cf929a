# SPDX-License-Identifier: Apache-2.0
"""`hwci known`: rules by which failures are known, until when, and by which ticket (contract,
"Known failures").
"""

import re
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci import client
from hwci.cli.session import ids
from hwci.cli.session.connection import Connection, connected
from hwci.cli.session.listing import listing
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit_json, note
from hwci.client.explained import not_empty
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hwci.contract.known_failures import KnownFailure

known = typer.Typer(no_args_is_help=True)

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@known.command("add")
@connected()
def add_known_failure(
    server: Connection,
    ticket: Annotated[
        str, typer.Argument(metavar="TICKET", help="What it is known by: a number or an address.")
    ],
    *,
    until: Annotated[
        str,
        typer.Option(
            metavar="DATE",
            help="The last day, or a date-time with an offset; what fails later is not known. At"
            f" most {limits.KNOWN_FOR_MAX.days} days from now.",
        ),
    ],
    test: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Of tests with this id; * is any characters."),
    ] = None,
    message: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="With this in its message; * is any characters."),
    ] = None,
    box: options.OfBox = None,
    json: options.Json = False,
) -> None:
    """Call failures known, by test, message or both: those of before, and those until a day.

    They are shown as known and counted apart. No label, no class and no number changes, and a gate
    counts them as before.

    For example:

      hwci known add FW-123 --test "hil.test_uart::*" --until 2027-01-31

      hwci known add https://issues.example.org/7 --message "probe * not found" --box bench-7
      --until 2027-01-31
    """
    end = f"{until}T23:59:59Z" if _DATE.fullmatch(until) else until
    rule = server.send(
        client.calls.add_known_failure(
            server.org_id(),
            ticket,
            options.time_of(end, "--until"),
            test_id=not_empty(test, "--test"),
            message=not_empty(message, "--message"),
            box_key=not_empty(box, "--box"),
        )
    )
    if json:
        emit_json(rule)
    note(f"Known by {rule.ticket} until {tables.moment(rule.until)} UTC: {_which(rule)}.")


def _which(rule: "KnownFailure") -> str:
    """Return which failures a rule is about."""
    parts = {"test": rule.test_id, "message": rule.message, "box": rule.box_key}
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value is not None)


def _layout(view: tables.View) -> "tables.Layout[KnownFailure]":
    def until(row: "KnownFailure") -> str:
        return f"{row.until:%Y-%m-%d}{' (over)' if row.until <= view.now else ''}"

    return tables.Layout(
        "known",
        "Known failures",
        [
            tables.id_column(lambda row: row.id),
            tables.Column("Ticket", lambda row: row.ticket),
            tables.Column("Which", _which),
            tables.Column("Until", until),
            tables.Column("By", lambda row: row.by.name, spare=True),
        ],
        "id testId message boxKey ticket until createdAt by.id by.name",
        "No failure is called known: hwci known add TICKET --test PATTERN --until DATE",
    )


@known.command("list")
@listing(_layout, "known list")
def list_known_failures(server: Connection) -> "Iterable[KnownFailure]":
    """List the rules by which failures are known, the first made first.

    For example:

      hwci known list
    """
    return _rules(server, server.org_id())


@known.command("remove")
@connected()
def remove_known_failure(
    server: Connection,
    rule: Annotated[
        str, typer.Argument(metavar="ID", help="The rule, by its id, or the start of it.")
    ],
) -> None:
    """Remove a rule: its failures are known no more, those of before neither.

    For example:

      hwci known remove 8a7f6f4e
    """
    org_id = server.org_id()
    named = ids.Named("rule", "hwci known list", "of the organization", "Check --org, or use")
    rule_id = ids.complete(rule, named, lambda: (row.id for row in _rules(server, org_id)))
    server.send(client.calls.remove_known_failure(org_id, rule_id))
    note("The rule is removed.")


def _rules(server: Connection, org_id: UUID) -> "Iterable[KnownFailure]":
    return server.items(client.calls.list_known_failures(org_id, limit=limits.PAGE_LIMIT_MAX))
