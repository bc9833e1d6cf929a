# SPDX-License-Identifier: Apache-2.0
"""The questions of the engine and of the analysis, answered from indexes.

This module joins the answers; each group of questions has its own module beside it. All of
them must equal the `FullHistory` of `hwci.engine.full_history` over the same facts, which is their
definition. An object lives within one transaction and may remember what it has read.
"""

from collections.abc import Callable
from copy import copy
from functools import cached_property
from uuid import UUID

from hwci.analysis.outcomes import Branches
from hwci.engine.history import Decision, Episode
from hwci.server.storage.sql.connection import Connection
from hwci.server.storage.sql.history.boxes import BoxAnswers
from hwci.server.storage.sql.history.decisions import EpisodeAnswers
from hwci.server.storage.sql.history.failures import FailureAnswers
from hwci.server.storage.sql.history.known_failures import KnownFailureAnswers
from hwci.server.storage.sql.history.outcomes import OutcomeAnswers
from hwci.server.storage.sql.history.passes import PassAnswers
from hwci.server.storage.sql.history.periods import PeriodAnswers


class SqlHistory(
    PeriodAnswers,
    FailureAnswers,
    EpisodeAnswers,
    BoxAnswers,
    OutcomeAnswers,
    PassAnswers,
    KnownFailureAnswers,
):
    """One organization's history within one transaction. `noted`: makes the place where what is
    decided about it is noted; called where something is.
    """

    def __init__(
        self,
        connection: Connection,
        org_id: UUID,
        noted: Callable[[], dict[UUID, tuple[Episode, Decision]]],
    ) -> None:
        super().__init__(connection, org_id)
        self._noted = noted

    def on_branches(self, branches: Branches) -> "SqlHistory":  # noqa: D102 - as the answers
        history = copy(self)
        history.branches = branches
        return history

    @cached_property
    def decided(self) -> dict[UUID, tuple[Episode, Decision]]:  # noqa: D102 - as the answers
        return self._noted()
