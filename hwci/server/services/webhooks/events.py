# SPDX-License-Identifier: Apache-2.0
"""What webhooks are told of (contract, "Webhooks"). An event becomes a delivery of each webhook
that wants it, in the transaction in which it happens.

This module decides which events there are, what each says, and that one thing is an event once: the
id of an event is made of it. It does not know how an event is sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID, uuid5

from hwci.contract.failures.failures import ResolvedFailure
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import DeliveryStatus, FailureClass, WebhookEvent
from hwci.engine.facts import Lane
from hwci.engine.history import Episode
from hwci.said import counted, short
from hwci.server.storage.ports import Reader, Writer
from hwci.server.storage.records import Decided, Delivery, Webhook
from hwci.wire import limits

RULES = "rules"
"""Who decided a class that no person did."""


@dataclass(frozen=True, slots=True)
class Happened:
    """An event. `once`: what makes it this event and no other; `about`: the thing whose events
    arrive in their order; `suite` None: of no product; `page`: its page, below the organization's.
    """

    event: WebhookEvent
    once: str
    about: str
    text: str
    page: str
    repo_key: str | None = None
    suite: str | None = None
    data: Mapping[str, object] = field(default_factory=dict)


def webhooks_for(reader: Reader, org_id: UUID, event: WebhookEvent) -> list[Webhook]:
    """Return the webhooks of an organization that want an event."""
    rows = reader.webhooks(org_id, 0, limits.WEBHOOKS_MAX).items
    return [webhook for webhook in rows if webhook.enabled and event in webhook.events]


def deliver(writer: Writer, webhook: Webhook, happened: Happened, now: datetime) -> None:
    """Make an event due to a webhook, if it is of a product of it, and has not been."""
    wanted = (webhook.repo_key, webhook.suite)
    if any(name not in {None, own} for name, own in zip(wanted, _product(happened), strict=True)):
        return
    names = {"repoKey": happened.repo_key, "suite": happened.suite}
    of_product = {name: value for name, value in names.items() if value is not None}
    data = {"text": happened.text, "page": happened.page, **of_product, **happened.data}
    event_id = uuid5(webhook.org_id, f"{happened.event} {happened.once}")
    about = str(uuid5(webhook.org_id, happened.about))
    writer.add_delivery(
        Delivery(
            *(webhook.org_id, webhook.id, event_id, happened.event, about, now, data),
            status=DeliveryStatus.WAITING,
            attempts=0,
            due_at=now,
        )
    )


def _product(happened: Happened) -> tuple[str | None, str | None]:
    return happened.repo_key, happened.suite


def tell_decided(writer: Writer, decided: Decided, now: datetime) -> None:
    """Tell of the failures that the checks have just decided to be real bugs. Of those that began
    before a webhook was made it is told nothing: all are decided again when a rule changes.
    """
    real = [
        episode
        for episode, decision in decided.values()
        if decision.failure_class is FailureClass.REAL_FW_BUG
        and episode.fix is not None
        and not episode.reviewed
        and episode.started_at >= now - limits.WEBHOOK_EVENTS_OF
    ]
    webhooks = webhooks_for(writer, decided.org_id, WebhookEvent.REAL_BUG) if real else ()
    for webhook in webhooks:
        for episode in sorted(real, key=lambda episode: episode.started_at):
            if episode.started_at >= webhook.created_at:
                deliver(writer, webhook, _decided(episode), now)


def tell_confirmed(
    writer: Writer, org_id: UUID, failure: ResolvedFailure, by: str, now: datetime
) -> None:
    """Tell of a failure that a person confirmed to be a real bug."""
    lane = Lane(failure.repo_key, failure.suite, failure.test_id, failure.box_key, failure.branch)
    fix = None if failure.fix is None else failure.fix.sha
    shas = failure.first_failure.sha, failure.last_failing_sha, fix
    once = f"{failure.id} {now.isoformat()}"
    happened = _real_bug(failure.id, lane, shas, by, once)
    for webhook in webhooks_for(writer, org_id, WebhookEvent.REAL_BUG):
        deliver(writer, webhook, happened, now)


def _decided(episode: Episode) -> Happened:
    shas = episode.key.sha, episode.last_sha, episode.fix
    return _real_bug(episode.id, episode.key.lane, shas, RULES, str(episode.id))


def _real_bug(
    failure_id: UUID, lane: Lane, shas: tuple[str, str, str | None], by: str, once: str
) -> Happened:
    first, last, fix = shas
    who = "by the rules" if by == RULES else f"confirmed by {by}"
    fixed = "" if fix is None else f", fixed by {short(fix)}"
    return Happened(
        WebhookEvent.REAL_BUG,
        once,
        f"failure {failure_id}",
        f"Real firmware bug: {lane.test_id} on {lane.box_key}, branch {lane.branch}, fails since"
        f" {short(first)}{fixed} ({who})",
        f"failures/{failure_id}",
        lane.repo_key,
        lane.suite,
        {
            "failureId": str(failure_id),
            "testId": lane.test_id,
            "boxKey": lane.box_key,
            "branch": lane.branch,
            "firstFailingSha": first,
            "lastFailingSha": last,
            "fixSha": fix,
            "by": by,
        },
    )


def unchecked(merge: Merge, hours: int) -> Happened:
    """Return the event of a merge that no run checked for so many hours."""
    identity = f"{merge.repo_key} {merge.suite or ''} {merge.sha}"
    return Happened(
        WebhookEvent.UNCHECKED,
        identity,
        f"merge {identity}",
        f"Unchecked for {counted(hours, 'hour')}: {short(merge.sha)}, merged to {merge.branch} of"
        f" {merge.repo_key}, ran on no hardware",
        "metrics",
        merge.repo_key,
        merge.suite,
        {
            "sha": merge.sha,
            "branch": merge.branch,
            "mergedAt": merge.merged_at.isoformat(),
            "hours": hours,
        },
    )


def silent(webhook: Webhook, name: str, heard_at: datetime) -> Happened:
    """Return the event of a box that sent nothing for so long as a webhook says."""
    hours = webhook.silent_hours
    return Happened(
        WebhookEvent.SILENT,
        f"{name} {heard_at.isoformat()}",
        f"box {name}",
        f"Silent for {counted(hours, 'hour')}: {name} sent neither report nor heartbeat",
        "boxes",
        webhook.repo_key,
        webhook.suite,
        {"boxKey": name, "lastHeardAt": heard_at.isoformat(), "hours": hours},
    )
