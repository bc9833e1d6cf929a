# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""What tests did by box and slot, only for the tests of a page.

Which of them a report ran is in its test list, which most reports share; what is not a pass at the
first attempt has rows of its own. The database computes slots as `periods.Slots` does.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from hwci.engine.derived.rows import tests_in
from hwci.engine.facts import Product, TestKey
from hwci.engine.history import BoxRuns, Notable
from hwci.engine.periods import Slots
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.history.answers import Answers
from hwci.server.storage.sql.reports import names

_SLOT = "CASE WHEN {at} >= ?1 THEN ?2 - 1 ELSE ({at} - ?3) * ?2 / (?1 - ?3) END AS slot"
_OF_PERIOD = "{row}.org_id = ?4 AND {row}.product_id = ?5 AND {row}.started_at BETWEEN ?3 AND ?1"
_REPORTS = (
    f"SELECT r.template_id, r.box_key, {_SLOT.format(at='r.started_at')}, count(*)"
    f" FROM report r INDEXED BY report_time WHERE {_OF_PERIOD.format(row='r')}"
    " AND r.hello_ok = 1 GROUP BY r.template_id, r.box_key, slot"
)
_NOTABLE = (
    f"SELECT i.test, r.box_key, {_SLOT.format(at='i.started_at')},"
    " count(*), sum(i.attempts), sum(i.outcome)"
    " FROM item i INDEXED BY item_time"
    " CROSS JOIN report r ON r.org_id = i.org_id AND r.id = i.report_id"
    f" WHERE {_OF_PERIOD.format(row='i')}"
    " AND i.counted = 1 AND (i.outcome = 1 OR i.attempts > 1)"
    " AND i.test IN (SELECT j.value FROM json_each(?6) j)"
    " GROUP BY i.test, r.box_key, slot"
)


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

    def _runs_of(
        self, product: Product, test_ids: Sequence[str], slots: Slots
    ) -> Iterable[BoxRuns]:
        number = self._products[product]
        known = names.of_names(self._connection, self._org, number, test_ids)
        name_of = {test: name for name, test in known.items()}
        period = codec.to_micros(slots.period.end), slots.count, codec.to_micros(slots.period.start)
        values = (*period, self._org, number)
        found = self._connection.rows(_NOTABLE, (*values, codec.numbers(name_of)))
        notable = {Cell(*row[:3]): Notable(*row[3:]) for row in found}
        for cell, reports in self._reports(values, codec.mask_of(list(name_of))).items():
            of_cell = notable.get(cell, Notable())
            yield BoxRuns(product, name_of[cell.test], *cell[1:], reports, of_cell)

    def _reports(self, values: tuple[object, ...], wanted: int) -> Counter[Cell]:
        """Count the reports that ran each of the wanted tests, by box and slot."""
        tests_of: dict[int, list[int]] = {}
        counts: Counter[Cell] = Counter()
        for template, box_key, slot, reports in self._connection.rows(_REPORTS, values):
            if template not in tests_of:
                tests = self._connection.mask(self._org, template) & wanted
                tests_of[template] = list(tests_in(tests))
            for test in tests_of[template]:
                counts[Cell(test, box_key, slot)] += reports
        return counts
