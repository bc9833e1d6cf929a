# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Episodes as the engine reads them, and the decisions kept about them.

A decision is written by whoever asked first, and dropped by the write that may change it
(`derive.py`). This module does not decide: `hwci.engine.rules` does.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any
from uuid import UUID

from hwci.engine.derived.rows import NEVER
from hwci.engine.facts import FailureKey, Lane, Product
from hwci.engine.history import Decision, Episode, Listing, ResolvedEpisodes, Scope
from hwci.engine.periods import Period
from hwci.engine.rules import classify
from hwci.engine.vocabulary import FailureClass
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.history.answers import Answers
from hwci.server.storage.sql.reports.derive import REVIEWED_MEMBER

_WALK_MOST = 1000
"""The decision on a longer walk is not kept: its commits take longer to write than it takes to walk
over them again.
"""
_PRODUCT = "FROM json_each(?) j CROSS JOIN product q ON q.org_id = ? AND q.id = j.value"
_STARTED = (
    "CROSS JOIN episode e INDEXED BY episode_time"
    " ON e.org_id = q.org_id AND e.product_id = q.id AND e.started_at BETWEEN ? AND ?"
)
_COLUMNS = (
    "SELECT e.number, e.product_id, e.test, e.box_key, e.branch, e.first_sha, e.first_id,"
    " e.started_at, e.verdict, e.last_sha, e.commits, e.fix_sha, e.decision, e.decided_by,"
    " e.reviewed"
)
_REVIEWS = (
    "SELECT e.number, f.id FROM json_each(?) j"
    " CROSS JOIN episode e ON e.org_id = ? AND e.number = j.value"
    f" CROSS JOIN failure f INDEXED BY failure_reviewed ON {REVIEWED_MEMBER}"
)
# `decided_by`: by the rules and the configuration that count now, as `_decided_by`.
_RESOLVED = (
    "WITH q AS MATERIALIZED (SELECT q.org_id, q.id,"
    f" ? || coalesce(CAST(s.version AS TEXT), '-') AS decided_by {_PRODUCT}"
    " LEFT JOIN suite_config s"
    " ON s.org_id = q.org_id AND s.repo_key = q.repo_key AND s.suite = q.suite)"
    f" SELECT e.number, CASE WHEN e.fix_rank < {NEVER} AND e.reviewed = 0"
    f" AND e.decided_by = q.decided_by THEN e.decision END FROM q {_STARTED}"
    f" WHERE e.fix_rank < {NEVER} OR e.reviewed > 0 ORDER BY e.started_at DESC, e.first_id"
)
_EPISODES = f"{_COLUMNS} {_PRODUCT} {_STARTED}"
_NUMBERED = (
    f"{_COLUMNS} FROM json_each(?) j CROSS JOIN episode e ON e.org_id = ? AND e.number = j.value"
)


class EpisodeAnswers(Answers):
    """Answers from `episode`."""

    def episodes(self, scope: Scope, period: Period) -> Sequence[Episode]:
        rows = self._connection.rows(_EPISODES, self._within(scope, period))
        return self._episodes(rows)

    def resolved(
        self,
        scope: Scope,
        period: Period,
        tables: Sequence[Collection[FailureClass]],
        most: int | None = None,
    ) -> ResolvedEpisodes:
        values = (f"{classify.VERSION} ", *self._within(scope, period))
        rows = self._connection.rows(_RESOLVED, values)
        unsettled: list[int] = []  # all of these are places in `rows`
        settled: dict[FailureClass, list[int]] = defaultdict(list)
        lists: dict[str | None, list[int]] = {None: unsettled}
        for place, (_, text) in enumerate(rows):
            if text not in lists:
                decision = codec.to_decision(text)
                lists[text] = unsettled if decision is None else settled[decision.failure_class]
            lists[text].append(place)
        first: set[int] = set()
        for table in tables:
            first.update(sorted(chain(*(settled.get(of, ())[:most] for of in table)))[:most])
        found = self._numbered(rows[place][0] for place in chain(unsettled, first))
        episodes = {place: found[rows[place][0]] for place in chain(unsettled, first)}
        return ResolvedEpisodes(
            {
                of: Listing([episodes[at] for at in places[:most] if at in first], len(places))
                for of, places in settled.items()
            },
            [episodes[place] for place in unsettled],
        )

    def _numbered(self, numbers: Iterable[int]) -> Mapping[int | None, Episode]:
        rows = self._connection.rows(_NUMBERED, (codec.numbers(numbers), self._org))
        return {one.number: one for one in self._episodes(rows)}

    def _within(self, scope: Scope, period: Period) -> tuple[object, ...]:
        ends = codec.to_micros(period.start), codec.to_micros(period.end)
        return (self._scoped(scope), self._org, *ends)

    def _episodes(self, rows: Sequence[tuple[Any, ...]]) -> Sequence[Episode]:
        """Turn rows of `_COLUMNS` into episodes, with their reviews and the names of tests."""
        if not rows:
            return ()
        reviewed: dict[int, list[UUID]] = defaultdict(list)
        if numbers := codec.numbers(row[0] for row in rows if row[-1]):
            for number, failure_id in self._connection.rows(_REVIEWS, (numbers, self._org)):
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
        last_sha, commits, fix, decision, decided_by = row[9:14]
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
