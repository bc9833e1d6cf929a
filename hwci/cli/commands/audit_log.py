# SPDX-License-Identifier: Apache-2.0
"""`hwci orgs audit-log`: who did what (contract, "Organizations")."""

import json as json_module
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.session.connection import signed_in
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.wire.accounts import AuditEntryAnswer


def audit_log(
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="The newest N entries.")] = 50,
    json: options.JsonList = False,
    output: options.Output = None,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """List who did what in an organization, newest first. Owners and admins only.

    For example:

      hwci orgs audit-log --limit 1000 --output csv
    """
    from itertools import islice

    from hwci.client import calls

    form = options.form_of(json, output)
    with signed_in(Flags(url, profile, org)) as connection:
        size = min(limit, limits.PAGE_LIMIT_MAX)
        entries = connection.client.items(calls.audit_log(connection.org_id(), limit=size))
        rows = list(islice(entries, limit))
    emit(_layout(), rows, form)


def _layout() -> "tables.Layout[AuditEntryAnswer]":
    column = tables.Column
    return tables.Layout(
        "audit-log",
        "Audit log",
        [
            column("At (UTC)", lambda row: tables.moment(row.at)),
            column("Who", lambda row: row.actor.name),
            column("Did", lambda row: row.action, whole=True),
            column("To", lambda row: row.target),
            column("Details", _details),
        ],
        ("at", "actor.id", "actor.name", "action", "target", "details"),
        "Nothing is recorded yet",
    )


def _details(row: "AuditEntryAnswer") -> str:
    return ", ".join(f"{name} {_written(value)}" for name, value in row.details.items())


def _written(value: object) -> str:
    return value if isinstance(value, str) else json_module.dumps(value, ensure_ascii=False)
