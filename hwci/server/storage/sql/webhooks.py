# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Webhooks, and the events on their way to them."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from hwci.contract.vocabulary import DeliveryStatus, WebhookEvent
from hwci.engine.history import Listing
from hwci.server.storage.records import Delivery, Ongoing, Webhook
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.columns import column, columns_of
from hwci.server.storage.sql.rows import Rows, insert, upsert
from hwci.server.storage.webhook_ports import Data


def _events(text: str) -> tuple[WebhookEvent, ...]:
    return tuple(map(WebhookEvent, json.loads(text)))


_WEBHOOK = columns_of(Webhook, events=column("events", codec.compact_json, _events))
_DELIVERY = columns_of(Delivery, data=column("data", codec.compact_json, json.loads))

_ONGOING = columns_of(Ongoing, data=column("data", codec.compact_json, json.loads))

_SELECT_WEBHOOK = f"SELECT {_WEBHOOK.of('w')} FROM webhook w"
_SELECT_DELIVERY = f"SELECT {_DELIVERY.of('d')} FROM delivery d"
_SELECT_ONGOING = f"""
SELECT {_ONGOING.of("o")}
FROM ongoing o
WHERE o.org_id = ? AND o.webhook_id = ? AND o.event = ?
ORDER BY o.since, o.name
"""
_WITH_DUE = """
SELECT w.org_id, w.id
FROM webhook w
JOIN organization o ON o.id = w.org_id
WHERE w.enabled = 1 AND EXISTS (
  SELECT 1
  FROM delivery d
  WHERE d.org_id = w.org_id AND d.webhook_id = w.id AND d.due_at <= ?
) AND o.erase_at IS NULL
"""
_FIRST_DUE = f"""
{_SELECT_DELIVERY}
WHERE d.org_id = ? AND d.webhook_id = ? AND d.due_at <= ? AND NOT EXISTS (
  SELECT 1
  FROM delivery e
  WHERE e.org_id = d.org_id AND e.webhook_id = d.webhook_id AND e.about = d.about
    AND e.due_at IS NOT NULL AND e.number < d.number
)
ORDER BY d.due_at, d.number LIMIT ?
"""
_ONE = "WHERE org_id = ? AND webhook_id = ? AND id = ?"
_OLD = "SELECT d.org_id, d.number FROM delivery d WHERE d.due_at IS NULL AND d.at < ? LIMIT ?"


