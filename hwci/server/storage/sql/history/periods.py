# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Answers about a period: merges, run reports, and the tests that failed or were retried.

Whole days are counted from their sums, and the two ends of a period from rows by their time, so the
count is exact to the microsecond.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, reduce
from itertools import compress, repeat
from operator import or_
from typing import Any

from hwci.contract.runs.merges import Merge
from hwci.engine.derived.days import days_of
from hwci.engine.facts import Product, TestKey
from hwci.engine.history import (
    MergeCounts,
    MergeState,
    ProductState,
    RunCounts,
    RunStarts,
    Scope,
    SightedRun,
    Sighting,
    StoredTest,
    TestRuns,
)
from hwci.engine.periods import Period
from hwci.engine.test_sets import CountedTests
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.columns import column, columns_of
from hwci.server.storage.sql.history.answers import ITEMS, NOTABLE, REPORTS
from hwci.server.storage.sql.history.changes import ChangesAnswers
from hwci.server.storage.sql.history.failures import FLAKY, IS_FLAKE

ANNOUNCEMENT = columns_of(
    Merge,
    suite=column("suite", lambda suite: suite or "", lambda suite: suite or None),
)
_UNASSIGNED_REPOSITORIES = """
WITH RECURSIVE hit (key) AS (
  SELECT min(repo_key)
  FROM announcement
  WHERE org_id = ?
  UNION ALL
  SELECT (SELECT min(a.repo_key) FROM announcement a WHERE a.org_id = ? AND a.repo_key > hit.key)
  FROM hit
  WHERE hit.key IS NOT NULL
)
SELECT key
FROM hit
WHERE EXISTS (
  SELECT 1 FROM announcement a WHERE a.org_id = ? AND a.repo_key = hit.key AND a.suite = ''
)
"""
"""Two steps in the index for each repository: DISTINCT would read every announcement."""
# Products with the start of their last report, and those that merges were announced for.
_NAMED_PRODUCTS = """
SELECT s.repo_key, s.suite, s.at
FROM (
  SELECT p.repo_key, p.suite, (
    SELECT max(r.started_at) FROM report r WHERE r.org_id = p.org_id AND r.product_id = p.id
  ) AS at
  FROM product p
  WHERE p.org_id = ?1
) s
WHERE s.at IS NOT NULL
UNION
SELECT a.repo_key, a.suite, NULL
FROM announcement a
WHERE a.org_id = ?1 AND a.suite <> ''
"""
_ANNOUNCED = """
WHERE a.org_id = ?1 AND a.merged_at BETWEEN ?2 AND ?3 AND a.repo_key = coalesce(?4, a.repo_key)
  AND a.suite = coalesce(?5, a.suite)
"""
_MERGES = f"""
SELECT a.checks, {ANNOUNCEMENT.of("a")}
FROM announcement a INDEXED BY announcement_time
{_ANNOUNCED}
"""
_UNCHECKED = (
    f"{_MERGES.replace('announcement_time', 'announcement_unchecked')} AND a.checks = 0"
    " ORDER BY a.merged_at DESC, a.repo_key, a.suite, a.sha LIMIT ?6"
)
_MERGE_COUNTS = f"""
SELECT
  (
    SELECT count(*)
    FROM announcement a INDEXED BY announcement_unchecked
    {_ANNOUNCED} AND a.checks = 0
  ),
  count(*)
FROM announcement a INDEXED BY announcement_time
{_ANNOUNCED}
"""
_SIGHTED = """
SELECT
  j.value, r.started_at, r.run_id, r.run_attempt, r.box_key, r.ci_run_id, r.sha, r.ci_run, p.suite,
  r.hello_ok, r.tests > 0
FROM json_each(?) j
CROSS JOIN mention m
  ON m.org_id = ? AND m.repo_key = ? AND m.sha = j.value AND m.tested = 1
CROSS JOIN report r ON r.org_id = m.org_id AND r.id = m.report_id
CROSS JOIN product p ON p.org_id = r.org_id AND p.id = r.product_id
"""
_FIRST_PART = "WHERE r.part IS NULL OR r.part = 1"
_STARTED = """
SELECT r.started_at
FROM report r INDEXED BY report_time
WHERE r.org_id = ?1 AND r.product_id = j.value AND r.started_at BETWEEN ?2 AND ?3
ORDER BY r.started_at
"""
_MERGED = f"""
SELECT a.merged_at
FROM announcement a INDEXED BY announcement_time
{_ANNOUNCED}
ORDER BY a.merged_at
"""
# The first and the last are one step in the index each, however much is between them.
_ENDS = f"""
SELECT ({_STARTED} LIMIT 1), ({_STARTED} DESC LIMIT 1) FROM json_each(?6) j
UNION ALL
SELECT ({_MERGED} LIMIT 1), ({_MERGED} DESC LIMIT 1)
"""
_TRIED = "r.product_id, NULL, i.test, count(*), sum(i.attempts), sum(i.outcome), count(f.id)"
_OF_NOTABLE = f"""
{REPORTS}
{ITEMS}
LEFT JOIN failure f ON f.org_id = i.org_id AND f.id = i.failure_id AND {IS_FLAKE}
WHERE r.hello_ok = 1 AND {NOTABLE}
GROUP BY r.product_id, i.test"""
_NOTABLE = f"SELECT {_TRIED} {_OF_NOTABLE}"
_NOTABLE_BY_BRANCH = f"SELECT r.branch, {_TRIED} {_OF_NOTABLE}, r.branch"
_DAYS = "d.org_id = ? AND d.product_id = j.value AND d.day BETWEEN ? AND ?"
_DAY_RUNS = f"FROM json_each(?) j CROSS JOIN day_run d ON {_DAYS}"
_DAY_SUMS = f"FROM json_each(?) j CROSS JOIN day_result d ON {_DAYS}"
_DAY_RESULTS = f"SELECT d.product_id, d.results, NULL, NULL, NULL, NULL, NULL {_DAY_SUMS}"
_DAY_LISTS = f"""
SELECT d.product_id, d.template_id, d.box_key, sum(d.reports)
{_DAY_RUNS}
WHERE d.reports > 0
GROUP BY d.product_id, d.template_id, d.box_key
"""
_LISTED = "r.product_id, r.template_id, r.box_key"
_OF_LISTS = f"{REPORTS} WHERE r.hello_ok = 1 GROUP BY {_LISTED}"
_LISTS = f"SELECT {_LISTED}, count(*) {_OF_LISTS}"
_LISTS_BY_BRANCH = f"SELECT r.branch, {_LISTED}, count(*) {_OF_LISTS}, r.branch"


