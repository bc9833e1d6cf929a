# SPDX-License-Identifier: Apache-2.0
"""What can be asked of one box (contract, "Answers beside the rules")."""

from hwci.wire.analysis.days import DaysQuery
from hwci.wire.base import Name
from hwci.wire.queries import BoxHealthQuery, BoxQuery


class OneBoxQuery(DaysQuery, BoxHealthQuery, BoxQuery):
    """Query of one box over a period, by the days of a zone."""

    box_key: Name
