# SPDX-License-Identifier: Apache-2.0
"""Flaky tests over time: in the slots of the trend, or by the calendar days of a reader (contract,
"CI metrics").
"""

from typing import ClassVar

from hwci.contract.flaky.flaky_tests import Figures
from hwci.contract.periods.days import CalendarDay
from hwci.contract.scope import TestName
from hwci.contract.shape import ListPage, shape


@shape
class SlotAttempts:
    """Attempts in one slot, which counts from 0; slots without an attempt are left out."""

    slot: int
    attempts: int
    failed_attempts: int


@shape
class BoxSlots:
    """A test on one box: the slots in which it was attempted, in order."""

    box_key: str
    slots: tuple[SlotAttempts, ...]


@shape
class BoxHistory(Figures, BoxSlots):
    """The same, and the figures of its row in "Flakiest tests" of this box alone."""


@shape
class FlakyTestHistory(TestName):
    """A row of "Flakiest tests" over time. `slots`: of all boxes; at most 50 are shown, by name."""

    slots: tuple[SlotAttempts, ...]
    boxes: tuple[BoxHistory, ...]
    boxes_total: int


@shape
class FlakyHistories(ListPage[FlakyTestHistory]):
    """Rows of "Flakiest tests" over time. `days`: what the slots are, only if a zone was asked for:
    else it is a page as any other (spec, "Pagination").
    """

    NO_NULLS: ClassVar = True

    # Again, as what reads annotations does not see which item the base has.
    items: tuple[FlakyTestHistory, ...]
    days: tuple[CalendarDay, ...] | None = None
