# SPDX-License-Identifier: Apache-2.0
"""CI keys: `hwci keys create|list|revoke`. A key is shown only once, when it is created."""

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci import client
from hwci.cli.session.command import connected, listing
from hwci.cli.session.connection import Connection
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit_json, note, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hwci.wire.accounts import CiKeyAnswer

keys = typer.Typer(no_args_is_help=True, help="CI keys: create, list, revoke.")


@keys.command("create")
@connected()
def create_key(
    server: Connection,
    name: Annotated[str, typer.Argument(help="What the key is for; need not be unique.")],
    json: options.Json = False,
) -> None:
    """Create a CI key and print it, this once, on stdout. Owners and admins only.

    For example:

      hwci keys create "GitHub Actions" > ci-key.txt
    """
    made = server.send(client.calls.create_ci_key(server.org_id(), name))
    note(f"Key {made.id} is created. It is shown this once: keep it as HWCI_CI_KEY in your CI.")
    emit_json(made) if json else say(made.api_key)


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
        ("id", "name", "createdAt", "lastUsedAt", "revokedAt"),
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
