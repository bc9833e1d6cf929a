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
    from collections.abc import Iterator, Mapping, Sequence

    from hwci.analysis.benches.blame import Numbers, Whole
    from hwci.analysis.outcomes import FirstAttempts

    Steps = Sequence["Step"] | Whole
    """What was tried on each commit, in their order."""

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
_TOGETHER = 10
"""Chains of so many tests go step by step together: more would take more memory, and no less time.
"""


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


def onset(steps: Steps, rates: Rates | None = None) -> Onset:
    """Return when the test became flaky last. `rates`: the only pairs to weigh; None: all, with no
    other test beside.
    """
    [of_test] = onsets([(steps, rates or rates_beside({}))])
    return of_test


def onsets(tests: Sequence[tuple[Steps, Rates]]) -> Iterator[Onset]:
    """Yield when each test became flaky last. All have as many pairs of rates."""
    for start in range(0, len(tests), _TOGETHER):
        yield from _Chains(tests[start : start + _TOGETHER]).onsets()


class _Chains:
    """The chain of each test for each pair of rates at once: never flaky yet, flaky, or fixed. All
    end at the same step; before the `first` one of a test nothing changes and nothing is weighed.

    Retries either fail as first attempts do, or at a rate of their own, the same everywhere, which
    says nothing of the commit: both are weighed, so there are all pairs twice.
    """

    def __init__(self, tests: Sequence[tuple[Steps, Rates]]) -> None:
        import numpy as np

        steps, pairs = max(len(own) for own, _ in tests), len(tests[0][1].chance)
        shape = steps, len(tests), 2 * pairs
        self._first = [steps - len(own) for own, _ in tests], [*range(len(tests))]
        self._change = np.zeros((steps, 3, len(tests), 1))
        self._steady, self._flaky = np.ones(shape), np.ones(shape)
        self._evidence = np.empty(shape[1:])
        for test, (own, rates) in enumerate(tests):
            tried, here = np.array(own, dtype=float), slice(steps - len(own), None)
            # A change is as likely at each commit; about one to flaky and one back are expected.
            commits, of_one = tried[:, 4], 1 / (tried[:, 4].sum() + 1)
            change = 1 - (1 - of_one) ** commits
            again = 1 - (1 - _AGAIN * of_one) ** commits
            self._change[here, :, test, 0] = np.stack([change, change, again], axis=1)
            counts, step = np.unique(tried[:, :4], axis=0, return_inverse=True)  # few differ
            first, retries = counts[:, :2], counts[:, 2:]
            logs = [
                np.concatenate(
                    [_log_chances(first + retries, rate), _log_chances(first, rate)], axis=1
                )
                for rate in (rates.steady, rates.flaky)
            ]
            most = np.maximum(*logs)
            for chances, log in zip((self._steady, self._flaky), logs, strict=True):
                chances[here, test] = np.exp(log - most)[step]
            self._evidence[test] = np.tile(np.log(rates.chance), 2) + most[step].sum(axis=0)
        self._change[self._first[0], :, self._first[1]] = 0
        self._forward()
        self._evidence += np.log(self._scale).sum(axis=0)
        self._evidence[:, pairs:] += [[_log_chance_apart(own)] for own, _ in tests]

    def _forward(self) -> None:
        """Find the chance that it becomes flaky at each step, by all before it, and the scale of
        each step.
        """
        import numpy as np

        self._becomes, self._scale = np.empty_like(self._steady), np.empty_like(self._steady)
        states = np.zeros((3, *self._steady.shape[1:]))
        states[:2] = [[[1 - _FLAKY_AT_FIRST]], [[_FLAKY_AT_FIRST]]]
        _, flaky, fixed = states
        others = states[::2]
        changes = zip(self._change, 1 - self._change, self._becomes, strict=True)
        weights = zip(self._steady, self._flaky, self._scale, strict=True)
        for (change, stay, becomes), (if_steady, if_flaky, scale) in zip(
            changes, weights, strict=True
        ):
            changed = states * change
            states *= stay
            flaky += np.add(changed[0], changed[2], out=becomes)
            fixed += changed[1]
            others *= if_steady
            flaky *= if_flaky
            states /= np.add.reduce(states, out=scale)
        self._flaky_last = flaky

    def onsets(self) -> Iterator[Onset]:
        """Yield the answer of each test.

        Going back from the end, no change to flaky is allowed behind an onset, so that it is the
        last one. The first step has none of its own: it was steady or flaky before.
        """
        import numpy as np

        stay, steady = 1 - self._change, self._steady / self._scale
        stays, becomes = stay[:, ::2] * steady[:, None], self._change[:, 1] * steady
        stays[self._first[0], 0, self._first[1]] = 1
        chances, others = self._flaky, np.ones_like(stays[0])
        chances[self._first] *= _FLAKY_AT_FIRST
        later, fixed = np.ones_like(steady[0]), others[1]
        steps = (some[::-1] for some in (chances, self._scale, stay[:, 1], becomes, stays))
        for chance, scale, stay_flaky, becomes_flaky, stay_others in zip(*steps, strict=True):
            np.multiply(chance, later, out=chance)
            np.divide(chance, scale, out=chance)
            later = stay_flaky * chance
            later += becomes_flaky * fixed
            others *= stay_others
        for first, test in zip(*self._first, strict=True):
            never = (1 - _FLAKY_AT_FIRST) * self._steady[first, test] * others[0, test]
            never /= self._scale[first, test]
            own = slice(first + 1, None)
            rows = np.concatenate(
                [
                    [chances[first, test], never, np.zeros_like(never)],
                    chances[own, test] * self._becomes[own, test],
                ]
            )
            yield _weighed(rows, self._flaky_last[test], self._evidence[test])


def _weighed(chances: Numbers, flaky_last: Numbers, evidence: Numbers) -> Onset:
    """Return what pairs of rates say together, each by the evidence for it: `before`, `never`, and
    an onset at each step, and the chance that it is flaky at the last one.
    """
    import numpy as np
    from scipy.special import logsumexp

    weights = np.exp(evidence - logsumexp(evidence))
    before, never, *at = (chances @ weights).tolist()
    return Onset(at, before, never, float(flaky_last @ weights))


def _log_chance_apart(steps: Steps) -> float:
    """Return how likely retries are at a rate of their own."""
    import numpy as np
    from scipy.special import betaln

    tries, failed = np.sum(steps, axis=0)[2:4].tolist()
    return float(betaln(failed + 1, tries - failed + 1))


def _log_chances(tried: Numbers, rate: Numbers) -> Numbers:
    """Return how likely these attempts, and failed ones, of each step are at each rate."""
    import numpy as np

    attempts, failed = tried[:, :1], tried[:, 1:]
    return failed * np.log(rate) + (attempts - failed) * np.log1p(-rate)
