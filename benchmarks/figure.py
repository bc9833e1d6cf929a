# SPDX-License-Identifier: Apache-2.0
"""A figure that was measured, and how it is written."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A row of the table. `measured`: in words, with what it is made of."""

    name: str
    value: str
    measured: str


def milliseconds(seconds: Sequence[float]) -> str:
    """Write the median of times."""
    median = statistics.median(seconds) * 1000
    return f"{median:,.0f} ms" if median >= 1000 else f"{median:.3g} ms"


def ratio(ones: Sequence[float], others: Sequence[float]) -> float:
    """Return the ratio of two medians; what was measured in turns."""
    return statistics.median(ones) / statistics.median(others)
