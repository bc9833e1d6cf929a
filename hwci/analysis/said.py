# SPDX-License-Identifier: Apache-2.0
"""How sentences of the analysis write a number of things, a commit and a chance."""

_SHOWN = 8


def counted(number: int, one: str) -> str:
    """Write `1 run`, `2 runs`."""
    return f"{number:,} {one if number == 1 else f'{one}s'}"


def short(sha: str) -> str:
    """Write the first digits of a commit."""
    return sha[:_SHOWN]


def percent(chance: float) -> str:
    """Write a chance as people say it; only what is certain is 0 or 100 %."""
    if 0 < chance < 0.005:  # noqa: PLR2004 - what would be 0
        return "under 1 %"
    if 0.995 < chance < 1:  # noqa: PLR2004 - what would be 100
        return "over 99 %"
    return f"{100 * chance:.0f} %"
