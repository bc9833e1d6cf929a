# SPDX-License-Identifier: Apache-2.0
"""Confirm, dismiss and reset, each with its audit entry in the same transaction (semantics, 8).

The engine decides what is allowed and where a review is kept; this module carries it out.
"""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from hwci.contract.failures.failures import ResolvedFailure, Review, ReviewedFailures
from hwci.contract.people import Actor
from hwci.contract.vocabulary import ReviewAction
from hwci.engine.facts import StoredReview
from hwci.engine.page import failures
from hwci.engine.rules import reviews
from hwci.engine.rules.labels import group_of
from hwci.server.errors import ConflictError, NotFoundError
from hwci.server.services import Service
from hwci.server.services.access import ADMINS, Member, role_now
from hwci.server.services.audit import entry_of, name_of
from hwci.server.services.webhooks.events import tell_confirmed
from hwci.server.storage.ports import Writer
from hwci.wire.analysis.causes import OneReview, ReviewsBody, ReviewStep
from hwci.wire.failures import ReviewNote

RESET = "reset"
REVIEW_SECONDS = 5.0
"""Longest time of Confirm, Dismiss or Reset: all other writers wait while the checks are made."""


class Reviews(Service):
    """Reviews of resolved failures by owners and admins."""

    async def review(
        self,
        member: Member,
        failure_id: UUID | None,
        action: ReviewAction | None,
        body: ReviewNote,
    ) -> ResolvedFailure:
        """Review a failure (`action` None: a reset) and return it as it is now. The note of a reset
        is kept in the audit log only.

        Raises:
            NotFoundError: there is no such failure.
            ConflictError: its present state does not allow the action.
        """
        if failure_id is None:
            raise NotFoundError("Failure not found")
        known_id, now, org_id = failure_id, self._clock(), member.org_id
        written = body.model_dump(exclude_none=True)

        def work(writer: Writer) -> ResolvedFailure:
            role_now(writer, member, ADMINS)
            plan = _plan(writer, org_id, known_id, action)
            return _carry_out(writer, member, now, _Decided(known_id, action, plan, written))

        return await self._storage.write(work, organization=org_id, seconds=REVIEW_SECONDS)

    async def together(self, member: Member, body: ReviewsBody) -> ReviewedFailures:
        """Make several reviews in their order, all or none, and return their failures.

        Raises:
            NotFoundError: there is no such failure.
            ConflictError: a failure was reviewed after the reviewer had seen it, or its present
                state does not allow the action.
        """
        now, org_id = self._clock(), member.org_id

        def work(writer: Writer) -> ReviewedFailures:
            role_now(writer, member, ADMINS)
            after: dict[UUID, ResolvedFailure] = {}
            for review in body.reviews:
                if review.failure_id not in after:
                    _see_that_none_was_made_meanwhile(writer, org_id, review)
                action = (
                    None if review.action is ReviewStep.RESET else ReviewAction(review.action.value)
                )
                try:
                    plan = _plan(writer, org_id, review.failure_id, action)
                except ConflictError as error:
                    where = _where(writer, org_id, review.failure_id)
                    raise ConflictError(f"{where}: {error} Nothing was changed.") from error
                written = review.model_dump(include={"note", "issue"}, exclude_none=True)
                decided = _Decided(review.failure_id, action, plan, written)
                after[review.failure_id] = _carry_out(writer, member, now, decided)
            return ReviewedFailures(items=tuple(after.values()))

        return await self._storage.write(work, organization=org_id, seconds=REVIEW_SECONDS)


class _Decided(NamedTuple):
    """A review that is allowed. `written`: its note and its issue, if it has them."""

    failure_id: UUID
    action: ReviewAction | None
    plan: reviews.ReviewPlan
    written: dict[str, str]


def _carry_out(writer: Writer, member: Member, now: datetime, decided: _Decided) -> ResolvedFailure:
    """Keep a review with its audit entry. Return the failure as it is then."""
    org_id, plan, by = member.org_id, decided.plan, member.user
    writer.drop_reviews(org_id, plan.drop)
    if decided.action is not None and plan.store_at is not None:
        actor = Actor(by.id, name_of(by))  # their present name (contract, "CI metrics")
        review = Review(decided.action, actor, now, **decided.written)
        writer.put_review(org_id, plan.store_at.id, StoredReview(plan.store_at.key, review))
    after = _shown(writer, org_id, decided.failure_id)
    details = {**_details(plan, after), **decided.written}
    writer.add_audit(
        org_id, entry_of(member.user, now, decided.action or RESET, decided.failure_id, **details)
    )
    if decided.action is ReviewAction.CONFIRM:
        tell_confirmed(writer, org_id, after, name_of(by), now)
    return after


def _see_that_none_was_made_meanwhile(writer: Writer, org_id: UUID, request: OneReview) -> None:
    history = writer.history(org_id)
    failure = history.failure(request.failure_id)
    if failure is None:
        raise NotFoundError("Failure not found")
    review = group_of(history, failure).review
    if (review and review.at) != request.seen_review_at:
        who = "A review was reset" if review is None else f"{review.by.name} reviewed it"
        where = _where(writer, org_id, request.failure_id)
        raise ConflictError(f"{where}: {who} meanwhile. Nothing was changed.")


def _where(writer: Writer, org_id: UUID, failure_id: UUID) -> str:
    failure = writer.history(org_id).failure(failure_id)
    assert failure is not None, "only a failure that exists is refused for its state"
    return f"{failure.key.lane.test_id} on {failure.key.lane.box_key}"


def _plan(
    writer: Writer, org_id: UUID, failure_id: UUID, action: ReviewAction | None
) -> reviews.ReviewPlan:
    try:
        return reviews.plan_review(writer.history(org_id), failure_id, action)
    except reviews.FailureUnknownError as error:
        raise NotFoundError("Failure not found") from error
    except reviews.ReviewRefusedError as error:
        raise ConflictError(str(error)) from error


def _shown(writer: Writer, org_id: UUID, failure_id: UUID) -> ResolvedFailure:
    failure = failures.resolved_failure(writer.history(org_id), failure_id)
    assert failure is not None, "the failure of the plan exists"
    return failure


def _details(plan: reviews.ReviewPlan, after: ResolvedFailure) -> dict[str, object]:
    """The failure's natural key, readable without any other record, and what the review changed."""
    key = plan.group.first.key
    lane = key.lane
    return {
        "repoKey": lane.repo_key,
        "suite": lane.suite,
        "testId": lane.test_id,
        "boxKey": lane.box_key,
        "branch": lane.branch,
        "sha": key.sha,
        "classBefore": plan.shown.failure_class.value,
        "classAfter": after.failure_class.value,
    }
