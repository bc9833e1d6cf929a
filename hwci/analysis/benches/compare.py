# SPDX-License-Identifier: Apache-2.0
"""From sums over strata to a comparison: how many times the odds, how sure, and whether to say so.

Significance: whole runs change their boxes by chance within a commit, as the results of one run are
not independent. The interval is the wider of the one by strata and the one by the scatter between
commits. False discoveries are held at 5 % over all that is compared together.

A box is named if both agree: a chance that is small, and an interval above 1. To name it is to say
how many times as often it fails, and an interval that holds 1 says that this is not known. The
interval is not made from the chance: it is wider where commits contradict each other.
"""

from __future__ import annotations

from dataclasses import fields
from math import log
from typing import TYPE_CHECKING

from hwci.analysis.benches.strata import Sum
from hwci.contract.boxes.benches import Comparison, Counts
from hwci.contract.vocabulary import NotCompared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hwci.analysis.benches.strata import Numbers, Strata, Whole

COMMITS_MIN = 5
"""The fewest commits with a test that passed on one box and failed on another, to compare."""
ODDS_MIN = 1.5
"""The lowest odds of a failure, as times those of the others, from which a box is called worse."""
FALSE_DISCOVERIES = 0.05
"""The part of all that are called worse that may be so by chance."""
_SURE = 0.975  # both sides of 95 %
_NOTHING, _STRAIGHT = 1e-12, 1e-3
_WIDEST = 20.0  # logarithm; a number all the same
_DRAWS = 999
_DRAWN_MAX = 3_000_000  # runs, over all draws; beyond, the curve is exact enough
_AT_ONCE = 37  # draws, of which all are a multiple
_RUN_BITS = (_DRAWN_MAX // _DRAWS).bit_length()
_ORDER_BITS = 40  # of a random number: so many put no two runs of a commit in one place
_FEW = 10  # draws beyond the observed one; with fewer the curve goes on from there
_SEED = 69


def is_worse(odds_ratio: float, low: float, false_discovery: float) -> bool:
    """Whether it is worth saying that a box is worse than the others."""
    return false_discovery <= FALSE_DISCOVERIES and odds_ratio >= ODDS_MIN and low > 1


def times_between(comparison: Comparison) -> tuple[float, float]:
    """Return the 95 % interval of `times_as_often`, of a box that is named: that of the odds, whose
    ends are as far from 1, counted in standard errors.
    """
    scale = log(comparison.times_as_often) / log(comparison.odds_ratio)
    return comparison.low**scale, comparison.high**scale


def counts_of(row: Numbers) -> Counts:
    """Return the counts of a row of sums: of results in strata where not all failed."""
    names = (field.name for field in fields(Counts))
    return Counts(**{name: round(float(row[at])) for name, at in zip(names, Sum, strict=False)})


def missing(row: Numbers | Sequence[float], boxes: int) -> NotCompared | None:
    """Return what a row of sums lacks to be compared; None: nothing."""
    if boxes <= 1:
        return NotCompared.ONE_BOX
    if not row[Sum.SHARED]:
        return NotCompared.NOTHING_IN_COMMON
    if not row[Sum.COMMITS]:
        return NotCompared.NO_FAILURE
    return NotCompared.FEW_COMMITS if row[Sum.COMMITS] < COMMITS_MIN else None


def compare(rows: Numbers, chances: Numbers) -> list[Comparison]:
    """Return the comparison of each row, which has what it takes, with its chance."""
    import numpy as np
    from scipy.special import stdtrit

    odds, rate = _ratio(rows, Sum.R, Sum.S), _ratio(rows, Sum.RATE_OF_BOX, Sum.RATE_OF_OTHERS)
    r, s = _at_least_half(rows, Sum.R, Sum.S)
    by_strata = (
        rows[:, Sum.PR] / (2 * r**2)
        + rows[:, Sum.PS_QR] / (2 * r * s)
        + rows[:, Sum.QS] / (2 * s**2)
    )
    commits = rows[:, Sum.COMMITS]
    scatter = rows[:, Sum.RR] - 2 * odds * rows[:, Sum.RS] + odds**2 * rows[:, Sum.SS]
    by_commits = commits / (commits - 1) * scatter / r**2
    spread = np.sqrt(np.maximum(by_strata, by_commits))
    width = np.minimum(stdtrit(commits - 1, _SURE) * spread, _WIDEST)
    false = false_discoveries(chances)
    return [
        _comparison(*map(float, figures))
        for figures in zip(
            odds,
            odds * np.exp(-width),
            odds * np.exp(width),
            rate,
            chances,
            false,
            strict=True,
        )
    ]


def _comparison(
    odds_ratio: float,
    low: float,
    high: float,
    times_as_often: float,
    chance: float,
    false_discovery: float,
) -> Comparison:
    return Comparison(
        odds_ratio=odds_ratio,
        low=low,
        high=high,
        times_as_often=times_as_often,
        chance=chance,
        false_discovery=false_discovery,
        named=is_worse(odds_ratio, low, false_discovery),
    )


def false_discoveries(chances: Numbers) -> Numbers:
    """Return for each chance the share of false ones if it and all smaller ones were called true
    (Benjamini and Hochberg).
    """
    import numpy as np

    order = np.argsort(chances)[::-1]
    ranks = np.arange(len(chances), 0, -1)
    shares = np.empty(len(chances))
    shares[order] = np.minimum.accumulate(chances[order] * len(chances) / ranks)
    return np.minimum(shares, 1)


def _at_least_half(rows: Numbers, above: Sum, below: Sum) -> tuple[Numbers, Numbers]:
    """Return two sums, with half a failure more in each where one is none: a ratio has to exist."""
    more = 0.5 * ((rows[:, above] == 0) | (rows[:, below] == 0))
    return rows[:, above] + more, rows[:, below] + more


def _ratio(rows: Numbers, above: Sum, below: Sum) -> Numbers:
    over, under = _at_least_half(rows, above, below)
    return over / under


def chances_by_curve(rows: Numbers) -> Numbers:
    """Return the chance of as much excess or more, by the curve (Pearson's third) with the moments
    of all ways to deal runs to boxes, and not less than that of one of these ways.
    """
    import numpy as np
    from scipy.special import gammainc, gammaincc, ndtr

    spread = np.sqrt(np.maximum(rows[:, Sum.VARIANCE], _NOTHING))
    beyond = (rows[:, Sum.EXCESS] - 0.5) / spread  # failures are whole: half of one to each side
    skew = rows[:, Sum.SKEW] / spread**3
    bent = np.abs(skew) > _STRAIGHT
    shape = 4 / np.where(bent, skew, 1) ** 2  # of the gamma distribution that it is
    at = np.maximum(shape + np.sqrt(shape) * np.sign(skew) * beyond, 0)
    curve = np.where(skew > 0, gammaincc(shape, at), gammainc(shape, at))
    tails = np.where(bent, curve, ndtr(-beyond))
    chances: Numbers = np.clip(tails, np.exp(-rows[:, Sum.WAYS]), 1)
    return chances


def chances_of_boxes(strata: Strata, check_time: Callable[[], None]) -> Numbers:
    """Return the same for all boxes, by dealing the runs of each commit to its boxes again and
    again; the curve has what is rarer than the draws can show, and the longest histories.
    """
    import numpy as np

    curve = chances_by_curve(strata.by_box)
    if not strata.excess or sum(map(len, strata.excess)) * _DRAWS > _DRAWN_MAX:
        return curve
    excess, on = np.concatenate(strata.excess), np.concatenate(strata.ran_on)
    group = np.repeat(np.arange(len(strata.excess)), [*map(len, strata.excess)])
    size, random = len(strata.by_box), np.random.default_rng(_SEED)
    least = np.bincount(on, excess, size) - 1e-9
    # Numbers are sorted sooner than the places of numbers: those of runs are their last bits.
    number = (group << (_ORDER_BITS + _RUN_BITS)) + np.arange(len(group))
    place = on + size * np.arange(_AT_ONCE)[:, None]  # of each draw and box
    beyond = np.zeros(size)
    for _ in range(_DRAWS // _AT_ONCE):
        check_time()
        dealt = (random.random((_AT_ONCE, len(group))) * (1 << _ORDER_BITS)).astype(np.int64)
        dealt = np.sort((dealt << _RUN_BITS) + number, axis=1) & ((1 << _RUN_BITS) - 1)
        sums = np.bincount(place.ravel(), excess[dealt].ravel(), _AT_ONCE * size)
        beyond += (sums.reshape(-1, size) >= least).sum(axis=0)
    return np.where(
        beyond < _FEW, np.minimum(curve, (_FEW + 1) / (_DRAWS + 1)), (beyond + 1) / (_DRAWS + 1)
    )


def comparable(rows: Numbers, boxes: int) -> Whole:
    """Return which rows have what it takes."""
    import numpy as np

    return np.flatnonzero([missing(row, boxes) is None for row in rows.tolist()])
