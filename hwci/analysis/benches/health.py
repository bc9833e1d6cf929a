# SPDX-License-Identifier: Apache-2.0
"""How each box fares by itself: runs that never reached the hardware, runs that lost their board,
hours. It compares no boxes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from hwci.analysis.benches import words
from hwci.analysis.certainty import share_of_cases
from hwci.contract.boxes.benches import LostRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from hwci.analysis.benches.trials import Lost, Side, Trials
    from hwci.analysis.outcomes import RunOutcomes
    from hwci.contract.shares import Share


@dataclass(frozen=True, slots=True)
class Health:
    """One box over a period. `unreached`: of its runs, those with `hello_ok` false. `lost`: of the
    others, if there are any, those that lost their board; `lost_runs`: which, latest last.
    `board_time`: while a run had it.
    """

    unreached: Share
    lost: Share | None
    lost_runs: Sequence[LostRun]
    board_time: timedelta
    last_run_at: datetime
    last_clean_at: datetime | None


def runs_by_side(products: Sequence[Trials]) -> Mapping[Side, Sequence[tuple[Trials, int]]]:
    """Return the product and the place of the runs of each box."""
    runs: dict[Side, list[tuple[Trials, int]]] = defaultdict(list)
    for product in products:
        for number, run in enumerate(product.found.runs):
            runs[product.side_of(run)].append((product, number))
    return runs


def health_of(places: Sequence[tuple[Trials, int]]) -> Health:
    """Return how the box of these runs fares."""
    runs = [trials.found.runs[number] for trials, number in places]
    lost = [
        _lost(trials, trials.found.runs[number], trials.lost[number])
        for trials, number in places
        if number in trials.lost
    ]
    reached = [run for run in runs if run.hello_ok]
    unreached = share_of_cases(len(runs) - len(reached), len(runs))
    assert unreached is not None, "a box without a run has no health"
    return Health(
        unreached=unreached,
        lost=share_of_cases(len(lost), len(reached)),
        lost_runs=sorted(lost, key=lambda run: run.started_at),
        board_time=covered((run.started_at, run.ended_at) for run in runs),
        last_run_at=max(run.started_at for run in runs),
        last_clean_at=max(
            (run.started_at for run in reached if run.ran and not run.notable), default=None
        ),
    )


def covered(spans: Iterable[tuple[datetime, datetime]]) -> timedelta:
    """Return the time within any of these spans."""
    total, until = timedelta(), None
    for start, end in sorted(spans):
        begin = start if until is None else max(start, until)
        if end > begin:
            total, until = total + (end - begin), end
    return total


def _lost(trials: Trials, run: RunOutcomes, lost: Lost) -> LostRun:
    product, tests = trials.found.product, trials.found.tests
    first_test = tests[lost.tests[0]]
    return LostRun(
        repo_key=product.repo_key,
        suite=product.suite,
        run_id=run.ci_run_id,
        run_attempt=run.run_attempt,
        sha=run.sha,
        started_at=run.started_at,
        first_test=first_test,
        tests=len(lost.tests),
        chance=lost.chance,
        says=words.of_lost(first_test, len(lost.tests)),
    )
