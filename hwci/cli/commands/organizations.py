# SPDX-License-Identifier: Apache-2.0
"""Organizations, their audit log and their keys: `hwci orgs` and `hwci keys` (contract,
"Organizations"). A key is shown only once, when it is created.
"""

import json as json_module
import shlex
from itertools import islice
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci import client
from hwci.cli.session import ids
from hwci.cli.session.connection import Connection, connected, uuid_in
from hwci.cli.session.listing import listing
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.grids import ID_DIGITS
from hwci.cli.terminal.render import emit_json, note, write
from hwci.client.explained import wrong_usage
from hwci.said import counted
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hwci.wire.accounts import (
        AuditEntryAnswer,
        CiKeyAnswer,
        CreatedCiKey,
        KeepDaysAnswer,
        KeyProduct,
        NewKeepDays,
        OrganizationAnswer,
    )

orgs = typer.Typer(no_args_is_help=True)


def _layout(view: tables.View) -> "tables.Layout[OrganizationAnswer]":
    column = tables.Column
    return tables.Layout(
        "orgs",
        "Organizations",
        [
            tables.id_column(lambda row: row.id),
            column("Name", lambda row: row.name),
            column("Role", lambda row: row.role),
            column("CI Metrics", _state),
            tables.time_column("Created", lambda row: row.created_at, view.now, spare=True),
        ],
        "id name role ciMetricsEnabled createdAt eraseAt",
        "You belong to no organization yet: hwci orgs create NAME",
    )


def _state(row: "OrganizationAnswer") -> str:
    if row.erase_at is not None:
        return "deleted"
    return "on" if row.ci_metrics_enabled else "off"


@orgs.command("list")
@listing(_layout, "orgs list", org=False)
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
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the organization is called.")],
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
    note(f"  hwci admin ci-metrics enable {made.id}")


