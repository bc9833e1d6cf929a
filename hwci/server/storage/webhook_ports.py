# SPDX-License-Identifier: Apache-2.0
"""The part of the storage port for webhooks and the events on their way to them. `ports.py`
explains transactions, and which organization a query is about.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hwci.contract.vocabulary import WebhookEvent
from hwci.engine.history import Listing
from hwci.server.storage.records import Delivery, Ongoing, Webhook

Data = Mapping[str, object]


class Webhooks(Protocol):
    """Webhooks, for reading."""

    def webhooks(self, org_id: UUID, offset: int, limit: int) -> Listing[Webhook]:
        """List an organization's webhooks, newest first."""

    def webhook(self, org_id: UUID, webhook_id: UUID) -> Webhook | None:
        """Return a webhook by id."""

    def every_webhook(self) -> Sequence[Webhook]:
        """Return the webhooks of all organizations."""

    def webhooks_due(self, now: datetime) -> Sequence[tuple[UUID, UUID]]:
        """Return organization and id of the enabled webhooks that have something to be sent."""

    def deliveries(
        self, org_id: UUID, webhook_id: UUID, offset: int, limit: int
    ) -> Listing[Delivery]:
        """List the deliveries of a webhook, newest first."""

    def ongoing(self, org_id: UUID, webhook_id: UUID, event: WebhookEvent) -> Sequence[Ongoing]:
        """Return what a webhook was told of and is not over, the first to begin first."""


class WebhooksWriter(Webhooks, Protocol):
    """Webhooks, for writing."""

    def put_ongoing(self, ongoing: Ongoing) -> None:
        """Keep what a webhook was told of, in place of what has its event and name."""

    def remove_ongoing(self, ongoing: Ongoing) -> None:
        """Delete what is over."""

    def put_webhook(self, webhook: Webhook) -> None:
        """Keep a webhook, in place of one with the same id."""

    def remove_webhook(self, org_id: UUID, webhook_id: UUID) -> Webhook | None:
        """Delete a webhook with all that it was told, and return it; None if there is none."""

    def add_delivery(self, delivery: Delivery) -> None:
        """Keep a new delivery. Nothing happens if the webhook has one of the same event."""

    def take_deliveries(
        self, org_id: UUID, webhook_id: UUID, now: datetime, until: datetime, most: int
    ) -> Sequence[Delivery]:
        """Return deliveries that are due, the first due first, of each thing its first that is
        not settled. They are due again at `until`: until then nobody else takes them.
        """

    def settle_delivery(self, taken: Delivery, after: Delivery) -> None:
        """Keep what became of a delivery; nothing, if it was taken or sent anew since."""

    def resend_delivery(
        self, org_id: UUID, webhook_id: UUID, delivery_id: UUID, now: datetime
    ) -> bool:
        """Make a delivery due now, with all its attempts; False if there is none."""

    def change_deliveries(self, org_id: UUID, change: Callable[[Data], Data]) -> None:
        """Keep what `change` makes of the data of each delivery of an organization."""

    def drop_deliveries(self, before: datetime, most: int) -> int:
        """Delete settled deliveries of all organizations that are older, up to a number; return
        how many.
        """
