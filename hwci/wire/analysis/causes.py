# SPDX-License-Identifier: Apache-2.0
"""Resolved failures by their cause, and several reviews at once (contract, "Answers beside the
rules"). No figure is computed here.
"""

from collections.abc import Collection, Container, Sequence
from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field

from hwci.analysis.failures.causes import Described, InShort, Said
from hwci.contract.vocabulary import FailureClass, FileKind
from hwci.wire import limits
from hwci.wire.base import Answer, Body, Time
from hwci.wire.failures import CommitSubject, ResolvedFailureAnswer, ReviewNote
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
        one
        for one in FailureClass
        if table in {None, OfTable.REAL_BUGS if one is real else OfTable.OTHER_FAILURES}
        and failure_class in {None, one}
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


class SaidAnswer(Answer):
    """The first line of what the harness wrote, of how many failures it wrote that, and which of
    those in the cause's list they are.
    """

    line: str
    failures: int
    failure_ids: Sequence[UUID]

    @classmethod
    def of(cls, said: Said, listed: Container[UUID]) -> Self:
        """Make one line."""
        ids = [one for one in said.failure_ids if one in listed]
        return cls(line=said.line, failures=len(said.failure_ids), failure_ids=ids)


class FilesOfKindAnswer(Answer):
    """How many files of a kind a commit changed, and the first of them; `kind` null: no paths are
    configured for the product.
    """

    kind: FileKind | None
    total: int
    first: str


class CommitInShort(CommitSubject):
    """A commit that a run listed, with its files by kind. `files_truncated`: it has more files."""

    files: Sequence[FilesOfKindAnswer]
    files_truncated: bool

    @classmethod
    def of(cls, found: InShort) -> Self:
        """Make one commit."""
        commit = found.commit
        return cls(
            sha=commit.sha,
            subject=commit.subject,
            files=[FilesOfKindAnswer.model_validate(file) for file in found.files],
            files_truncated=commit.files_truncated,
        )


class CauseAnswer(Answer):
    """Resolved failures with one cause, the first to fail first. `id`: of the first of them. The
    list holds 100 at most, the numbers beside it count all. `messages`: what the harness wrote of
    them, the five most frequent of `messages_total` different lines. `commits`: those that may have
    broken them (of a range the first 20), the first that failed and the fix, each once, as far as a
    run listed them.
    """

    id: UUID
    tests_total: int
    boxes_total: int
    failures: Sequence[ResolvedFailureAnswer]
    failures_total: int
    messages: Sequence[SaidAnswer]
    messages_total: int
    commits: Sequence[CommitInShort]

    @classmethod
    def of(cls, org_id: UUID, found: Described) -> Self:
        """Make one cause."""
        cause = found.cause
        shown = cause.failures[: limits.INCIDENT_MAX]
        listed = {one.id for one in shown}
        return cls(
            id=cause.failures[0].id,
            tests_total=cause.tests,
            boxes_total=cause.boxes,
            failures=[ResolvedFailureAnswer.of(org_id, one) for one in shown],
            failures_total=len(cause.failures),
            messages=[SaidAnswer.of(one, listed) for one in found.said[: limits.MESSAGES_MAX]],
            messages_total=len(found.said),
            commits=[CommitInShort.of(commit) for commit in found.commits],
        )


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


class ReviewedAnswer(Answer):
    """Each reviewed failure once, as it is now, in the order of the reviews."""

    items: Sequence[ResolvedFailureAnswer]