@orgs.command("show")
@connected()
def show_org(
    server: Connection,
    named: Annotated[
        str | None,
        typer.Argument(metavar="ID|NAME", help="Organization by id or name [that of --org]."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Show one organization.

    For example:

      hwci orgs show "Acme Firmware"
    """
    organization = server.send(client.calls.get_org(server.org_id(named)))
    if json:
        emit_json(organization)
        return
    write(f"{organization.name} ({organization.id})")
    write(f"  your role: {organization.role}")
    write(f"  CI Metrics: {'on' if organization.ci_metrics_enabled else 'off'}")
    write(f"  created: {tables.moment(organization.created_at)} UTC")
    write(f"  keeps: {_kept(organization.kept_days)}")
    if organization.kept_since is not None:
        since = tables.moment(organization.kept_since)
        write(f"  deleted so far: reports and merges before {since} UTC")
    if organization.erase_at is not None:
        write(f"  deleted: all of it goes {tables.moment(organization.erase_at)} UTC")


_WHAT = {
    "reports": "reports with their failures and reviews, and merges",
    "messages": "messages of failed tests",
    "logs": "log addresses",
}
"""What is kept for some days, and what goes afterwards."""
_EVER = "ever"


def _kept(days: "KeepDaysAnswer") -> str:
    return ", ".join(f"{kind} {_for(getattr(days, kind))}" for kind in _WHAT)


def _for(days: int | None) -> str:
    return "for ever" if days is None else counted(days, "day")


def _days(text: str | None) -> int | None:
    if text in {None, _EVER}:
        return None
    if text.isdecimal() and text.isascii():
        return int(text[:9])
    raise wrong_usage(
        f"{text!r} is no number of days", "it is neither digits nor ever", "Give such as 400"
    )


@orgs.command("keep")
@connected()
def keep_days(
    server: Connection,
    *,
    reports: Annotated[
        str | None,
        typer.Option(
            metavar="DAYS|ever", help="How long to keep reports and merges, from 90 days."
        ),
    ] = None,
    messages: Annotated[
        str | None,
        typer.Option(metavar="DAYS|ever", help="How long to keep messages of failed tests."),
    ] = None,
    logs: Annotated[
        str | None, typer.Option(metavar="DAYS|ever", help="How long to keep addresses of logs.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Keep them for fewer days; else only show what goes.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Set for how many days the organization keeps what it was sent. Owners and admins only.

    What is older is deleted for good, no sooner than a day after it was set. What is not named
    stays as it is; `hwci orgs show` prints it. The operator may have set fewer days.

    For example:

      hwci orgs keep --reports 400 --messages 30 --logs 30 --yes

      hwci orgs keep --messages ever
    """
    given = {"reports": reports, "messages": messages, "logs": logs}
    named = {kind: _days(text) for kind, text in given.items() if text is not None}
    if not named:
        raise wrong_usage(
            "Nothing was set", "no kind is named", "Give one of them, such as --messages 30"
        )
    body = _body(named)
    org_id = server.org_id()
    if not yes:
        _confirm(server.send(client.calls.get_org(org_id)), named)
    changed = server.send(client.calls.change_org(org_id, keep_days=body))
    if json:
        emit_json(changed)
        return
    note(f"{changed.name} keeps {_kept(changed.kept_days)}.")
    if changed.kept_days != changed.keep_days:
        note("It is set to more; the operator of the server lets nothing be kept for longer.")


def _body(named: "Mapping[str, int | None]") -> "NewKeepDays":
    from pydantic import ValidationError

    from hwci.wire.accounts import NewKeepDays

    try:
        return NewKeepDays.model_validate(named)
    except ValidationError as fault:
        faults = fault.errors()
        cause = "; ".join(f"--{error['loc'][0]}: {error['msg']}" for error in faults)
        raise wrong_usage("The days were not set", cause, "Correct it") from fault


def _confirm(organization: "OrganizationAnswer", named: "Mapping[str, int | None]") -> None:
    """Raise a `wrong_usage` that shows what goes, if anything is to be kept for fewer days."""
    now = organization.kept_days
    fewer = {
        kind: days
        for kind, days in named.items()
        if days is not None and days < (getattr(now, kind) or limits.KEEP_DAYS_MAX + 1)
    }
    if not fewer:
        return
    note(f"This would delete of {organization.name}, for good, from a day after it is set:")
    for kind, days in fewer.items():
        note(f"  {_WHAT[kind]}, once they are older than {counted(days, 'day')}")
    raise wrong_usage(
        "The days were not set",
        "--yes is missing, and something would be kept for fewer days",
        "Add --yes to do it",
    )


@orgs.command("delete")
@connected()
def delete_org(
    server: Connection,
    named: Annotated[
        str, typer.Argument(metavar="ID|NAME", help="The organization, by its id or name.")
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Delete; else only show what goes.")] = False,
    json: options.Json = False,
) -> None:
    """Delete an organization: it closes at once, and all of it goes 7 days later. Owners only.

    Until then its keys and pages do not work, nothing is lost, and an owner undoes it with `hwci
    orgs undelete`. Only the audit log stays. Let the operator export it first.

    For example:

      hwci orgs delete "Acme Firmware" --yes
    """
    org_id = server.org_id(named)
    if not yes:
        organization = server.send(client.calls.get_org(org_id))
        shown = shlex.quote(organization.name)
        note(f"This would delete {organization.name}: its runs, failures, reviews, merges, boxes,")
        note(
            "keys, trusts, webhooks, invitations and memberships; the audit log stays. Reports are"
        )
        note("refused at once; for 7 days an owner can undo it. To have a copy, ask the operator:")
        note(f"  hwci admin export {shown} FILE.db")
        raise wrong_usage(
            "The organization was not deleted",
            "--yes is missing",
            f"To do it: hwci orgs delete {shown} --yes",
        )
    deleted = server.send(client.calls.delete_org(org_id))
    assert deleted.erase_at is not None
    if json:
        emit_json(deleted)
        return
    note(f"{deleted.name} is deleted: its keys and pages do not work any more.")
    note(f"All of it goes {tables.moment(deleted.erase_at)} UTC. To undo it before:")
    note(f"  hwci orgs undelete {org_id}")


@orgs.command("undelete")
@connected()
def undelete_org(
    server: Connection,
    named: Annotated[
        str, typer.Argument(metavar="ID|NAME", help="The organization, by its id or name.")
    ],
) -> None:
    """Undo the deletion of an organization, within 7 days of it. Owners only.

    Its keys work again, and jobs send what they kept meanwhile.

    For example:

      hwci orgs undelete "Acme Firmware"
    """
    organization = server.send(client.calls.undelete_org(server.org_id(named)))
    note(f"{organization.name} is open again; its keys and pages work as before.")


def _audit_layout(view: tables.View) -> "tables.Layout[AuditEntryAnswer]":
    column = tables.Column
    return tables.Layout(
        "audit-log",
        "Audit log",
        [
            tables.time_column("At", lambda row: row.at, view.now),
            column("Who", lambda row: row.actor.name),
            column("Did", lambda row: row.action),
            column("To", lambda row: row.target, brief=_target),
            column("Details", _details),
        ],
        "at actor.id actor.name action target details",
        "Nothing is recorded yet",
    )


def _target(row: "AuditEntryAnswer") -> str:
    return row.target[:ID_DIGITS] if uuid_in(row.target) else row.target


def _details(row: "AuditEntryAnswer") -> str:
    return ", ".join(
        f"{name} {text if isinstance(text, str) else json_module.dumps(text, ensure_ascii=False)}"
        for name, text in row.details.items()
    )


@orgs.command("audit-log")
@listing(_audit_layout, "orgs audit-log")
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


keys = typer.Typer(no_args_is_help=True)


@keys.command("create")
@connected()
def create_key(
    server: Connection,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What the key is for; need not be unique.")
    ],
    *,
    reader: Annotated[
        bool,
        typer.Option("--reader", help="A key that reads metrics, failures and runs, no CI key."),
    ] = False,
    product: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REPO:SUITE", help="With --reader: this product only; repeatable [all]."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Create a CI key, or a reader key, and print it on stdout, only once. Owners and admins only.

    For example:

      hwci keys create "GitHub Actions" > ci-key.txt

      hwci keys create --reader "Wall display" --product acme/fw:hil > key.txt
    """
    if product and not reader:
        raise wrong_usage(
            "A CI key is for all products", "--product stands without --reader", "Add --reader"
        )
    org_id = server.org_id()
    made: CreatedCiKey  # that of a reader key is one, too
    if reader:
        made = server.send(client.calls.create_reader_key(org_id, name, _products(product)))
        use = "HWCI_READER_KEY where you read"
    else:
        made = server.send(client.calls.create_ci_key(org_id, name))
        use = "HWCI_CI_KEY in your CI"
    note(f"Key {made.id} is created. Shown only once: keep it as {use}.")
    emit_json(made) if json else write(made.api_key)
    if reader:
        scope = f" --product {shlex.quote(product[0])}" if product else ""
        note("With it, read without a sign-in:")
        note(f"  export HWCI_URL={server.settings.url} HWCI_READER_KEY=rdr_...")
        note(f"  hwci metrics{scope}")
    elif (install := install_command(server)) is not None:
        note("A job installs hwci from this server; pip checks the hash:")
        note(f"  {install}")


def install_command(server: Connection) -> str | None:
    """Return the command that installs the hwci of the server; None if the server has no wheel."""
    try:
        wheel = server.send(client.calls.wheel())
    except client.errors.HwciError:
        return None
    return f'pip install "{wheel.at(server.settings.url)}"'


def _products(texts: list[str] | None) -> "list[KeyProduct] | None":
    from pydantic import ValidationError

    from hwci.wire.accounts import KeyProduct

    named = (options.scope_of(text, None) for text in texts or ())
    try:
        return [KeyProduct(repo_key=repo or "", suite=suite or "") for repo, suite in named] or None
    except ValidationError as fault:
        cause = "; ".join(error["msg"] for error in fault.errors())
        raise wrong_usage("--product is not understood", cause, "Correct it") from fault


def keys_layout(view: tables.View) -> "tables.Layout[CiKeyAnswer]":
    """Return the table of keys; the keys themselves are shown only once."""
    from hwci.wire.accounts import ReaderKeyAnswer

    def used(row: "CiKeyAnswer") -> str:
        return tables.ago(row.last_used_at, view.now) if row.last_used_at else "never"

    def state(row: "CiKeyAnswer") -> str:
        return f"revoked {tables.moment(row.revoked_at)}" if row.revoked_at else "active"

    def reads(row: "CiKeyAnswer") -> str:
        if not isinstance(row, ReaderKeyAnswer):
            return "CI"
        products = ", ".join(f"{product.repo_key}:{product.suite}" for product in row.products)
        return f"reader of {products or 'all'}"

    return tables.Layout(
        "keys",
        "Keys",
        [
            tables.id_column(lambda row: row.id),
            tables.Column("Name", lambda row: row.name),
            tables.Column("Kind", reads, spare=True),
            tables.time_column("Created", lambda row: row.created_at, view.now, spare=True),
            tables.Column("Last used", used, spare=True),
            tables.Column("State", state),
        ],
        "id name createdAt lastUsedAt revokedAt",
        "No key yet: hwci keys create NAME",
    )


@keys.command("list")
@listing(keys_layout, "keys list")
def list_keys(server: Connection) -> "Iterable[CiKeyAnswer]":
    """List the keys of an organization, CI keys first, never their values.

    For example:

      hwci keys list
    """
    return _keys(server, server.org_id())


def _keys(server: Connection, org_id: UUID) -> "Iterator[CiKeyAnswer]":
    yield from server.items(client.calls.list_ci_keys(org_id))
    yield from server.items(client.calls.list_reader_keys(org_id))


@keys.command("revoke")
@connected()
def revoke_key(
    server: Connection,
    key_id: Annotated[
        str, typer.Argument(metavar="ID", help="The key, by its id, or the start of it.")
    ],
) -> None:
    """Revoke a key: it stops working at once, for good. Owners and admins only.

    For example:

      hwci keys revoke 8a7f6f4e
    """
    from hwci.client.errors import NotFoundError

    org_id = server.org_id()
    named = ids.Named("key", "hwci keys list", "of the organization", "Check --org, or use")
    whole_id = ids.complete(key_id, named, lambda: (key.id for key in _keys(server, org_id)))
    try:
        server.send(client.calls.revoke_ci_key(org_id, whole_id))
    except NotFoundError:
        server.send(client.calls.revoke_reader_key(org_id, whole_id))
    note(f"Key {whole_id} is revoked.")
