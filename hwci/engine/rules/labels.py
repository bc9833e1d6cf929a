# SPDX-License-Identifier: Apache-2.0
"""Labels, and groups that count as one failure (spec, "Failure label"; semantics, 4.3-4.5, 8.2).

This module decides the label of a failure and which failures count as one. It does not know whose
fault a failure was. Every failure is in one group: a flake is a group of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from uuid import UUID

from hwci.contract.failures.failures import Review
from hwci.contract.vocabulary import Label
from hwci.engine.facts import Lane, StoredReview
from hwci.engine.history import Episode, Failure, History


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


def label_of(passed: bool, next_pass: str | None, review: Review | None) -> Label:
    """Return the label of a failure whose group carries `review`.

    "A failure whose commit passed is a flake. Else, if a commit with a later place on the branch
    passed, it is resolved. Else it is pending." But "a reviewed group stays resolved when its fix
    disappears", and "a reviewed failure whose own commit passed" is resolved too.
    """
    if review is not None:
        return Label.RESOLVED
    if passed:
        return Label.FLAKE
    return Label.PENDING if next_pass is None else Label.RESOLVED


def groups_of(history: History, failures: Sequence[Failure]) -> list[Group]:
    """Group failures: "Failures of a lane that are not flakes and have no passed commit between
    them are one group". These are the failures of a lane with the same next passed commit.
    """
    groups, reviews = [], _reviews_of(history, failures)
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
    members = history.together(failure)
    return _group([*members], _reviews_of(history, members))


def groups_at(history: History, episodes: Sequence[Episode]) -> list[Group]:
    """Return the group of each of these episodes."""
    groups = history.members(episodes)
    reviews = _reviews_of(history, chain.from_iterable(groups))
    return [_group([*members], reviews) for members in groups]


def _reviews_of(history: History, failures: Iterable[Failure]) -> Mapping[UUID, StoredReview]:
    return history.reviews([failure.id for failure in failures if failure.reviewed])


def _group(members: list[Failure], reviews: Mapping[UUID, StoredReview]) -> Group:
    if len(members) > 1:
        members.sort(key=lambda failure: failure.place)
    review = review_of((member.id for member in members if member.id in reviews), reviews)
    label = label_of(members[0].passed, members[0].next_pass, review)
    return Group(tuple(members), label, review)


def review_of(reviewed: Iterable[UUID], reviews: Mapping[UUID, StoredReview]) -> Review | None:
    """Return the review of a group: it "carries the review written last among its members"."""
    members = (reviews[failure] for failure in reviewed)
    last = max(members, key=lambda stored: stored.number, default=None)
    return None if last is None else last.review
