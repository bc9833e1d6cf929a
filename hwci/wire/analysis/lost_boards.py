# SPDX-License-Identifier: Apache-2.0
"""Resolved failures that lie in runs that lost their board (contract, "Answers beside the rules").
No figure is computed here.
"""

from collections.abc import Collection, Sequence
from typing import Self
from uuid import UUID

from pydantic import Field

from hwci.contract.vocabulary import FailureClass
from hwci.engine.page.reading import Classified
from hwci.wire import limits
from hwci.wire.analysis.causes import OfTable, classes_of
from hwci.wire.base import Answer
from hwci.wire.queries import ResolvedQuery


class LostResolvedQuery(ResolvedQuery):
    """Query of the resolved ones: of one table, of one class."""

    table: OfTable | None = None
    failure_class: FailureClass | None = Field(None, alias="class")

    @property
    def classes(self) -> Collection[FailureClass]:
        """The classes that are asked for."""
        return classes_of(self.table, self.failure_class)


class LostBoardsAnswer(Answer):
    """How many rows of the two tables of resolved failures lie in runs that lost their board, and
    which these are: `failures` has the ids of the newest 1,000 of both.
    """

    real_bugs: int
    other_failures: int
    failures: Sequence[UUID]

    @classmethod
    def of(cls, rows: Sequence[Classified]) -> Self:
        """Make the answer of these rows, the newest first."""
        real = sum(row.failure_class is FailureClass.REAL_FW_BUG for row in rows)
        ids = [row.episode.id for row in rows[: limits.LOST_BOARDS_MAX]]
        return cls(real_bugs=real, other_failures=len(rows) - real, failures=ids)
