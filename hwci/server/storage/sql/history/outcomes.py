# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""What each run of a period did, for statistics: its tests, and the results that are notable.

Reports, their test lists, notable items and test names are one statement each (names: one for each
product), however many runs there are.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from operator import itemgetter, or_
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
from hwci.server.storage.sql.history.answers import ITEMS, NOTABLE, REPORTS, Answers
from hwci.server.storage.sql.reports.narrowed import of_reports


class _Run(NamedTuple):
    """A row of `report`, as its columns. Runs compare in their order (semantics, 5.1)."""

    product_id: int
    started_at: int
    run_id: int
    run_attempt: int
    box_key: str
    id: int
    ended_at: int
    ci_run_id: int
    workflow: str
    trigger: str
    branch: str
    sha: str
    hello_ok: int
    rerun_of: int | None
    part: int | None
    template_id: int


_REPORTS = f"SELECT {selected('r', _Run._fields)} {REPORTS}"
_NOTABLE = f"""
SELECT r.id, i.test, i.outcome, i.attempts, i.verdict
{REPORTS}
{ITEMS}
WHERE r.hello_ok = 1 AND {NOTABLE}
"""
_LISTED = f"""
SELECT r.branch, r.sha, r.box_key, r.hello_ok, r.template_id
{REPORTS}
ORDER BY r.started_at, r.run_id, r.run_attempt, r.box_key
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

Notable = Mapping[int, Mapping[int, TestResult]]
"""Notable results by report and test."""


class Listed(NamedTuple):
    """The tests of a report, in order and as a set."""

    order: Sequence[int]
    tests: int


class OutcomeAnswers(Answers):
    """Answers from `report`, `template` and `item`, of every run."""

    def outcomes(self, scope: Scope, period: Period) -> Sequence[ProductOutcomes]:
        wanted = {(product, period) for product in self._products if scope.holds(*product)}
        unread = wanted - self._read.keys()
        if unread:
            self._read.update(dict.fromkeys(unread))
            for of_product in self._outcomes({product for product, _ in unread}, period):
                self._read[of_product.product, period] = of_product
        return [runs for key in sorted(wanted, key=itemgetter(0)) if (runs := self._read[key])]

    @cached_property
    def _read(self) -> dict[tuple[Product, Period], ProductOutcomes | None]:
        """The runs of products and periods that were asked for: several answers of a page are
        about the same.
        """
        return {}

    def _outcomes(self, products: Collection[Product], period: Period) -> Sequence[ProductOutcomes]:
        ends = codec.to_micros(period.start), codec.to_micros(period.end)
        values = (codec.numbers(map(self._products.__getitem__, products)), self._org, *ends)
        runs: dict[int, list[_Run]] = defaultdict(list)
        for run in map(_Run._make, self._connection.rows(_REPORTS, values)):
            runs[run.product_id].append(run)
        lists = self._test_lists({run.template_id for some in runs.values() for run in some})
        notable = self._notable(values)
        return [
            self._of_product(self._product_of[number], sorted(of_product), lists, notable)
            for number, of_product in runs.items()
        ]

    def commits_run(
        self, lanes: Collection[Lane], period: Period
    ) -> Mapping[Lane, Mapping[str, int]]:
        commits: dict[Lane, Mapping[str, int]] = {lane: {} for lane in lanes}
        of_products: dict[Product, list[Lane]] = defaultdict(list)
        for lane in lanes:
            of_products[lane.product].append(lane)
        for product, some in of_products.items():
            if product in self._products:
                commits.update(self._commits_run(self._products[product], some, period))
        return commits

    def _commits_run(
        self, product: int, lanes: Sequence[Lane], period: Period
    ) -> Iterator[tuple[Lane, Mapping[str, int]]]:
        ids = {lane.test_id for lane in lanes}
        tests = self._test_numbers(product, ids)
        ends = codec.to_micros(period.start), codec.to_micros(period.end)
        values = (codec.numbers([product]), self._org, *ends)
        order: dict[str, dict[str, int]] = defaultdict(dict)
        ran: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for branch, sha, box_key, hello_ok, template in self._connection.rows(_LISTED, values):
            order[branch].setdefault(sha, len(order[branch]))
            if hello_ok:
                ran[branch, box_key][sha] |= self._connection.mask(self._org, template)
        for lane in lanes:
            bit = 1 << tests[lane.test_id] if lane.test_id in tests else 0
            masks, numbers = ran[lane.branch, lane.box_key], order[lane.branch]
            yield lane, {sha: numbers[sha] for sha, mask in masks.items() if mask & bit}

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
        return [*self._test_names(number, [*tests_in(ran)]).values()]

    def _of_product(
        self,
        product: Product,
        runs: Sequence[_Run],
        lists: Mapping[int, Listed],
        notable: Notable,
    ) -> ProductOutcomes:
        templates = {run.template_id for run in runs}
        ran = reduce(or_, (lists[template].tests for template in templates))
        tests = self._test_names(self._products[product], [*tests_in(ran)])
        parts: dict[object, list[_Run]] = {}
        for index, run in enumerate(runs):
            of_run = run.ci_run_id, run.run_attempt, run.box_key, run.branch, run.sha
            parts.setdefault(index if run.part is None else of_run, []).append(run)
        outcomes = []
        for index, some in enumerate(parts.values()):
            if index % _TIME_EVERY == 0:
                self.check_time()
            in_order = sorted(some, key=lambda run: run.part or 1)
            outcomes.append(
                RunOutcomes.of_parts(
                    [
                        _outcomes(run, lists[run.template_id], notable.get(run.id, {}))
                        for run in in_order
                    ]
                )
            )
        return ProductOutcomes(product, tests, outcomes)

    def _test_lists(self, templates: set[int]) -> Mapping[int, Listed]:
        rows = self._connection.rows(_TEST_LISTS, (codec.numbers(templates), self._org))
        orders = {number: codec.unpack_numbers(tests) for number, tests in rows}
        return {number: Listed(order, mask_of(order)) for number, order in orders.items()}

    def _notable(self, values: tuple[object, ...]) -> Notable:
        notable: dict[int, dict[int, TestResult]] = defaultdict(dict)
        results: dict[object, TestResult] = {}
        for report, test, outcome, attempts, verdict in self._connection.rows(_NOTABLE, values):
            key = outcome, attempts, verdict
            if key not in results:  # few differ
                results[key] = TestResult(
                    codec.OUTCOMES[outcome], attempts, codec.VERDICTS[verdict]
                )
            notable[report][test] = results[key]
        return notable


def _outcomes(run: _Run, listed: Listed, notable: Mapping[int, TestResult]) -> RunOutcomes:
    return RunOutcomes(
        started_at=codec.from_micros(run.started_at),
        ended_at=codec.from_micros(run.ended_at),
        ci_run_id=run.ci_run_id,
        run_attempt=run.run_attempt,
        rerun_of=run.rerun_of,
        box_key=run.box_key,
        workflow=run.workflow,
        trigger=Trigger(run.trigger),
        branch=run.branch,
        sha=run.sha,
        hello_ok=bool(run.hello_ok),
        ran=listed.tests,
        order=listed.order,
        notable=notable,
    )
