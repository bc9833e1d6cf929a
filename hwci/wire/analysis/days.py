# SPDX-License-Identifier: Apache-2.0
"""The tiles by the calendar days of a reader (contract, "Answers beside the rules"). No figure is
computed here.
"""

from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Annotated, Self
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from hwci.analysis.periods.days import DayCounts, Days
from hwci.analysis.periods.targets import Targets
from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.shares import Share
from hwci.engine.periods import Period
from hwci.wire.base import Answer, Name, Time, left_out_if_none
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


class ShareOfDay(Answer):
    """A share in percent, and the interval that holds the true one with 95 % (Wilson); null of too
    little for an interval.
    """

    rate: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, found: Share | None) -> Self | None:
        """Make the share; None of nothing."""
        if found is None:
            return None
        rate = 100 * found.part / found.total
        low, high = (None if end is None else 100 * end for end in (found.low, found.high))
        return cls(rate=rate, low=low, high=high)


class CalendarDay(Answer):
    """One day of a period, or several from `first_day` to `last_day`. `from` and `to` belong to it;
    `whole` false: the period has a part of it only.
    """

    first_day: date
    last_day: date
    whole: bool
    start: Time = Field(alias="from")
    end: Time = Field(alias="to")

    @classmethod
    def of_days(cls, days: Days) -> "CalendarDay":
        """Make the day."""
        return CalendarDay(
            first_day=days.first,
            last_day=days.last,
            whole=days.is_whole,
            start=days.period.start,
            end=days.period.end,
        )


class DayAnswer(CalendarDay):
    """The counts of the tiles on one day, or on several. `checked` is the share of the merges, null
    without a merge; `infra` that of the runs.
    """

    merges_checked: int
    merges_announced: int
    checked: ShareOfDay | None
    real_fw_bugs: int
    flaky_failures: int
    infra_runs: int
    runs: int
    infra: ShareOfDay | None

    @classmethod
    def of(cls, found: DayCounts) -> Self:
        """Make one day."""
        return cls(
            **dict(CalendarDay.of_days(found.days)),
            merges_checked=found.merges_checked,
            merges_announced=found.merges_announced,
            checked=ShareOfDay.of(found.checked),
            real_fw_bugs=found.real_fw_bugs,
            flaky_failures=found.flaky_failures,
            infra_runs=found.infra_runs,
            runs=found.runs,
            infra=ShareOfDay.of(found.infra),
        )


class TargetOfTile(Answer):
    """A target in percent. `met`: by the whole period; null where it has no share."""

    rate: float
    met: bool | None


class TargetsOfTiles(Answer):
    """At least so many merges checked, at most so many infra runs; null: no common target."""

    merges_checked: TargetOfTile | None
    infra_runs: TargetOfTile | None


class DaysAnswer(Answer):
    """The tiles by day, the first day first. It has `targets` if all products aim at the same."""

    period: PeriodOfDays
    product: ProductKey | None
    zone: str
    days: Sequence[DayAnswer]
    targets: TargetsOfTiles | None = left_out_if_none()

    @classmethod
    def of(
        cls,
        found: Sequence[DayCounts],
        targets: Targets | None,
        query: DaysQuery,
        period: Period,
    ) -> Self:
        """Make the days that were asked for. `period`: the days of `query`."""
        return cls(
            period=period.shown,
            product=query.product,
            zone=query.zone,
            days=[DayAnswer.of(one) for one in found],
            targets=None if targets is None else TargetsOfTiles.model_validate(targets),
        )
