# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the questions document each method; statements are constants
"""The rules by which failures are known."""

from collections.abc import Sequence
from functools import cached_property

from hwci.contract.known_failures import KnownFailure
from hwci.contract.people import Actor
from hwci.server.storage.sql.columns import columns_of
from hwci.server.storage.sql.history.answers import Answers

RULE = columns_of(KnownFailure, by=columns_of(Actor).called("by_id", "by_name"))
RULES = f"SELECT {RULE.of('k')} FROM known_failure k WHERE k.org_id = ?"


class KnownFailureAnswers(Answers):
    """Answers from `known_failure`."""

    def known_failures(self) -> Sequence[KnownFailure]:
        return self._rules

    @cached_property
    def _rules(self) -> Sequence[KnownFailure]:
        rows = self._connection.rows(f"{RULES} ORDER BY k.created_at, k.id", (self._org,))
        return [RULE.read(row) for row in rows]
