# SPDX-License-Identifier: Apache-2.0
"""One test over a period, and the tests that there are (contract, "Answers beside the rules")."""

from hwci.analysis.failures.incidents import failing_incidents
from hwci.analysis.flaky.suspects import SeenProduct, pending_by_test
from hwci.analysis.one_test import one_test
from hwci.analysis.one_test_words import About, concluded, with_words
from hwci.contract.flaky.one_test import OneTest
from hwci.contract.scope import TestName
from hwci.contract.shape import ListPage
from hwci.engine.calendar import calendar_days
from hwci.engine.facts import Product
from hwci.engine.page.tables import matching
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Answers, asked, bounds, note
from hwci.server.services.analysis.benches import notes_of
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.services.known import known_scope, require_known_test
from hwci.server.storage.ports import Reader
from hwci.wire.analysis.one_test import OneTestQuery, TestNamesQuery
from hwci.wire.endpoints import analysis


class Tests(Analysis):
    """What the runs of one test were."""

    __test__ = False  # pytest: not a test class

    async def show(self, viewer: Viewer, query: OneTestQuery, tags: Tags) -> OneTest | None:
        """Return what a test did on each box."""
        period = self._period(query)
        days = calendar_days(period, query.zone_info)
        product = Product(query.repo_key, query.suite)

        def work(reader: Reader) -> OneTest | None:
            history, scope, _ = of_product = asked(reader, viewer, query, period)
            notes = notes_of(reader, viewer.org_id, period)
            if note(tags, reader, viewer, of_product, notes, bounds(days)):
                return None
            runs = next(iter(history.outcomes(scope, period)), None)
            seen = None if runs is None else SeenProduct(history, runs, notes)
            test = one_test(history, seen, (product, query.test_id), days, query.zone)
            if seen is None or test.all is None:
                require_known_test(history, product, query.test_id)
                return test
            key = product, query.test_id
            pending = pending_by_test(history, [key], period).get(key, [])
            failing = failing_incidents(*of_product, query.test_id) if pending else []
            about = About(seen, query.test_id, pending, failing)
            return with_words(test, concluded(about, test, test.all))

        return await self._storage.read(
            work, organization=viewer.org_id, person=viewer.id, question=tags.question
        )

    async def listed(self, viewer: Viewer, query: TestNamesQuery) -> ListPage[TestName]:
        """List the tests that reports name, by name. No runs are read, so this takes no time."""

        def work(reader: Reader) -> ListPage[TestName]:
            scope, history = known_scope(reader, viewer, query), reader.history(viewer.org_id)
            products = {
                Product(repo_key, suite)
                for repo_key, suite in reader.repositories(viewer.org_id)
                if suite is not None and scope.holds(repo_key, suite)
            }
            names = sorted(
                (test_id, *product)
                for product in products
                for test_id in history.test_names(product, query.where)
            )
            matched = matching(names, query.search, lambda name: name)
            return query.page_of(query.slice_of(matched), _test_name)

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)


ANSWERS: Answers = {
    analysis.ONE_TEST: Tests.show,
    analysis.LIST_TESTS: Tests.listed,
}


def _test_name(name: tuple[str, str, str]) -> TestName:
    test_id, repo_key, suite = name
    return TestName(repo_key=repo_key, suite=suite, test_id=test_id)
