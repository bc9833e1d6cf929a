# SPDX-License-Identifier: Apache-2.0
"""One test over a period, and the tests that there are (contract, "Answers beside the rules")."""

from typing import NamedTuple

from hwci.analysis.failures.incidents import failing_incidents
from hwci.analysis.flaky.suspects import pending_by_test
from hwci.analysis.one_test import one_test
from hwci.analysis.one_test_words import About, concluded
from hwci.contract.shape import ListPage
from hwci.engine.calendar import calendar_days
from hwci.engine.facts import Product
from hwci.engine.page.tables import matching
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, asked
from hwci.server.services.analysis.benches import notes_of
from hwci.server.services.known import known_scope, require_known_test
from hwci.server.storage.ports import Reader
from hwci.wire.analysis.one_test import OneTestAnswer, OneTestQuery, TestNameAnswer, TestNamesQuery


class _Named(NamedTuple):
    """A test of a product."""

    test_id: str
    repo_key: str
    suite: str


class Tests(Analysis):
    """What the runs of one test were."""

    __test__ = False  # pytest: not a test class

    async def show(self, viewer: Viewer, query: OneTestQuery) -> OneTestAnswer:
        """Return what a test did on each box."""
        period = self._period(query)
        days = calendar_days(period, query.zone_info)
        product = Product(query.repo_key, query.suite)

        def work(reader: Reader) -> OneTestAnswer:
            history, scope, _ = seen = asked(reader, viewer, query, period)
            runs = next(iter(history.outcomes(scope, period)), None)
            test = one_test(history, runs, query.test_id, days)
            if runs is None or test.all is None:
                require_known_test(history, product, query.test_id)
                return OneTestAnswer.of(test, None, query, days)
            pending = pending_by_test(history, scope, period).get((product, query.test_id), [])
            notes = notes_of(reader, viewer, period)
            failing = failing_incidents(*seen, query.test_id) if pending else []
            about = About(history, runs, query.test_id, pending, failing, notes)
            says = concluded(about, test, test.all)
            return OneTestAnswer.of(test, says, query, days)

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)

    async def listed(self, viewer: Viewer, query: TestNamesQuery) -> ListPage[TestNameAnswer]:
        """List the tests that reports name, by name. No runs are read, so this takes no time."""

        def work(reader: Reader) -> ListPage[TestNameAnswer]:
            scope, history = known_scope(reader, viewer, query), reader.history(viewer.org_id)
            products = {
                Product(repo_key, suite)
                for repo_key, suite in reader.repositories(viewer.org_id)
                if suite is not None and scope.holds(repo_key, suite)
            }
            rows = sorted(
                _Named(name, *product)
                for product in products
                for name in history.test_names(product, query.where)
            )
            found = matching(rows, query.search, lambda row: row)
            return query.page_of(query.slice_of(found), TestNameAnswer.model_validate)

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)
