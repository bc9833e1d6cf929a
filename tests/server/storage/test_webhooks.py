# SPDX-License-Identifier: Apache-2.0
"""Webhooks, and the events on their way to them: taken once, in their order, each once."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from hwci.contract.vocabulary import DeliveryStatus, WebhookEvent
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Delivery
from hwci.server.storage.webhook_ports import Data
from tests.server.storage.examples import ACME, DELIVERY, NOON, ONGOING, OTHER, WEBHOOK

MINUTE = timedelta(minutes=1)


async def prepare(storage: Storage, *deliveries: Delivery) -> None:
    def work(writer: Writer) -> None:
        for organization in (ACME, OTHER):
            writer.add_organization(organization)
        writer.put_webhook(WEBHOOK)
        for delivery in deliveries:
            writer.add_delivery(delivery)

    await storage.write(work)


def numbered(number: int, about: str) -> Delivery:
    return replace(DELIVERY, id=UUID(int=number), about=about)


async def take(storage: Storage, minutes: int = 0, most: int = 9) -> list[int]:
    """Take what is due so many minutes after noon, for half a minute."""
    now = NOON + minutes * MINUTE
    taken = await storage.write(
        lambda writer: writer.take_deliveries(ACME.id, WEBHOOK.id, now, now + MINUTE / 2, most)
    )
    return [delivery.id.int for delivery in taken]


async def test_the_first_of_each_thing_is_taken_and_nothing_twice(storage: Storage) -> None:
    await prepare(storage, numbered(1, "a"), numbered(2, "a"), numbered(3, "b"))

    assert await take(storage, most=1) == [1]
    assert await take(storage) == [3]
    assert await take(storage) == []
    assert await take(storage, minutes=1) == [1, 3]


async def test_the_next_of_a_thing_is_taken_once_the_one_before_is_settled(
    storage: Storage,
) -> None:
    first = numbered(1, "a")
    await prepare(storage, first, numbered(2, "a"))
    await take(storage)
    taken = replace(first, due_at=NOON + MINUTE / 2)
    failed = replace(first, attempts=1, due_at=NOON + 5 * MINUTE, error="500")
    await storage.write(lambda writer: writer.settle_delivery(taken, failed))
    assert await take(storage, minutes=4) == []
    assert await take(storage, minutes=5) == [1]

    taken = replace(first, due_at=NOON + 5.5 * MINUTE)
    done = replace(failed, status=DeliveryStatus.DELIVERED, due_at=None, error=None)
    await storage.write(lambda writer: writer.settle_delivery(taken, done))

    assert await take(storage, minutes=6) == [2]
    listed = await storage.read(lambda reader: reader.deliveries(ACME.id, WEBHOOK.id, 0, 9))
    assert (listed.total, listed.items[1]) == (2, done)


async def test_who_was_too_slow_settles_nothing(storage: Storage) -> None:
    await prepare(storage, DELIVERY)
    await take(storage)
    await take(storage, minutes=1)
    late = replace(DELIVERY, due_at=NOON + MINUTE / 2)
    done = replace(late, status=DeliveryStatus.DELIVERED, due_at=None)

    await storage.write(lambda writer: writer.settle_delivery(late, done))

    (row,) = (await storage.read(lambda reader: reader.deliveries(ACME.id, WEBHOOK.id, 0, 9))).items
    assert row.status is DeliveryStatus.WAITING


async def test_an_event_is_kept_once_and_belongs_to_its_organization(storage: Storage) -> None:
    await prepare(storage, DELIVERY, replace(DELIVERY, about="again"))

    def work(writer: Writer) -> None:
        listed = writer.deliveries(ACME.id, WEBHOOK.id, 0, 9)
        assert [row.about for row in listed.items] == [DELIVERY.about]
        assert writer.webhook(OTHER.id, WEBHOOK.id) is None
        assert writer.deliveries(OTHER.id, WEBHOOK.id, 0, 9).total == 0
        assert not writer.resend_delivery(OTHER.id, WEBHOOK.id, DELIVERY.id, NOON)
        assert writer.remove_webhook(OTHER.id, WEBHOOK.id) is None
        assert writer.every_webhook() == [WEBHOOK]

    await storage.write(work)


async def test_what_was_told_and_is_not_over_is_kept_once_of_each_webhook_and_event(
    storage: Storage,
) -> None:
    await prepare(storage)
    later = replace(ONGOING, name="b2", since=NOON + MINUTE)
    others = (
        replace(ONGOING, org_id=OTHER.id),
        replace(ONGOING, webhook_id=UUID(int=99)),
        replace(ONGOING, event=WebhookEvent.OPENED),
    )

    def work(writer: Writer) -> None:
        for ongoing in (later, *others, replace(ONGOING, data={}), ONGOING):
            writer.put_ongoing(ongoing)
        assert writer.ongoing(ACME.id, WEBHOOK.id, ONGOING.event) == [ONGOING, later]
        writer.remove_ongoing(ONGOING)
        assert writer.ongoing(ACME.id, WEBHOOK.id, ONGOING.event) == [later]
        for ongoing in others:
            assert writer.ongoing(ongoing.org_id, ongoing.webhook_id, ongoing.event) == [ongoing]
        writer.remove_webhook(ACME.id, WEBHOOK.id)
        assert writer.ongoing(ACME.id, WEBHOOK.id, ONGOING.event) == []

    await storage.write(work)


async def test_what_is_due_is_known_by_webhook_and_only_of_enabled_ones(storage: Storage) -> None:
    await prepare(storage, DELIVERY)

    assert await storage.read(lambda reader: reader.webhooks_due(NOON - MINUTE)) == []
    assert await storage.read(lambda reader: reader.webhooks_due(NOON)) == [(ACME.id, WEBHOOK.id)]
    await storage.write(lambda writer: writer.set_erase_at(ACME.id, NOON))
    assert await storage.read(lambda reader: reader.webhooks_due(NOON)) == []  # it is deleted
    await storage.write(lambda writer: writer.set_erase_at(ACME.id, None))
    assert await storage.read(lambda reader: reader.webhooks_due(NOON)) == [(ACME.id, WEBHOOK.id)]
    await storage.write(lambda writer: writer.put_webhook(replace(WEBHOOK, enabled=False)))
    assert await storage.read(lambda reader: reader.webhooks_due(NOON)) == []


async def test_a_removed_webhook_leaves_nothing_and_old_deliveries_go_when_settled(
    storage: Storage,
) -> None:
    settled = replace(DELIVERY, id=UUID(int=83), about="b", due_at=None)
    await prepare(storage, DELIVERY, settled)

    def work(writer: Writer) -> None:
        assert writer.drop_deliveries(NOON + MINUTE, 9) == 1
        assert writer.deliveries(ACME.id, WEBHOOK.id, 0, 9).items == [DELIVERY]
        assert writer.remove_webhook(ACME.id, WEBHOOK.id) == WEBHOOK
        assert writer.deliveries(ACME.id, WEBHOOK.id, 0, 9).total == 0
        assert writer.webhooks(ACME.id, 0, 9).total == 0

    await storage.write(work)


async def test_the_data_of_deliveries_is_changed(storage: Storage) -> None:
    await prepare(storage, numbered(1, "a"), replace(numbered(2, "b"), data={"by": "Ada"}))

    def renamed(data: Data) -> Data:
        return {**data, "by": "nobody"} if "by" in data else data

    def change(writer: Writer) -> None:
        writer.change_deliveries(OTHER.id, lambda _: {})
        writer.change_deliveries(ACME.id, renamed)

    await storage.write(change)
    listed = await storage.read(lambda r: r.deliveries(ACME.id, WEBHOOK.id, 0, 9))
    assert [delivery.data for delivery in listed.items] == [{"by": "nobody"}, DELIVERY.data]
