# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""The rows that the engine's derivation reads and writes: places, failures, episodes and days.

This module finds and writes rows; what a report changes in them is decided in
`hwci.engine.derived`. Only `ingest.py` uses `DerivedRows`.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import add
from typing import Any, NamedTuple

from hwci.contract.runs.commits import ChangeList
from hwci.contract.vocabulary import Outcome
from hwci.engine.derived.days import DayChanges, ItemSum, RunSum, day_of
from hwci.engine.derived.rows import Bench, Episode, Placed, Ranked, Results, Spot, Track
from hwci.engine.history import FailingRun, Place
from hwci.engine.rules.reports import carried_changes
from hwci.engine.test_sets import tests_in
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.codec import Sums
from hwci.server.storage.sql.columns import selected
from hwci.server.storage.sql.connection import Connection, Query
from hwci.server.storage.sql.reports import report_rows
from hwci.server.storage.sql.reports.passes import Line, passed_tests, walk_after
from hwci.server.storage.sql.reports.report_rows import KeptReport


class Run(NamedTuple):
    """A run whose changes count once (semantics, 5.1)."""

    workflow: str
    branch: str
    sha: str
    run_id: int


_OnBench = tuple[Bench, str]
"""A commit on a bench."""


class _Failure(NamedTuple):
    """What the row of a failure says of its commit."""

    row: int
    branch: str
    test: int
    passed: int
    reviewed: int


