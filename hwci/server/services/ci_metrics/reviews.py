# SPDX-License-Identifier: Apache-2.0
"""Confirm, dismiss and reset, each with its audit entry in the same transaction (semantics, 8).

The engine decides what is allowed and where a review is kept; this module carries it out.
"""

from uuid import UUID

from hwci.engine.facts import Review
from hwci.engine.page import failures
from hwci.engine.page.failures import ResolvedFailure
from hwci.engine.rules import reviews
from hwci.engine.vocabulary import ReviewAction
from hwci.server.errors import ConflictError, NotFoundError
from hwci.server.services import Service
from hwci.server.services.access import ADMINS, Member, role_now
from hwci.server.services.audit import entry_of, name_of
from hwci.server.storage.ports import Writer
from hwci.wire.failures import ResolvedFailureAnswer, ReviewNote

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
    ) -> ResolvedFailureAnswer:
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

        def work(writer: Writer) -> ResolvedFailureAnswer:
            role_now(writer, member, ADMINS)
            plan = _plan(writer, org_id, known_id, action)
            writer.drop_reviews(org_id, plan.drop)
            if action is not None and plan.store_at is not None:
                by = member.user  # with their present name (contract, "CI metrics")
                kept = Review(plan.store_at.key, action, str(by.id), name_of(by), now, 0, **written)
                writer.put_review(org_id, plan.store_at.id, kept)
            after = _shown(writer, org_id, known_id)
            writer.add_audit(
                org_id,
                entry_of(
                    member.user, now, action or RESET, known_id, **_details(plan, after), **written
                ),
            )
            return ResolvedFailureAnswer.of(org_id, after)

        return await self._storage.write(work, organization=org_id, seconds=REVIEW_SECONDS)


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
    found = failures.resolved_failure(writer.history(org_id), failure_id)
    assert found is not None, "the failure of the plan exists"
    return found


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
        "classAfter": after.shown.failure_class.value,
    }
