# SPDX-License-Identifier: Apache-2.0
"""The tiles over time: each thing counted in the slot of its date (spec, "Metrics page").

"Date basis: merges use `merged_at`; resolved failures use the start time of the first failing run;
flake rates and infra runs use each run's start time." What counts is decided in `reading.py`; this
module decides by which instant each thing is dated. So the slots of a period add up to its tiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from hwci.engine.dated import DatedHistory
from hwci.engine.history import Period, Scope
from hwci.engine.page.over_time import TrendSlot
from hwci.engine.page.reading import Reading
from hwci.engine.slots import Slots
from hwci.engine.vocabulary import Label

_INSTANTS_OF_A_ROW = 8  # an instant and its place in a list take an eighth of what a row takes


@dataclass(frozen=True, slots=True)
class Dates:
    """The dates of all that the tiles of a scope and a period count, each list in order."""

    merges_checked: Sequence[datetime]
    merges_announced: Sequence[datetime]
    real_fw_bugs: Sequence[datetime]
    flaky_failures: Sequence[datetime]
    infra_runs: Sequence[datetime]
    runs: Sequence[datetime]

    @property
    def size(self) -> int:
        """The room that they take, in rows of a reading."""
        return sum(map(len, _lists(self))) // _INSTANTS_OF_A_ROW


def read_dates(history: DatedHistory, scope: Scope, period: Period, reading: Reading) -> Dates:
    """Date what a reading of the same history, scope and period counts."""
    flakes = {row.failure.id for row in reading.failures if row.label is Label.FLAKE}
    checked_at = [one.merged_at for one in reading.checked_merges]
    unchecked_at = [one.merged_at for one in reading.unchecked_merges]
    runs = history.run_starts(scope, period)
    return Dates(
        merges_checked=sorted(checked_at),
        merges_announced=sorted([*checked_at, *unchecked_at]),
        real_fw_bugs=sorted(row.group.first.first.started_at for row in reading.real_bugs),
        flaky_failures=history.failing_starts(scope, period, flakes) if flakes else (),
        infra_runs=runs.infra,
        runs=runs.all,
    )


def trend(dates: Dates, slots: Slots) -> list[TrendSlot]:
    """Count by slot."""
    counts = zip(*(slots.counted(times) for times in _lists(dates)), strict=True)
    return [
        TrendSlot(*ends, *row) for ends, row in zip(pairwise(slots.edges()), counts, strict=True)
    ]


def _lists(dates: Dates) -> tuple[Sequence[datetime], ...]:
    return (
        dates.merges_checked,
        dates.merges_announced,
        dates.real_fw_bugs,
        dates.flaky_failures,
        dates.infra_runs,
        dates.runs,
    )