_RUN = (
    "WHERE org_id = ? AND repo_key = ? AND workflow = ? AND branch = ? AND sha = ? AND run_id = ?"
)
_CARRIED = "started_at, run_attempt, box_key, changes_id"
# The index of identities, which begin with the run: there are few reports of one.
_FIRST_CARRIED = f"""
SELECT {_CARRIED}
FROM report INDEXED BY sqlite_autoindex_report_1
{_RUN} AND carried = 1
ORDER BY started_at, run_attempt, box_key LIMIT 1
"""
_SPOT = "WHERE org_id = ? AND repo_key = ? AND sha = ? AND branch = ?"
_BRANCH = "WHERE org_id = ? AND repo_key = ? AND branch = ?"
_SET_PLACE = """
INSERT INTO place (org_id, repo_key, sha, branch, started_at, way, position)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (org_id, repo_key, sha, branch) DO UPDATE SET
  started_at = excluded.started_at,
  way = excluded.way,
  position = excluded.position
"""
_RANK_FAILURES = """
UPDATE failure INDEXED BY failure_at
SET rank = ?1
WHERE org_id = ?2 AND sha = ?4 AND branch = ?5
  AND ?3 = (SELECT q.repo_key FROM product q WHERE q.org_id = ?2 AND q.id = product_id)
"""
_BENCHES = """
SELECT DISTINCT j.value, r.product_id, r.box_key
FROM json_each(?) j
CROSS JOIN report r INDEXED BY report_commit
  ON r.org_id = ? AND r.sha = j.value AND r.hello_ok = 1
CROSS JOIN product p ON p.org_id = r.org_id AND p.id = r.product_id AND p.repo_key = ?
"""
_PLACED = """
SELECT p.rank, p.started_at, p.way, p.position, p.sha
FROM json_each(?) j
CROSS JOIN place p ON p.org_id = ? AND p.repo_key = ? AND p.sha = j.value AND p.branch = ?
"""
_FIRST_MENTION = f"""
SELECT started_at, way, position, sha
FROM mention
{_SPOT}
ORDER BY started_at, way, position LIMIT 1
"""
_LINE = f"""
SELECT sha, rank
FROM place INDEXED BY place_order
{_BRANCH} AND sha NOT IN (SELECT j.value FROM json_each(?) j)
"""
_STAMP = "(started_at, way, position, sha)"
_EARLIER = (
    f"{_LINE} AND {_STAMP} < (?, ?, ?, ?)"
    " ORDER BY started_at DESC, way DESC, position DESC, sha DESC LIMIT 1"
)
_AMONG = (
    f"{_LINE} AND {_STAMP} BETWEEN (?, ?, ?, ?) AND (?, ?, ?, ?)"
    " ORDER BY started_at, way, position, sha"
)
_LATER = f"{_LINE} AND {_STAMP} > (?, ?, ?, ?) ORDER BY started_at, way, position, sha LIMIT 1"
_TRACK = "WHERE org_id = ? AND product_id = ? AND box_key = ? AND branch = ?"
_EPISODE = (
    "e.test, e.first_rank, e.first_sha, e.last_rank, e.last_sha, e.commits, e.fix_rank,"
    " e.fix_sha, e.flake"
)
_FIRST = FailingRun._fields
"""The columns of an episode about its first failing run."""
FIRST_OF_FAILURE = [f"first_{name}" for name in _FIRST]
"""The columns of a failure about that."""
_FIRST_RUNS = f"""
SELECT
  e.number, e.decision, {selected("e", _FIRST)}, {selected("f", FIRST_OF_FAILURE)}
FROM failure f INDEXED BY failure_at
CROSS JOIN episode e INDEXED BY episode_lane
  ON e.org_id = f.org_id AND e.product_id = f.product_id AND e.box_key = f.box_key
  AND e.branch = f.branch AND e.test = f.test AND e.flake = f.passed AND e.first_rank = f.rank
WHERE f.org_id = ? AND f.sha = ?
"""
REVIEWED_MEMBER = (
    "f.org_id = e.org_id AND f.product_id = e.product_id AND f.box_key = e.box_key"
    " AND f.branch = e.branch AND f.test = e.test AND f.rank BETWEEN e.first_rank AND e.last_rank"
    " AND f.reviewed = 1 AND f.passed = e.flake"
)
"""A failure of an episode that has a review."""
_RANK_OF = (
    "(SELECT rank FROM place p WHERE p.org_id = ?1 AND p.repo_key = ?2 AND p.branch = ?3"
    " AND p.sha = episode.{})"
)
_RANK_EPISODES = f"""
UPDATE episode
SET first_rank = {_RANK_OF.format("first_sha")},
  last_rank = {_RANK_OF.format("last_sha")},
  fix_rank = coalesce({_RANK_OF.format("fix_sha")}, fix_rank)
WHERE org_id = ?1 AND branch = ?3
  AND ?2 = (SELECT q.repo_key FROM product q WHERE q.org_id = ?1 AND q.id = product_id)
"""
_REVIEWED = """
(
  SELECT count(*)
  FROM failure f INDEXED BY failure_reviewed
  WHERE f.org_id = failure.org_id AND f.product_id = failure.product_id
    AND f.box_key = failure.box_key AND f.branch = failure.branch AND f.test = failure.test
    AND f.rank BETWEEN ? AND ? AND f.reviewed = 1 AND f.passed = ?
)
"""
_ADD_EPISODE = f"""
INSERT INTO episode (
  first_rank, first_sha, last_rank, last_sha, commits, fix_rank, fix_sha, flake, org_id,
  product_id, box_key, branch, test, first_id, {", ".join(_FIRST)}, reviewed
)
SELECT
  ?, ?, ?, ?, ?, ?, ?, ?, org_id, product_id, box_key, branch, test, id,
  {", ".join(FIRST_OF_FAILURE)}, {_REVIEWED}
FROM failure INDEXED BY failure_lane
{_TRACK} AND test = ? AND rank = ? AND sha = ?
"""
_DROP_WALK = """
DELETE FROM walk_commit
WHERE org_id = ? AND repo_key = ? AND last_sha = ? AND fix_sha = ? AND NOT EXISTS (
  SELECT 1
  FROM episode e
  WHERE e.org_id = ? AND e.last_sha = walk_commit.last_sha AND e.fix_sha = walk_commit.fix_sha
    AND e.decision IS NOT NULL
)
"""
_OF_TRACK = "e.org_id = ? AND e.product_id = ? AND e.box_key = ? AND e.branch = ?"
_FAILING = """
FROM report r INDEXED BY report_commit
CROSS JOIN item i ON i.org_id = r.org_id AND i.report_id = r.id AND i.outcome = 1
WHERE r.org_id = ? AND r.sha = ? AND r.product_id = ? AND r.box_key = ? AND r.hello_ok = 1
  AND r.branch = ? AND i.test IN (SELECT j.value FROM json_each(?) j)
"""
_ITEMS = f"""
SELECT i.test, r.started_at, r.run_id, r.run_attempt, r.workflow, i.verdict, r.ci_run_id, r.ci_run
{_FAILING}
"""
_FAILING_ITEMS = f"SELECT i.test, i.started_at, i.attempts{_FAILING}"
# The order of semantics 4.1 decides which item is that of the first failing run.
_ORDER = "({0}.first_started_at, {0}.first_run_id, {0}.first_run_attempt)"
_IS_FIRST = f"{_ORDER.format('excluded')} < {_ORDER.format('failure')}"
_ADD_TO_FAILURE = f"""
INSERT INTO failure (
  org_id, id, product_id, box_key, branch, sha, test, rank, items, {", ".join(FIRST_OF_FAILURE)},
  last_started_at, passed, reviewed
)
VALUES (
  ?, ?, ?, ?, ?, ?, ?, (SELECT rank FROM place {_SPOT}), 1, {", ".join("?" * len(_FIRST))},
  ?, 0, (SELECT count(*) FROM review WHERE org_id = ? AND failure_id = ?)
)
ON CONFLICT (org_id, id) DO UPDATE SET
  items = failure.items + 1,
  last_started_at = greatest(failure.last_started_at, excluded.last_started_at),
  {
    ", ".join(
        f"{name} = CASE WHEN {_IS_FIRST} THEN excluded.{name} ELSE failure.{name} END"
        for name in FIRST_OF_FAILURE
    )
}
"""
_ADD_RUNS = """
INSERT INTO day_run (reports, runs, infra, org_id, product_id, day, box_key, template_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (org_id, product_id, day, box_key, template_id) DO UPDATE SET
  reports = day_run.reports + excluded.reports,
  runs = day_run.runs + excluded.runs,
  infra = day_run.infra + excluded.infra
"""
_DROP_RUNS = """
DELETE FROM day_run
WHERE org_id = ? AND product_id = ? AND day = ? AND box_key = ? AND template_id = ? AND reports = 0
  AND runs = 0 AND infra = 0
"""
_DAY = "WHERE org_id = ? AND product_id = ? AND day = ?"
_SET_RESULTS = """
INSERT INTO day_result (org_id, product_id, day, results, flakes)
VALUES (?, ?, ?, ?, ?)
ON CONFLICT (org_id, product_id, day) DO UPDATE SET
  results = excluded.results,
  flakes = excluded.flakes
"""


