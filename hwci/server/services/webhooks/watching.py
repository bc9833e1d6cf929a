# SPDX-License-Identifier: Apache-2.0
"""Looks for events that no request makes, as only time passes: a merge that stays unchecked, a box
that stays silent. And it seals again what a former key of the server has sealed.

This module decides how far back it looks. What an event says is decided in `events.py`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from hwci.contract.vocabulary import WebhookEvent
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from hwci.server.clock import Clock
from hwci.server.security.sealing import Seals
from hwci.server.services import Service
from hwci.server.services.webhooks import events
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Webhook

LOOK_BACK = timedelta(days=7)
"""A server that was away for longer misses what fell due meanwhile."""
_MOST = 1_000
"""Merges of a webhook that are looked at: the newest."""
_TIMED = {WebhookEvent.UNCHECKED, WebhookEvent.SILENT}
_ALL = 2**31 - 1


class Watching(Service):
    """What webhooks are told of as time passes."""

    def __init__(self, storage: Storage, clock: Clock, seals: Seals) -> None:
        super().__init__(storage, clock)
        self._seals = seals

    async def sweep(self) -> None:
        """Look once."""
        by_organization: dict[UUID, list[UUID]] = defaultdict(list)
        for webhook in await self._storage.read(lambda reader: reader.every_webhook(), short=True):
            opened = self._seals.open(webhook.id.bytes, webhook.sealed)
            timed = webhook.enabled and not _TIMED.isdisjoint(webhook.events)
            if timed or (opened is not None and opened.aged):
                by_organization[webhook.org_id].append(webhook.id)
        now = self._clock()
        for org_id, ids in by_organization.items():

            def work(writer: Writer, org_id: UUID, ids: list[UUID]) -> None:
                for webhook_id in ids:
                    webhook = writer.webhook(org_id, webhook_id)
                    if webhook is not None:  # it may be removed meanwhile
                        self._seal_again(writer, webhook)
                        _tell(writer, webhook, now)

            await self._storage.write(partial(work, org_id=org_id, ids=ids), organization=org_id)

    def _seal_again(self, writer: Writer, webhook: Webhook) -> None:
        opened = self._seals.open(webhook.id.bytes, webhook.sealed)
        if opened is not None and opened.aged:
            sealed = self._seals.seal(webhook.id.bytes, opened.value)
            writer.put_webhook(replace(webhook, sealed=sealed))


def _tell(writer: Writer, webhook: Webhook, now: datetime) -> None:
    """Tell an enabled webhook what has become due to it."""
    looks: Mapping[WebhookEvent, Iterator[events.Happened]] = {
        WebhookEvent.UNCHECKED: _unchecked(writer, webhook, now),
        WebhookEvent.SILENT: _silent(writer, webhook, now),
    }
    for event, happened in looks.items():
        if webhook.enabled and event in webhook.events:
            for each in happened:
                events.deliver(writer, webhook, each, now)


def _unchecked(reader: Reader, webhook: Webhook, now: datetime) -> Iterator[events.Happened]:
    until = now - timedelta(hours=webhook.unchecked_hours)
    since = max(until - LOOK_BACK, webhook.created_at)
    if since > until:
        return
    scope = Scope(webhook.repo_key, webhook.suite)
    merges = reader.history(webhook.org_id).newest_unchecked(scope, Period(since, until), _MOST)
    for merge in reversed(merges):
        yield events.unchecked(merge, webhook.unchecked_hours)


def _silent(reader: Reader, webhook: Webhook, now: datetime) -> Iterator[events.Happened]:
    until = now - timedelta(hours=webhook.silent_hours)
    for name, heard_at in sorted(_heard(reader, webhook).items()):
        if until - LOOK_BACK <= heard_at <= until:
            yield events.silent(webhook, name, heard_at)


def _heard(reader: Reader, webhook: Webhook) -> Mapping[str, datetime]:
    """Return when each box sent its last report or sign of life: since then it is silent."""
    scope = Scope(webhook.repo_key, webhook.suite)
    heard: dict[str, datetime] = {}
    for box, reported_at in reader.boxes(webhook.org_id, 0, _ALL, scope).items:
        times = [at for at in (box.last_seen_at, reported_at) if at is not None]
        if times:
            heard[box.name] = max(times)
    heard.update(reader.reported_boxes(webhook.org_id, 0, _ALL, scope).items)
    return heard
