# SPDX-License-Identifier: Apache-2.0
"""The demo's commits: everyday pushes between those of the story, and where each trouble lies.

This module decides what was pushed when, and turns an incident of the story into a `Trouble`: from
which commit or moment to which it lasts. What ran on hardware is decided in `history.py`.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from hwci.demo.project import (
    FIRMWARE_ACTIONS,
    FIRMWARE_PARTS,
    HARNESS_CHANGES,
    MAIN,
    OTHER_CHANGES,
    RELEASE,
    DemoProduct,
)
from hwci.demo.story import (
    INCIDENTS,
    RELEASE_CHANGES,
    THE_END,
    Change,
    Incident,
    is_weekend,
    midnight,
    moment,
    working,
)
from hwci.wire.reports import CommitItem

SECONDS_APART = timedelta(seconds=40)
PUSHES_A_DAY = (3, 6)
KINDS = ("firmware", "harness", "other")
KIND_WEIGHTS = (78, 10, 12)
PUSHED_AGAIN = 0.06
"""So many pushes are followed by another one within seconds."""
WITH_HEADER = 0.3
"""So many changes of a firmware file change its header, too."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes to be pushed, and the incident that they begin or end."""

    at: datetime
    branch: str
    changes: tuple[Change, ...]
    breaks: Incident | None = None
    fixes: Incident | None = None


@dataclass(frozen=True, slots=True)
class Push:
    """Commits that reached a branch together; `first` is the place of the first one on it."""

    at: datetime
    branch: str
    first: int
    commits: tuple[CommitItem, ...]

    @property
    def head(self) -> int:
        """Place of the last commit."""
        return self.first + len(self.commits) - 1


@dataclass(frozen=True, slots=True)
class Trouble:
    """An incident, with the commits (or, where it is None, the moments) that bound it."""

    incident: Incident
    start: datetime
    first: int | None
    end: datetime | None
    fixed: int | None

    def strikes(self, product: DemoProduct, box: str) -> bool:
        """Return whether the incident concerns the product's tests on that box."""
        boxes = self.incident.boxes or product.boxes
        return self.incident.product is product and box in boxes

    def lasts(self, branch: str, place: int, at: datetime) -> bool:
        """Return whether a run of that commit at that time is affected."""
        if self.first is None:
            return self.start <= at and (self.end is None or at < self.end)
        if branch != self.incident.branch or place < self.first:
            return False
        return self.fixed is None or place < self.fixed


def plans(rng: Random, days: int) -> list[Plan]:
    """Plan every push of the last `days`, oldest first."""
    planned = [*_story(), *_everyday(rng, days)]
    oldest = THE_END - timedelta(days=days)
    return sorted(
        (plan for plan in planned if oldest < plan.at <= THE_END),
        key=lambda plan: (plan.at, plan.branch),
    )


def _story() -> Iterable[Plan]:
    for incident in INCIDENTS:
        start, end = bounds(incident)
        if incident.broken_by is not None:
            among = _firmware(Random(incident.days_ago), incident.among)  # noqa: S311 - a story
            changes = (*among, incident.broken_by)
            yield Plan(start, incident.branch, changes, breaks=incident)
        if incident.fixed_by is not None and end is not None:
            yield Plan(end, incident.branch, (incident.fixed_by,), fixes=incident)
    for days_ago, change in RELEASE_CHANGES:
        yield Plan(moment(days_ago, 14.5), RELEASE, (change,))


def bounds(incident: Incident) -> tuple[datetime, datetime | None]:
    """Return when an incident began and ended."""
    start = moment(incident.days_ago, 10 + incident.days_ago % 5 / 4)
    if incident.hours is None:
        return start, None
    return start, working(start + timedelta(hours=incident.hours))


def _everyday(rng: Random, days: int) -> Iterable[Plan]:
    for days_ago in range(days, -1, -1):
        day = midnight(days_ago)
        if is_weekend(day):
            continue
        for _ in range(rng.randint(*PUSHES_A_DAY)):
            pushed = day + timedelta(hours=8, seconds=rng.randint(0, 34_200))
            yield Plan(pushed, MAIN, _changes(rng))
            if rng.random() < PUSHED_AGAIN:
                soon = timedelta(seconds=rng.randint(4, 30))
                yield Plan(pushed + soon, MAIN, _changes(rng))


def _changes(rng: Random) -> tuple[Change, ...]:
    kind = rng.choices(KINDS, KIND_WEIGHTS)[0]
    if kind == "firmware":
        return tuple(_firmware(rng, rng.choice((1, 1, 1, 2, 3))))
    subject, file = rng.choice(HARNESS_CHANGES if kind == "harness" else OTHER_CHANGES)
    return (Change(subject, (file,)),)


def _firmware(rng: Random, count: int) -> Iterable[Change]:
    for _ in range(count):
        part, file = rng.choice(FIRMWARE_PARTS)
        files = (file, file[:-1] + "h") if rng.random() < WITH_HEADER else (file,)
        yield Change(f"{part}: {rng.choice(FIRMWARE_ACTIONS)}", files)


def pushes(planned: Sequence[Plan], seed: int) -> list[Push]:
    """Return the pushes, whose commits have hashes and places on their branch."""
    lengths: dict[str, int] = {}
    pushed = []
    for plan in planned:
        first = lengths.get(plan.branch, 0)
        lengths[plan.branch] = first + len(plan.changes)
        commits = tuple(
            _commit(f"{seed}/{plan.branch}/{first + index}", plan, index)
            for index in range(len(plan.changes))
        )
        pushed.append(Push(plan.at, plan.branch, first, commits))
    return pushed


def _commit(name: str, plan: Plan, index: int) -> CommitItem:
    change = plan.changes[index]
    earlier = timedelta(minutes=7 * (len(plan.changes) - index))
    return CommitItem(
        sha=hashlib.sha256(name.encode()).hexdigest()[:40],
        subject=change.subject,
        committed_at=plan.at - earlier,
        files=list(change.files),
        files_truncated=change.cut,
    )


def troubles(planned: Sequence[Plan], pushed: Sequence[Push], days: int) -> list[Trouble]:
    """Return from where to where each incident of the last `days` lasts."""
    first = {id(p.breaks): push.head for p, push in zip(planned, pushed, strict=True) if p.breaks}
    fixed = {id(p.fixes): push.head for p, push in zip(planned, pushed, strict=True) if p.fixes}
    names = []
    for incident in INCIDENTS:
        start, end = bounds(incident)
        if start <= THE_END - timedelta(days=days):
            continue
        key = id(incident)
        names.append(Trouble(incident, start, first.get(key), end, fixed.get(key)))
    return names
