# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""What tests did by box and slot, only for the tests of a page.

Which of them a report ran is in its test list, which most reports share; what is not a pass at the
first attempt has rows of its own. Slots are of any width, and a list of them takes a database
longer to join than it takes here to look one up.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from hwci.engine.facts import Product, TestKey
from hwci.engine.history import BoxRuns, Notable
from hwci.engine.periods import Period, Slots
from hwci.engine.test_sets import mask_of, tests_in
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.history.answers import ITEMS, NOTABLE, Answers

_OF_PERIOD = """
WHERE r.org_id = ?1 AND r.product_id = ?2 AND r.started_at BETWEEN ?3 AND ?4 AND r.hello_ok = 1
"""
_REPORTS = f"""
SELECT r.template_id, r.box_key, r.started_at, r.branch
FROM report r INDEXED BY report_time
{_OF_PERIOD}
"""
_BOXES = f"""
SELECT DISTINCT r.template_id, r.box_key
FROM report r INDEXED BY report_time
{_OF_PERIOD}
"""
_NOTABLE = f"""
SELECT i.test, r.box_key, r.started_at, i.attempts, i.outcome, r.branch
FROM report r INDEXED BY report_time
{ITEMS}
{_OF_PERIOD} AND {NOTABLE} AND +i.test IN (SELECT j.value FROM json_each(?5) j)
"""


class Cell(NamedTuple):
    """A test on a box in a slot."""

    test: int
    box_key: str
    slot: int


class BoxAnswers(Answers):
    """Answers from `report` and `item`, by box."""

    def box_runs(self, tests: Collection[TestKey], slots: Slots) -> Sequence[BoxRuns]:
        by_product: dict[Product, list[str]] = defaultdict(list)
        for product, test_id in tests:
            by_product[product].append(test_id)
        return [
            runs
            for product, test_ids in by_product.items()
            if product in self._products
            for runs in self._runs_of(product, test_ids, slots)
        ]

    def ran_on(
        self, tests: Collection[TestKey], period: Period
    ) -> Mapping[TestKey, Collection[str]]:
        ran_on: dict[TestKey, Collection[str]] = dict.fromkeys(tests, frozenset())
        ends = codec.to_micros(period.start), codec.to_micros(period.end)
        of_product: dict[Product, set[str]] = defaultdict(set)
        for product, test_id in tests:
            of_product[product].add(test_id)
        for product in of_product.keys() & self._products.keys():
            number = self._products[product]
            rows = self._connection.rows(_BOXES, (self._org, number, *ends))
            masks = self._connection.masks(self._org, {template for template, _ in rows})
            ran: dict[str, int] = defaultdict(int)
            for template, box_key in rows:
                ran[box_key] |= masks[template]
            for name, test in self._test_numbers(number, of_product[product]).items():
                ran_on[product, name] = {box for box, those in ran.items() if those >> test & 1}
        return ran_on

    def _runs_of(
        self, product: Product, test_ids: Sequence[str], slots: Slots
    ) -> Iterable[BoxRuns]:
        number = self._products[product]
        known = self._test_numbers(number, test_ids)
        name_of = {test: name for name, test in known.items()}
        starts = [codec.to_micros(start) for start in slots.starts]
        values = self._org, number, starts[0], codec.to_micros(slots.period.end)
        notable: dict[Cell, Notable] = {}
        rows = self._connection.rows(_NOTABLE, (*values, codec.numbers(name_of)))
        alike = Counter(
            (test, box_key, bisect_right(starts, started_at) - 1, attempts, outcome)
            for test, box_key, started_at, attempts, outcome, branch in rows
            if self._has_branch(product.repo_key, branch)
        )
        for (test, box_key, slot, attempts, outcome), times in alike.items():
            cell = Cell(test, box_key, slot)
            items, tried, failed = notable.get(cell, Notable())
            notable[cell] = Notable(
                items + times, tried + times * attempts, failed + times * outcome
            )
        ran = [
            (template, box_key, started_at)
            for template, box_key, started_at, branch in self._connection.rows(_REPORTS, values)
            if self._has_branch(product.repo_key, branch)
        ]
        for cell, reports in self._reports(ran, starts, mask_of(list(name_of))).items():
            of_cell = notable.get(cell, Notable())
            yield BoxRuns(product, name_of[cell.test], *cell[1:], reports, of_cell)

    def _reports(
        self, reports: Sequence[tuple[int, str, int]], starts: Sequence[int], wanted: int
    ) -> Counter[Cell]:
        """Count those of these reports that ran each of the wanted tests, by box and slot."""
        tests_of: dict[int, list[int]] = {}
        counts: Counter[Cell] = Counter()
        ran = Counter(
            (template, box_key, bisect_right(starts, started_at) - 1)
            for template, box_key, started_at in reports
        )
        for (template, box_key, slot), times in ran.items():
            if template not in tests_of:
                tests = self._connection.mask(self._org, template) & wanted
                tests_of[template] = list(tests_in(tests))
            for test in tests_of[template]:
                counts[Cell(test, box_key, slot)] += times
        return counts
