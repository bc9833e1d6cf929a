# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Episodes as the engine reads them, and the decisions kept about them.

A decision is written after somebody asked for it, and dropped by the write that may change it
(`derive.py`). This module does not decide: `hwci.engine.rules` does.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import Any
from uuid import UUID

from hwci.contract.vocabulary import FailureClass
from hwci.engine.derived.rows import NEVER
from hwci.engine.facts import FailureKey, Lane, Product
from hwci.engine.history import (
    EVERYTHING,
    Decision,
    Episode,
    FailingRun,
    Listing,
    ResolvedEpisodes,
    Scope,
)
from hwci.engine.periods import Period
from hwci.engine.rules import classify
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.columns import selected
from hwci.server.storage.sql.connection import Query
from hwci.server.storage.sql.history.changes import ChangesAnswers
from hwci.server.storage.sql.history.failures import FAILING, first_run
from hwci.server.storage.sql.reports.derive import REVIEWED_MEMBER

_WALK_MOST = 1000
"""The decision on a longer walk is not kept: its commits take longer to write than it takes to walk
over them again.
"""
_NOT_KEPT = ""
"""It stands in its place, so that nobody decides only to keep it."""
_NO_END = 2**62
"""Of a list: more rows than there are."""
_PRODUCT = "FROM json_each(?) j CROSS JOIN product q ON q.org_id = ? AND q.id = j.value"
_STARTED = """
CROSS JOIN episode e INDEXED BY episode_time
  ON e.org_id = q.org_id AND e.product_id = q.id AND e.started_at BETWEEN ? AND ?
"""
_COLUMNS = f"""
SELECT
  e.number, e.reviewed, e.product_id, e.test, e.box_key, e.branch, e.first_sha, e.first_id,
  e.last_sha, e.commits, e.fix_sha, e.decision, e.decided_by,
  {selected("e", FailingRun._fields)}
"""
_REVIEWS = f"""
SELECT e.number, f.id
FROM json_each(?) j
CROSS JOIN episode e ON e.org_id = ? AND e.number = j.value
CROSS JOIN failure f INDEXED BY failure_reviewed ON {REVIEWED_MEMBER}
ORDER BY f.rank
"""
# Products with what decides now, as `_decided_by`.
_DECIDING = """
WITH q AS MATERIALIZED (
  SELECT q.org_id, q.id, ?1 || coalesce(CAST(s.version AS TEXT), '-') AS decided_by
  FROM json_each(?2) j
  CROSS JOIN product q ON q.org_id = ?3 AND q.id = j.value
  LEFT JOIN suite_config s ON s.org_id = q.org_id AND s.repo_key = q.repo_key AND s.suite = q.suite
)
"""
# The same, and decisions.
_DECIDED = f"""
{_DECIDING},
d AS MATERIALIZED (SELECT j.value AS decision FROM json_each(?6) j)
"""
_SETTLED = f"e.fix_rank < {NEVER} AND e.reviewed = 0"
_IN_CELL = f"""
episode e INDEXED BY episode_settled {{0}} e.org_id = c.org_id AND e.product_id = c.id
  AND e.decided_by = c.decided_by AND e.decision = c.decision
  AND e.started_at BETWEEN {{1}} AND ?5 AND {_SETTLED}
"""
_RESOLVED = f"(e.fix_rank < {NEVER} OR e.reviewed > 0)"
_WITHIN = """
q
CROSS JOIN episode e INDEXED BY episode_time
  ON e.org_id = q.org_id AND e.product_id = q.id AND e.started_at BETWEEN ?4 AND ?5
"""
_CELLS = "SELECT q.org_id, q.id, q.decided_by, d.decision FROM q CROSS JOIN d ON 1 = 1"
# Of each decision, and of all that are resolved.
_COUNTS = f"""
{_DECIDED},
c AS MATERIALIZED ({_CELLS})
SELECT c.decision, (SELECT count(*) FROM {_IN_CELL.format("WHERE", "?4")})
FROM c
UNION ALL
SELECT NULL, count(*)
FROM {_WITHIN}
WHERE {_RESOLVED}
"""
# So many of the newest of these decisions, and those that started with the last of them or a bit
# later: no fewer began since the time from which on one product has so many of one decision.
_NEWEST = f"""
{_DECIDED},
c AS MATERIALIZED ({_CELLS}),
n AS MATERIALIZED (
  SELECT max(coalesce(
    (
      SELECT e.started_at
      FROM {_IN_CELL.format("WHERE", "?4")}
      ORDER BY e.started_at DESC LIMIT 1 OFFSET ?7
    ),
    ?4
  )) AS since
  FROM c
)
SELECT -e.started_at, e.first_id, e.number, e.decision
FROM c
CROSS JOIN {_IN_CELL.format("ON", "(SELECT n.since FROM n)")}
"""
_UNSETTLED = f"""
{_DECIDED}
SELECT e.number
FROM {_WITHIN}
WHERE {_RESOLVED} AND CASE
  WHEN {_SETTLED} AND e.decided_by = q.decided_by AND e.decision IN (SELECT d.decision FROM d)
  THEN 0
  ELSE 1
END = 1
"""
_UNDECIDED = f"""
{_DECIDING}
SELECT e.number
FROM q
CROSS JOIN episode e INDEXED BY episode_time
  ON e.org_id = q.org_id AND e.product_id = q.id
WHERE {_RESOLVED} AND (e.decision IS NULL OR e.decided_by <> q.decided_by)
ORDER BY e.started_at DESC LIMIT ?4
"""
_EPISODES = f"{_COLUMNS} {_PRODUCT} {_STARTED}"
# Episodes of a lane do not overlap, but for flakes, which are one commit each: that of a failure is
# the last to begin before it.
_FAILED = f"""
SELECT DISTINCT (
  SELECT o.number
  FROM episode o INDEXED BY episode_lane
  WHERE o.org_id = f.org_id AND o.product_id = f.product_id AND o.box_key = f.box_key
    AND o.branch = f.branch AND o.test = f.test AND o.flake = f.passed AND o.first_rank <= f.rank
  ORDER BY o.first_rank DESC LIMIT 1
)
{FAILING}
CROSS JOIN failure f
  ON f.org_id = i.org_id AND f.id = i.failure_id AND (f.passed = 0 OR f.reviewed = 1)
"""
_NUMBERED = (
    f"{_COLUMNS} FROM json_each(?) j CROSS JOIN episode e ON e.org_id = ? AND e.number = j.value"
)


