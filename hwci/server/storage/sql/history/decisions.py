# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method; statements are constants
"""Episodes as the engine reads them, and the decisions kept about them.

A decision is written by whoever asked first, and dropped by the write that may change it
(`derive.py`). This module does not decide: `hwci.engine.rules` does.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from uuid import UUID

from hwci.engine.facts import FailureKey, Lane, Product
from hwci.engine.history import Decision, Episode, Scope
from hwci.engine.periods import Period
from hwci.engine.rules import classify
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.history.answers import Answers

_WALK_MOST = 1000
"""The decision on a longer walk is not kept: its commits take longer to write than it takes to walk
over them again.
"""
_OF_PERIOD = (
    "FROM json_each(?) j CROSS JOIN episode e INDEXED BY episode_time"
    " ON e.org_id = ? AND e.product_id = j.value AND e.started_at BETWEEN ? AND ?"
)
_EPISODES = (
    "SELECT e.number, e.product_id, e.test, e.box_key, e.branch, e.first_sha, e.first_id,"
    " e.started_at, e.verdict, e.last_sha, e.commits, e.fix_sha, e.decision, e.decided_by"
    f" {_OF_PERIOD}"
)
_REVIEWED = (
    f"SELECT e.number, f.id {_OF_PERIOD} CROSS JOIN failure f INDEXED BY failure_reviewed"
    " ON f.org_id = e.org_id AND f.product_id = e.product_id AND f.box_key = e.box_key"
    " AND f.branch = e.branch AND f.test = e.test AND f.rank BETWEEN e.first_rank AND e.last_rank"
    " AND f.reviewed = 1 AND f.passed = e.flake"
)


class EpisodeAnswers(Answers):
    """Answers from `episode`."""

    def episodes(self, scope: Scope, period: Period) -> Sequence[Episode]:
        ends = codec.to_micros(period.start), codec.to_micros(period.end)
        within = (self._scoped(scope), self._org, *ends)
        rows = self._connection.rows(_EPISODES, within)
        reviewed: dict[int, list[UUID]] = defaultdict(list)
        for number, failure_id in self._connection.rows(_REVIEWED, within):
            reviewed[number].append(codec.uuid_of(failure_id))
        tests: dict[int, set[int]] = defaultdict(set)
        for _, product, test, *_ in rows:
            tests[product].add(test)
        names = {product: self._test_names(product, found) for product, found in tests.items()}
        return [
            self._episode(row, names[row[1]][row[2]], tuple(reviewed.get(row[0], ())))
            for row in rows
        ]

    def _episode(self, row: tuple[Any, ...], test_id: str, reviewed: tuple[UUID, ...]) -> Episode:
        number, product, _, box_key, branch, first_sha, first_id, at, verdict = row[:9]
        last_sha, commits, fix, decision, decided_by = row[9:]
        is_kept = decision is not None and decided_by == self._decided_by(self._product_of[product])
        return Episode(
            id=codec.uuid_of(first_id),
            key=FailureKey(Lane(*self._product_of[product], test_id, box_key, branch), first_sha),
            started_at=codec.from_micros(at),
            verdict=codec.VERDICTS[verdict],
            last_sha=last_sha,
            commits=commits,
            fix=fix or None,
            reviewed=reviewed,
            decision=codec.to_decision(decision) if is_kept else None,
            number=number,
        )

    def keep(self, decided: Sequence[tuple[Episode, Decision]]) -> None:
        """Keep decisions that were made of the present rows."""
        decided = [(one, found) for one, found in decided if len(found.rests_on) <= _WALK_MOST]
        self._connection.execute_many(
            "UPDATE episode SET decision = ?, decided_by = ? WHERE org_id = ? AND number = ?",
            [
                (
                    *(codec.decision_text(found), self._decided_by(one.key.lane.product)),
                    *(self._org, one.number),
                )
                for one, found in decided
            ],
        )
        self._connection.execute_many(
            "INSERT INTO walk_commit (org_id, repo_key, last_sha, fix_sha, sha)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            {
                (self._org, one.key.lane.repo_key, one.last_sha, one.fix, sha)
                for one, found in decided
                for sha in found.rests_on
            },
        )

    def _decided_by(self, product: Product) -> str:
        """Return by what a decision about a product is made: rules and configuration."""
        return f"{classify.VERSION} {self._config_versions.get(product, '-')}"

    @cached_property
    def _config_versions(self) -> Mapping[Product, int]:
        rows = self._connection.rows(
            "SELECT repo_key, suite, version FROM suite_config WHERE org_id = ?", (self._org,)
        )
        return {Product(repo_key, suite): version for repo_key, suite, version in rows}
