# SPDX-License-Identifier: Apache-2.0
"""What webhooks are told of (contract, "Webhooks"). An event becomes a delivery of each webhook
that wants it, in the transaction in which it happens.

This module decides which events there are, what each says, and that one thing is an event once: the
id of an event is made of it. It does not know how an event is sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID, uuid5

from hwci.analysis.failures.incidents import Incident
from hwci.contract.boxes.benches import BoxHealth, Comparison
from hwci.contract.failures.failures import ResolvedFailure
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import DeliveryStatus, FailureClass, WebhookEvent
from hwci.engine.facts import Lane
from hwci.engine.history import Episode, Failure
from hwci.said import counted, joined, short
from hwci.server.storage.ports import Reader, Writer
from hwci.server.storage.records import Decided, Delivery, Ongoing, Webhook
from hwci.wire import limits

_NAMED = 3
"""Tests and boxes of an incident that a text names; more are counted."""
_LISTED = 100
"""Those that its data list."""
_OF_BEGINNING = {"members", "suspects"}
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


def concerns(happened: Happened, webhook: Webhook) -> bool:
    """Whether an event is of the product, or repository, of a webhook."""
    return webhook.repo_key in {None, happened.repo_key} and webhook.suite in {None, happened.suite}


def deliver(writer: Writer, webhook: Webhook, happened: Happened, now: datetime) -> None:
    """Make an event due to a webhook, if it is of a product of it, and has not been."""
    if not concerns(happened, webhook):
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


def tell(writer: Writer, webhook: Webhook, happened: Happened, now: datetime) -> None:
    """Make an event due to a webhook, if it wants such events."""
    if happened.event in webhook.events:
        deliver(writer, webhook, happened, now)


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
    who = "by the rules" if by == RULES else _confirmed(by)
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


def _confirmed(by: str) -> str:
    return f"confirmed by {by}"


def renamed(data: Mapping[str, object], before: str, after: str) -> Mapping[str, object]:
    """Return what is told of a failure with another name of the person who confirmed it."""
    if data.get("by") != before:
        return data
    text = str(data["text"]).replace(_confirmed(before), _confirmed(after))
    return {**data, "by": after, "text": text}


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


def opened(incident: Incident, now: datetime) -> Happened:
    """Return the event of an incident that began."""
    lane, tests, boxes = incident.lane, incident.tests, incident.boxes
    sha, suspects = incident.first.key.sha, [commit.sha for commit in incident.suspects or ()]
    what = f"{_named(tests)} on {_named(boxes)}, branch {lane.branch}"
    return Happened(
        WebhookEvent.OPENED,
        f"{incident.first.id} {now.isoformat()}",
        f"incident {incident.first.id}",
        f"Incident: {what}: fails since {short(sha)}{_broken_by(suspects)}",
        f"failures/{incident.first.id}",
        lane.repo_key,
        lane.suite,
        {
            "incidentId": str(incident.first.id),
            "what": what,
            "tests": tests[:_LISTED],
            "testsTotal": len(tests),
            "boxes": boxes[:_LISTED],
            "boxesTotal": len(boxes),
            "branch": lane.branch,
            "firstFailingSha": sha,
            "suspects": {"from": suspects[0], "to": suspects[-1]} if suspects else None,
        },
    )


def resolved(told: Ongoing, first: Failure | None, now: datetime) -> Happened:
    """Return the event of an incident that is over. `first`: its first failure, if it is kept."""
    data = {name: value for name, value in told.data.items() if name not in _OF_BEGINNING}
    repo_key, suite = str(data.pop("repoKey")), str(data.pop("suite"))
    fix = None if first is None else first.next_pass
    if first is None:
        why = "its reports are no longer kept"
    elif first.passed:
        why = f"it passed on {short(first.key.sha)}, too"
    elif fix is not None:
        why = f"it passes since {short(fix)}"
    else:
        why = "it was reviewed"
    return Happened(
        WebhookEvent.RESOLVED,
        f"{told.name} {now.isoformat()}",
        f"incident {told.name}",
        f"Incident is over: {data['what']}: {why}",
        f"failures/{told.name}",
        repo_key,
        suite,
        {**data, "fixSha": fix},
    )


def remembered(happened: Happened) -> Mapping[str, object]:
    """Return what the end of an incident is told with."""
    return {**happened.data, "repoKey": happened.repo_key, "suite": happened.suite}


def worse(webhook: Webhook, box: BoxHealth, comparison: Comparison, now: datetime) -> Happened:
    """Return the event of a box that has become worse than the others."""
    return Happened(
        WebhookEvent.WORSE,
        f"{box.box_key} {now.isoformat()}",
        f"box {box.box_key}",
        f"Worse than others: {box.box_key}: {box.says}",
        "boxes",
        webhook.repo_key,
        webhook.suite,
        {
            "boxKey": box.box_key,
            "says": box.says,
            "oddsRatio": comparison.odds_ratio,
            "low": comparison.low,
            "high": comparison.high,
            "timesAsOften": comparison.times_as_often,
        },
    )


def _named(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return joined([*names[:_NAMED], *([f"{more:,} more"] if more > 0 else [])])


def _broken_by(suspects: Sequence[str]) -> str:
    if not suspects:
        return ""
    if len(suspects) == 1:
        return f", broken by {short(suspects[0])}"
    between = f"from {short(suspects[0])} to {short(suspects[-1])}"
    return f", broken by one of {counted(len(suspects), 'commit')} {between}"
