# SPDX-License-Identifier: Apache-2.0
"""Which boxes explain the failures of a test: one of them, a group, or all alike (ADR 0010).

Within a commit all is equal but the box. Given how many of a commit's runs failed, a box whose odds
of a failure are no higher has its share of them by chance; the odds of one box, or of a group, may
be some times as high. Each such hypothesis is weighed by all commits, whatever number of failures
the others had, so one failure elsewhere says little more than none. This module knows counts by
commit and box. It does not know why a box ran a commit: `presence.py` does. numpy is imported when
it is asked.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate, combinations
from math import exp, lgamma, log
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Flags = NDArray[np.bool_]

Box = TypeVar("Box")
"""A box, or a part of its time: whatever is compared."""

SAID_FROM = 0.75
"""From this chance on a hypothesis is said."""
IN_GROUP = 0.8
"""So likely each box of a group that is named belongs to it, at least."""
NO_FAILURES = 2
"""So many failures or fewer, on commits that two boxes ran, say nothing about boxes."""
ALL_SUBSETS, WORST = 8, 40
"""Of so many boxes each group is weighed. Of more, so many of the worst are, one by one and, from
the worst on, together.
"""
TIMES = (4, 6, 10, 16, 25, 40, 65, 100, 300, 1000)
"""How many times the odds may be as high, each as likely: less than four times is no culprit."""
_ALIKE, _ONE, _GROUP = 0.45, 0.4, 0.15
"""How likely each kind of hypothesis is before any run."""
_ENDS = (0.025, 0.975)
_TWO = 2  # of two boxes no group is blamed: it would be one of them


class Blamed(StrEnum):
    """What the failures of a test are put down to."""

    ONE = "one"
    GROUP = "group"
    ALIKE = "alike"
    UNDECIDED = "undecided"


class Uncompared(NamedTuple):
    """Why the boxes of a test cannot be compared. `in_common`: two of them ran one commit. `alike`:
    those that failed it in all runs of a commit that two ran, if it did so often; else too few
    failures tell boxes apart.
    """

    in_common: bool
    alike: Sequence[str] = ()


class OnCommit(NamedTuple):
    """The runs of a box on a commit: how many first attempts failed, of how many."""

    failed: int
    runs: int


@dataclass(frozen=True, slots=True)
class Blame(Generic[Box]):
    """The hypothesis that explains the failures, or none of them. `boxes`: those to blame, of a
    group each of which is likely; `perhaps`: others that may belong to it. `others`: those that do
    not. The chances of `one`, `group` and `alike` add up to 1. `counts`: of the boxes to blame (of
    all, where none is), and `others_counts` of the others, on commits that boxes of both kinds ran
    (two boxes, where none is to blame), where not all runs failed. All runs failed on so many
    others (`all_failed`). `times`: the odds of a failure as times those of the others, from and
    to, with 95 %; None where no box is to blame.
    """

    blamed: Blamed
    boxes: tuple[Box, ...]
    perhaps: tuple[Box, ...]
    others: tuple[Box, ...]
    one: float
    group: float
    alike: float
    counts: OnCommit
    others_counts: OnCommit
    times: tuple[float, float] | None
    all_failed: int = 0

    @property
    def compared(self) -> tuple[Box, ...]:
        """All boxes that are compared."""
        return (*self.boxes, *self.perhaps, *self.others)

    @property
    def chance(self) -> float:
        """The chance of what is said; of the likeliest, where nothing is."""
        return max(self.one, self.group, self.alike)


def blame(boxes: Sequence[Box], runs: Whole, failed: Whole) -> Blame[Box] | None:
    """Return what explains the failures on commits, of which each is a row of runs and failed ones
    with a column for each box; None: no two boxes ran one of them, or too few of their runs failed
    and passed.
    """
    shared, alike = (runs > 0).sum(axis=1) > 1, _all_failed(runs, failed)
    all_failed = runs[shared & alike]
    runs, failed = runs[shared & ~alike], failed[shared & ~alike]
    if failed.sum() <= NO_FAILURES:
        return None
    by_name = sorted(range(len(boxes)), key=lambda at: str(boxes[at]))
    ran = [at for at in by_name if runs[:, at].any()]
    weighed = _Weighed([boxes[at] for at in ran], failed.take(ran, 1), runs.take(ran, 1))
    return weighed.blame(all_failed.take(ran, 1))


def uncompared(boxes: Sequence[str], runs: Whole, failed: Whole) -> Uncompared:
    """Return why the boxes that ran a test on these commits cannot be compared."""
    shared = (runs > 0).sum(axis=1) > 1
    alike = shared & _all_failed(runs, failed)
    often = failed[alike].sum() > NO_FAILURES
    ran = zip(boxes, runs[alike].any(axis=0), strict=True)
    return Uncompared(bool(shared.any()), sorted(box for box, on in ran if on) if often else ())


def _all_failed(runs: Whole, failed: Whole) -> Flags:
    """Return for each commit whether all runs failed: that is no box's fault."""
    every: Flags = failed.sum(axis=1) == runs.sum(axis=1)
    return every


