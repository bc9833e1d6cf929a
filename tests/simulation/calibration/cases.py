# SPDX-License-Identifier: Apache-2.0
"""Fleets with one planted cause in one test, as what is said of flaky tests is judged by them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from hwci.analysis.flaky.onset import Onset, Rates, Step, onset
from hwci.analysis.flaky.suspects import (
    FAILURES_NEEDED,
    Counted,
    SeenProduct,
    likeliest,
    steps_of,
)
from hwci.contract.flaky.suspects import BranchCommit
from tests.simulation.calibration.page import recorded
from tests.simulation.fleet import Cause, Kind, Plan, Simulated, planted, simulate

RATES = (0.02, 0.05, 0.2)
CASES = {20: 200, 200: 200, 2000: 60}
"""So many fleets of so many runs: those of 2,000 take as long as all others."""
QUIET = Plan(base_rate=0.001)


def sized(runs: int, boxes: int = 5) -> Plan:
    """Return a fleet of this size, in which tests hardly ever fail for no cause."""
    return replace(QUIET, runs=runs, boxes=boxes, boxes_at_once=min(boxes, 5))


class LikelyCommit(NamedTuple):
    """A commit, with the chance that it made the test flaky."""

    commit: BranchCommit
    chance: float


class Case(NamedTuple):
    """A fleet with one planted cause, and what was counted of its test. `rates`: those that it may
    have. `too_old`: so many commits of main are not looked at; place 0 is behind them.
    """

    fleet: Simulated
    cause: Cause
    seen: SeenProduct
    counted: Counted
    rates: Rates
    too_old: int

    @property
    def since(self) -> int:
        """The place of the commit that brought the cause."""
        return self.cause.since - self.too_old

    @property
    def truth(self) -> str:
        """The commit that brought the cause."""
        return self.fleet.commits[self.cause.since].sha

    @property
    def places(self) -> list[int]:
        """The places of the commits that ran it."""
        return self.counted.places

    @property
    def steps(self) -> list[Step]:
        """Its runs, commit by commit."""
        return [*map(Step._make, steps_of(self.counted).tolist())]

    def onset(self) -> Onset:
        """Return our answer."""
        return onset(self.steps, self.rates)

    def likely(self) -> list[LikelyCommit]:
        """Return our chance for each commit."""
        places, chances = likeliest(self.places, self.onset())
        return [
            LikelyCommit(self.seen.order[at], chance)
            for at, chance in zip(places.tolist(), chances.tolist(), strict=True)
        ]

    def after(self, runs: int) -> "Case":
        """Return the same as it was after so many runs."""
        return self._replace(counted=self.counted.where(slice(runs)))

    @property
    def is_judged(self) -> bool:
        """Whether it failed often enough to be asked about."""
        return bool(self.counted.failed.sum() >= FAILURES_NEEDED)


def cases(plan: Plan, kind: Kind, rate: float, count: int) -> Iterator[Case]:
    """Yield fleets in which the test failed often enough to be asked about."""
    for seed in range(count):
        yield from planted_in(plan, planted(plan, kind, rate, seed), seed)


def planted_in(plan: Plan, cause: Cause, seed: int, *before: Cause) -> Iterator[Case]:
    """Yield a fleet with this cause, and others `before` it, if its test failed often enough."""
    fleet = simulate(plan, [*before, cause], seed)
    seen = SeenProduct(*recorded(fleet))
    test_id = f"test_{min(cause.tests):03d}"
    counted = seen.counted(test_id)
    too_old = fleet.tested[-1] - max(counted.places)
    case = Case(fleet, cause, seen, counted, seen.rates(test_id), too_old)
    if case.is_judged:
        yield case