class WebhookRows(Rows):
    """Webhooks and deliveries."""

    def webhooks(self, org_id: UUID, offset: int, limit: int) -> Listing[Webhook]:
        statement = f"{_SELECT_WEBHOOK} WHERE w.org_id = ? ORDER BY w.created_at DESC, w.rowid DESC"
        return self._slice(_WEBHOOK.read, statement, (org_id.bytes,), offset, limit)

    def webhook(self, org_id: UUID, webhook_id: UUID) -> Webhook | None:
        statement = f"{_SELECT_WEBHOOK} WHERE w.org_id = ? AND w.id = ?"
        return self._first(_WEBHOOK.read, statement, org_id.bytes, webhook_id.bytes)

    def every_webhook(self) -> Sequence[Webhook]:
        rows = self._connection.rows(f"{_SELECT_WEBHOOK} ORDER BY w.org_id, w.id")
        return [_WEBHOOK.read(row) for row in rows]

    def webhooks_due(self, now: datetime) -> Sequence[tuple[UUID, UUID]]:
        rows = self._connection.rows(_WITH_DUE, (codec.to_micros(now),))
        return [(codec.uuid_of(org_id), codec.uuid_of(webhook_id)) for org_id, webhook_id in rows]

    def deliveries(
        self, org_id: UUID, webhook_id: UUID, offset: int, limit: int
    ) -> Listing[Delivery]:
        statement = (
            f"{_SELECT_DELIVERY} WHERE d.org_id = ? AND d.webhook_id = ? ORDER BY d.number DESC"
        )
        values = (org_id.bytes, webhook_id.bytes)
        return self._slice(_DELIVERY.read, statement, values, offset, limit)

    def ongoing(self, org_id: UUID, webhook_id: UUID, event: WebhookEvent) -> Sequence[Ongoing]:
        rows = self._connection.rows(_SELECT_ONGOING, (org_id.bytes, webhook_id.bytes, event))
        return [_ONGOING.read(row) for row in rows]

    def put_ongoing(self, ongoing: Ongoing) -> None:
        key = "org_id, webhook_id, event, name"
        self._connection.execute(upsert("ongoing", _ONGOING.names, key), _ONGOING.row(ongoing))

    def remove_ongoing(self, ongoing: Ongoing) -> None:
        self._connection.execute(
            "DELETE FROM ongoing WHERE org_id = ? AND webhook_id = ? AND event = ? AND name = ?",
            (ongoing.org_id.bytes, ongoing.webhook_id.bytes, ongoing.event, ongoing.name),
        )

    def put_webhook(self, webhook: Webhook) -> None:
        self._connection.execute(
            upsert("webhook", _WEBHOOK.names, "org_id, id"), _WEBHOOK.row(webhook)
        )

    def remove_webhook(self, org_id: UUID, webhook_id: UUID) -> Webhook | None:
        webhook, key = self.webhook(org_id, webhook_id), (org_id.bytes, webhook_id.bytes)
        self._connection.execute("DELETE FROM delivery WHERE org_id = ? AND webhook_id = ?", key)
        self._connection.execute("DELETE FROM ongoing WHERE org_id = ? AND webhook_id = ?", key)
        self._connection.execute("DELETE FROM webhook WHERE org_id = ? AND id = ?", key)
        return webhook

    def add_delivery(self, delivery: Delivery) -> None:
        self._connection.execute(
            f"{insert('delivery', _DELIVERY.names)} ON CONFLICT DO NOTHING",
            _DELIVERY.row(delivery),
        )

    def take_deliveries(
        self, org_id: UUID, webhook_id: UUID, now: datetime, until: datetime, most: int
    ) -> Sequence[Delivery]:
        key = (org_id.bytes, webhook_id.bytes)
        rows = self._connection.rows(_FIRST_DUE, (*key, codec.to_micros(now), most))
        taken = [_DELIVERY.read(row) for row in rows]
        self._connection.execute_many(
            f"UPDATE delivery SET due_at = ? {_ONE}",
            [(codec.to_micros(until), *key, delivery.id.bytes) for delivery in taken],
        )
        return taken

    def settle_delivery(self, taken: Delivery, after: Delivery) -> None:
        self._connection.execute(
            f"UPDATE delivery SET status = ?, attempts = ?, due_at = ?, error = ? {_ONE}"
            " AND due_at = ?",
            (
                after.status,
                after.attempts,
                codec.to_micros_or_none(after.due_at),
                after.error,
                *(taken.org_id.bytes, taken.webhook_id.bytes, taken.id.bytes),
                codec.to_micros_or_none(taken.due_at),
            ),
        )

    def resend_delivery(
        self, org_id: UUID, webhook_id: UUID, delivery_id: UUID, now: datetime
    ) -> bool:
        changed = self._connection.execute(
            f"UPDATE delivery SET status = ?, attempts = 0, due_at = ?, error = NULL {_ONE}",
            (
                DeliveryStatus.WAITING,
                codec.to_micros(now),
                *(org_id.bytes, webhook_id.bytes, delivery_id.bytes),
            ),
        )
        return changed.rowcount == 1

    def change_deliveries(self, org_id: UUID, change: Callable[[Data], Data]) -> None:
        statement = "SELECT d.number, d.data FROM delivery d WHERE d.org_id = ?"
        rows = [
            (number, json.loads(text))
            for number, text in self._connection.rows(statement, (org_id.bytes,))
        ]
        self._connection.execute_many(
            "UPDATE delivery SET data = ? WHERE org_id = ? AND number = ?",
            [
                (codec.compact_json(changed), org_id.bytes, number)
                for number, data in rows
                if (changed := change(data)) != data
            ],
        )

    def drop_deliveries(self, before: datetime, most: int) -> int:
        old = self._connection.rows(_OLD, (codec.to_micros(before), most))
        self._connection.execute_many(
            "DELETE FROM delivery WHERE org_id = ? AND number = ? AND due_at IS NULL", old
        )
        return len(old)
