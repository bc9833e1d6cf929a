# SPDX-License-Identifier: Apache-2.0
"""Since which commit a test is flaky: a change point model over the commits of a branch.

At each commit a test is steady or flaky; each has one rate at which an attempt fails, and flaky has
the higher one. From commit to commit it may change, both ways, so it may become flaky several
times. Nobody knows the rates: each pair of a grid is weighed by what it says of the counts and by
how steady the other tests of the product are, and given a pair all is exact (a hidden Markov
chain). This module knows counts only, no boxes or files (ADR 0011).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hwci.analysis.benches.strata import Numbers
    from hwci.analysis.outcomes import FirstAttempts

STEADY_RATES = (0.0001, 0.0005, 0.002, 0.008, 0.03)
FLAKY_RATES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.75, 0.99)
"""Where a rate may be, in equal steps of its logarithm: rates are small numbers of any size."""
APART = 2
"""A flaky rate is so many times the steady one, or it is noise."""
_FLAKY_AT_FIRST = 0.5
_AGAIN = 0.1
"""A test is looked at because it is flaky, so that it became so once is as good as given. That it
becomes so again is as rare as for any other test: of ten, hardly one does within a period.
"""
_ROUNDS = 50
"""So many rounds find how many tests have which rate, to a digit or two."""


class Step(NamedTuple):
    """The attempts on a commit. `commits`: how many came since the step before, this one included.
    A first attempt and its retries are counts of their own, as a retry often fails because the
    first attempt did.
    """

    first: int
    first_failed: int
    retries: int = 0
    retries_failed: int = 0
    commits: int = 1


@dataclass(frozen=True, slots=True)
class Onset:
    """Chances that add up to one: that the test became flaky last at each step (`at`), that it was
    flaky `before` the first one and never became so again, or that it was `never` flaky.
    `still_flaky`: the chance that it is flaky at the last step.
    """

    at: Sequence[float]
    before: float
    never: float
    still_flaky: float


class Rates(NamedTuple):
    """Pairs of a steady and a flaky rate, and how likely each pair is before any run of the test,
    up to a factor.
    """

    steady: Numbers
    flaky: Numbers
    chance: Numbers


@lru_cache(1)
def _pairs() -> Numbers:
    import numpy as np

    pairs = [(low, high) for low in STEADY_RATES for high in FLAKY_RATES if high >= APART * low]
    return np.array(pairs).T


def rates_beside(others: Mapping[FirstAttempts, int]) -> Rates:
    """Return the pairs, each as likely as its steady rate is among the other tests of the product:
    so many of them have these counts. Those that are flaky themselves, or that a bug broke for
    long, have a higher rate than a steady one.
    """
    import numpy as np

    steady, flaky = _pairs()
    _, tests = tests_by_rate(others)
    return Rates(steady, flaky, tests[np.searchsorted(STEADY_RATES, steady)])


def tests_by_rate(others: Mapping[FirstAttempts, int]) -> tuple[Numbers, Numbers]:
    """Return the rates of a grid, and how many tests have each, of tests of which so many have
    these counts.

    Each test has one rate of the grid. How many have which is found in rounds (expectation and
    maximization); one more test has each rate than was seen, so a few tests say little.
    """
    import numpy as np

    grid = np.array([*STEADY_RATES, *(rate for rate in FLAKY_RATES if rate > STEADY_RATES[-1])])
    counts = np.array([*others], dtype=float).reshape(-1, 2)
    failed, runs = counts[:, :1], counts[:, 1:]
    logs = failed * np.log(grid) + (runs - failed) * np.log1p(-grid)
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    of_counts = np.array([*others.values()], dtype=float)
    tests = np.ones(len(grid))
    for _ in range(_ROUNDS):
        here = likely * tests
        tests = 1 + of_counts @ (here / here.sum(axis=1, keepdims=True))
    return grid, tests


def onset(steps: Sequence[Step], rates: Rates | None = None) -> Onset:
    """Return when the test became flaky last. `rates`: the only pairs to weigh; None: all, with no
    other test beside.

    Retries either fail as first attempts do, or at a rate of their own, the same everywhere, which
    says nothing of the commit: both are weighed.
    """
    import numpy as np
    from scipy.special import betaln, logsumexp

    tried = np.array(steps, dtype=float)
    first, retries, commits = tried[:, :2], tried[:, 2:4], tried[:, 4]
    chain = _Chain((first + retries, first), commits, rates or rates_beside({}))
    passed, failed = retries.sum(axis=0) @ [[1, 0], [-1, 1]]
    together, apart = np.split(chain.evidence, 2)
    weights = np.concatenate([together, apart + betaln(failed + 1, passed + 1)])
    weights = np.exp(weights - logsumexp(weights))
    before, never, *at = map(float, chain.onsets() @ weights)
    return Onset(at, before, never, float(chain.flaky_last @ weights))


class _Chain:
    """The chain for each pair of rates at once: never flaky yet, flaky, or fixed. `ways`: attempts
    and failed ones of each step, as each way of counting has them; each way has all pairs.
    """

    def __init__(self, ways: Sequence[Numbers], commits: Numbers, rates: Rates) -> None:
        import numpy as np

        # A change is as likely at each commit; about one to flaky and one back are expected.
        of_one = 1 / (commits.sum() + 1)
        change = 1 - (1 - of_one) ** commits
        again = 1 - (1 - _AGAIN * of_one) ** commits
        self._change = np.stack([change, change, again], axis=1)[:, :, None]
        logs = [
            np.concatenate([_log_chances(tried, pair) for tried in ways], axis=1)
            for pair in (rates.steady, rates.flaky)
        ]
        most = np.maximum(*logs)
        self._steady, self._flaky = (np.exp(log - most) for log in logs)
        self._forward()
        of_pair = np.tile(np.log(rates.chance), len(ways))
        self.evidence = of_pair + most.sum(axis=0) + np.log(self._scale).sum(axis=0)

    def _forward(self) -> None:
        """Find the chance that it becomes flaky at each step, by all before it, and the scale of
        each step.
        """
        import numpy as np

        self._becomes, self._scale = np.zeros_like(self._steady), np.empty_like(self._steady)
        states = np.array([[1 - _FLAKY_AT_FIRST], [_FLAKY_AT_FIRST], [0.0]])
        of_states = np.stack([self._steady, self._flaky, self._steady], axis=1)
        stay = 1 - self._change
        for at, chance in enumerate(of_states):
            if at:
                changed = states * self._change[at]
                states *= stay[at]
                becomes = self._becomes[at] = changed[0] + changed[2]
                states[1] += becomes
                states[2] += changed[1]
            states = states * chance
            states /= np.add.reduce(states, out=self._scale[at])
        self.flaky_last = states[1]

    def onsets(self) -> Numbers:
        """Return the chances of `before`, `never`, and an onset at each step.

        Going back from the end, no change to flaky is allowed behind an onset, so that it is the
        last one. The first step has none of its own: it was steady or flaky before.
        """
        import numpy as np

        last, stay = len(self._change) - 1, 1 - self._change
        steady = self._steady / self._scale
        stays, becomes = stay[:, ::2] * steady[:, None], self._change[:, 1] * steady
        chances = np.zeros((last + 3, steady.shape[1]))
        flaky, others = np.ones_like(steady[0]), np.ones_like(stays[0])
        for at in range(last, 0, -1):
            flaky = chances[at + 2] = self._flaky[at] * flaky / self._scale[at]
            flaky = stay[at, 1] * flaky + becomes[at] * others[1]
            others *= stays[at]
        chances[3:] *= self._becomes[1:]
        chances[0] = _FLAKY_AT_FIRST * self._flaky[0] * flaky / self._scale[0]
        chances[1] = (1 - _FLAKY_AT_FIRST) * self._steady[0] * others[0] / self._scale[0]
        return chances


def _log_chances(tried: Numbers, rate: Numbers) -> Numbers:
    """Return how likely these attempts, and failed ones, of each step are at each rate."""
    import numpy as np

    attempts, failed = tried[:, :1], tried[:, 1:]
    return failed * np.log(rate) + (attempts - failed) * np.log1p(-rate)
