# SPDX-License-Identifier: Apache-2.0
"""A box by the calendar days of a reader: its runs, those that never reached the hardware or lost
their board, what failed here and on the others, and what people noted. It decides on which day each
counts, and says of no day that the box was worse: one day is too little for that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.benches.trials import alike, box_of
from hwci.contract.boxes.benches import Counts, DayOfBox
from hwci.engine.periods import Period

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from hwci.analysis.benches.report import Read
    from hwci.analysis.benches.trials import Trial, Trials
    from hwci.contract.boxes.benches import Note
    from hwci.contract.periods.days import CalendarDay


class TimeLine(NamedTuple):
    """The days of a zone in a period, and the notes of a box in it, in order."""

    zone: str
    days: Sequence[CalendarDay]
    notes: Sequence[Note]

    @property
    def period(self) -> Period:
        """The period that has these days."""
        return Period(self.days[0].start, self.days[-1].end)

    def day_of(self, at: datetime) -> int:
        """Return the number of the day that has an instant of the period."""
        return bisect_right(self.days, at, lo=1, key=lambda day: day.start) - 1


def days_of(read: Read, box_key: str, line: TimeLine) -> tuple[DayOfBox, ...]:
    """Return the days on which a box ran or has a note, in order."""
    runs, unreached, lost = Counter[int](), Counter[int](), Counter[int]()
    compared: dict[int, list[Counts]] = defaultdict(list)
    notes: dict[int, list[Note]] = defaultdict(list)
    for product in read.products:
        for number, run in enumerate(product.found.runs):
            if run.box_key == box_key:
                day = line.day_of(run.started_at)
                runs[day] += 1
                unreached[day] += not run.hello_ok
                lost[day] += number in product.lost
        for day, counts in _compared(product, box_key, line):
            compared[day].append(counts)
    for note in line.notes:
        notes[line.day_of(note.at)].append(note)
    return tuple(
        DayOfBox(
            day=day,
            runs=runs[day],
            never_reached=unreached[day],
            lost_board=lost[day],
            counts=_together(compared[day]),
            notes=tuple(notes[day]),
        )
        for day in sorted({*runs, *notes})
    )


def _compared(product: Trials, box_key: str, line: TimeLine) -> Iterator[tuple[int, Counts]]:
    """Yield the days of a box with what is compared of each commit then, as `strata.py` counts it:
    tests that another box ran at the commit, and that passed on one of them.
    """
    for trials in product.by_stratum.values():
        if not any(box_of(trial.side) == box_key for trial in trials):
            continue
        for group in alike(trials, product.check_time):
            own: dict[int, list[Trial]] = defaultdict(list)
            others: list[Trial] = []
            for trial in group:
                is_own = box_of(trial.side) == box_key
                day = line.day_of(product.found.runs[trial.number].started_at)
                (own[day] if is_own else others).append(trial)
            passed = reduce(or_, (trial.ran & ~trial.failed for trial in group))
            told = passed & reduce(or_, (trial.ran for trial in others), 0)
            for day, ran in own.items():
                ran_here = told & reduce(or_, (trial.ran for trial in ran))
                failed, results = _counts(ran, told)
                others_failed, others_results = _counts(others, ran_here)
                yield (
                    day,
                    Counts(
                        failed=failed,
                        results=results,
                        others_failed=others_failed,
                        others_results=others_results,
                    ),
                )


def _together(compared: Sequence[Counts]) -> Counts:
    return Counts(
        failed=sum(counts.failed for counts in compared),
        results=sum(counts.results for counts in compared),
        others_failed=sum(counts.others_failed for counts in compared),
        others_results=sum(counts.others_results for counts in compared),
    )


def _counts(trials: Sequence[Trial], tests: int) -> tuple[int, int]:
    """Return how many results of these tests failed, and how many there are."""
    return (
        sum((trial.failed & tests).bit_count() for trial in trials),
        sum((trial.ran & tests).bit_count() for trial in trials),
    )
