# SPDX-License-Identifier: Apache-2.0
"""What every answer beside the rules begins with: whether the caller may see what is asked for, and
of which runs and merges it is.
"""

from typing import NamedTuple

from hwci.analysis.outcomes import RecordedRuns
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from hwci.server.services.access import Viewer, require_product
from hwci.server.services.known import require_known_product
from hwci.server.storage.ports import Reader
from hwci.wire.queries import PeriodQuery


class Asked(NamedTuple):
    """A history, and which part of it is asked about."""

    history: RecordedRuns
    scope: Scope
    period: Period


def asked(reader: Reader, viewer: Viewer, query: PeriodQuery, period: Period) -> Asked:
    """Return what a query asks about. Raises `HwciServerError`: it is unknown or not the caller's.
    `period`: the days of the query.
    """
    require_product(viewer, query.repo_key, query.suite)
    require_known_product(reader, viewer, query.repo_key, query.suite)
    return Asked(reader.history(viewer.org_id), Scope(query.repo_key, query.suite), period)
