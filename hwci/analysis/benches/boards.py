# SPDX-License-Identifier: Apache-2.0
"""The boards of one box against each other, by the code that compares boxes: of each of its runs,
what a board ran is a run of its own. Which board is worse is said as of a box, within test and
commit (ADR 0010): boards that never run one test at one commit cannot be compared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hwci.analysis.benches.report import (
    KnownOfBoxes,
    compared_boxes,
    figures_of,
    read_runs,
    worst_first,
)
from hwci.contract.boxes.benches import BoardOfBox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hwci.analysis.outcomes import ProductOutcomes, RunOutcomes

BOARDS_MIN = 2


def boards_of(
    outcomes: Sequence[ProductOutcomes],
    box_key: str,
    most: int,
    check_time: Callable[[], None],
) -> tuple[BoardOfBox, ...]:
    """Return the boards that runs of a box name, the worst first, at most so many; none if they
    name one alone.
    """
    split = [_split(product, box_key) for product in outcomes]
    boards = {run.box_key for product in split for run in product.runs}
    if len(boards) < BOARDS_MIN:
        return ()
    read = read_runs(split, KnownOfBoxes({}, {}), check_time)
    compared = compared_boxes(read)
    return tuple(
        BoardOfBox(**vars(figures_of(read, compared, side, "board")), board=str(side))
        for side in worst_first(read, compared)[:most]
    )


def _split(found: ProductOutcomes, box_key: str) -> ProductOutcomes:
    """Return the runs of a box as if each board were a box."""
    own = (run for run in found.runs if run.box_key == box_key)
    return replace(found, runs=[part for run in own for part in _parts(run)])


def _parts(run: RunOutcomes) -> Iterator[RunOutcomes]:
    for board, ran in sorted(run.boards.items()):
        yield replace(
            run,
            box_key=board,
            ran=ran,
            order=[test for test in run.order if ran >> test & 1],
            notable={test: did for test, did in run.notable.items() if ran >> test & 1},
            boards={},
        )
