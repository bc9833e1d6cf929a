# SPDX-License-Identifier: Apache-2.0
"""What can be asked of failures in runs that lost their board (contract, "Answers beside the
rules").
"""

from collections.abc import Collection

from pydantic import Field

from hwci.contract.vocabulary import FailureClass
from hwci.wire.analysis.causes import OfTable, classes_of
from hwci.wire.queries import ResolvedQuery


class LostResolvedQuery(ResolvedQuery):
    """Query of the resolved ones: of one table, of one class."""

    table: OfTable | None = None
    failure_class: FailureClass | None = Field(None, alias="class")

    @property
    def classes(self) -> Collection[FailureClass]:
        """The classes that are asked for."""
        return classes_of(self.table, self.failure_class)