class Ran:
    """What ran of a product: how many reports have each test list, and the lists of each box."""

    def __init__(self) -> None:
        self.reports: Counter[int] = Counter()
        self.lists: dict[str, set[int]] = defaultdict(set)

    def add(self, test_list: int, box_key: str, reports: int) -> None:
        """Add reports of a box with a test list."""
        self.reports[test_list] += reports
        self.lists[box_key].add(test_list)


class Added:
    """Sums of the tests of a product: lists, in which a test stands at its number."""

    def __init__(self) -> None:
        self.columns: tuple[list[int], ...] = ([], [], [], [])

    def add(self, tests: Sequence[int], *sums: Sequence[int]) -> None:
        """Add items, attempts, failed items and flakes of each of these tests."""
        items, attempts, failed, flakes = self.columns
        lacking = max(tests) + 1 - len(items)
        if lacking > 0:
            for column in self.columns:
                column.extend([0] * lacking)
        for test, of_items, of_attempts, of_failed, of_flakes in zip(tests, *sums, strict=True):
            items[test] += of_items
            attempts[test] += of_attempts
            if of_failed:  # often none; a flake is one of them
                failed[test] += of_failed
                flakes[test] += of_flakes


class PeriodAnswers(ChangesAnswers):
    """Answers from `announcement`, `report` and `item`."""

    @cached_property
    def _extents(self) -> dict[tuple[Scope, Period], Period | None]:
        """Those that were asked for: several answers of a page are about the same."""
        return {}

    def extent(self, scope: Scope, period: Period) -> Period | None:
        about = scope, period
        if about not in self._extents:
            self._extents[about] = self._extent(*about)
        return self._extents[about]

    def _extent(self, scope: Scope, period: Period) -> Period | None:
        announced = (self._org, *_ends(period), scope.repo_key, scope.suite)
        rows = self._connection.rows(_ENDS, (*announced, self._scoped(scope)))
        times = [at for row in rows for at in row if at is not None]
        if not times:
            return None
        return Period(codec.from_micros(min(times)), codec.from_micros(max(times)))

    def merges(self, scope: Scope, period: Period) -> Sequence[MergeState]:
        about = scope, period
        if about not in self._read_merges:
            self._read_merges[about] = self._merges(*about)
        return self._read_merges[about]

    @cached_property
    def _read_merges(self) -> dict[tuple[Scope, Period], Sequence[MergeState]]:
        """Those that were asked for, as `_extents`."""
        return {}

    def _merges(self, scope: Scope, period: Period) -> Sequence[MergeState]:
        values = (self._org, *_ends(period), scope.repo_key, scope.suite)
        rows = self._connection.rows(f"{_MERGES} ORDER BY a.number", values)
        return [MergeState(ANNOUNCEMENT.read(row), checks > 0) for checks, *row in rows]

    def merge_counts(self, scope: Scope, period: Period) -> MergeCounts:
        values = (self._org, *_ends(period), scope.repo_key, scope.suite)
        ((unchecked, total),) = self._connection.rows(_MERGE_COUNTS, values)
        return MergeCounts(total - unchecked, total)

    def newest_unchecked(self, scope: Scope, period: Period, most: int) -> Sequence[Merge]:
        values = (self._org, *_ends(period), scope.repo_key, scope.suite, most)
        return [ANNOUNCEMENT.read(row) for _, *row in self._connection.rows(_UNCHECKED, values)]

    def sighted_runs(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[SightedRun]]:
        runs: dict[str, list[SightedRun]] = defaultdict(list)
        rows = self._connection.rows(_SIGHTED, (codec.texts(shas), self._org, repo_key))
        for sha, *row in rows:
            runs[sha].append(_sighted_run(row))
        return runs

    def run_counts(self, scope: Scope, period: Period) -> RunCounts:
        rows = self._summed(
            scope,
            period,
            f"SELECT coalesce(sum(d.infra), 0), coalesce(sum(d.runs), 0) {_DAY_RUNS}",
            f"SELECT coalesce(sum(1 - r.hello_ok), 0), count(*) {REPORTS} {_FIRST_PART}",
        )
        return RunCounts(*map(sum, zip(*rows, strict=True)))

    def run_starts(self, scope: Scope, period: Period) -> RunStarts:
        rows = self._connection.rows(
            f"SELECT r.started_at, r.hello_ok {REPORTS} {_FIRST_PART}",
            (self._scoped(scope), self._org, *_ends(period)),
        )
        infra = sorted(at for at, hello_ok in rows if not hello_ok)
        starts = sorted(at for at, _ in rows)
        return RunStarts([*map(codec.from_micros, infra)], [*map(codec.from_micros, starts)])

    def test_runs(self, scope: Scope, period: Period) -> Sequence[TestRuns]:
        if self.branches is None:
            notable = self._summed(scope, period, _DAY_RESULTS, _NOTABLE)
            lists = self._summed(scope, period, _DAY_LISTS, _LISTS)
        else:  # no day has sums of a branch
            notable = self._of_branches(scope, period, _NOTABLE_BY_BRANCH)
            lists = self._of_branches(scope, period, _LISTS_BY_BRANCH)
        sums: dict[int, Added] = defaultdict(Added)
        for product, results, *of_test in notable:
            if results is not None:
                sums[product].add(*codec.unpack_results(results))
            else:
                sums[product].add(*([int(number)] for number in of_test))
        ran: dict[int, Ran] = defaultdict(Ran)
        for product, test_list, box_key, reports in lists:
            ran[product].add(test_list, box_key, reports)
        return [
            row
            for product, added in sums.items()
            for row in self._product_runs(product, added, ran[product])
        ]

    def test_keys(self, tests: Sequence[StoredTest]) -> Sequence[TestKey]:
        of_product: dict[int, list[int]] = defaultdict(list)
        for product, test in tests:
            of_product[product].append(test)
        names = self._test_names(of_product)
        return [(self._product_of[product], names[product][test]) for product, test in tests]

    def flake_count(self, scope: Scope, period: Period) -> int:
        of_days = f"SELECT coalesce(sum(d.flakes), 0) {_DAY_SUMS}"
        rows = self._summed(scope, period, of_days, f"SELECT count(*) {FLAKY}")
        return sum(flakes for (flakes,) in rows)

    def _summed(
        self, scope: Scope, period: Period, of_days: str, of_edge: str
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a query of whole days, and of one of what is left, of like columns."""
        days, edges = days_of(period)
        products = (self._scoped(scope), self._org)
        values = [*products, days[0], days[-1]] if days else []
        for edge in edges:
            values += [*products, *_ends(edge)]
        queries = [of_days] * bool(days) + [of_edge] * len(edges)
        return self._connection.rows(" UNION ALL ".join(queries), values)

    def _of_branches(self, scope: Scope, period: Period, by_branch: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query by branch and product whose branch counts, without it."""
        values = (self._scoped(scope), self._org, *_ends(period))
        return [
            (product, *row)
            for branch, product, *row in self._connection.rows(by_branch, values)
            if self._has_branch(self._product_of[product].repo_key, branch)
        ]

    def _product_runs(self, product: int, added: Added, ran: Ran) -> list[TestRuns]:
        """Count, for the notable tests of a product, the reports and boxes that ran them."""
        masks = self._connection.masks(self._org, ran.reports)
        reports, boxes = CountedTests(), CountedTests()
        for test_list, times in ran.reports.items():
            reports.add(masks[test_list], times)
        for lists in ran.lists.values():
            boxes.add(reduce(or_, map(masks.__getitem__, lists)), 1)
        sums = added.columns
        tests = len(sums[0])
        keys = zip(repeat(product), range(tests))
        rows = zip(keys, boxes.counts(tests), reports.counts(tests), *sums, strict=True)
        items = sums[0]
        return list(map(TestRuns._make, compress(rows, items)))

    def products(self) -> Sequence[ProductState]:
        return self._states

    @cached_property
    def _states(self) -> Sequence[ProductState]:
        """The products: several answers of a page are about all of them."""
        last: dict[Product, int | None] = dict.fromkeys(self._configs)
        for repo_key, suite, at in self._connection.rows(_NAMED_PRODUCTS, (self._org,)):
            product = Product(repo_key, suite)
            last[product] = last.get(product) if at is None else at
        return [
            ProductState(product, self.config(product), codec.from_micros_or_none(last[product]))
            for product in sorted(last)
        ]

    def unassigned_repositories(self) -> Sequence[str]:
        rows = self._connection.rows(_UNASSIGNED_REPOSITORIES, (self._org,) * 3)
        return sorted(name for (name,) in rows)


def _sighted_run(row: Sequence[Any]) -> SightedRun:
    started_at, run_id, run_attempt, box_key, ci_run_id, sha, ci_run, *sighted = row
    suite, hello_ok, has_tests = sighted
    return SightedRun(
        started_at=codec.from_micros(started_at),
        run_id=run_id,
        run_attempt=run_attempt,
        box_key=box_key,
        ci_run_id=ci_run_id,
        sha=sha,
        sighting=Sighting(suite, bool(hello_ok), bool(has_tests)),
        ci_run=ci_run,
    )


def _ends(period: Period) -> tuple[int, int]:
    return codec.to_micros(period.start), codec.to_micros(period.end)
