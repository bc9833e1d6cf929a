# SPDX-License-Identifier: Apache-2.0
"""How often a sentence about a test is wrong, on fleets where its cause is planted: a bench, a
group of boxes, the firmware, a hang; with reruns on a spare, a gate, boxes that leave, boards that
are swapped.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple
from zoneinfo import ZoneInfo

from hwci.analysis.failures.incidents import failing_incidents
from hwci.analysis.flaky.suspects import pending_by_test
from hwci.analysis.one_test import one_test
from hwci.analysis.one_test_words import About, Concluded, concluded
from hwci.analysis.periods.days import calendar_days
from hwci.analysis.statements import Claim, Statement
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from tests.simulation.calibration.page import Line, Part, recorded, table
from tests.simulation.fleet import Cause, Kind, Plan, Runs, Simulated, simulate

TEST = "test_000"
FIRST = frozenset({0})
A, THREE = "bench-2", ("bench-2", "bench-3", "bench-5")
FLEET = Plan(runs=200, attempts=1, base_rate=0.01)
RATE = 0.2
BENCH = Cause(Kind.BOX_TEST, FIRST, frozenset({A}), rate=RATE)
TYPE = Cause(Kind.BOX_TEST, FIRST, frozenset(THREE), rate=RATE)
RACE = Cause(Kind.RACE, FIRST, rate=RATE)

CULPRIT = {Claim.ONE_BOX, Claim.GROUP, Claim.MENDED}


def said_of(fleet: Simulated, test_id: str = TEST) -> Concluded:
    """Return what the page of a test says."""
    history, runs = recorded(fleet)
    starts = [run.started_at for run in runs.runs]
    period = Period(min(starts), max(starts))
    days = calendar_days(period, ZoneInfo("UTC"))
    test = one_test(history, runs, test_id, days)
    assert test.all is not None
    pending = pending_by_test(history, Scope(), period).get((runs.product, test_id), [])
    failing = failing_incidents(history, Scope(), period, test_id) if pending else []
    return concluded(About(history, runs, test_id, pending, failing, {}), test, test.all)
