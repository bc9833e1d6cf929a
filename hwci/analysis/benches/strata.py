# SPDX-License-Identifier: Apache-2.0
"""Sums over strata: a test at a commit that ran on two boxes or more.

Within a stratum all is equal but the box, so that a box is never blamed for a bad commit or a flaky
test. Each row of sums is of one box, or of one test on one box, and rows of several strata add up.
numpy is imported when it is asked.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import TYPE_CHECKING

from hwci.analysis.benches.trials import packed
from hwci.engine.test_sets import CountedTests

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from hwci.analysis.benches.trials import Bytes, Side, Trial

    Numbers = NDArray[np.float64]
    Whole = NDArray[np.int64]

_CELLS = 4_000_000  # results that are looked at together
_ROWS = 200_000  # rows of tests on boxes, before those of one test and box are added up


class Sum(IntEnum):
    """What is added up. In a stratum of n results and m failures, of which the box has k results
    and a failures: R = a (others' passes) / n and S = (its passes) (others' failures) / n, whose
    ratio over all strata is the odds ratio of Mantel and Haenszel. P and Q are the shares of the
    two kinds of results that these multiply. EXCESS is a - k m / n.
    """

    FAILED = 0
    RESULTS = auto()
    OTHERS_FAILED = auto()
    OTHERS_RESULTS = auto()
    R = auto()
    S = auto()
    PR = auto()
    PS_QR = auto()
    QS = auto()
    RR = auto()  # R and S of a commit multiplied: how they scatter between commits
    RS = auto()
    SS = auto()
    RATE_OF_BOX = auto()  # their ratio is how many times as often the box fails
    RATE_OF_OTHERS = auto()
    EXCESS = auto()
    VARIANCE = auto()  # of EXCESS, if whole runs changed boxes by chance
    SKEW = auto()  # its third central moment
    WAYS = auto()  # logarithm of the number of ways in which they can change
    COMMITS = auto()  # with a test that failed and passed
    SHARED = auto()  # results of the others, wherever both ran


@dataclass
class Strata:
    """Sums by box, and by test and box; and for each run how much it failed beyond its stratum."""

    boxes: Mapping[Side, int]
    by_box: Numbers
    met: NDArray[np.bool_]
    """Of each two boxes, whether results of them are compared."""
    by_test: dict[tuple[int, int, int], Numbers] = field(default_factory=dict)
    """By product, test and box."""
    excess: list[Numbers] = field(default_factory=list)
    """Of the runs of each group, with their boxes."""
    ran_on: list[Whole] = field(default_factory=list)
    _rows: list[tuple[Whole, Numbers]] = field(default_factory=list)
    _size: int = 0

    @classmethod
    def of(cls, boxes: Sequence[Side]) -> Strata:
        """Return the empty sums of these boxes."""
        import numpy as np

        numbers = {box: number for number, box in enumerate(boxes)}
        met = np.zeros((len(boxes), len(boxes)), dtype=bool)
        return cls(numbers, np.zeros((len(boxes), len(Sum))), met)

    def add(self, product: int, group: Sequence[Trial]) -> None:
        """Add the runs of one commit that can be compared."""
        import numpy as np

        ran_on: dict[int, int] = defaultdict(int)
        once = shared = passed = failed = 0
        for trial in group:
            ran_on[self.boxes[trial.side]] |= trial.ran
            passed |= trial.ran & ~trial.failed
            failed |= trial.failed
        for tests in ran_on.values():
            shared, once = shared | once & tests, once | tests
        boxes = np.array(sorted(ran_on))
        sums = np.zeros((len(boxes), len(Sum)))
        self._count(sums, dict(sorted(ran_on.items())), group, shared, passed)
        if differ := shared & passed & failed:
            on = np.array([self.boxes[trial.side] for trial in group])
            excess = self._compare(sums, product, group, differ, boxes, on)
            if np.abs(excess).any():
                shares = np.array([trial.ran & shared > 0 for trial in group])
                self._permute(sums, boxes, excess[shares], on[shares])
        self.by_box[boxes] += sums

    def _compare(
        self,
        sums: Numbers,
        product: int,
        group: Sequence[Trial],
        differ: int,
        boxes: Whole,
        on: Whole,
    ) -> Numbers:
        """Add what tests that failed and passed tell. `on`: the boxes of the runs. Return how much
        each run failed beyond its stratum.
        """
        import numpy as np

        order = np.argsort(on, kind="stable")
        starts = np.searchsorted(on[order], boxes)
        excess = np.zeros(len(group))
        for tests, ran, failed in _columns(group, differ):
            of_box, bad = (
                np.add.reduceat(some[order], starts, axis=0, dtype=np.int64)
                for some in (ran, failed)
            )
            rows = _of_strata(of_box, bad)
            sums[:, Sum.R : Sum.RR] += rows[:, :, Sum.R : Sum.RR].sum(axis=1)
            ratio = rows[:, :, Sum.RATE_OF_BOX : Sum.VARIANCE]
            sums[:, Sum.RATE_OF_BOX : Sum.VARIANCE] += ratio.sum(axis=1)
            self._keep(product, tests, boxes, of_box, rows)
            excess += failed.sum(axis=1, dtype=np.int64)
            excess -= ran @ (bad.sum(axis=0) / of_box.sum(axis=0))
        return excess

    def _count(
        self,
        sums: Numbers,
        ran_on: Mapping[int, int],
        group: Sequence[Trial],
        shared: int,
        passed: int,
    ) -> None:
        """Count results and failures of tests that two boxes ran, where not all failed: that is no
        box's fault. `ran_on`: which tests ran on each box; `passed`: somewhere.
        """
        some = shared & passed
        every_ran, every_failed = CountedTests(), CountedTests()
        own = {box: [0, 0, 0] for box in ran_on}
        for trial in group:
            ran, failed = trial.ran & shared, trial.failed & some
            every_ran.add(ran, 1)
            every_failed.add(failed, 1)
            counts = own[self.boxes[trial.side]]
            counts[0] += failed.bit_count()
            counts[1] += (ran & some).bit_count()
            counts[2] += ran.bit_count()
        for row, (box, tests) in enumerate(ran_on.items()):
            failures, results, all_results = own[box]
            sums[row, : Sum.R] = (
                failures,
                results,
                every_failed.total(tests) - failures,
                every_ran.total(tests & some) - results,
            )
            sums[row, Sum.SHARED] = every_ran.total(tests) - all_results
            for other, others in ran_on.items():
                if tests & others & some:
                    self.met[box, other] = True

    def _permute(self, sums: Numbers, boxes: Whole, excess: Numbers, on: Whole) -> None:
        """Add the moments of each box's excess over all ways to deal these runs to their boxes."""
        import numpy as np

        runs, own = len(on), np.bincount(np.searchsorted(boxes, on), minlength=len(boxes))
        moments = _moments(runs, own, (excess**2).sum() / runs, (excess**3).sum() / runs)
        sums[:, Sum.VARIANCE : Sum.COMMITS] = np.stack([*moments, _ways(runs, own)], axis=1)
        sums[:, Sum.COMMITS] = (sums[:, Sum.PR] + sums[:, Sum.PS_QR] + sums[:, Sum.QS]) > 0
        sums[:, Sum.RR] = sums[:, Sum.R] ** 2
        sums[:, Sum.RS] = sums[:, Sum.R] * sums[:, Sum.S]
        sums[:, Sum.SS] = sums[:, Sum.S] ** 2
        self.excess.append(excess)
        self.ran_on.append(on)

    def _keep(self, product: int, tests: Whole, boxes: Whole, of_box: Whole, rows: Numbers) -> None:
        import numpy as np

        box, test = np.nonzero(of_box)
        keys = np.stack([np.full(len(box), product), tests[test], boxes[box]], axis=1)
        self._rows.append((keys, rows[box, test]))
        self._size += len(keys)
        if self._size > _ROWS:
            self.gather()

    def gather(self) -> None:
        """Add up the rows of each test and box."""
        import numpy as np

        if self._rows:
            every = np.concatenate([keys for keys, _ in self._rows])
            _, first, place = np.unique(
                np.ravel_multi_index([*every.T], [*every.max(axis=0) + 1]),
                return_index=True,
                return_inverse=True,
            )
            sums = np.zeros((len(first), len(Sum)))
            np.add.at(sums, place, np.concatenate([rows for _, rows in self._rows]))
            for key, row in zip(map(tuple, every[first].tolist()), sums, strict=True):
                before = self.by_test.get(key)
                self.by_test[key] = row if before is None else before + row
        self._rows, self._size = [], 0


