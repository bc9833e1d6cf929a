# SPDX-License-Identifier: Apache-2.0
"""What every answer beside the rules begins with: whether the caller may see what is asked for, and
of which runs and merges it is.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, TypeVar

from hwci.analysis.outcomes import RecordedRuns
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from hwci.server.services import Service
from hwci.server.services.access import Viewer
from hwci.server.services.known import known_scope
from hwci.server.storage.ports import Reader
from hwci.wire.endpoint import Endpoint
from hwci.wire.queries import PeriodQuery

Found = TypeVar("Found")
Answers = Mapping[Endpoint, Callable[..., Awaitable[object]]]
"""What answers each endpoint of a subject."""


class Asked(NamedTuple):
    """A history, and which part of it is asked about."""

    history: RecordedRuns
    scope: Scope
    period: Period


def asked(reader: Reader, viewer: Viewer, query: PeriodQuery, period: Period) -> Asked:
    """Return what a query asks about. Raises `HwciServerError`: it is unknown or not the caller's.
    `period`: the days of the query.
    """
    scope = known_scope(reader, viewer, query)
    return Asked(reader.history(viewer.org_id), scope, period)


class Analysis(Service):
    """Answers beside the rules, of one subject."""

    async def _answer(
        self, viewer: Viewer, query: PeriodQuery, work: Callable[[Asked], Found]
    ) -> Found:
        """Return what `work` makes of what is asked about, in one reading."""
        period = self._period(query)

        def look(reader: Reader) -> Found:
            return work(asked(reader, viewer, query, period))

        return await self._storage.read(look, organization=viewer.org_id, person=viewer.id)
