# SPDX-License-Identifier: Apache-2.0
"""What the metrics page draws over time (contract, "CI metrics").

The shapes of a drawing, and the engine's answers put into them. No figure is computed here.
"""

from collections.abc import Sequence

from pydantic import Field

from hwci.engine.page.over_time import BoxStrip, Strip, StripSlot, TrendSlot
from hwci.engine.page.tables import Listing
from hwci.engine.periods import Period
from hwci.wire.base import Answer, ListPage, Time
from hwci.wire.metrics import PeriodAnswer, ProductKey
from hwci.wire.outgoing import Paging, list_page, period_answer, product_asked
from hwci.wire.queries import PeriodQuery


class TrendSlotAnswer(Answer):
    """What the tiles count, of one slot. What lies at its end belongs to the next slot, but for the
    last one.
    """

    start: Time = Field(alias="from")
    end: Time = Field(alias="to")
    merges_checked: int
    merges_announced: int
    real_fw_bugs: int
    flaky_failures: int
    infra_runs: int
    runs: int


class TrendAnswer(Answer):
    """The tiles over time: slots of equal width, the last ending with the period."""

    period: PeriodAnswer
    product: ProductKey | None
    slots: Sequence[TrendSlotAnswer]


class SlotAttempts(Answer):
    """Attempts in one slot of the trend. `slot` counts from 0."""

    slot: int
    attempts: int
    failed_attempts: int


class BoxHistory(Answer):
    """A test on one box: the slots in which it was attempted, in order."""

    box_key: str
    slots: Sequence[SlotAttempts]


class FlakyTestHistory(Answer):
    """A row of "Flakiest tests" over time. `slots` is of all boxes together; at most 50 of
    `boxes_total` are shown, by name.
    """

    repo_key: str
    suite: str
    test_id: str
    slots: Sequence[SlotAttempts]
    boxes: Sequence[BoxHistory]
    boxes_total: int


def trend(slots: Sequence[TrendSlot], query: PeriodQuery, period: Period) -> TrendAnswer:
    """Give the tiles over time."""
    return TrendAnswer(
        period=period_answer(query.days, period),
        product=product_asked(query),
        slots=[TrendSlotAnswer(**slot._asdict()) for slot in slots],
    )


def flaky_history(rows: Listing[Strip], paging: Paging) -> ListPage[FlakyTestHistory]:
    """Give a page of flaky tests over time."""
    items = [
        FlakyTestHistory(
            repo_key=row.product.repo_key,
            suite=row.product.suite,
            test_id=row.test_id,
            slots=_slots(row.slots),
            boxes=[_box(box) for box in row.boxes],
            boxes_total=row.boxes_total,
        )
        for row in rows.items
    ]
    return list_page(items, rows.total, paging)


def _box(box: BoxStrip) -> BoxHistory:
    return BoxHistory(box_key=box.box_key, slots=_slots(box.slots))


def _slots(slots: Sequence[StripSlot]) -> list[SlotAttempts]:
    return [SlotAttempts(**slot._asdict()) for slot in slots]
