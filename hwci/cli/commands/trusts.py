# SPDX-License-Identifier: Apache-2.0
"""Trusts of an organization, the repositories whose CI jobs sign in without a secret: `hwci trusts`
(contract, "CI jobs without a secret").
"""

from typing import TYPE_CHECKING, Annotated

import typer

from hwci import client
from hwci.cli.session import ids
from hwci.cli.session.connection import Connection, connected
from hwci.cli.session.listing import listing
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit_json, note, write
from hwci.contract.ci_systems import SigningSystem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hwci.wire.trusts import TrustAnswer

trusts = typer.Typer(no_args_is_help=True)


@trusts.command("create")
@connected()
def create_trust(
    server: Connection,
    system: Annotated[
        SigningSystem, typer.Argument(metavar="SYSTEM", help=", ".join(SigningSystem))
    ],
    repository: Annotated[
        str,
        typer.Argument(
            metavar="REPOSITORY", help="acme/firmware; of Buildkite the organization and pipeline."
        ),
    ],
    *,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only jobs of this branch; one * [any].")
    ] = None,
    environment: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only jobs of this environment; one * [any]."),
    ] = None,
    repository_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Its id there [that of the first job].")
    ] = None,
    issuer: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Who signs its tokens [that of the system]."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Let the CI jobs of a repository report without a key. Owners and admins only.

    A job signs in with the identity that its CI system signs, and gets a key of 15 minutes. From
    its first job on the trust holds for the ids of the repository and its owner, whatever their
    names become. CircleCI has an issuer for each organization: name it with --issuer.

    For example:

      hwci trusts create github acme/firmware

      hwci trusts create gitlab acme/firmware --branch main --issuer https://gitlab.example.org
    """
    org_id = server.org_id()
    made = server.send(
        client.calls.create_trust(
            org_id,
            system,
            repository,
            issuer=issuer,
            repository_id=repository_id,
            branch=branch,
            environment=environment,
        )
    )
    emit_json(made) if json else write(str(made.id))
    note(f"Jobs of {made.repository} sign in by this trust, and need no key. They name")
    note(f"  HWCI_URL={server.settings.url} HWCI_ORG={org_id}")


def _layout(view: tables.View) -> "tables.Layout[TrustAnswer]":
    def used(row: "TrustAnswer") -> str:
        return tables.ago(row.last_used_at, view.now) if row.last_used_at else "never"

    return tables.Layout(
        "trusts",
        "Trusts",
        [
            tables.id_column(lambda row: row.id),
            tables.Column("System", lambda row: row.system),
            tables.Column("Repository", lambda row: row.repository),
            tables.Column("Its id", lambda row: row.repository_id or "of the first job"),
            tables.Column("Branch", lambda row: row.branch or "any"),
            tables.Column("Environment", lambda row: row.environment or "any", spare=True),
            tables.Column("Issuer", lambda row: row.issuer, spare=True),
            tables.time_column("Created", lambda row: row.created_at, view.now, spare=True),
            tables.Column("Last used", used),
        ],
        "id system repository repositoryId ownerId branch environment issuer createdAt lastUsedAt",
        "No trust yet: hwci trusts create SYSTEM REPOSITORY",
    )


@trusts.command("list")
@listing(_layout, "trusts list")
def list_trusts(server: Connection) -> "Iterable[TrustAnswer]":
    """List the repositories whose CI jobs sign in without a key.

    For example:

      hwci trusts list
    """
    return server.items(client.calls.list_trusts(server.org_id()))


@trusts.command("remove")
@connected()
def remove_trust(
    server: Connection,
    trust: Annotated[
        str, typer.Argument(metavar="ID", help="The trust, by its id, or the start of it.")
    ],
) -> None:
    """Remove a trust: its jobs sign in no more, and their keys end. Owners and admins only.

    For example:

      hwci trusts remove 8a7f6f4e
    """
    org_id = server.org_id()
    named = ids.Named("trust", "hwci trusts list", "of the organization", "Check --org, or use")
    rows = client.calls.list_trusts(org_id)
    trust_id = ids.complete(trust, named, lambda: (row.id for row in server.items(rows)))
    server.send(client.calls.remove_trust(org_id, trust_id))
    note(f"Trust {trust_id} is removed.")