class _Weighed(Generic[Box]):
    """The chance of each hypothesis: of each group of boxes and number of times, and of none."""

    def __init__(self, names: Sequence[Box], bad: Whole, runs: Whole) -> None:
        import numpy as np

        self._names, self._bad, self._runs = names, bad, runs
        self._groups = [frozenset(group) for group in _groups(runs, bad)]
        self._of_box = np.array(
            [[at in group for at in range(len(names))] for group in self._groups]
        )
        self._size = self._of_box.sum(axis=1)
        prior = np.array([_log_prior(int(size), len(names)) for size in self._size]) - log(
            len(TIMES)
        )
        logs = _log_weights(runs, bad, self._of_box) + prior[:, None]
        highest = max(float(logs.max()), log(_ALIKE))
        likely, alike = np.exp(logs - highest), exp(log(_ALIKE) - highest)
        total = float(likely.sum()) + alike
        self._likely: Numbers = likely / total
        self._chances: Numbers = self._likely.sum(axis=1)
        self._alike = alike / total
        self._one = float(self._chances[self._size == 1].sum())
        self._group = float(self._chances[self._size > 1].sum())

    def blame(self, all_failed: Whole) -> Blame[Box]:
        """Return what is said: of one box, if it is sure which; of a group, its sure members.
        `all_failed`: the runs of the commits on which all failed.
        """
        blamed, inside, perhaps = Blamed.UNDECIDED, frozenset[int](), frozenset[int]()
        best = int(self._chances.argmax())
        if self._size[best] == 1 and self._chances[best] >= SAID_FROM:
            blamed, inside = Blamed.ONE, self._groups[best]
        elif self._group >= SAID_FROM:
            inside, perhaps = self._members()
            blamed = Blamed.GROUP if len(inside) > 1 else Blamed.UNDECIDED
        elif self._alike >= SAID_FROM:
            blamed = Blamed.ALIKE
        if blamed is Blamed.UNDECIDED:
            inside = perhaps = frozenset()
        others = frozenset(range(len(self._names))) - inside - perhaps
        return Blame(
            blamed=blamed,
            boxes=self._called(inside),
            perhaps=self._called(perhaps),
            others=self._called(others),
            one=self._one,
            group=self._group,
            alike=self._alike,
            counts=self._counted(inside or others, others),
            others_counts=self._counted(others, inside) if inside else OnCommit(0, 0),
            times=self._times(inside) if inside else None,
            all_failed=int(_ran(all_failed, inside or others).sum()),
        )

    def _members(self) -> tuple[frozenset[int], frozenset[int]]:
        """Return the boxes that likely belong to the group, and those that may."""
        several = self._size > 1
        within = self._chances[several] @ self._of_box[several] / self._group
        sure = [at for at, chance in enumerate(within) if chance >= IN_GROUP]
        unsure = [at for at, chance in enumerate(within) if 1 - IN_GROUP < chance < IN_GROUP]
        return frozenset(sure), frozenset(unsure)

    def _called(self, boxes: frozenset[int]) -> tuple[Box, ...]:
        return tuple(box for at, box in enumerate(self._names) if at in boxes)

    def _counted(self, boxes: frozenset[int], beside: frozenset[int]) -> OnCommit:
        """Return the runs of some boxes on commits that one of others ran, too."""
        at, rows = sorted(boxes), _ran(self._runs, beside)
        return OnCommit(int(self._bad[rows][:, at].sum()), int(self._runs[rows][:, at].sum()))

    def _times(self, boxes: frozenset[int]) -> tuple[float, float]:
        """Return how many times as high the odds are, if so many boxes are to blame (95 %)."""
        alike = self._size > 1
        if len(boxes) == 1:
            alike = ~alike & self._of_box[:, [*boxes]].all(axis=1)
        chances = [*accumulate(map(float, self._likely[alike].sum(axis=0)))]
        low, high = (bisect_left(chances, end * chances[-1]) for end in _ENDS)
        return TIMES[low], TIMES[high]


