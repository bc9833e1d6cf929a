# SPDX-License-Identifier: Apache-2.0
"""Organizations, their audit log and their CI keys: `hwci orgs` and `hwci keys` (contract,
"Organizations", "CI keys"). A key is shown only once, when it is created.
"""

import json as json_module
from itertools import islice
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci import client
from hwci.cli.session.connection import Connection, connected, listing
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit_json, note, write
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hwci.wire.accounts import AuditEntryAnswer, CiKeyAnswer, OrganizationAnswer

orgs = typer.Typer(no_args_is_help=True, help="Organizations: list, create, show.")


def _layout(_: tables.View) -> "tables.Layout[OrganizationAnswer]":
    column = tables.Column
    return tables.Layout(
        "orgs",
        "Organizations",
        [
            column("ID", lambda row: str(row.id), whole=True),
            column("Name", lambda row: row.name),
            column("Role", lambda row: row.role),
            column("CI Metrics", lambda row: "on" if row.ci_metrics_enabled else "off"),
            column("Created (UTC)", lambda row: tables.moment(row.created_at)),
        ],
        "id name role ciMetricsEnabled createdAt",
        "You belong to no organization yet: hwci orgs create NAME",
    )


@orgs.command("list")
@listing(_layout, org=False)
def list_orgs(server: Connection) -> "Iterable[OrganizationAnswer]":
    """List your organizations.

    For example:

      hwci orgs list --output csv
    """
    return server.items(client.calls.list_orgs())


@orgs.command("create")
@connected(org=False)
def create_org(
    server: Connection,
    name: Annotated[str, typer.Argument(help="Name of the organization.")],
    json: options.Json = False,
) -> None:
    """Create an organization; you are its owner. Its id is printed.

    For example:

      hwci orgs create "Acme Firmware"
    """
    made = server.send(client.calls.create_org(name))
    if json:
        emit_json(made)
        return
    write(str(made.id))
    note(f"{made.name} is created. The operator turns CI Metrics on for it:")
    note(f"  hwci admin ci-metrics enable {made.id} --database FILE")


@orgs.command("show")
@connected()
def show_org(server: Connection, json: options.Json = False) -> None:
    """Show one organization.

    For example:

      hwci orgs show --org "Acme Firmware"
    """
    found = server.send(client.calls.get_org(server.org_id()))
    if json:
        emit_json(found)
        return
    write(f"{found.name} ({found.id})")
    write(f"  your role: {found.role}")
    write(f"  CI Metrics: {'on' if found.ci_metrics_enabled else 'off'}")
    write(f"  created: {tables.moment(found.created_at)} UTC")


def _audit_layout(_: tables.View) -> "tables.Layout[AuditEntryAnswer]":
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
        "at actor.id actor.name action target details",
        "Nothing is recorded yet",
    )


def _details(row: "AuditEntryAnswer") -> str:
    return ", ".join(
        f"{name} {one if isinstance(one, str) else json_module.dumps(one, ensure_ascii=False)}"
        for name, one in row.details.items()
    )


@orgs.command("audit-log")
@listing(_audit_layout)
def audit_log(
    server: Connection,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="The newest N entries.")] = 50,
) -> "Iterable[AuditEntryAnswer]":
    """List who did what in an organization, newest first. Owners and admins only.

    For example:

      hwci orgs audit-log --limit 1000 --output csv
    """
    size = min(limit, limits.PAGE_LIMIT_MAX)
    return islice(server.items(client.calls.audit_log(server.org_id(), limit=size)), limit)


keys = typer.Typer(no_args_is_help=True, help="CI keys: create, list, revoke.")


@keys.command("create")
@connected()
def create_key(
    server: Connection,
    name: Annotated[str, typer.Argument(help="What the key is for; need not be unique.")],
    json: options.Json = False,
) -> None:
    """Create a CI key and print it on stdout, only once. Owners and admins only.

    For example:

      hwci keys create "GitHub Actions" > ci-key.txt
    """
    made = server.send(client.calls.create_ci_key(server.org_id(), name))
    note(f"Key {made.id} is created. It is shown only once: keep it as HWCI_CI_KEY in your CI.")
    emit_json(made) if json else write(made.api_key)


def keys_layout(view: tables.View) -> "tables.Layout[CiKeyAnswer]":
    """Return the table of CI keys; the keys themselves are shown only once."""

    def used(row: "CiKeyAnswer") -> str:
        return tables.ago(row.last_used_at, view.now) if row.last_used_at else "never"

    def state(row: "CiKeyAnswer") -> str:
        return f"revoked {tables.moment(row.revoked_at)}" if row.revoked_at else "active"

    return tables.Layout(
        "keys",
        "CI keys",
        [
            tables.Column("ID", lambda row: str(row.id), whole=True),
            tables.Column("Name", lambda row: row.name),
            tables.Column("Created (UTC)", lambda row: tables.moment(row.created_at)),
            tables.Column("Last used", used),
            tables.Column("State", state),
        ],
        "id name createdAt lastUsedAt revokedAt",
        "No CI key yet: hwci keys create NAME",
    )


@keys.command("list")
@listing(keys_layout)
def list_keys(server: Connection) -> "Iterable[CiKeyAnswer]":
    """List the CI keys of an organization, never their values.

    For example:

      hwci keys list
    """
    return server.items(client.calls.list_ci_keys(server.org_id()))


@keys.command("revoke")
@connected()
def revoke_key(
    server: Connection,
    key_id: Annotated[UUID, typer.Argument(help="Id of the key, as `hwci keys list` shows it.")],
) -> None:
    """Revoke a CI key: it stops working at once, for good. Owners and admins only.

    For example:

      hwci keys revoke 8a7f6f4e-5c1d-4d0b-9d5e-0b6f1f2a3c4d
    """
    server.send(client.calls.revoke_ci_key(server.org_id(), key_id))
    note(f"Key {key_id} is revoked.")
