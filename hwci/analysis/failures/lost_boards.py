# SPDX-License-Identifier: Apache-2.0
"""Failures of runs that lost their board: most of them say nothing about the firmware.

The rules know no lost boards. They label, class and count these failures as any other; this module
says it beside them. Which failures they are is decided in `analysis/benches/lost_runs.py`.
"""

from collections.abc import Sequence
from datetime import timedelta

from hwci.analysis.benches.lost_runs import LostBoards, failures_in_lost_runs
from hwci.analysis.benches.trials import Trials
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.failures import lost_boards as shapes
from hwci.contract.vocabulary import FailureClass
from hwci.engine.facts import FailureKey
from hwci.engine.history import Failure, Scope
from hwci.engine.page.reading import Classified
from hwci.engine.periods import Period
from hwci.said import counted, joined

AROUND = timedelta(days=30)
"""For one failure, the runs of so long before and after it say how often tests fail."""


def lost_boards(history: RecordedRuns, scope: Scope, period: Period) -> LostBoards:
    """Return the failures of a period that lie in runs that lost their board."""
    lost: dict[FailureKey, Sequence[str]] = {}
    for outcomes in history.outcomes(scope, period):
        trials = Trials(outcomes, history.check_time, {})
        lost.update(failures_in_lost_runs(trials, history.check_time))
    return lost


def in_lost_runs(
    history: RecordedRuns, scope: Scope, period: Period, rows: Sequence[Classified]
) -> list[Classified]:
    """Return those of these resolved failures of a period that lie in runs that lost their board,
    on each commit on which they failed, in their order.
    """
    lost = lost_boards(history, scope, period) if rows else {}
    begun = [row for row in rows if row.episode.key in lost]
    members = history.members([row.episode for row in begun])
    return [
        row
        for row, failures in zip(begun, members, strict=True)
        if all(failure.key in lost for failure in failures)
    ]


def lost_rows(rows: Sequence[Classified], most: int) -> shapes.LostBoardCounts:
    """Count the rows of each table, and name so many of the first of both."""
    real = sum(row.failure_class is FailureClass.REAL_FW_BUG for row in rows)
    return shapes.LostBoardCounts(
        real_bugs=real,
        other_failures=len(rows) - real,
        failures=tuple(row.episode.id for row in rows[:most]),
    )


def lost_board_of(history: RecordedRuns, failure: Failure) -> str | None:
    """Return in words at which test the board was lost in the runs of one failure; None if it was
    not.
    """
    key = failure.key
    around = Period(failure.first.started_at - AROUND, failure.last_started_at + AROUND)
    at = lost_boards(history, Scope(*key.lane.product), around).get(key)
    return None if at is None else _words(at, key.lane.test_id)


def _words(at: Sequence[str], test_id: str) -> str:
    tests = ["this test" if test == test_id else test for test in dict.fromkeys(at)]
    runs = "this run" if len(at) == 1 else f"the {counted(len(at), 'run')} in which it failed"
    return f"In {runs} the board was lost at {joined(tests)}; what failed after it says little."
