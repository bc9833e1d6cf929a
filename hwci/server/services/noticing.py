# SPDX-License-Identifier: Apache-2.0
"""Looks for events that no report is: an incident that opens or is over, a box that has become
worse than the others. Only the analysis of many runs knows these; it is asked after something
changed, and not while a report is kept (ADR 0026).

This module decides when something is what a webhook was told of before, and when that is over.
What an incident is, and which box is worse, is decided in `hwci/analysis`; what an event says in
`webhooks/events.py` beside it.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Generic, NamedTuple, TypeVar, cast
from uuid import UUID

from hwci.analysis.benches.report import benches
from hwci.analysis.failures.incidents import Incident, failures_by_incident, incidents
from hwci.contract.boxes.benches import BoxHealth
from hwci.contract.vocabulary import Label, WebhookEvent
from hwci.engine.history import Scope
from hwci.engine.periods import Period, last_days
from hwci.server.clock import Clock
from hwci.server.errors import HwciServerError
from hwci.server.services import Service
from hwci.server.services.analysis.benches import known_of_boxes
from hwci.server.services.webhooks import events
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Ongoing, Webhook
from hwci.wire import limits

LOG = logging.getLogger("hwci.server")

LOOK_BACK = timedelta(days=limits.DAYS_DEFAULT)
"""What did not fail since opens no incident; one that a webhook was told of is followed longer."""
_AHEAD = timedelta(days=1)
"""The clock of a CI may be ahead; what it sends is looked at when it comes."""
_ALL = 2**31 - 1

Seen = TypeVar("Seen")


@dataclass(frozen=True, slots=True)
class Subject(Generic[Seen]):
    """What is looked for. `events`: of which a webhook has to want one; `ask`: what is seen of it
    for these webhooks of one organization; `tell`: makes of that what is due to one.
    """

    events: Collection[WebhookEvent]
    ask: Callable[[Reader, Sequence[Webhook], datetime], Seen]
    tell: Callable[[Writer, Webhook, Seen, datetime], None]


class Noticing(Service):
    """What webhooks are told of that the analysis finds."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        super().__init__(storage, clock)
        self._done: dict[tuple[object, UUID], object] = {}  # in which state all was told

    async def incidents(self) -> None:
        """Look for incidents once."""
        await self._look(INCIDENTS)

    async def boxes(self) -> None:
        """Look for boxes that are worse once."""
        await self._look(BOXES)

    async def _look(self, subject: Subject[Seen]) -> None:
        by_organization: dict[UUID, list[Webhook]] = defaultdict(list)
        for webhook in await self._storage.read(lambda reader: reader.every_webhook(), short=True):
            if webhook.enabled and any(event in webhook.events for event in subject.events):
                by_organization[webhook.org_id].append(webhook)
        for org_id, webhooks in by_organization.items():
            try:
                await self._look_at(subject, org_id, webhooks)
            except HwciServerError as error:  # others need not wait for it
                LOG.info("What webhooks of %s are told is looked for later: %s", org_id, error)

    async def _look_at(
        self, subject: Subject[Seen], org_id: UUID, webhooks: Sequence[Webhook]
    ) -> None:
        """Ask about an organization if it changed since, and tell its webhooks."""
        now, key = self._clock(), (subject, org_id)

        def ask(reader: Reader) -> tuple[object, Seen | None]:
            state = reader.state(org_id), webhooks
            is_done = self._done.get(key) == state
            return state, None if is_done else subject.ask(reader, webhooks, now)

        state, seen = await self._storage.read(ask)  # beside what its people ask
        if seen is None:
            return

        def tell(writer: Writer) -> None:
            for webhook_id in [webhook.id for webhook in webhooks]:
                webhook = writer.webhook(org_id, webhook_id)
                if webhook is not None and webhook.enabled:  # it may be removed meanwhile
                    subject.tell(writer, webhook, seen, now)

        await self._storage.write(tell, organization=org_id)
        self._done[key] = state


# Incidents


class Pending(NamedTuple):
    """An incident that still fails, with the ids of all its failures."""

    incident: Incident
    failures: Collection[str]

    @property
    def began(self) -> Collection[str]:
        """The ids of the first failure of each test and box."""
        return [str(failed.episode.id) for failed in self.incident.failed]


class Failing(NamedTuple):
    """The incidents that still fail and failed since `start`, the first to begin first."""

    start: datetime
    incidents: Sequence[Pending]


