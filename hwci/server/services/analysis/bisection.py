# SPDX-License-Identifier: Apache-2.0
"""Bisections: which commit broke a test, and which run tells most about it (contract, "Answers
beside the rules"). Nothing is kept of one: its answers are the reports of its runs.
"""

from hwci.analysis.flaky.bisection import Asked as Wanted
from hwci.analysis.flaky.bisection import MissingCommit, progress
from hwci.engine.facts import Product
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Asked
from hwci.server.services.known import require_known_test
from hwci.wire.analysis.bisection import BisectionQuery, ProgressAnswer


class Bisections(Analysis):
    """Reads about bisections."""

    async def progress(self, viewer: Viewer, query: BisectionQuery) -> ProgressAnswer:
        """Return how far a bisection is, and its next run."""

        def work(about: Asked) -> ProgressAnswer:
            ends = query.good, query.bad
            wanted = Wanted(query.test_id, *ends, query.box_key, at_once=query.boxes)
            product = Product(query.repo_key, query.suite)
            found = progress(about.history, product, about.period, wanted)
            if isinstance(found, MissingCommit):
                require_known_test(about.history, product, query.test_id)
            return ProgressAnswer.of(found, query, about.period)

        return await self._answer(viewer, query, work)