class DerivedRows:
    """The derived rows of one repository, within the transaction of a write."""

    def __init__(self, connection: Connection, org: bytes, repo_key: str) -> None:
        self._connection = connection
        self._org = org
        self._repo_key = repo_key
        self._repo = (org, repo_key)
        self._changes: dict[int, ChangeList] = {}
        self._carried: dict[Run, list[tuple[Any, ...]]] = defaultdict(list)  # rows of `_CARRIED`
        self._failing: dict[_OnBench, dict[str, dict[int, bytes]]] = defaultdict(dict)
        self._passed: dict[_OnBench, int] = defaultdict(int)
        self._came: dict[tuple[_OnBench, str], list[tuple[Any, ...]]] = defaultdict(list)
        self._anew: set[Run | _OnBench] = set()

    def note(self, stored: KeptReport, *, from_all: bool = False) -> None:
        """Note the failures, the passes and the run of a report that comes, to be added to what is
        derived. `from_all`: what it belongs to is derived from all reports, as one may go.
        """
        report = stored.report
        bench, changes = Bench(stored.product_id, report.box_key), carried_changes(report)
        run = Run(report.workflow, report.branch, report.sha, report.run_id)
        if stored.changes_id is not None and changes is not None:
            self._changes[stored.changes_id] = changes
            order = codec.to_micros(report.started_at), report.run_attempt, report.box_key
            self._carried[run].append((*order, stored.changes_id))
        on_bench = bench, report.sha
        if stored.failing:
            of_branch = self._failing[on_bench].setdefault(report.branch, {})
            of_branch.update(stored.failing)
        if from_all:
            self._anew.update((run, on_bench))
        elif report.hello_ok:
            self._passed[on_bench] |= stored.passed
            self._came[on_bench, report.branch] += _failing_items(stored)

    def settle_runs(self) -> Iterable[ChangeList]:
        relisted: set[int] = set()
        for run, carried in self._carried.items():
            key = (*self._repo, *run)
            former = self._connection.row(f"SELECT {_CARRIED} FROM run_changes {_RUN}", key)
            if run in self._anew:
                first = self._connection.row(_FIRST_CARRIED, key)
            else:
                first = min(carried if former is None else (former, *carried))
            if first == former:
                continue
            relisted.update(number for *_, number in filter(None, (former, first)))
            self._connection.execute(f"DELETE FROM run_changes {_RUN}", key)
            if first is not None:
                self._connection.execute(
                    "INSERT INTO run_changes (org_id, repo_key, workflow, branch, sha,"
                    f" run_id, {_CARRIED}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*key, *first),
                )
        if unknown := relisted - self._changes.keys():
            self._changes |= report_rows.load_many_changes(self._connection, self._org, unknown)
        return [self._changes[number] for number in relisted]

    def placed(self, spots: Collection[Spot]) -> Mapping[Spot, Placed]:
        by_branch: dict[str, list[str]] = defaultdict(list)
        for sha, branch in spots:
            by_branch[branch].append(sha)
        return {
            Spot(sha, branch): Placed(codec.to_place(at, way, position, sha), rank)
            for branch, shas in by_branch.items()
            for rank, at, way, position, sha in self._connection.rows(
                _PLACED, (codec.texts(shas), *self._repo, branch)
            )
        }

    def ranks(self, shas: Collection[str]) -> Mapping[Spot, int]:
        rows = self._connection.rows(
            "SELECT p.sha, p.branch, p.rank FROM json_each(?) j CROSS JOIN place p"
            " ON p.org_id = ? AND p.repo_key = ? AND p.sha = j.value",
            (codec.texts(shas), *self._repo),
        )
        return {Spot(sha, branch): rank for sha, branch, rank in rows}

    def first_mentions(self, spots: Collection[Spot]) -> Mapping[Spot, Place]:
        return {
            spot: codec.to_place(*stamp)
            for spot in spots
            for stamp in self._connection.rows(_FIRST_MENTION, (*self._repo, *spot))
        }

    def line(
        self, branch: str, first: Place, last: Place, without: Collection[str]
    ) -> Sequence[tuple[str, int | None]]:
        key = (*self._repo, branch, codec.texts(without))
        start, end = codec.to_stamp(first), codec.to_stamp(last)
        earlier, among, later = self._connection.rows_of(
            [
                Query(_EARLIER, (*key, *start)),
                Query(_AMONG, (*key, *start, *end)),
                Query(_LATER, (*key, *end)),
            ]
        )
        return [*earlier, *among, *later]

    def set_places(self, branch: str, places: Mapping[str, Place]) -> None:
        stamps = [codec.to_stamp(place) for place in places.values()]
        self._connection.execute_many(
            _SET_PLACE,
            [
                (*self._repo, sha, branch, stamp.started_at, stamp.way, stamp.position)
                for sha, stamp in zip(places, stamps, strict=True)
            ],
        )

    def drop_places(self, branch: str, shas: Collection[str]) -> None:
        self._connection.execute_many(
            f"DELETE FROM place {_SPOT}", [(*self._repo, sha, branch) for sha in shas]
        )

    def set_ranks(self, branch: str, ranks: Mapping[str, int]) -> None:
        spots = [(rank, *self._repo, sha, branch) for sha, rank in ranks.items()]
        self._connection.execute_many(f"UPDATE place SET rank = ? {_SPOT}", spots)
        self._connection.execute_many(_RANK_FAILURES, spots)

    def spread(self, branch: str, step: int) -> None:
        rows = self._connection.rows(
            f"SELECT sha FROM place INDEXED BY place_rank {_BRANCH} AND rank IS NOT NULL"
            " ORDER BY rank",
            (*self._repo, branch),
        )
        self.set_ranks(branch, {sha: index * step for index, (sha,) in enumerate(rows)})
        self._connection.execute(_RANK_EPISODES, (*self._repo, branch))

    def benches(self, shas: Collection[str]) -> Iterable[tuple[str, Bench]]:
        if not shas:
            return ()
        rows = self._connection.rows(_BENCHES, (codec.texts(shas), *self._repo))
        return [(sha, Bench(product, box_key)) for sha, product, box_key in rows]

    def count_failures(self, bench: Bench, sha: str) -> Results:
        for branch, failing in self._failing[bench, sha].items():
            self._count(bench, sha, branch, failing)
        if (bench, sha) in self._anew:
            tests = passed_tests(self._connection, self._org, bench, sha)
        else:
            tests = self._passed[bench, sha]
        rows = self._failures(bench, sha)
        # `+org_id`: the row is found by its number, not by an index of the whole organization.
        self._connection.execute_many(
            "UPDATE failure SET passed = ? WHERE +org_id = ? AND rowid = ?",
            [
                (now, self._org, row.row)
                for row in rows
                if (now := tests >> row.test & 1) != row.passed
            ],
        )
        return _results(tests, rows)

    def _count(self, bench: Bench, sha: str, branch: str, failing: Mapping[int, bytes]) -> None:
        """Add the items that came to the failures of a commit, or count these again by all of their
        items. `failing`: their tests and ids.
        """
        items: Iterable[tuple[Any, ...]] = self._came[(bench, sha), branch]
        if (bench, sha) in self._anew:
            items = self._items(_ITEMS, bench, sha, branch, failing)
            self._connection.execute_many(
                "DELETE FROM failure WHERE org_id = ? AND id = ?",
                [(self._org, failure) for failure in failing.values()],
            )
        self._connection.execute_many(
            _ADD_TO_FAILURE,
            [
                (
                    *(self._org, failing[test], *bench, branch, sha, test),
                    *(*self._repo, sha, branch),
                    *(at, *run, at),
                    *(self._org, failing[test]),
                )
                for test, at, *run in items
            ],
        )

    def _items(
        self, statement: str, bench: Bench, sha: str, branch: str, tests: Iterable[int]
    ) -> Sequence[tuple[Any, ...]]:
        values = (self._org, sha, *bench, branch, codec.numbers(tests))
        return self._connection.rows(statement, values)

    def results(self, bench: Bench, sha: str) -> Results:
        tests = passed_tests(self._connection, self._org, bench, sha)
        self._passed[bench, sha] |= tests
        return _results(tests, self._failures(bench, sha))

    def _failures(self, bench: Bench, sha: str) -> Sequence[_Failure]:
        rows = self._connection.rows(
            "SELECT rowid, branch, test, passed, reviewed FROM failure INDEXED BY failure_at"
            " WHERE org_id = ? AND sha = ? AND product_id = ? AND box_key = ?",
            (self._org, sha, *bench),
        )
        return [_Failure(*row) for row in rows]

    def failing_items(self, bench: Bench, sha: str, branch: str, tests: int) -> Counter[ItemSum]:
        items = self._items(_FAILING_ITEMS, bench, sha, branch, tests_in(tests))
        return Counter(
            ItemSum(bench.product, day_of(codec.from_micros(at)), test, Outcome.FAIL, attempts)
            for test, at, attempts in items
        )

    def change_days(self, changes: DayChanges) -> None:
        self._add_runs((changes.reports, changes.runs, changes.infra))
        days: dict[tuple[int, int], dict[int, Sums]] = defaultdict(dict)
        for key in changes.items.keys() | changes.flakes.keys():
            items, flakes = changes.items[key], changes.flakes[key]
            if items or flakes:
                failed = items * codec.OUTCOME_NUMBERS[key.outcome]
                sums = items, items * key.attempts, failed, flakes
                _add_sums(days[key.product, key.day], key.test, sums)
        for day, added in days.items():
            self._add_results((self._org, *day), added)

    def _add_runs(self, sums: Sequence[Counter[RunSum]]) -> None:
        added = {
            (self._org, *key): [counts[key] for counts in sums]
            for key in dict.fromkeys(key for counts in sums for key in counts)
        }
        rows = [(*numbers, *key) for key, numbers in added.items() if any(numbers)]
        fewer = [key for key, numbers in added.items() if min(numbers) < 0]
        self._connection.execute_many(_ADD_RUNS, rows)
        self._connection.execute_many(_DROP_RUNS, fewer)

    def _add_results(self, day: tuple[bytes, int, int], added: Mapping[int, Sums]) -> None:
        """Add to the row of a day. No other write changes it meanwhile: those of an organization
        wait for each other.
        """
        rows = self._connection.rows(f"SELECT results FROM day_result {_DAY}", day)
        tests, *before = next((codec.unpack_results(results) for (results,) in rows), [()])
        sums: dict[int, Sums] = dict(zip(tests, zip(*before, strict=True), strict=True))
        for test, more in added.items():
            _add_sums(sums, test, more)
            if not any(sums[test]):
                del sums[test]
        if sums:
            flakes = sum(of_test[-1] for of_test in sums.values())
            self._connection.execute(_SET_RESULTS, (*day, codec.pack_results(sums), flakes))
        else:
            self._connection.execute(f"DELETE FROM day_result {_DAY}", day)

    def add_checks(self, checks: Mapping[tuple[str, str], int]) -> None:
        self._connection.execute_many(
            "UPDATE announcement SET checks = checks + ?"
            " WHERE org_id = ? AND repo_key = ? AND suite IN ('', ?) AND sha = ?",
            [(times, *self._repo, *merge) for merge, times in checks.items()],
        )

    def episodes_at(self, track: Track, rank: int, tests: int) -> Sequence[Episode]:
        return self._of_tests("e.fix_rank > ? AND e.first_rank <= ?", track, tests, rank, rank)

    def episodes_fixed_at(self, track: Track, rank: int, tests: int) -> Sequence[Episode]:
        return self._of_tests("e.fix_rank = ?", track, tests, rank)

    def _of_tests(
        self, condition: str, track: Track, tests: int, *values: int
    ) -> Sequence[Episode]:
        """Ask once for each test, so that episodes of tests that never ran again cost nothing."""
        key = self._track(track)
        if (
            self._connection.row(f"SELECT 1 FROM episode INDEXED BY episode_fix {_TRACK}", key)
            is None
        ):
            return ()
        rows = self._connection.rows(
            f"SELECT {_EPISODE} FROM json_each(?) j CROSS JOIN episode e INDEXED BY episode_fix"
            f" ON {_OF_TRACK} AND e.test = j.value AND {condition}",
            (codec.numbers(tests_in(tests)), *key, *values),
        )
        return [_episode(row) for row in rows]

    def episodes_fixed_by(
        self, track: Track, fixes: Collection[tuple[int, Ranked]]
    ) -> Sequence[Episode]:
        statement = (
            f"SELECT {_EPISODE} FROM episode e INDEXED BY episode_fix WHERE {_OF_TRACK}"
            " AND e.test = ? AND e.fix_rank = ? AND e.flake = 0"
        )
        key = self._track(track)
        answers = self._connection.rows_of(
            Query(statement, (*key, test, fix.rank)) for test, fix in fixes
        )
        return [_episode(row) for row in chain.from_iterable(answers)]

    def members(self, track: Track, episode: Episode) -> Sequence[Ranked]:
        rows = self._connection.rows(
            f"SELECT rank, sha FROM failure INDEXED BY failure_lane {_TRACK}"
            " AND test = ? AND rank BETWEEN ? AND ? AND passed = 0",
            (*self._track(track), episode.test, episode.first.rank, episode.last.rank),
        )
        return [Ranked(*row) for row in rows]

    def passes_after(self, track: Track, rank: int) -> Iterator[tuple[Ranked, int]]:
        line = Line(self._repo_key, track)
        for walked in walk_after(self._connection, self._org, line, rank):
            yield Ranked(walked.rank, walked.place.sha), walked.passed

    def replace_episodes(
        self, track: Track, gone: Collection[Episode], new: Collection[Episode]
    ) -> None:
        key = self._track(track)
        self._connection.execute_many(
            f"DELETE FROM episode INDEXED BY episode_fix {_TRACK}"
            " AND fix_rank = ? AND test = ? AND first_rank = ? AND flake = ?",
            [
                (*key, episode.fix.rank, episode.test, episode.first.rank, episode.flake)
                for episode in gone
            ],
        )
        self._connection.execute_many(
            _ADD_EPISODE,
            [
                (
                    *(*episode.first, *episode.last, episode.commits, *episode.fix, episode.flake),
                    *(episode.first.rank, episode.last.rank, episode.flake),
                    *(*key, episode.test, *episode.first),
                )
                for episode in new
            ],
        )
        self._connection.execute_many(
            _DROP_WALK,
            {
                (*self._repo, episode.last.sha, episode.fix.sha, self._org)
                for episode in gone
                if episode.fix.sha
            },
        )

    def undecide(self, first: Collection[str], listed: Collection[str]) -> None:
        changed = [
            (*now, self._org, number)
            for sha in first
            for number, decision, *was_and_now in self._connection.rows(
                _FIRST_RUNS, (self._org, sha)
            )
            if (now := was_and_now[len(_FIRST) :]) != was_and_now[: len(_FIRST)]
            or decision is not None
        ]
        self._connection.execute_many(
            f"UPDATE episode SET {' = ?, '.join(_FIRST)} = ?, decision = NULL"
            " WHERE org_id = ? AND number = ?",
            changed,
        )
        if not listed:
            return
        walks = self._connection.rows(
            "SELECT DISTINCT w.last_sha, w.fix_sha FROM json_each(?) j CROSS JOIN walk_commit w"
            " INDEXED BY walk_commit_sha"
            " ON w.org_id = ? AND w.repo_key = ? AND w.sha = j.value",
            (codec.texts(listed), *self._repo),
        )
        self._connection.execute_many(
            "UPDATE episode SET decision = NULL"
            " WHERE org_id = ? AND last_sha = ? AND fix_sha = ? AND decision IS NOT NULL",
            [(self._org, *walk) for walk in walks],
        )
        self._connection.execute_many(
            "DELETE FROM walk_commit"
            " WHERE org_id = ? AND repo_key = ? AND last_sha = ? AND fix_sha = ?",
            [(*self._repo, *walk) for walk in walks],
        )

    def _track(self, track: Track) -> tuple[object, ...]:
        return (self._org, *track.bench, track.branch)


