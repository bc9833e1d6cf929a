# SPDX-License-Identifier: Apache-2.0
"""Labels, and groups that count as one failure (spec, "Failure label"; semantics, 4.3-4.5, 8.2).

This module decides the label of a failure and which failures count as one. It does not know whose
fault a failure was. Every failure is in one group: a flake is a group of its own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from hwci.engine.facts import Lane, Review
from hwci.engine.history import Failure, History
from hwci.engine.vocabulary import Label


@dataclass(frozen=True, slots=True)
class Group:
    """Failures of a lane with no pass between them, in order of place, and their review."""

    failures: tuple[Failure, ...]
    label: Label
    review: Review | None

    @property
    def first(self) -> Failure:
        """The failure that gives the group its verdict, date and identity (semantics, 4.5)."""
        return self.failures[0]

    @property
    def last(self) -> Failure:
        """The failure after which the range to the fix begins (semantics, 6.1)."""
        return self.failures[-1]

    @property
    def fix(self) -> str | None:
        """The first passed commit after the group."""
        return self.last.next_pass


def label_of(failure: Failure, review: Review | None) -> Label:
    """Return the label of a failure whose group carries `review`.

    "A failure whose commit passed is a flake. Else, if a commit with a later place on the branch
    passed, it is resolved. Else it is pending." But "a reviewed group stays resolved when its fix
    disappears", and "a reviewed failure whose own commit passed" is resolved too.
    """
    if review is not None:
        return Label.RESOLVED
    if failure.passed:
        return Label.FLAKE
    return Label.PENDING if failure.next_pass is None else Label.RESOLVED


def groups_of(failures: Iterable[Failure], reviews: Mapping[UUID, Review]) -> list[Group]:
    """Group failures: "Failures of a lane that are no flakes and have no passed commit between them
    are one group". These are the failures of a lane with the same next passed commit.
    """
    groups = []
    together: dict[tuple[Lane, str | None], list[Failure]] = {}
    for failure in failures:
        if failure.passed:
            groups.append(_group([failure], reviews))
        else:
            together.setdefault((failure.key.lane, failure.next_pass), []).append(failure)
    groups.extend(_group(members, reviews) for members in together.values())
    return groups


def group_of(history: History, failure: Failure) -> Group:
    """Return the group of one failure."""
    if failure.passed:
        return _group([failure], history.reviews())
    members = [
        one
        for one in history.lane_failures(failure.key.lane)
        if not one.passed and one.next_pass == failure.next_pass
    ]
    return _group(members, history.reviews())


def _group(members: list[Failure], reviews: Mapping[UUID, Review]) -> Group:
    """Make a group: it "carries the review written last among its members"."""
    if len(members) > 1:
        members.sort(key=lambda failure: failure.place)
    written = [reviews[one.id] for one in members if one.id in reviews]
    review = max(written, key=lambda one: one.number) if written else None
    return Group(tuple(members), label_of(members[0], review), review)
