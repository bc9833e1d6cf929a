# SPDX-License-Identifier: Apache-2.0
"""Sums over strata: a test at a commit that ran on two boxes or more.

Within a stratum all is equal but the box, so that a box is never blamed for a bad commit or a flaky
test. Each row of sums is of one box, or of one test on one box, and rows of several strata add up.
numpy is imported when it is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, auto
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from hwci.analysis.benches.trials import packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from hwci.analysis.benches.trials import Bytes, Side, Trial

    Numbers = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Flags = NDArray[np.bool_]

_CELLS = 500_000  # results that are looked at together
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
    met: Flags
    """Of each two boxes, whether results of them are compared."""
    keys: Whole
    """Product, test and box of each row of `by_test`."""
    by_test: Numbers
    excess: list[Numbers] = field(default_factory=list)
    """Of the runs of each group, with their boxes."""
    ran_on: list[Whole] = field(default_factory=list)

    @classmethod
    def of(cls, boxes: Sequence[Side]) -> Strata:
        """Return the empty sums of these boxes."""
        import numpy as np

        return cls(
            {box: number for number, box in enumerate(boxes)},
            by_box=np.zeros((len(boxes), len(Sum))),
            met=np.zeros((len(boxes), len(boxes)), dtype=bool),
            keys=np.zeros((0, 3), dtype=np.int64),
            by_test=np.zeros((0, len(Sum))),
        )

    def add(
        self, product: int, groups: Iterable[Sequence[Trial]], check_time: Callable[[], None]
    ) -> None:
        """Add runs of a product: groups of one commit each, in which they can be compared."""
        import numpy as np

        waiting = [(self.keys, self.by_test)]
        for some in _batches(groups):
            check_time()
            results = _Results.of(self.boxes, some)
            cell, test = results.told_apart()
            rows, sums = results.rows(cell, test), results.counts()
            for column in (*range(Sum.R, Sum.RR), *range(Sum.RATE_OF_BOX, Sum.VARIANCE)):
                sums[:, column] = np.bincount(cell, rows[:, column], len(sums))
            self._permute(sums, results)
            self._meet(results)
            np.add.at(self.by_box, results.box, sums)
            keys = np.stack([np.full(len(cell), product), test, results.box[cell]], axis=1)
            waiting.append((keys, rows))
            if sum(len(rows) for _, rows in waiting) > _ROWS:
                waiting = [_added_up(waiting)]
        self.keys, self.by_test = _added_up(waiting)

    def _permute(self, sums: Numbers, results: _Results) -> None:
        """Add the moments of each box's excess over all ways to deal the runs of a group to their
        boxes.
        """
        import numpy as np

        moments = np.zeros((len(results.results), 3))
        shares = results.shares()
        for group, runs, excess in results.excess():
            own = excess[shares[runs]]
            moments[group] = len(own), (own**2).sum() / len(own), (own**3).sum() / len(own)
            self.excess.append(own)
            self.ran_on.append(results.on[runs][shares[runs]])
        cells = moments[results.group, 0] > 0
        runs, second, third = moments[results.group[cells]].T
        own = np.bincount(results.cell, shares, len(sums))[cells]
        sums[cells, Sum.VARIANCE : Sum.COMMITS] = np.stack(
            [*_moments(runs, own, second, third), _ways(runs, own)], axis=1
        )
        r, s, *both = sums[cells, Sum.R : Sum.RR].T
        sums[cells, Sum.RR : Sum.RATE_OF_BOX] = np.stack([r**2, r * s, s**2], axis=1)
        sums[cells, Sum.COMMITS] = sum(both) > 0

    def _meet(self, results: _Results) -> None:
        """Note which boxes have results that are compared."""
        import numpy as np

        told = results.told()
        for start, end in pairwise([*results.first, len(told)]):
            boxes = np.ix_(*[results.box[start:end]] * 2)
            if not self.met[boxes].all():
                of_boxes = told[start:end].astype(np.float32)
                self.met[boxes] |= of_boxes @ of_boxes.T > 0


@dataclass(frozen=True)
class _Results:
    """The results of runs, in groups. A cell is a box in a group; `first`: the first cell of each
    group. `results` and `failed` count by test those of a group, `own` and `bad` those of a cell.
    """

    starts: Whole
    """The first run of each group, and the end of the last."""
    on: Whole
    """The box of each run."""
    cell: Whole
    """The cell of each run."""
    ran: Bytes
    fails: Bytes
    """Of each run and test, whether it ran and failed: one or none."""
    group: Whole
    """The group of each cell."""
    box: Whole
    first: Whole
    own: Whole
    bad: Whole
    results: Whole
    failed: Whole

    @classmethod
    def of(cls, boxes: Mapping[Side, int], groups: Sequence[Sequence[Trial]]) -> _Results:
        """Return the results of these groups."""
        import numpy as np

        sides, *sets, _ = zip(*chain.from_iterable(groups), strict=True)
        width = max(1, -(-max(map(int.bit_length, chain(*sets))) // 8))
        ran, fails = (
            np.unpackbits(packed(some, width), axis=1, bitorder="little") for some in sets
        )
        sizes = [*map(len, groups)]
        on = np.array([boxes[side] for side in sides])
        places = np.repeat(np.arange(len(groups)), sizes) * len(boxes) + on
        cells, cell = np.unique(places, return_inverse=True)
        group, box = np.divmod(cells, len(boxes))
        order, first = (
            np.argsort(cell, kind="stable"),
            np.searchsorted(group, np.arange(len(sizes))),
        )
        begins = np.searchsorted(cell[order], np.arange(len(cells)))
        own, bad = (_added(some[order], begins) for some in (ran, fails))
        results, failed = (_added(some, first) for some in (own, bad))
        starts = np.cumsum([0, *sizes])
        return cls(starts, on, cell, ran, fails, group, box, first, own, bad, results, failed)

    @cached_property
    def shared(self) -> Flags:
        """Of each group and test, whether two boxes ran it."""
        return _added(self.own > 0, self.first) > 1

    @cached_property
    def counted(self) -> Flags:
        """Of each group and test, whether two boxes ran it and not all failed: that is no box's
        fault.
        """
        return self.shared & (self.results > self.failed)

    @cached_property
    def differs(self) -> Flags:
        """Of each group and test, whether it failed and passed."""
        return self.counted & (self.failed > 0)

    def told(self) -> Flags:
        """Return of each cell and test whether it has results that count."""
        return (self.own > 0) & self.counted[self.group]

    def told_apart(self) -> tuple[Whole, Whole]:
        """Return the cells and the tests of results of tests that failed and passed."""
        import numpy as np

        cell, test = np.nonzero((self.own > 0) & self.differs[self.group])
        return cell, test

    def shares(self) -> Flags:
        """Return of each run whether another box ran one of its tests."""
        flags: Flags = (self.ran & self.shared[self.group[self.cell]]).max(axis=1) > 0
        return flags

    def counts(self) -> Numbers:
        """Return the sums of each cell, of which only the counts are there yet."""
        import numpy as np

        told, ran_by_two = self.told(), (self.own > 0) & self.shared[self.group]
        others = self.results[self.group] - self.own
        others_bad = self.failed[self.group] - self.bad
        sums = np.zeros((len(self.box), len(Sum)))
        for column, counts in enumerate((self.bad, self.own, others_bad, others)):
            sums[:, column] = counts.sum(axis=1, where=told)
        sums[:, Sum.SHARED] = others.sum(axis=1, where=ran_by_two)
        return sums

    def rows(self, cell: Whole, test: Whole) -> Numbers:
        """Return the sums of tests in cells."""
        group = self.group[cell]
        return _of_strata(
            self.own[cell, test],
            self.bad[cell, test],
            self.results[group, test],
            self.failed[group, test],
        )

    def excess(self) -> Iterator[tuple[int, slice, Numbers]]:
        """Yield the groups in which runs failed beyond or below what all of them did, with these
        runs, and how much each did.
        """
        import numpy as np

        for group in np.flatnonzero(self.differs.any(axis=1)).tolist():
            tests, runs = (
                np.flatnonzero(self.differs[group]),
                slice(*self.starts[group : group + 2]),
            )
            expected = self.failed[group, tests] / self.results[group, tests]
            failed = self.fails[runs][:, tests].sum(axis=1, dtype=np.int64)
            excess = failed - self.ran[runs][:, tests] @ expected
            if excess.any():
                yield group, runs, excess


def _added(rows: Bytes | Flags | Whole, begins: Whole) -> Whole:
    """Return the sums of the rows from each beginning to the next. Most are of few rows, so the
    first rows of all are added, then the second ones, and so on.
    """
    import numpy as np

    sizes = np.diff(begins, append=len(rows))
    sums = np.zeros((len(begins), rows.shape[1]), np.int64)
    for nth in range(sizes.max(initial=0)):
        longer = np.flatnonzero(sizes > nth)
        sums[longer] += rows[begins[longer] + nth]
    return sums


def _batches(groups: Iterable[Sequence[Trial]]) -> Iterator[Sequence[Sequence[Trial]]]:
    """Yield groups, as many at once as fit in memory."""
    batch: list[Sequence[Trial]] = []
    cells = 0
    for group in groups:
        batch.append(group)
        cells += len(group) * max(trial.ran.bit_length() for trial in group)
        if cells > _CELLS:
            yield batch
            batch, cells = [], 0
    if batch:
        yield batch


def _added_up(some: Sequence[tuple[Whole, Numbers]]) -> tuple[Whole, Numbers]:
    """Add up the rows of equal keys, and sort them by these."""
    import numpy as np

    keys, rows = (np.concatenate(parts) for parts in zip(*some, strict=True))
    if not len(keys):
        return keys, rows
    _, first, place = np.unique(
        np.ravel_multi_index([*keys.T], [*keys.max(axis=0) + 1]),
        return_index=True,
        return_inverse=True,
    )
    sums = [np.bincount(place, column, len(first)) for column in rows.T]
    return keys[first], np.stack(sums, axis=1)


def _of_strata(k: Whole, a: Whole, n: Whole, m: Whole) -> Numbers:
    """Return the sums of boxes in strata: of n results and m failures, of which the box has k
    results and a failures.
    """
    import numpy as np

    good, others, others_bad = k - a, n - k, m - a
    others_good = others - others_bad
    r, s = a * others_good / n, good * others_bad / n
    p, q = (a + others_good) / n, (good + others_bad) / n
    share = m / n
    skew = share * (1 - share) * (1 - 2 * share)
    variance, third = _moments(n, k, share * (1 - share), skew)
    columns: dict[Sum, Numbers | Whole] = {
        Sum.FAILED: a,
        Sum.RESULTS: k,
        Sum.OTHERS_FAILED: others_bad,
        Sum.OTHERS_RESULTS: others,
        Sum.R: r,
        Sum.S: s,
        Sum.PR: p * r,
        Sum.PS_QR: p * s + q * r,
        Sum.QS: q * s,
        Sum.RR: r * r,
        Sum.RS: r * s,
        Sum.SS: s * s,
        Sum.RATE_OF_BOX: a * others / n,
        Sum.RATE_OF_OTHERS: others_bad * k / n,
        Sum.EXCESS: a - k * share,
        Sum.VARIANCE: variance,
        Sum.SKEW: third,
        Sum.WAYS: np.minimum(_ways(n, k), _ways(n, m)),
        Sum.COMMITS: np.minimum(k, 1),
        Sum.SHARED: others,
    }
    return np.stack([np.asarray(columns[column], float) for column in Sum], axis=1)


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
