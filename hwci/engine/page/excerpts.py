# SPDX-License-Identifier: Apache-2.0
"""What is shown of a list that is too long to be shown (contract, `ci-failures/{id}`).

This module decides which rows stay, in their order; how many there are is told beside them. A list
that fits is shown whole.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

Row = TypeVar("Row")


def ends_and_around(rows: Sequence[Row], at: int, most: int) -> Sequence[Row]:
    """Keep the first rows, the last rows, and those around one: a third of each. Where these meet,
    the place around the one is wider.
    """
    if len(rows) <= most:
        return rows
    third = most // 3
    ends = {*range(third), *range(len(rows) - third, len(rows))}
    nearest_first = sorted(range(len(rows)), key=lambda index: (abs(index - at), index))
    around = [index for index in nearest_first if index not in ends][: most - len(ends)]
    return [rows[index] for index in sorted({*ends, *around})]


def telling_first(rows: Sequence[Row], tells: Callable[[Row], bool], most: int) -> Sequence[Row]:
    """Keep the first rows that tell something; then, while there is room, the first others."""
    if len(rows) <= most:
        return rows
    by_worth = sorted(range(len(rows)), key=lambda index: not tells(rows[index]))
    return [rows[index] for index in sorted(by_worth[:most])]
