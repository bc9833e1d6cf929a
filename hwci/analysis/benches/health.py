# SPDX-License-Identifier: Apache-2.0
"""How each box fares by itself: runs that never reached the hardware, runs that lost their board,
hours. It compares no boxes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.certainty import Rate, rates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from hwci.analysis.benches.trials import Lost, Side, Trials
    from hwci.analysis.outcomes import RunOutcomes
    from hwci.engine.facts import Product


class LostRun(NamedTuple):
    """A run that lost its board: from which test on, how many failed, and by what chance they would
    have failed without a loss.
    """

    product: Product
    run: RunOutcomes
    first_test: str
    tests: int
    chance: float


@dataclass(frozen=True, slots=True)
class Health:
    """One box over a period. `unreached`: of its runs, those with `hello_ok` false. `lost`: of the
    others, if there are any, those that lost their board; `lost_runs`: which, latest last.
    `board_time`: while a run had it.
    """

    unreached: Rate
    lost: Rate | None
    lost_runs: Sequence[LostRun]
    board_time: timedelta
    last_run_at: datetime
    last_clean_at: datetime | None


def runs_by_side(products: Sequence[Trials]) -> Mapping[Side, Sequence[tuple[Trials, int]]]:
    """Return the product and the place of the runs of each box."""
    found: dict[Side, list[tuple[Trials, int]]] = defaultdict(list)
    for product in products:
        for number, run in enumerate(product.found.runs):
            found[product.side_of(run)].append((product, number))
    return found


def health_of(places: Sequence[tuple[Trials, int]]) -> Health:
    """Return how the box of these runs fares."""
    runs = [trials.found.runs[number] for trials, number in places]
    lost = [
        _lost(trials, trials.found.runs[number], trials.lost[number])
        for trials, number in places
        if number in trials.lost
    ]
    reached = [run for run in runs if run.hello_ok]
    return Health(
        unreached=_rate(len(runs) - len(reached), len(runs)),
        lost=_rate(len(lost), len(reached)) if reached else None,
        lost_runs=sorted(lost, key=lambda one: one.run.started_at),
        board_time=covered((run.started_at, run.ended_at) for run in runs),
        last_run_at=max(run.started_at for run in runs),
        last_clean_at=max(
            (run.started_at for run in reached if run.ran and not run.notable), default=None
        ),
    )


def covered(spans: Iterable[tuple[datetime, datetime]]) -> timedelta:
    """Return the time within any of these spans."""
    found, until = timedelta(), None
    for start, end in sorted(spans):
        begin = start if until is None else max(start, until)
        if end > begin:
            found, until = found + (end - begin), end
    return found


def _rate(part: int, total: int) -> Rate:
    [found] = rates([(part, total)])
    return found


def _lost(trials: Trials, run: RunOutcomes, lost: Lost) -> LostRun:
    found = trials.found
    return LostRun(found.product, run, found.tests[lost.tests[0]], len(lost.tests), lost.chance)
