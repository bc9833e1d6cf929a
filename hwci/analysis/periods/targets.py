# SPDX-License-Identifier: Apache-2.0
"""Whether a period met the shares that a team aims at (ADR 0009).

This module decides which target several products have together, and when one is met. What is
counted is decided where the page is made (`engine/page`).
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from hwci.contract.periods.days import DayCounts, Target, Targets
from hwci.contract.runs.products import Targets as Aims
from hwci.engine.facts import SuiteConfig


def targets(configs: Iterable[SuiteConfig | None], days: Sequence[DayCounts]) -> Targets | None:
    """Return the targets of products and how the days fare; None if there is none."""
    all_aims = {
        Aims() if config is None or config.targets is None else config.targets for config in configs
    }
    least = _common({aim.merges_checked for aim in all_aims})
    most = _common({aim.infra_runs for aim in all_aims})
    if least is None and most is None:
        return None
    merges = sum(day.merges_checked for day in days), sum(day.merges_announced for day in days)
    runs = sum(day.infra_runs for day in days), sum(day.runs for day in days)
    return Targets(
        merges_checked=(
            None if least is None else Target(rate=least, met=_is_met(*merges, least=least))
        ),
        infra_runs=None if most is None else Target(rate=most, met=_is_met(*runs, most=most)),
    )


def _common(rates: set[float | None]) -> float | None:
    """Return what all products aim at. A line for some of them would be read as one for all."""
    return next(iter(rates)) if len(rates) == 1 else None


def _is_met(part: int, total: int, *, least: float = 0, most: float = 100) -> bool | None:
    """Compare a share exactly, by the digits that were sent: 99.9 is no binary fraction."""
    if total == 0:
        return None
    return Decimal(repr(least)) * total <= 100 * part <= Decimal(repr(most)) * total
