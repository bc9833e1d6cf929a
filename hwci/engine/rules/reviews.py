# SPDX-License-Identifier: Apache-2.0
"""Reviews, which replace the automatic class (spec, "Review"; semantics, 8).

This module decides whether a review is allowed now, at which failure it is stored and which older
ones it removes. It does not know who may review, and it stores nothing itself.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from hwci.contract.vocabulary import REASONS, FailureClass, Label, ReviewAction
from hwci.engine.history import Failure, History
from hwci.engine.rules.classify import Classification, Classifier
from hwci.engine.rules.labels import Group, group_of

_UNRESOLVED = {
    Label.FLAKE: "This failure is a flake: its test also passed on the same commit and box. "
    "Only a resolved failure can be reviewed.",
    Label.PENDING: "This failure is pending: its test has not passed on a later commit yet. "
    "Review it once it is resolved.",
}
_REAL = "This failure is already counted as a real firmware bug. Dismiss it if that is wrong."
_AUTOMATIC = "This failure has no review to reset: its class is the automatic one."


TAKES: Mapping[ReviewAction, Collection[FailureClass]] = {
    # "any resolved failure outside the real-bug list"
    ReviewAction.CONFIRM: {*FailureClass} - {FailureClass.REAL_FW_BUG},
    # "a real firmware bug"
    ReviewAction.DISMISS: {FailureClass.REAL_FW_BUG},
}
"""The classes that a failure may have for a review. A reset takes any that was reviewed."""


class FailureUnknownError(LookupError):
    """There is no failure with this id."""

    def __init__(self, failure_id: UUID) -> None:
        super().__init__(f"There is no failure {failure_id}")
        self.failure_id = failure_id


class ReviewRefusedError(Exception):
    """The review does not fit what the failure is now; the message says what that is."""


@dataclass(frozen=True, slots=True)
class ReviewPlan:
    """What a review does: store it at one failure (a reset stores nothing), drop older reviews.

    `group` and `shown` are the group and its class before the review.
    """

    store_at: Failure | None
    drop: tuple[UUID, ...]
    group: Group
    shown: Classification


def plan_review(history: History, failure_id: UUID, action: ReviewAction | None) -> ReviewPlan:
    """Plan a review of the group of a failure; `action` None is a reset.

    Raises:
        FailureUnknownError: there is no such failure.
        ReviewRefusedError: its present state does not allow the action.
    """
    failure = history.failure(failure_id)
    if failure is None:
        raise FailureUnknownError(failure_id)
    group = group_of(history, failure)
    if group.label is not Label.RESOLVED:
        raise ReviewRefusedError(_UNRESOLVED[group.label])
    shown = Classifier(history).shown(group)
    refusal = _refusal(group, shown, action)
    if refusal is not None:
        raise ReviewRefusedError(refusal)
    store_at = None if action is None else group.first
    drop = tuple(
        failure.id for failure in group.failures if failure.reviewed and failure is not store_at
    )
    return ReviewPlan(store_at, drop, group, shown)


def _refusal(group: Group, shown: Classification, action: ReviewAction | None) -> str | None:
    """Return why an action is refused: "Confirm takes any resolved failure that is not in the
    real-bug list; Dismiss one that is; Reset a reviewed one".
    """
    if action is None:
        return _AUTOMATIC if group.review is None else None
    if shown.failure_class in TAKES[action]:
        return None
    if shown.reason is None:
        return _REAL
    text = REASONS[shown.reason].text
    return f"This failure is not counted as a real firmware bug now: {text}."
