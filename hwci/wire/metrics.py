# SPDX-License-Identifier: Apache-2.0
"""Flaky tests over time (contract, "CI metrics"). No figure is computed here."""

from collections.abc import Sequence
from typing import Self

from hwci.engine.page import over_time
from hwci.wire.base import Answer


class SlotAttempts(Answer):
    """Attempts in one slot of the trend. `slot` counts from 0."""

    slot: int
    attempts: int
    failed_attempts: int


class BoxHistory(Answer):
    """A test on one box: the slots in which it was attempted, in order, and the figures of its row
    in "Flakiest tests" of this box alone.
    """

    box_key: str
    slots: Sequence[SlotAttempts]
    run_reports: int
    attempts: int
    failed_attempts: int
    retry_passes: int
    flake_rate: float


class FlakyTestHistory(Answer):
    """A row of "Flakiest tests" over time. `slots`: of all boxes; at most 50 are shown, by name."""

    repo_key: str
    suite: str
    test_id: str
    slots: Sequence[SlotAttempts]
    boxes: Sequence[BoxHistory]
    boxes_total: int

    @classmethod
    def of(cls, row: over_time.FlakyOverTime) -> Self:
        """Make one test over time."""
        return cls(
            repo_key=row.product.repo_key,
            suite=row.product.suite,
            test_id=row.test_id,
            slots=[SlotAttempts.model_validate(slot) for slot in row.slots],
            boxes=[BoxHistory.model_validate(box) for box in row.boxes],
            boxes_total=row.boxes_total,
        )
