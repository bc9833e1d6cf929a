# SPDX-License-Identifier: Apache-2.0
"""The questions of the engine and of the analysis, answered from indexes.

This module joins the answers; each group of questions has its own module beside it. All of
them must equal the `FullHistory` of `hwci.engine.full_history` over the same facts, which is their
definition. An object lives within one transaction and may remember what it has read.
"""

from hwci.server.storage.sql.history.boxes import BoxAnswers
from hwci.server.storage.sql.history.decisions import EpisodeAnswers
from hwci.server.storage.sql.history.failures import FailureAnswers
from hwci.server.storage.sql.history.outcomes import OutcomeAnswers
from hwci.server.storage.sql.history.passes import PassAnswers
from hwci.server.storage.sql.history.periods import PeriodAnswers


class SqlHistory(
    PeriodAnswers, FailureAnswers, EpisodeAnswers, BoxAnswers, OutcomeAnswers, PassAnswers
):
    """One organization's history within one transaction."""
