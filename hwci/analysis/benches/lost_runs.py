# SPDX-License-Identifier: Apache-2.0
"""Which failures lie in runs that lost their board, at the test that failed or before it.

Which run lost its board, and at which test, is decided in `trials.py`. What follows for what is
said is decided where it is said.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from hwci.analysis.benches.trials import Lost, Trials
from hwci.analysis.outcomes import RunOutcomes
from hwci.contract.vocabulary import Outcome
from hwci.engine.facts import FailureKey, Lane

LostBoards = Mapping[FailureKey, Sequence[str]]
"""Failures of runs that lost their board, each with the test at which each of these runs lost it,
in the order of the runs.
"""


def failures_in_lost_runs(trials: Trials, check_time: Callable[[], None]) -> LostBoards:
    """Return the failures of a product that lie in runs that lost their board: in each run in which
    the test failed on the commit, the board was lost at this test or before it.
    """
    outcomes = trials.found
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
