# SPDX-License-Identifier: Apache-2.0
"""Failures of runs that lost their board: most of them say nothing about the firmware.

The rules know no lost boards. They label, class and count these failures as any other; this module
decides which they are, so that every page says it beside. Which run lost its board, and at which
test, is decided in `analysis/benches/trials.py`.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise

from hwci.analysis.benches.trials import Lost, Trials
from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns, RunOutcomes
from hwci.contract.failures import lost_boards as shapes
from hwci.contract.vocabulary import FailureClass, Outcome
from hwci.engine.facts import FailureKey, Lane
from hwci.engine.history import Failure, Scope
from hwci.engine.page.reading import Classified
from hwci.engine.periods import Period
from hwci.said import counted, joined

LostBoards = Mapping[FailureKey, Sequence[str]]
"""Failures of runs that lost their board, each with the test at which each of these runs lost it,
in the order of the runs.
"""
AROUND = timedelta(days=30)
"""For one failure, the runs of so long before and after it say how often tests fail."""


def lost_boards(history: RecordedRuns, scope: Scope, period: Period) -> LostBoards:
    """Return the failures of a period that lie in runs that lost their board: in each run of the
    period in which the test failed on the commit, the board was lost at this test or before it.
    """
    lost: dict[FailureKey, Sequence[str]] = {}
    for outcomes in history.outcomes(scope, period):
        lost.update(_of_product(outcomes, history.check_time))
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
    """Say at which test the board was lost in the runs of one failure; None if it was not."""
    key = failure.key
    around = Period(failure.first.started_at - AROUND, failure.last_started_at + AROUND)
    at = lost_boards(history, Scope(*key.lane.product), around).get(key)
    return None if at is None else _words(at, key.lane.test_id)


def _words(at: Sequence[str], test_id: str) -> str:
    tests = ["this test" if test == test_id else test for test in dict.fromkeys(at)]
    runs = "this run" if len(at) == 1 else f"the {counted(len(at), 'run')} in which it failed"
    return f"In {runs} the board was lost at {joined(tests)}; what failed after it says little."


def _of_product(outcomes: ProductOutcomes, check_time: Callable[[], None]) -> LostBoards:
    trials = Trials(outcomes, check_time, {})
    lost = _not_again(outcomes.runs, trials.lost)
    commits = {_commit_of(outcomes.runs[number]) for number in lost}
    lost_at: dict[FailureKey, list[str]] = defaultdict(list)
    others = set[FailureKey]()
    for number, run in enumerate(outcomes.runs):
        if _commit_of(run) not in commits:
            continue
        check_time()
        tests = lost[number].tests if number in lost else ()
        for test, result in run.notable.items():
            if result.outcome is Outcome.FAIL:
                lane = Lane(*outcomes.product, outcomes.tests[test], run.box_key, run.branch)
                key = FailureKey(lane, run.sha)
                if test in tests:
                    lost_at[key].append(outcomes.tests[tests[0]])
                else:
                    others.add(key)
    return {key: at for key, at in lost_at.items() if key not in others}


def _commit_of(run: RunOutcomes) -> tuple[str, str, str]:
    return run.box_key, run.branch, run.sha


def _not_again(runs: Sequence[RunOutcomes], lost: Mapping[int, Lost]) -> Mapping[int, Lost]:
    """Return the runs that lost their board, but for those that failed from the same test on as the
    run before or after on their box and branch: what fails there fails by itself, in each run.
    """
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, run in enumerate(runs):
        if run.hello_ok:
            places[run.box_key, run.branch].append(number)
    again = {
        number
        for of_box in places.values()
        for pair in pairwise(of_box)
        if all(number in lost for number in pair)
        if len({lost[number].tests[0] for number in pair}) == 1
        for number in pair
    }
    return {number: loss for number, loss in lost.items() if number not in again}