def _ran(runs: Whole, boxes: frozenset[int]) -> Flags:
    """Return for each commit whether one of these boxes ran it."""
    ran: Flags = runs[:, sorted(boxes)].sum(axis=1) > 0
    return ran


def _log_prior(size: int, boxes: int) -> float:
    """Return the logarithm of the chance of a group of this size before any run."""
    if size == 1:
        return log((_ONE if boxes > _TWO else _ONE + _GROUP) / boxes)
    return log(_GROUP / (boxes - _TWO)) - _log_comb(boxes, size)


def _groups(runs: Whole, bad: Whole) -> Sequence[tuple[int, ...]]:
    """Return the groups that are weighed, by the numbers of their boxes."""
    boxes = range(runs.shape[1])
    if len(boxes) <= ALL_SUBSETS:
        return [some for size in boxes[1:] for some in combinations(boxes, size)]
    share = bad.sum(axis=1) / runs.sum(axis=1)
    excess = (bad - runs * share[:, None]).sum(axis=0)
    worst = sorted(boxes, key=lambda at: -excess[at])[:WORST]
    sizes = range(_TWO, min(WORST, len(boxes) - 1) + 1)
    return [(at,) for at in worst] + [tuple(worst[:size]) for size in sizes]


def _log_weights(runs: Whole, bad: Whole, of_box: Flags) -> Numbers:
    """Return for each group and number of times how much better it explains the failures than that
    all boxes are alike, as a logarithm.
    """
    import numpy as np

    failed = (bad @ of_box.T.astype(np.int64)).sum(axis=0)
    # Where none failed, each hypothesis is as good as that all are alike.
    bad, runs = bad[bad.any(axis=1)], runs[bad.any(axis=1)]
    n, m = runs.sum(axis=1), bad.sum(axis=1)
    k, base = runs @ of_box.T.astype(np.int64), int(n.max()) + 1
    keys, at = np.unique((n * base + m)[:, None] * base + k, return_inverse=True)
    means = np.array([_log_means(*_parts(int(key), base)) for key in keys])
    of_commits = means[at.reshape(k.shape)].sum(axis=0)
    weights: Numbers = failed[:, None] * np.log(TIMES) - of_commits
    return weights


def _parts(key: int, base: int) -> tuple[int, int, int]:
    return key // base // base, key // base % base, key % base


@lru_cache(maxsize=65_536)
def _log_means(n: int, m: int, k: int) -> tuple[float, ...]:
    """Return for each number of times the logarithm of its mean power, over all ways in which m of
    n runs fail, of which k are on the boxes to blame (the exponent: failures on these).
    """
    here = range(max(0, m - (n - k)), min(k, m) + 1)
    ways = [_log_comb(k, a) + _log_comb(n - k, m - a) - _log_comb(n, m) for a in here]
    return tuple(
        _log_sum([way + a * log(times) for a, way in zip(here, ways, strict=True)])
        for times in TIMES
    )


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _log_sum(logs: Sequence[float]) -> float:
    highest = max(logs)
    return highest + log(sum(exp(value - highest) for value in logs))
