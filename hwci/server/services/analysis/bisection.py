# SPDX-License-Identifier: Apache-2.0
"""Bisections: which commit broke a test, and which run tells most about it (contract, "Answers
beside the rules"). Nothing is kept of one: its answers are the reports of its runs.
"""

from hwci.analysis.flaky.bisection import Asked as Wanted
from hwci.analysis.flaky.bisection import bisection
from hwci.contract.flaky.bisection import Bisection
from hwci.engine.facts import Product
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Answers, Asked
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.services.known import require_known_test
from hwci.wire.analysis.bisection import BisectionQuery
from hwci.wire.endpoints import analysis


class Bisections(Analysis):
    """Reads about bisections."""

    async def progress(self, viewer: Viewer, query: BisectionQuery, tags: Tags) -> Bisection | None:
        """Return how far a bisection is, and its next run."""
        product = Product(query.repo_key, query.suite)
        wanted = Wanted(
            product,
            query.test_id,
            query.good,
            query.bad,
            query.box_key,
            at_once=query.boxes,
            flags=query.more_flags,
        )

        def work(about: Asked) -> Bisection:
            answer = bisection(about.history, about.period, wanted)
            if answer.found is None:
                require_known_test(about.history, product, query.test_id)
            return answer

        return await self._answer(viewer, query, work, tags)


ANSWERS: Answers = {
    analysis.BISECTION: Bisections.progress,
}
