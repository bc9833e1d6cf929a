# SPDX-License-Identifier: Apache-2.0
"""Webhooks of an organization, and what became of what they were sent: `hwci webhooks` (contract,
"Webhooks"). A secret is shown only once, when its webhook is created.
"""

import sys
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci import client
from hwci.cli.session import ids
from hwci.cli.session.connection import Connection, connected
from hwci.cli.session.listing import listing
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit_json, note, write
from hwci.contract.vocabulary import WebhookEvent, WebhookForm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hwci.wire.webhooks import DeliveryAnswer, WebhookAnswer

webhooks = typer.Typer(no_args_is_help=True)

WhichWebhook = Annotated[
    str, typer.Argument(metavar="ID", help="The webhook, by its id, or the start of it.")
]
STDIN = "-"


@webhooks.command("create")
@connected()
def create_webhook(
    server: Connection,
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS", help="Where to send; - reads it from stdin, as it may be a secret."
        ),
    ],
    *,
    form: Annotated[WebhookForm, typer.Option(help="How it is written to.")] = WebhookForm.PLAIN,
    event: Annotated[
        list[WebhookEvent] | None, typer.Option(help="An event that it gets; repeatable [all].")
    ] = None,
    product: options.Product = None,
    repo: options.Repo = None,
    unchecked_hours: Annotated[
        int, typer.Option(metavar="HOURS", help="After which a merge is unchecked.")
    ] = 24,
    silent_hours: Annotated[
        int, typer.Option(metavar="HOURS", help="After which a box is silent.")
    ] = 24,
    json: options.Json = False,
) -> None:
    """Create a webhook, and print its secret on stdout, only once. Owners and admins only.

    For example:

      hwci webhooks create https://example.org/hook --event failure.real_bug > secret.txt

      hwci webhooks create - --form slack --silent-hours 8 < slack-address.txt
    """
    repo_key, suite = options.scope_of(product, repo)
    made = server.send(
        client.calls.create_webhook(
            server.org_id(),
            sys.stdin.readline().strip() if address == STDIN else address,
            form=form,
            events=event,
            repo_key=repo_key,
            suite=suite,
            unchecked_hours=unchecked_hours,
            silent_hours=silent_hours,
        )
    )
    note(f"Webhook {made.id} is created. Its secret, shown only once, proves who sent an event.")
    emit_json(made) if json else write(made.secret)
    note(f"What becomes of its events: hwci webhooks deliveries {made.id}")


def _layout(view: tables.View) -> "tables.Layout[WebhookAnswer]":
    def product(row: "WebhookAnswer") -> str:
        return ":".join(filter(None, (row.repo_key, row.suite))) or "all"

    return tables.Layout(
        "webhooks",
        "Webhooks",
        [
            tables.id_column(lambda row: row.id),
            tables.Column("Host", lambda row: row.host),
            tables.Column("Form", lambda row: row.form),
            tables.Column("Events", lambda row: ", ".join(row.events)),
            tables.Column("Product", product, spare=True),
            tables.Column("State", lambda row: "on" if row.enabled else "off"),
            tables.time_column("Created", lambda row: row.created_at, view.now, spare=True),
        ],
        "id host form events repoKey suite uncheckedHours silentHours enabled createdAt",
        "No webhook yet: hwci webhooks create ADDRESS",
    )


@webhooks.command("list")
@listing(_layout, "webhooks list")
def list_webhooks(server: Connection) -> "Iterable[WebhookAnswer]":
    """List the webhooks of an organization. Owners and admins only.

    For example:

      hwci webhooks list
    """
    return server.items(client.calls.list_webhooks(server.org_id()))


def _deliveries_layout(view: tables.View) -> "tables.Layout[DeliveryAnswer]":
    return tables.Layout(
        "deliveries",
        "Deliveries",
        [
            tables.id_column(lambda row: row.id),
            tables.time_column("At", lambda row: row.at, view.now),
            tables.Column("Event", lambda row: row.event),
            tables.Column("Status", lambda row: row.status.replace("_", " ")),
            tables.Column("Attempts", lambda row: str(row.attempts)),
            tables.Column("Error", lambda row: row.error or ""),
            tables.Column("Text", lambda row: str(row.data.get("text", "")), spare=True),
        ],
        "id at event status attempts dueAt error",
        "It was sent nothing yet",
    )


@webhooks.command("deliveries")
@listing(_deliveries_layout, "webhooks deliveries")
def list_deliveries(server: Connection, webhook: WhichWebhook) -> "Iterable[DeliveryAnswer]":
    """List what a webhook was sent, newest first, with its last error. Owners and admins only.

    For example:

      hwci webhooks deliveries 8a7f6f4e
    """
    org_id = server.org_id()
    return server.items(client.calls.list_deliveries(org_id, _whole(server, org_id, webhook)))


@webhooks.command("resend")
@connected()
def resend_delivery(
    server: Connection,
    webhook: WhichWebhook,
    delivery: Annotated[
        str, typer.Argument(metavar="DELIVERY", help="The delivery, by its id, or its start.")
    ],
) -> None:
    """Send an event to a webhook again. Owners and admins only.

    For example:

      hwci webhooks resend 8a7f6f4e 3b4c5d6e
    """
    org_id = server.org_id()
    webhook_id = _whole(server, org_id, webhook)
    command = f"hwci webhooks deliveries {webhook_id}"
    named = ids.Named("delivery", command, "of the webhook", "Check the webhook, or use")
    rows = client.calls.list_deliveries(org_id, webhook_id)
    delivery_id = ids.complete(delivery, named, lambda: (row.id for row in server.items(rows)))
    server.send(client.calls.resend_delivery(org_id, webhook_id, delivery_id))
    note(f"Delivery {delivery_id} is sent again.")


@webhooks.command("remove")
@connected()
def remove_webhook(server: Connection, webhook: WhichWebhook) -> None:
    """Remove a webhook: nothing more is sent to it. Owners and admins only.

    For example:

      hwci webhooks remove 8a7f6f4e
    """
    org_id = server.org_id()
    webhook_id = _whole(server, org_id, webhook)
    server.send(client.calls.remove_webhook(org_id, webhook_id))
    note(f"Webhook {webhook_id} is removed.")


def _whole(server: Connection, org_id: UUID, webhook: str) -> UUID:
    """Return the id of a webhook, of which a person may type the start."""
    named = ids.Named("webhook", "hwci webhooks list", "of the organization", "Check --org, or use")
    rows = client.calls.list_webhooks(org_id)
    return ids.complete(webhook, named, lambda: (row.id for row in server.items(rows)))
