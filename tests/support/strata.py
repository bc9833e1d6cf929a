# SPDX-License-Identifier: Apache-2.0
"""Commits as tests write them, each with the runs of its boxes, as the columns that are weighed."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hwci.analysis.benches.blame import OnCommit

Box = TypeVar("Box")


def columns(
    commits: Sequence[Mapping[Box, OnCommit]],
) -> tuple[list[Box], NDArray[np.int64], NDArray[np.int64]]:
    """Return the boxes, and the runs of each on each commit with those that failed."""
    boxes = [*dict.fromkeys(chain.from_iterable(commits))]
    place = {box: at for at, box in enumerate(boxes)}
    runs, failed = np.zeros((2, len(commits), len(boxes)), np.int64)
    for row, commit in enumerate(commits):
        for box, on in commit.items():
            runs[row, place[box]], failed[row, place[box]] = on.runs, on.failed
    return boxes, runs, failed
