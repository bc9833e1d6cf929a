# SPDX-License-Identifier: Apache-2.0
"""What can be asked of calendar days (contract, "Answers beside the rules")."""

from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from hwci.wire.base import Name
from hwci.wire.queries import PeriodQuery

_zones = cache(available_timezones)


def _known_zone(name: str) -> str:
    if name not in _zones():
        raise PydanticCustomError("zone", "Should be a time zone, as `Europe/Berlin` or `UTC`")
    return name


Zone = Annotated[Name, AfterValidator(_known_zone)]
"""Where days begin at midnight: a name of the tz database."""


class DaysQuery(PeriodQuery):
    """Query of the figures by day. `zone`: where the days begin at midnight."""

    zone: Zone = "UTC"

    @property
    def zone_info(self) -> ZoneInfo:
        """The zone."""
        return ZoneInfo(self.zone)
