# SPDX-License-Identifier: Apache-2.0
"""What every group of answers shares: the connection, the organization, and its products."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any
from uuid import UUID

from hwci.analysis.outcomes import Branches
from hwci.engine.facts import Product
from hwci.engine.history import Scope
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.connection import Connection
from hwci.server.storage.sql.reports import names

REPORTS = """
FROM json_each(?) j
CROSS JOIN report r INDEXED BY report_time
  ON r.org_id = ? AND r.product_id = j.value AND r.started_at BETWEEN ? AND ?
"""
"""The reports of products in a period."""
ITEMS = "CROSS JOIN item i ON i.org_id = r.org_id AND i.report_id = r.id"
"""The items of each of these reports."""
NOTABLE = "(i.outcome = 1 OR i.attempts > 1)"
"""An item that is no pass at the first attempt."""
AT_ONCE = 100
"""A statement about some failures has so many places for them."""


class Answers:
    """Answers about one organization, within one transaction. `branches`: of which branches the
    runs are that `on_branches` names; None: of all.
    """

    branches: Branches | None = None

    def __init__(self, connection: Connection, org_id: UUID) -> None:
        self._connection = connection
        self.org_id = org_id
        self._org = org_id.bytes
        self.check_time = connection.check_time
        self._names: dict[int, dict[int, str]] = defaultdict(dict)
        self._tests: dict[int, dict[str, int]] = defaultdict(dict)

    def _has_branch(self, repo_key: str, branch: str) -> bool:
        """Whether the runs of a branch count."""
        return self.branches is None or self.branches(repo_key, branch)

    @cached_property
    def _products(self) -> Mapping[Product, int]:
        """Return the number of each product that ever had a report."""
        rows = self._connection.rows(
            "SELECT repo_key, suite, id FROM product WHERE org_id = ?", (self._org,)
        )
        return {Product(repo_key, suite): number for repo_key, suite, number in rows}

    @cached_property
    def _product_of(self) -> Mapping[int, Product]:
        return {number: product for product, number in self._products.items()}

    def _scoped(self, scope: Scope) -> codec.Numbers:
        """Return the products of a scope as the list that a query reads with `json_each`."""
        return codec.numbers(
            number for product, number in self._products.items() if scope.holds(*product)
        )

    def _rows_of_some(
        self, statement: str, failures: Iterable[UUID], *values: object
    ) -> Iterator[Sequence[Any]]:
        """Yield the rows of a statement of some failures, for as many as it has places for."""
        ids = iter([failure.bytes for failure in failures])
        while some := list(islice(ids, AT_ONCE)):
            some += some[-1:] * (AT_ONCE - len(some))  # the statement has that many places
            yield self._connection.rows(statement, (self._org, *some, *values))

    def _test_names(self, tests: Mapping[int, Collection[int]]) -> Mapping[int, Mapping[int, str]]:
        """Return the names of these tests by product; each is read once."""
        known = self._names
        unread = {product: {*some} - known[product].keys() for product, some in tests.items()}
        for product, read in names.of_tests(self._connection, self._org, unread).items():
            self._learn(product, read.items())
        return {
            product: {test: known[product][test] for test in some}
            for product, some in tests.items()
        }

    def _test_numbers(self, product: int, ids: Collection[str]) -> Mapping[str, int]:
        """Return the numbers of those of these tests of a product that are known."""
        known = self._tests[product]
        if unread := set(ids) - known.keys():
            read = names.of_names(self._connection, self._org, product, unread)
            self._learn(product, [(number, name) for name, number in read.items()])
        return {name: known[name] for name in ids if name in known}

    def _learn(self, product: int, tests: Iterable[tuple[int, str]]) -> None:
        for number, name in tests:
            self._names[product][number] = name
            self._tests[product][name] = number
