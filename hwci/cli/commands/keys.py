# SPDX-License-Identifier: Apache-2.0
"""CI keys: `hwci keys create|list|revoke`. A key is shown once, when it is created."""

from typing import Annotated
from uuid import UUID

import typer

from hwci.cli.session.connection import signed_in
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit, emit_json, note, say

keys = typer.Typer(no_args_is_help=True, help="CI keys: create, list, revoke.")


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="What the key is for; need not be unique.")],
    json: options.Json = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Create a CI key and print it, this once, on stdout. Owners and admins only.

    For example:

      hwci keys create "GitHub Actions" > ci-key.txt
    """
    from hwci.client import calls

    with signed_in(Flags(url, profile, org)) as connection:
        made = connection.client.send(calls.create_ci_key(connection.org_id(), name))
    note(f"Key {made.id} is created. It is shown this once: keep it as HWCI_CI_KEY in your CI.")
    if json:
        emit_json(made)
    else:
        say(made.api_key)


@keys.command("list")
def list_keys(
    json: options.JsonList = False,
    output: options.Output = None,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """List the CI keys of an organization, never their values.

    For example:

      hwci keys list
    """
    from hwci.client import calls

    form = options.form_of(json, output)
    with signed_in(Flags(url, profile, org)) as connection:
        rows = list(connection.client.items(calls.list_ci_keys(connection.org_id())))
    emit(tables.keys(tables.View(options.now())), rows, form)


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[UUID, typer.Argument(help="Id of the key, as `hwci keys list` shows it.")],
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Revoke a CI key: it stops working at once, for good. Owners and admins only.

    For example:

      hwci keys revoke 8a7f6f4e-5c1d-4d0b-9d5e-0b6f1f2a3c4d
    """
    from hwci.client import calls

    with signed_in(Flags(url, profile, org)) as connection:
        connection.client.send(calls.revoke_ci_key(connection.org_id(), key_id))
    note(f"Key {key_id} is revoked.")
