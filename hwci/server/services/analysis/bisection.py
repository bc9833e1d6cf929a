# SPDX-License-Identifier: Apache-2.0
"""Bisections: which commit broke a test, and which run tells most about it (contract, "Answers
beside the rules"). Nothing is kept of one: its answers are the reports of its runs.
"""

from hwci.analysis.bisection import Asked, progress
from hwci.engine.facts import Product
from hwci.engine.periods import last_days
from hwci.server.services import Service
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import asked
from hwci.server.storage.ports import Reader
from hwci.wire.bisection import BisectionQuery, ProgressAnswer


class Bisections(Service):
    """Reads about bisections."""

    async def progress(self, viewer: Viewer, query: BisectionQuery) -> ProgressAnswer:
        """Return how far a bisection is, and its next run."""
        period = last_days(query.days, query.as_of or self._clock())

        def work(reader: Reader) -> ProgressAnswer:
            about = asked(reader, viewer, query, period)
            ends = query.good, query.bad
            wanted = Asked(query.test_id, *ends, query.box_key, at_once=query.boxes)
            product = Product(query.repo_key, query.suite)
            found = progress(about.history, product, period, wanted)
            return ProgressAnswer.of(found, query, period)

        return await self._storage.read(work, organization=viewer.org_id)
