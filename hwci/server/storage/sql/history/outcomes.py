# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""What each run of a period did, for statistics: its tests, and the results that are notable.

The digests of reports, their test lists, and of reports that were not read before the rest and the
notable items are one statement each, and test names one for each product, however many runs there
are.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache, reduce
from operator import itemgetter, or_
from sys import intern
from typing import NamedTuple

from hwci.analysis.outcomes import ProductOutcomes, RunOutcomes
from hwci.contract.runs.runs import TestResult
from hwci.contract.vocabulary import Trigger
from hwci.engine.facts import Lane, Product
from hwci.engine.history import ANYWHERE, EVERYTHING, Scope, Where
from hwci.engine.periods import Period
from hwci.engine.test_sets import mask_of, tests_in
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.columns import selected
from hwci.server.storage.sql.history.answers import NOTABLE, REPORTS, Answers
from hwci.server.storage.sql.history.kept_runs import KeptRuns, ListedTests, ReadReport
from hwci.server.storage.sql.reports.narrowed import of_reports


class _Named(NamedTuple):
    """What a report is known by."""

    product_id: int
    id: int
    digest: bytes
    template_id: int


class _Row(NamedTuple):
    """A row of `report`, as its columns."""

    id: int
    started_at: int
    run_attempt: int
    box_key: str
    ended_at: int
    ci_run_id: int
    workflow: str
    trigger: str
    branch: str
    sha: str
    hello_ok: int
    rerun_of: int | None
    part: int | None
    boards: bytes | None


_IN_ORDER = "ORDER BY r.started_at, r.run_id, r.run_attempt, r.box_key"
_NAMED = f"SELECT {selected('r', _Named._fields)} {REPORTS} {_IN_ORDER}"
_ROWS = f"""
SELECT {selected("r", _Row._fields)}
FROM json_each(?) j
CROSS JOIN report r ON r.org_id = ? AND r.id = j.value
"""
_RESULTS = f"""
SELECT i.report_id, i.test, i.outcome, i.attempts, i.verdict
FROM json_each(?) j
CROSS JOIN item i ON i.org_id = ? AND i.report_id = j.value
WHERE {NOTABLE}
"""
_LISTED = f"""
SELECT r.product_id, r.branch, r.sha, r.box_key, r.hello_ok, r.template_id
{REPORTS}
{_IN_ORDER}
"""
_TEST_LISTS = """
SELECT t.id, t.tests
FROM json_each(?) j
CROSS JOIN template t ON t.org_id = ? AND t.id = j.value
"""
_OF_PRODUCT = """
FROM report r INDEXED BY report_time
WHERE r.org_id = ?1 AND r.product_id = ?2 AND r.started_at BETWEEN ?3 AND ?4 AND r.hello_ok = 1
"""
_TEMPLATES = f"SELECT DISTINCT r.template_id{_OF_PRODUCT}"
_DURATIONS = f"""
SELECT r.box_key, r.template_id, r.durations
{_OF_PRODUCT} AND r.template_id IN (SELECT j.value FROM json_each(?5) j)
  AND NOT EXISTS (
    SELECT 1
    FROM item i
    WHERE i.org_id = r.org_id AND i.report_id = r.id AND i.test = ?6 AND {NOTABLE}
  )
"""
_BOXES = f"SELECT DISTINCT r.box_key {REPORTS}"
_CI_PAGE = """
SELECT r.ci_url
FROM report r INDEXED BY report_time
WHERE r.org_id = ?1 AND r.product_id = ?2 AND r.started_at BETWEEN ?3 AND ?4
  AND r.ci_url IS NOT NULL
ORDER BY r.started_at DESC, r.run_id DESC, r.run_attempt DESC, r.box_key DESC LIMIT 1
"""
_NAMES = "SELECT name FROM test WHERE org_id = ? AND product_id = ?"
_RAN = "SELECT DISTINCT r.template_id FROM report r WHERE r.org_id = ? AND r.product_id = ?"
_TIME_EVERY = 1000  # reports
_RESULTS_SHARED = 256  # few differ

_KEPT = KeptRuns()


