# SPDX-License-Identifier: Apache-2.0
"""Sections, tables and figures as the page writes them."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import pairwise
from statistics import mean
from typing import NamedTuple
from uuid import UUID

from hwci.analysis.outcomes import ProductOutcomes
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from tests.simulation.fleet import EPOCH, Simulated
from tests.support.outcomes import FullRecordedRuns

CHANCES = (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)
"""Between these, chances that were said are compared with how often they were true."""
EVER = Period(EPOCH, EPOCH + timedelta(days=3650))


class Line(NamedTuple):
    """What is asked of an answer, and what was measured. `shown`: the heading of its section, or
    what shows it instead of this page. `met`: None if neither can tell.
    """

    asked: str
    measured: str
    met: bool | None
    shown: str


class Part(NamedTuple):
    """Sections of the page, and what they measure of what is asked."""

    text: str
    lines: Sequence[Line]


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


def reliability(said: Sequence[tuple[float, bool]], ends: Sequence[float] = CHANCES) -> str:
    """Return the table of chances that were said, each with whether it was true."""
    rows = []
    for low, high in pairwise(ends):
        here = [one for one in said if low <= one[0] < high or one[0] == high == ends[-1]]
        of_here = f"{mean(one for one, _ in here):.1%}" if here else "-"
        true = f"{mean(is_true for _, is_true in here):.1%}" if here else "-"
        rows.append([f"{low:.0%} to {high:.0%}", f"{len(here):,}", of_here, true])
    return table(["said", "times", "on average", "true"], rows)
