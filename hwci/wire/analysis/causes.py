# SPDX-License-Identifier: Apache-2.0
"""What can be asked of causes, and several reviews at once (contract, "Answers beside the
rules").
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from hwci.contract.vocabulary import FailureClass
from hwci.wire import limits
from hwci.wire.base import Body, Time
from hwci.wire.failures import ReviewNote
from hwci.wire.queries import Flag, Search, TableQuery


class OfTable(StrEnum):
    """A table of resolved failures."""

    REAL_BUGS = "realBugs"
    OTHER_FAILURES = "otherFailures"


def classes_of(
    table: OfTable | None, failure_class: FailureClass | None
) -> Collection[FailureClass]:
    """Return the classes of a table (None: of both) that are asked for (None: all)."""
    real = FailureClass.REAL_FW_BUG
    return [
        kind
        for kind in FailureClass
        if table in {None, OfTable.REAL_BUGS if kind is real else OfTable.OTHER_FAILURES}
        and failure_class in {None, kind}
    ]


class CausesQuery(TableQuery):
    """Query of the causes: of the failures of one table, of one class; `to_review`: of those that
    nobody reviewed, ambiguous ones first; `reviewed`: of the others, the last reviewed first;
    `search`: with a failure in which every word occurs; `lost_board`: of those that lie in runs
    that lost their board.
    """

    table: OfTable | None = None
    failure_class: FailureClass | None = Field(None, alias="class")
    to_review: Flag = False
    reviewed: Flag = False
    search: Search | None = None
    lost_board: Flag = False

    @property
    def classes(self) -> Collection[FailureClass]:
        """The classes that are asked for."""
        return classes_of(self.table, self.failure_class)


class ReviewStep(StrEnum):
    """What a reviewer does to a failure."""

    CONFIRM = "confirm"
    DISMISS = "dismiss"
    RESET = "reset"


class OneReview(ReviewNote):
    """One review of several. `seen_review_at`: when the review was made that the reviewer saw, null
    if they saw none; only the first of several reviews of a failure is compared with what is there.
    """

    failure_id: UUID = Field(strict=False)
    action: ReviewStep = Field(strict=False)
    seen_review_at: Time | None


class ReviewsBody(Body):
    """Reviews that are made in their order, all or none."""

    reviews: Annotated[list[OneReview], Field(min_length=1, max_length=limits.REVIEWS_AT_ONCE_MAX)]
