# SPDX-License-Identifier: Apache-2.0
"""How people read a number of things, a commit and a chance; the dashboard writes them so too."""

_SHOWN = 12
"""Digits of a commit."""


def counted(number: int, one: str) -> str:
    """Write `1 run`, `2 runs`."""
    return f"{number:,} {one if number == 1 else f'{one}s'}"


def short(sha: str) -> str:
    """Abbreviate a commit; what a program reads carries it whole."""
    return sha[:_SHOWN]


def percent(chance: float) -> str:
    """Write a chance as people say it; only what is certain is 0 or 100 %."""
    found = f"{100 * chance:.0f} %"
    if chance > 0 and found == "0 %":
        return "under 1 %"
    return "over 99 %" if chance < 1 and found == "100 %" else found
