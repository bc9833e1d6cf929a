# SPDX-License-Identifier: Apache-2.0
"""What people see over the slots of a period, as values: the trend of the tiles, and flaky tests.

This module only gives shapes; `trend.py` and `strips.py` compute them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from hwci.engine.facts import Product


class TrendSlot(NamedTuple):
    """What the tiles count, of one slot of the period."""

    start: datetime
    end: datetime
    merges_checked: int
    merges_announced: int
    real_fw_bugs: int
    flaky_failures: int
    infra_runs: int
    runs: int


class StripSlot(NamedTuple):
    """Attempts of a test in one slot; slots without an attempt are left out."""

    slot: int
    attempts: int
    failed_attempts: int


class BoxStrip(NamedTuple):
    """A test on one box, over time."""

    box_key: str
    slots: Sequence[StripSlot]


class Strip(NamedTuple):
    """A flaky test over time: on all its boxes together, and on the first of them by name."""

    product: Product
    test_id: str
    slots: Sequence[StripSlot]
    boxes: Sequence[BoxStrip]
    boxes_total: int