def _columns(
    group: Sequence[Trial], tests: int
) -> Iterator[tuple[Whole, NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield these tests, and which runs of a group ran and failed them, as many as fit in
    memory.
    """
    import numpy as np

    width = (tests.bit_length() + 7) // 8
    numbers = np.flatnonzero(np.unpackbits(packed([tests], width), bitorder="little"))
    ran = packed((trial.ran & tests for trial in group), width)
    failed = packed((trial.failed & tests for trial in group), width)
    at_once = max(1, _CELLS // len(group))
    for start in range(0, len(numbers), at_once):
        some = numbers[start : start + at_once]
        yield some, _bits(ran, some), _bits(failed, some)


def _bits(sets: Bytes, tests: Whole) -> NDArray[np.bool_]:
    import numpy as np

    bits = sets[:, tests >> 3] >> (tests & 7).astype(np.uint8) & 1
    return bits.view(bool)


def _of_strata(of_box: Whole, bad: Whole) -> Numbers:
    """Return the sums of each box in each stratum, where it ran."""
    import numpy as np

    n, m = of_box.sum(axis=0), bad.sum(axis=0)
    good, others = of_box - bad, n - of_box
    others_good = others - (m - bad)
    rows = np.zeros((*of_box.shape, len(Sum)))
    r, s = bad * others_good / n, good * (m - bad) / n
    p, q = (bad + others_good) / n, (good + m - bad) / n
    share = m / n
    skew = share * (1 - share) * (1 - 2 * share)
    variance, third = _moments(n, of_box, share * (1 - share), skew)
    columns: dict[Sum, Numbers | Whole] = {
        Sum.FAILED: bad,
        Sum.RESULTS: of_box,
        Sum.OTHERS_FAILED: m - bad,
        Sum.OTHERS_RESULTS: others,
        Sum.R: r,
        Sum.S: s,
        Sum.PR: p * r,
        Sum.PS_QR: p * s + q * r,
        Sum.QS: q * s,
        Sum.RR: r * r,
        Sum.RS: r * s,
        Sum.SS: s * s,
        Sum.RATE_OF_BOX: bad * others / n,
        Sum.RATE_OF_OTHERS: (m - bad) * of_box / n,
        Sum.EXCESS: bad - of_box * share,
        Sum.VARIANCE: variance,
        Sum.SKEW: third,
        Sum.WAYS: np.minimum(_ways(n, of_box), _ways(n, m)),
        Sum.COMMITS: np.minimum(of_box, 1),
        Sum.SHARED: others,
    }
    for column, values in columns.items():
        rows[:, :, column] = values
    return rows


def _moments(
    size: Whole | int, drawn: Whole, second: Numbers | float, third: Numbers | float
) -> tuple[Numbers, Numbers]:
    """Return variance and third central moment of the sum of `drawn` of so many numbers, drawn
    without putting back, whose own moments about their mean, 0, are given.
    """
    import numpy as np

    rest = size - drawn
    at_least_two, at_least_three = np.maximum(size - 1, 1), np.maximum(size - 2, 1)
    pairs = drawn * rest / at_least_two
    return pairs * second, pairs * (rest - drawn) / at_least_three * third


def _ways(size: Whole | int, drawn: Whole) -> Numbers:
    """Return the logarithm of the number of ways to draw so many."""
    from scipy.special import gammaln

    ways: Numbers = gammaln(size + 1) - gammaln(drawn + 1) - gammaln(size - drawn + 1)
    return ways
