# SPDX-License-Identifier: Apache-2.0
"""The change points of LUCI Analysis, to compare ours with: its model, written again for whole
histories (go.chromium.org/luci, analysis/internal/changepoints, as of July 2024).

A segment of runs has one rate at which a run has a failed attempt, and one at which its retries
fail, too; of each the prior is a Beta distribution. A history is cut in two where that explains it
best, if it does so ten thousand times better than one segment, and each half again. Each
cut has an interval, between the cuts beside it. This module knows steps, and no commit or box.
"""

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
from scipy.special import betaln, softmax

from hwci.analysis.flaky.onset import Step

FIRST, RETRIES = (0.05, 0.5), (0.5, 0.5)
"""The priors of both rates."""
CUT = 0.0001
"""The chance of a cut at a step, before any run."""
HOLDS = 0.9
"""LUCI shows the interval of 99 %; here it is as wide as ours."""


def change_points(steps: Sequence[Step]) -> list[int]:
    """Return the steps with which a segment begins, but for the first."""
    if len(steps) < 2:
        return []
    cut = _log_of_cuts(steps)
    at = int(cut.argmax()) + 1
    if cut[at - 1] - _log_of(_counts(steps).sum(axis=0)) + log(CUT) <= 0:
        return []
    right = (at + one for one in change_points(steps[at:]))
    return [*change_points(steps[:at]), at, *right]


def rises(steps: Sequence[Step], cuts: Sequence[int], which: int = -1) -> bool:
    """Whether more runs fail behind a cut than before it, up to the cuts beside it."""
    ends = [0, *cuts, len(steps)]
    at = range(1, len(ends) - 1)[which]
    before, behind = (
        _counts(steps[low:high]).sum(axis=0)
        for low, high in ((ends[at - 1], ends[at]), (ends[at], ends[at + 1]))
    )
    return bool(behind[1] * before[0] > before[1] * behind[0])


def interval(steps: Sequence[Step], cuts: Sequence[int], which: int = -1) -> tuple[int, int]:
    """Return between which steps a cut is, the first and the last that may begin its segment."""
    ends = [0, *cuts, len(steps)]
    at = range(1, len(ends) - 1)[which]
    chances = softmax(_log_of_cuts(steps[ends[at - 1] : ends[at + 1]]))
    upto, tail = chances.cumsum(), (1 - HOLDS) / 2
    first, last = np.searchsorted(upto, [tail, 1 - tail])
    return ends[at - 1] + 1 + int(first), ends[at - 1] + 1 + min(int(last), len(chances) - 1)


def _counts(steps: Sequence[Step]) -> Any:
    """Return runs, failed ones, retried ones, and those whose retry failed, of each step. A run is
    retried once at most.
    """
    return np.array(steps, dtype=float)[:, :4]


def _log_of(counts: Any) -> Any:
    """Return the logarithm of the chance of a segment with these counts."""
    runs, failed, retried, failed_again = np.moveaxis(counts, -1, 0)
    return sum(
        betaln(bad + prior[0], of - bad + prior[1]) - betaln(*prior)
        for bad, of, prior in ((failed, runs, FIRST), (failed_again, retried, RETRIES))
    )


def _log_of_cuts(steps: Sequence[Step]) -> Any:
    """Return the same of two segments, cut before each step but the first."""
    upto = _counts(steps).cumsum(axis=0)
    return _log_of(upto[:-1]) + _log_of(upto[-1] - upto[:-1])
