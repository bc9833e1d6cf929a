# SPDX-License-Identifier: Apache-2.0
"""Tables and figures as the page writes them."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from statistics import mean
from uuid import UUID

from hwci.analysis.outcomes import ProductOutcomes
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from tests.simulation.fleet import EPOCH, Simulated
from tests.support.outcomes import FullRecordedRuns

EVER = Period(EPOCH, EPOCH + timedelta(days=3650))


def recorded(fleet: Simulated) -> tuple[FullRecordedRuns, ProductOutcomes]:
    """Return what a server knows of a fleet: its history, and the runs of its one product."""
    history = FullRecordedRuns(UUID(int=1), fleet.facts)
    [product] = history.outcomes(Scope(), EVER)
    return history, product


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown: the first column to the left, all others to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))


def share(values: Sequence[float]) -> str:
    """Write a share as a percentage, with the number of cases that it is of."""
    return f"{100 * mean(values):.0f} % of {len(values)}" if values else "no case"


def auc(higher: Sequence[float], lower: Sequence[float]) -> str:
    """Write the chance that one of `higher` has the greater score than one of `lower`."""
    if not higher or not lower:
        return "no case"
    won = mean((one > other) + (one == other) / 2 for one in higher for other in lower)
    return f"{won:.2f}"