class OutcomeAnswers(Answers):
    """Answers from `report`, `template` and `item`, of every run."""

    def outcomes(self, scope: Scope, period: Period) -> Sequence[ProductOutcomes]:
        wanted = {(product, period) for product in self._products if scope.holds(*product)}
        unread = wanted - self._answered.keys()
        if unread:
            self._answered.update(dict.fromkeys(unread))
            for of_product in self._outcomes({product for product, _ in unread}, period):
                self._answered[of_product.product, period] = of_product
        runs = [runs for key in sorted(wanted, key=itemgetter(0)) if (runs := self._answered[key])]
        if self.branches is None:
            return runs
        return [there for product in runs if (there := product.on(self.branches))]

    @cached_property
    def _answered(self) -> dict[tuple[Product, Period], ProductOutcomes | None]:
        """The runs of products and periods that were asked for: several answers of a page are
        about the same.
        """
        return {}

    def _outcomes(self, products: Collection[Product], period: Period) -> Sequence[ProductOutcomes]:
        ends = codec.to_micros(period.start), codec.to_micros(period.end)
        values = (codec.numbers(map(self._products.__getitem__, products)), self._org, *ends)
        named = [*map(_Named._make, self._connection.rows(_NAMED, values))]
        of_products: dict[int, list[ReadReport]] = defaultdict(list)
        for row, report in zip(named, self._reports_of(named), strict=True):
            of_products[row.product_id].append(report)
        return [
            self._of_product(self._product_of[number], reports)
            for number, reports in of_products.items()
        ]

    def _reports_of(self, named: Sequence[_Named]) -> Sequence[ReadReport]:
        """Return these reports; those that are not kept are read."""
        lists = self._test_lists({row.template_id for row in named})
        known = [_KEPT.report(row.digest, lists[row.template_id]) for row in named]
        unread = {
            row.id: lists[row.template_id]
            for row, report in zip(named, known, strict=True)
            if report is None
        }
        read = self._read_reports(unread) if unread else {}
        reports = [report or read[row.id] for row, report in zip(named, known, strict=True)]
        if read:
            _KEPT.keep({row.digest: report for row, report in zip(named, reports, strict=True)})
        return reports

    def _read_reports(self, unread: Mapping[int, ListedTests]) -> Mapping[int, ReadReport]:
        """Read reports with these lists, by their ids."""
        values = codec.numbers(unread), self._org
        notable: dict[int, dict[int, TestResult]] = defaultdict(dict)
        for report, test, *result in self._connection.rows(_RESULTS, values):
            notable[report][test] = _result(*result)
        reports: dict[int, ReadReport] = {}
        for row in map(_Row._make, self._connection.rows(_ROWS, values)):
            if len(reports) % _TIME_EVERY == 0:
                self.check_time()
            results = notable.get(row.id, {}) if row.hello_ok else {}
            tests = unread[row.id]
            reports[row.id] = ReadReport(row.part, tests, _outcomes(row, tests, results))
        return reports

    def commits_run(
        self, lanes: Collection[Lane], period: Period
    ) -> Mapping[Lane, Mapping[str, int]]:
        commits: dict[Lane, Mapping[str, int]] = {lane: {} for lane in lanes}
        products = self._products
        numbers = {lane: products[lane.product] for lane in lanes if lane.product in products}
        ids: dict[int, set[str]] = defaultdict(set)
        for lane, product in numbers.items():
            ids[product].add(lane.test_id)
        tests = {product: self._test_numbers(product, some) for product, some in ids.items()}
        ends = codec.to_micros(period.start), codec.to_micros(period.end)
        rows = self._connection.rows(_LISTED, (codec.numbers(ids), self._org, *ends))
        order: dict[tuple[int, str], dict[str, int]] = defaultdict(dict)
        ran: dict[tuple[int, str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for product, branch, sha, box_key, hello_ok, template in rows:
            places = order[product, branch]
            places.setdefault(sha, len(places))
            if hello_ok:
                ran[product, branch, box_key][sha] |= self._connection.mask(self._org, template)
        for lane, product in numbers.items():
            bit = 1 << tests[product][lane.test_id] if lane.test_id in tests[product] else 0
            masks, places = ran[product, lane.branch, lane.box_key], order[product, lane.branch]
            commits[lane] = {sha: places[sha] for sha, mask in masks.items() if mask & bit}
        return commits

    def durations(
        self, product: Product, test_id: str, period: Period
    ) -> Sequence[tuple[str, float]]:
        number = self._products.get(product)
        if number is None:
            return []
        test = self._test_numbers(number, [test_id]).get(test_id)
        ends = codec.to_micros(period.start), codec.to_micros(period.end)
        values = (self._org, number, *ends)
        templates = {number for (number,) in self._connection.rows(_TEMPLATES, values)}
        lists = self._test_lists(templates)
        places = {
            template: listed.order.index(test)
            for template, listed in lists.items()
            if test is not None and listed.tests >> test & 1
        }
        rows = self._connection.rows(_DURATIONS, (*values, codec.numbers(places), test))
        return [(box, codec.duration_at(packed, places[at])) for box, at, packed in rows]

    def boxes_with_runs(self, scope: Scope, period: Period) -> Collection[str]:
        ends = codec.to_micros(period.start), codec.to_micros(period.end)
        numbers = [number for product, number in self._products.items() if scope.holds(*product)]
        rows = self._connection.rows(_BOXES, (codec.numbers(numbers), self._org, *ends))
        return {box for (box,) in rows}

    def ci_pages(self, scope: Scope, period: Period) -> Sequence[str]:
        ends = codec.to_micros(period.start), codec.to_micros(period.end)
        return [
            page
            for product, number in sorted(self._products.items())
            if scope.holds(*product)
            for (page,) in self._connection.rows(_CI_PAGE, (self._org, number, *ends))
        ]

    def test_names(self, product: Product, where: Where = ANYWHERE) -> Collection[str]:
        number = self._products.get(product)
        if number is None:
            return ()
        values = (self._org, number)
        if where == ANYWHERE:
            return {name for (name,) in self._connection.rows(_NAMES, values)}
        reports = of_reports(self._org, EVERYTHING, where)
        rows = self._connection.rows(_RAN + reports.statement, (*values, *reports.values))
        lists = self._test_lists({template for (template,) in rows}).values()
        ran = reduce(or_, (listed.tests for listed in lists), 0)
        return [*self._test_names({number: [*tests_in(ran)]})[number].values()]

    def _of_product(self, product: Product, reports: Sequence[ReadReport]) -> ProductOutcomes:
        ran = reduce(or_, (tests.tests for tests in {report.tests for report in reports}))
        number = self._products[product]
        tests = self._test_names({number: [*tests_in(ran)]})[number]
        wholes: dict[object, list[ReadReport]] = {}
        for index, report in enumerate(reports):
            whole = index if report.part is None else _whole(report.run)
            wholes.setdefault(whole, []).append(report)
        runs = [some[0].run if len(some) == 1 else _joined(some) for some in wholes.values()]
        return ProductOutcomes(product, tests, runs)

    def _test_lists(self, templates: set[int]) -> Mapping[int, ListedTests]:
        rows = self._connection.rows(_TEST_LISTS, (codec.numbers(templates), self._org))
        return {number: _KEPT.listed(packed) for number, packed in rows}


def _whole(run: RunOutcomes) -> object:
    """Return what the parts of a run share."""
    return run.ci_run_id, run.run_attempt, run.box_key, run.branch, run.sha


def _joined(reports: Sequence[ReadReport]) -> RunOutcomes:
    """Return the run of these parts."""
    in_order = sorted(reports, key=lambda report: report.part or 1)
    return RunOutcomes.of_parts([report.run for report in in_order])


@lru_cache(maxsize=_RESULTS_SHARED)
def _result(outcome: int, attempts: int, verdict: int) -> TestResult:
    return TestResult(codec.OUTCOMES[outcome], attempts, codec.VERDICTS[verdict])


def _outcomes(row: _Row, tests: ListedTests, notable: Mapping[int, TestResult]) -> RunOutcomes:
    return RunOutcomes(
        started_at=codec.from_micros(row.started_at),
        ended_at=codec.from_micros(row.ended_at),
        ci_run_id=row.ci_run_id,
        run_attempt=row.run_attempt,
        rerun_of=row.rerun_of,
        box_key=intern(row.box_key),
        workflow=intern(row.workflow),
        trigger=Trigger(row.trigger),
        branch=intern(row.branch),
        sha=intern(row.sha),
        hello_ok=bool(row.hello_ok),
        ran=tests.tests,
        order=tests.order,
        notable=notable,
        boards=_boards(row.boards, tests.order) if row.boards else _NO_BOARDS,
    )


_NO_BOARDS: Mapping[str, int] = {}


def _boards(packed: bytes, order: Sequence[int]) -> Mapping[str, int]:
    """Return the tests of each board that a report names."""
    tests: dict[str, list[int]] = defaultdict(list)
    for test, board in zip(order, codec.unpack_texts(packed, len(order)), strict=True):
        if board is not None:
            tests[intern(board)].append(test)
    return {board: mask_of(ran) for board, ran in tests.items()}
