# SPDX-License-Identifier: Apache-2.0
"""One test over a period (contract, "Answers beside the rules")."""

from hwci.analysis.one_test import one_test
from hwci.engine.facts import Product
from hwci.engine.periods import last_days, slots_of
from hwci.server.services import Service
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import asked
from hwci.server.services.analysis.statistics import has_statistics
from hwci.server.services.known import require_known_test
from hwci.server.storage.ports import Reader
from hwci.wire.one_test import OneTestAnswer, OneTestQuery


class Tests(Service):
    """What the runs of one test were."""

    __test__ = False  # pytest: not a test class

    async def show(self, viewer: Viewer, query: OneTestQuery) -> OneTestAnswer:
        """Return what a test did on each box."""
        slots = slots_of(query.days, last_days(query.days, query.as_of or self._clock()))
        product = Product(query.repo_key, query.suite)

        def work(reader: Reader) -> OneTestAnswer:
            history = asked(reader, viewer, query, slots.period).history
            found = one_test(history, product, query.test_id, slots, statistics=has_statistics())
            if found.all is None:
                require_known_test(history, product, query.test_id)
            return OneTestAnswer.of(found, query, slots)

        return await self._storage.read(work, organization=viewer.org_id)