def _failing_items(stored: KeptReport) -> Iterator[tuple[Any, ...]]:
    """Yield the failing items of a report as rows of `_ITEMS`."""
    report = stored.report
    for test in stored.failing:
        verdict = codec.VERDICT_NUMBERS[stored.notable[test].verdict]
        at = codec.to_micros(report.started_at)
        run = at, report.run_id, report.run_attempt, report.workflow
        yield (test, *run, verdict, report.ci_run_id, report.ci_run)


def _results(passed: int, failures: Iterable[_Failure]) -> Results:
    """Return what tests did on a commit: those that `passed`, and those with failures."""
    failed: dict[str, int] = defaultdict(int)
    reviewed: dict[str, int] = defaultdict(int)
    flaky: dict[str, int] = defaultdict(int)
    for failure in failures:
        if not passed >> failure.test & 1:
            failed[failure.branch] |= 1 << failure.test
        elif failure.reviewed:
            reviewed[failure.branch] |= 1 << failure.test
        else:
            flaky[failure.branch] |= 1 << failure.test
    return Results(passed, dict(failed), dict(reviewed), dict(flaky))


def _add_sums(sums: dict[int, Sums], test: int, more: Sums) -> None:
    """Add to the sums of a test."""
    before = sums.get(test)
    sums[test] = more if before is None else [*map(add, before, more)]


def _episode(row: tuple[Any, ...]) -> Episode:
    """Turn the columns of `_EPISODE` into an episode."""
    test, first_rank, first_sha, last_rank, last_sha, commits, fix_rank, fix_sha, flake = row
    first, last = Ranked(first_rank, first_sha), Ranked(last_rank, last_sha)
    return Episode(test, first, last, commits, Ranked(fix_rank, fix_sha), bool(flake))
