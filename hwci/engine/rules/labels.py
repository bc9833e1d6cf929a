# SPDX-License-Identifier: Apache-2.0
"""Labels, and groups that count as one failure (spec, "Failure label"; semantics, 4.3-4.5, 8.2).

This module decides what a failure is now and which failures count as one. It does not know whose
fault a failure was. A flake is given as a group of its own, so that every failure is in one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from hwci.engine.facts import Lane, Review
from hwci.engine.history import Failure, History
from hwci.engine.vocabulary import Label


@dataclass(frozen=True, slots=True)
class Group:
    """Failures of a lane with no pass between them, by place, and the review they carry."""

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
    """Label a failure, given the review that its group carries.

    Spec: "The same test passed on the same commit and on the same box", "Not a flake, and the same
    test passed on a later commit on the same box", "No pass that decides the label exists yet".
    "A reviewed group counts as resolved even when its fix is gone", and a reviewed failure is no
    flake (semantics, 8.2).
    """
    if review is not None:
        return Label.RESOLVED
    if failure.passed:
        return Label.FLAKE
    return Label.PENDING if failure.next_pass is None else Label.RESOLVED


def groups_of(failures: Iterable[Failure], reviews: Mapping[UUID, Review]) -> list[Group]:
    """Put failures together: those of a lane that did not pass and that the same commit fixed.

    "Consecutive failures of a test on several commits with no pass between count as one resolved
    failure": with no passed commit between them, the next one is the same, and only then. A failure
    whose own commit passed ends the group before it and stands alone.
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
    """Give the group of one failure."""
    if failure.passed:
        return _group([failure], history.reviews())
    members = [
        one
        for one in history.lane_failures(failure.key.lane)
        if not one.passed and one.next_pass == failure.next_pass
    ]
    return _group(members, history.reviews())


def _group(members: list[Failure], reviews: Mapping[UUID, Review]) -> Group:
    """Make a group: it "carries the review written last among its members'" (semantics, 8.2)."""
    if len(members) > 1:
        members.sort(key=lambda failure: failure.place)
    written = [reviews[one.id] for one in members if one.id in reviews]
    review = max(written, key=lambda one: one.number) if written else None
    return Group(tuple(members), label_of(members[0], review), review)
