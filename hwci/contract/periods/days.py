# SPDX-License-Identifier: Apache-2.0
"""The tiles by the calendar days of a reader (contract, "Answers beside the rules")."""

from datetime import date, datetime
from typing import ClassVar

from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.shape import shape
from hwci.contract.shares import Share


@shape
class CalendarDay:
    """One day of a period, or several from `firstDay` to `lastDay`. `from` and `to` belong to it;
    `whole` false: the period has a part of it only.
    """

    JSON_NAMES: ClassVar = {"start": "from", "end": "to"}

    first_day: date
    last_day: date
    whole: bool
    start: datetime
    end: datetime


@shape
class DayCounts(CalendarDay):
    """The counts of the tiles on one day, or on several. `checked` is the share of the merges, null
    without a merge; `infra` that of the runs.
    """

    merges_checked: int
    merges_announced: int
    checked: Share | None
    real_fw_bugs: int
    flaky_failures: int
    infra_runs: int
    runs: int
    infra: Share | None


@shape
class Target:
    """A share in percent to reach, or not to exceed. `met`: by the whole period; null where it has
    no share.
    """

    rate: float
    met: bool | None


@shape
class Targets:
    """At least so many merges checked, at most so many infra runs; null: no common target."""

    merges_checked: Target | None
    infra_runs: Target | None


@shape
class Days:
    """The tiles by day, the first day first. It has `targets` if all products aim at the same."""

    period: PeriodOfDays
    product: ProductKey | None
    zone: str
    days: tuple[DayCounts, ...]
    targets: Targets | None = None
