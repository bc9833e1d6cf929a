# SPDX-License-Identifier: Apache-2.0
"""Failures with what they rest on, and their review (spec, "Review of a resolved failure")."""

from hwci.engine.vocabulary import ReviewAction
from hwci.server.http.route import Call, Handler, Route, Who
from hwci.wire.base import ListPage
from hwci.wire.metrics import FailureAnswer, FailureEvidence, ResolvedFailureAnswer
from hwci.wire.queries import FailuresQuery


async def listed(call: Call) -> ListPage[FailureAnswer]:
    """List failures."""
    return await call.services.metrics.failures(call.member, call.query(FailuresQuery))


async def show(call: Call) -> FailureEvidence:
    """Show one failure with its evidence."""
    return await call.services.metrics.evidence(call.member, call.path_id("failureId"))


async def confirm(call: Call) -> ResolvedFailureAnswer:
    """Count a failure as a real firmware bug."""
    return await _review(call, ReviewAction.CONFIRM)


async def dismiss(call: Call) -> ResolvedFailureAnswer:
    """Move a failure to the other list."""
    return await _review(call, ReviewAction.DISMISS)


async def reset(call: Call) -> ResolvedFailureAnswer:
    """Restore the automatic label."""
    return await _review(call, None)


async def _review(call: Call, action: ReviewAction | None) -> ResolvedFailureAnswer:
    return await call.services.reviews.review(call.member, call.path_id("failureId"), action)


def _review_route(action: str, handler: Handler, summary: str) -> Route:
    return Route(
        "POST",
        f"/api/orgs/{{orgId}}/ci-failures/{{failureId}}/{action}",
        Who.ADMIN,
        handler,
        summary,
        answer=ResolvedFailureAnswer,
        metrics=True,
        also=(409,),
    )


ROUTES = (
    Route(
        "GET",
        "/api/orgs/{orgId}/ci-failures",
        Who.MEMBER,
        listed,
        "List failures that have an item in the period, with their labels",
        query=FailuresQuery,
        answer=ListPage[FailureAnswer],
        metrics=True,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/ci-failures/{failureId}",
        Who.MEMBER,
        show,
        "Show one failure with all that its answer rests on",
        answer=FailureEvidence,
        metrics=True,
    ),
    _review_route("confirm", confirm, "Count a resolved failure as a real firmware bug"),
    _review_route("dismiss", dismiss, "Move a real firmware bug to the other list"),
    _review_route("reset", reset, "Restore the automatic label of a reviewed failure"),
)
