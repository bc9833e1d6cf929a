# SPDX-License-Identifier: Apache-2.0
"""What every group of answers shares: the connection, the organization, and its products."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from uuid import UUID

from hwci.engine.facts import Product
from hwci.engine.history import Scope
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.connection import Connection
from hwci.server.storage.sql.reports import names

REPORTS = (
    "FROM json_each(?) j CROSS JOIN report r INDEXED BY report_time"
    " ON r.org_id = ? AND r.product_id = j.value AND r.started_at BETWEEN ? AND ?"
)
"""The reports of products in a period."""
ITEMS = "CROSS JOIN item i ON i.org_id = r.org_id AND i.report_id = r.id"
"""The items of each of these reports."""
NOTABLE = "(i.outcome = 1 OR i.attempts > 1)"
"""An item that is no pass at the first attempt."""


class Answers:
    """Answers about one organization, within one transaction."""

    def __init__(self, connection: Connection, org_id: UUID) -> None:
        self._connection = connection
        self._org = org_id.bytes
        self.check_time = connection.check_time

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

    def _test_names(self, product: int, tests: Iterable[int]) -> Mapping[int, str]:
        """Return the names of these tests of a product."""
        return names.of_tests(self._connection, self._org, product, tests)
