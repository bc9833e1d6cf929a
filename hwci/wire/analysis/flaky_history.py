# SPDX-License-Identifier: Apache-2.0
"""What can be asked of flaky tests over time (contract, "CI metrics")."""

from zoneinfo import ZoneInfo

from hwci.wire.analysis.days import Zone
from hwci.wire.queries import BranchesQuery, FlakyQuery, RankedQuery


class FlakyHistoryQuery(FlakyQuery):
    """Query of flaky tests over time. `zone`: its calendar days are the slots."""

    zone: Zone | None = None

    @property
    def zone_info(self) -> ZoneInfo | None:
        """The zone; None: none was asked for."""
        return None if self.zone is None else ZoneInfo(self.zone)


class RankedHistoryQuery(FlakyHistoryQuery, RankedQuery, BranchesQuery):
    """Query of flaky tests over time, in the order of a rank."""