def _failing(reader: Reader, webhooks: Sequence[Webhook], now: datetime) -> Failing:
    org_id = webhooks[0].org_id
    told = [
        ongoing.since
        for webhook in webhooks
        for ongoing in reader.ongoing(org_id, webhook.id, WebhookEvent.OPENED)
    ]
    start = max(min([now - LOOK_BACK, *told]), now - limits.WEBHOOK_EVENTS_OF)
    history = reader.history(org_id)
    rows = incidents(history, Scope(), Period(start, now + _AHEAD), Label.PENDING)[::-1]
    members = failures_by_incident(history, rows)
    return Failing(
        start,
        [
            Pending(incident, {str(failure.id) for failure in failures.all})
            for incident, failures in zip(rows, members, strict=True)
        ],
    )


def _tell_incidents(writer: Writer, webhook: Webhook, seen: Failing, now: datetime) -> None:
    """Tell of incidents that began since the webhook was made, and of the end of those that it was
    told of. One is over when nothing fails any more that ever was part of it.
    """
    of = {failure: pending for pending in seen.incidents for failure in pending.failures}
    known: set[UUID] = set()
    for told in writer.ongoing(webhook.org_id, webhook.id, WebhookEvent.OPENED):
        members = cast("list[str]", told.data["members"])
        same = {id(of[member]): of[member] for member in members if member in of}.values()
        known |= {pending.incident.first.id for pending in same}
        grown = {*members}.union(*(pending.began for pending in same))
        if not same:
            writer.remove_ongoing(told)
            if told.since >= seen.start:  # what began before is not looked at any more
                failure = writer.history(webhook.org_id).failure(UUID(told.name))
                events.tell(writer, webhook, events.resolved(told, failure, now), now)
        elif len(grown) > len(members):
            writer.put_ongoing(replace(told, data={**told.data, "members": sorted(grown)}))
    told_of = max(webhook.created_at, now - limits.WEBHOOK_EVENTS_OF)
    for pending in seen.incidents:
        incident = pending.incident
        if incident.since < told_of or incident.first.id in known:
            continue
        happened = events.opened(incident, now)
        if events.concerns(happened, webhook):
            events.tell(writer, webhook, happened, now)
            data = {"members": pending.began, **events.remembered(happened)}
            name = str(incident.first.id)
            _note(writer, webhook, WebhookEvent.OPENED, name, incident.since, data)


# Boxes


Compared = Mapping[Scope, Sequence[BoxHealth]]
"""The boxes by what a webhook is told of, over the period that their page shows first."""


def _compared(reader: Reader, webhooks: Sequence[Webhook], now: datetime) -> Compared:
    org_id, period = webhooks[0].org_id, last_days(limits.DAYS_DEFAULT, now)
    known, history = known_of_boxes(reader, org_id, period), reader.history(org_id)
    scopes = {Scope(webhook.repo_key, webhook.suite) for webhook in webhooks}
    return {scope: benches(history, scope, period, _ALL, known).boxes for scope in scopes}


def _tell_worse(writer: Writer, webhook: Webhook, seen: Compared, now: datetime) -> None:
    """Tell of boxes that have become worse. A box stays so until its runs no longer show it, or
    somebody notes what was done to it: what is at the edge is not told of again and again.
    """
    told = {
        ongoing.name: ongoing
        for ongoing in writer.ongoing(webhook.org_id, webhook.id, WebhookEvent.WORSE)
    }
    stays = set()
    for box in seen[Scope(webhook.repo_key, webhook.suite)]:
        comparison = None if box.idle else box.comparison
        if comparison is not None and comparison.low > 1:
            stays.add(box.box_key)
            if comparison.named and _is_news(box, told.get(box.box_key)):
                events.tell(writer, webhook, events.worse(webhook, box, comparison, now), now)
                noted = {"note": None if box.note is None else box.note.at.isoformat()}
                _note(writer, webhook, WebhookEvent.WORSE, box.box_key, now, noted)
    for name in told.keys() - stays:
        writer.remove_ongoing(told[name])


def _is_news(box: BoxHealth, told: Ongoing | None) -> bool:
    """Whether a webhook was not told that a box is worse, or before the latest note of it."""
    if told is None or box.note is None:
        return told is None
    return told.data["note"] != box.note.at.isoformat()


def _note(
    writer: Writer,
    webhook: Webhook,
    event: WebhookEvent,
    name: str,
    since: datetime,
    data: Mapping[str, object],
) -> None:
    writer.put_ongoing(Ongoing(webhook.org_id, webhook.id, event, name, since, data))


INCIDENTS = Subject((WebhookEvent.OPENED, WebhookEvent.RESOLVED), _failing, _tell_incidents)
BOXES = Subject((WebhookEvent.WORSE,), _compared, _tell_worse)
