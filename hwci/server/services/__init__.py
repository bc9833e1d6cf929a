# SPDX-License-Identifier: Apache-2.0
"""Use cases. They know neither the web framework nor SQL."""

from hwci.engine.periods import Period, last_days
from hwci.server.clock import Clock
from hwci.server.storage.ports import Storage
from hwci.wire.queries import PeriodQuery, PlanQuery


class Service:
    """Use cases over one storage, at the time of a clock."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    def _period(self, query: PeriodQuery | PlanQuery) -> Period:
        """Return the period that a query asks about; without an end, the days until now."""
        end = query.as_of or self._clock()
        start = query.start if isinstance(query, PeriodQuery) else None
        return last_days(query.days, end) if start is None else Period(start, end)
