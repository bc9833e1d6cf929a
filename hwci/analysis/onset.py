# SPDX-License-Identifier: Apache-2.0
"""Since which commit a test is flaky: a change point model over the commits of a branch.

At each commit a test is steady or flaky; each has one rate at which an attempt fails, and flaky has
the higher one. From commit to commit it may change, both ways, so it may become flaky several
times. Nobody knows the rates: each pair of a grid is weighed by what it says of the counts, and
given a pair all is exact (a hidden Markov chain). This module knows counts only, no boxes or files.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.analysis.benches.strata import Numbers

STEADY_RATES = (0.0001, 0.0005, 0.002, 0.008, 0.03)
FLAKY_RATES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.75, 0.99)
"""Where a rate may be, in equal steps of its logarithm: rates are small numbers of any size."""
APART = 2
"""A flaky rate is so many times the steady one, or it is noise."""
_FLAKY_AT_FIRST = 0.5


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
    """Pairs of a steady and a flaky rate."""

    steady: Numbers
    flaky: Numbers


@lru_cache(1)
def _grid() -> Rates:
    import numpy as np

    pairs = [(low, high) for low in STEADY_RATES for high in FLAKY_RATES if high >= APART * low]
    return Rates(*np.array(pairs).T)


def onset(steps: Sequence[Step], rates: Rates | None = None) -> Onset:
    """Return when the test became flaky last. `rates`: the only pairs to weigh, if they are known.

    Retries either fail as first attempts do, or at a rate of their own, the same everywhere, which
    says nothing of the commit: both are weighed.
    """
    import numpy as np
    from scipy.special import betaln, logsumexp

    tried = np.array(steps, dtype=float)
    first, retries, commits = tried[:, :2], tried[:, 2:4], tried[:, 4]
    together = _Chain(first + retries, commits, rates or _grid())
    apart = _Chain(first, commits, rates or _grid())
    passed, failed = retries.sum(axis=0) @ [[1, 0], [-1, 1]]
    of_retries = betaln(failed + 1, passed + 1)
    weights = np.concatenate([together.evidence, apart.evidence + of_retries])
    weights = np.exp(weights - logsumexp(weights))
    chances = np.concatenate([together.onsets(), apart.onsets()], axis=1) @ weights
    still = np.concatenate([together.flaky_last, apart.flaky_last]) @ weights
    before, never, *at = map(float, chances)
    return Onset(at, before, never, float(still))


class _Chain:
    """The chain for each pair of rates at once. `tried`: attempts and failed ones of each step."""

    def __init__(self, tried: Numbers, commits: Numbers, rates: Rates) -> None:
        import numpy as np

        # A change is as likely at each commit; about one of each kind is expected.
        self._change = 1 - (1 - 1 / (commits.sum() + 1)) ** commits
        attempts, failed = tried[:, :1], tried[:, 1:]
        logs = [failed * np.log(one) + (attempts - failed) * np.log1p(-one) for one in rates]
        most = np.maximum(*logs)
        self._steady, self._flaky = (np.exp(one - most) for one in logs)
        self._forward()
        self.evidence = most.sum(axis=0) + np.log(self._scale).sum(axis=0)
        self.flaky_last = 1 - self._steady_until[-1]

    def _forward(self) -> None:
        """Find the chance of steady at each step by all up to it, and the scale of each step."""
        import numpy as np

        self._steady_until, self._scale = np.empty_like(self._steady), np.empty_like(self._steady)
        steady = 1 - _FLAKY_AT_FIRST
        for at, change in enumerate(self._change):
            if at:
                steady = steady * (1 - change) + (1 - steady) * change
            is_steady = steady * self._steady[at]
            self._scale[at] = is_steady + (1 - steady) * self._flaky[at]
            steady = self._steady_until[at] = is_steady / self._scale[at]

    def onsets(self) -> Numbers:
        """Return the chances of `before`, `never`, and an onset at each step.

        Going back from the end, no change to flaky is allowed behind an onset, so that it is the
        last one. The first step has none of its own: it was steady or flaky before.
        """
        import numpy as np

        last = len(self._change) - 1
        found = np.zeros((last + 3, self._steady.shape[1]))
        steady = flaky = np.ones(self._steady.shape[1])
        for at in range(last, 0, -1):
            steady = self._steady[at] * steady / self._scale[at]
            flaky = self._flaky[at] * flaky / self._scale[at]
            change = self._change[at]
            found[at + 2] = self._steady_until[at - 1] * change * flaky
            steady, flaky = (1 - change) * steady, (1 - change) * flaky + change * steady
        found[0] = _FLAKY_AT_FIRST * self._flaky[0] * flaky / self._scale[0]
        found[1] = (1 - _FLAKY_AT_FIRST) * self._steady[0] * steady / self._scale[0]
        return found