class EpisodeAnswers(ChangesAnswers):
    """Answers from `episode`."""

    def episodes(self, scope: Scope, period: Period) -> Sequence[Episode]:
        about = scope, period
        if about not in self._read_periods:
            rows = self._connection.rows(_EPISODES, self._within(scope, period))
            self._read_periods[about] = self._read(rows)
        return self._read_periods[about]

    @cached_property
    def _read_periods(self) -> dict[tuple[Scope, Period], Sequence[Episode]]:
        """The episodes of periods that were asked for: several answers of a page are about the
        same.
        """
        return {}

    def episodes_failed(self, scope: Scope, period: Period) -> Sequence[Episode]:
        rows = self._connection.rows(_FAILED, self._within(scope, period))
        return [*self._numbered(number for (number,) in rows).values()]

    def resolved(
        self,
        scope: Scope,
        period: Period,
        tables: Sequence[Collection[FailureClass]],
        most: int | None = None,
    ) -> ResolvedEpisodes:
        values = (f"{classify.VERSION} ", *self._within(scope, period))
        known = (*values, codec.texts(codec.DECISIONS))
        counts: Counter[str | None] = Counter()  # None: all
        for decision, count in self._connection.rows(_COUNTS, known):
            counts[decision] += count
        resolved, unsettled = counts.pop(None), list[int]()
        if resolved > counts.total():
            unsettled = [number for (number,) in self._connection.rows(_UNSETTLED, known)]
        classes = {
            text: codec.DECISIONS[text].failure_class for text in codec.DECISIONS if counts[text]
        }
        first: dict[FailureClass, list[int]] = {kind: [] for kind in classes.values()}
        wanted = [
            codec.texts(text for text, kind in classes.items() if kind in table) for table in tables
        ]
        for rows in self._newest([(*values, texts) for texts in wanted], most):
            for _, _, number, text in rows:
                first[classes[text]].append(number)
        episodes = self._numbered(chain(unsettled, *first.values()))
        totals: Counter[FailureClass] = Counter()
        for text, kind in classes.items():
            totals[kind] += counts[text]
        return ResolvedEpisodes(
            {
                kind: Listing([episodes[number] for number in those], totals[kind])
                for kind, those in first.items()
            },
            [episodes[number] for number in unsettled],
        )

    def undecided(self, most: int) -> Sequence[Episode]:
        """Return resolved episodes, the newest first, that lack a decision of what decides now."""
        values = (f"{classify.VERSION} ", self._scoped(EVERYTHING), self._org, most)
        numbers = [number for (number,) in self._connection.rows(_UNDECIDED, values)]
        episodes = self._numbered(numbers)
        return [episodes[number] for number in numbers]

    def _newest(
        self, questions: Sequence[tuple[object, ...]], most: int | None
    ) -> Iterator[Sequence[tuple[int, bytes, int, str]]]:
        """Yield the newest settled episodes of each table, in their order: its two columns, row and
        decision.
        """
        last = _NO_END if most is None else most - 1
        for rows in self._connection.rows_of(
            Query(_NEWEST, (*values, last)) for values in questions
        ):
            yield sorted(rows)[:most]

    def _numbered(self, numbers: Iterable[int]) -> Mapping[int, Episode]:
        """Return these episodes; each is read once."""
        wanted, known = [*numbers], self._read_episodes
        if unread := codec.numbers(number for number in wanted if number not in known):
            self._read(self._connection.rows(_NUMBERED, (unread, self._org)))
        return {number: known[number] for number in wanted}

    def _read(self, rows: Sequence[tuple[Any, ...]]) -> Sequence[Episode]:
        """Return the episodes of these rows, each the same whoever asks."""
        known = self._read_episodes
        return [
            known.setdefault(number, episode)
            for (number, *_), episode in zip(rows, self._episodes(rows), strict=True)
        ]

    @cached_property
    def _read_episodes(self) -> dict[int, Episode]:
        return {}

    def _within(self, scope: Scope, period: Period) -> tuple[object, ...]:
        ends = codec.to_micros(period.start), codec.to_micros(period.end)
        return (self._scoped(scope), self._org, *ends)

    def _episodes(self, rows: Sequence[tuple[Any, ...]]) -> Sequence[Episode]:
        """Turn rows of `_COLUMNS` into episodes, with their reviews and the names of tests."""
        if not rows:
            return ()
        reviewed: dict[int, list[UUID]] = defaultdict(list)
        if numbers := codec.numbers(number for number, reviews, *_ in rows if reviews):
            for number, failure_id in self._connection.rows(_REVIEWS, (numbers, self._org)):
                reviewed[number].append(codec.uuid_of(failure_id))
        tests: dict[int, set[int]] = defaultdict(set)
        for _, _, product, test, *_ in rows:
            tests[product].add(test)
        names = self._test_names(tests)
        decides = {product: self._decides_now(product) for product in tests}
        # Many episodes share a lane or a first run: build each once.
        lane, first = cache(Lane), cache(first_run)
        episodes = []
        for number, _, product, test, box_key, branch, first_sha, *columns in rows:
            first_id, last_sha, commits, fix, decision, decided_by, *run = columns
            lane_ = lane(*self._product_of[product], names[product][test], box_key, branch)
            is_kept = decision is not None and decided_by == decides[product]
            episodes.append(
                Episode(
                    codec.uuid_of(first_id),
                    FailureKey(lane_, first_sha),
                    first(*run),
                    last_sha,
                    commits,
                    fix or None,
                    tuple(reviewed[number]) if number in reviewed else (),
                    codec.to_decision(decision) if is_kept else None,
                    number,
                )
            )
        return episodes

    def keep(self, decided: Collection[tuple[Episode, Decision]]) -> None:
        """Keep decisions that were made of the present rows."""
        short = [
            (episode, decision)
            for episode, decision in decided
            if len(decision.rests_on) <= _WALK_MOST
        ]
        texts = {episode.number: codec.decision_text(decision) for episode, decision in short}
        self._connection.execute_many(
            "UPDATE episode SET decision = ?, decided_by = ? WHERE org_id = ? AND number = ?",
            [
                (
                    *(
                        texts.get(episode.number, _NOT_KEPT),
                        self._decided_by(episode.key.lane.product),
                    ),
                    *(self._org, episode.number),
                )
                for episode, _ in decided
            ],
        )
        self._connection.execute_many(
            "INSERT INTO walk_commit (org_id, repo_key, last_sha, fix_sha, sha)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            {
                (self._org, episode.key.lane.repo_key, episode.last_sha, episode.fix, sha)
                for episode, decision in short
                for sha in decision.rests_on
            },
        )

    def _decided_by(self, product: Product) -> str:
        """Return by what a decision about a product is made: rules and configuration."""
        return f"{classify.VERSION} {self._config_versions.get(product, '-')}"

    @cached_property
    def _decided_now(self) -> dict[int, str]:
        return {}

    def _decides_now(self, product: int) -> str:
        # A function that knows this history would keep all that it has read until Python looks
        # for cycles.
        if product not in self._decided_now:
            self._decided_now[product] = self._decided_by(self._product_of[product])
        return self._decided_now[product]
