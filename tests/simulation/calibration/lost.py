# SPDX-License-Identifier: Apache-2.0
"""How good it is to say beside the rules that a real firmware bug lies in runs that lost their
board: on fleets that lose some, whose harness blames the device for everything.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from statistics import mean
from typing import NamedTuple

from hwci.analysis.failures.lost_boards import in_lost_runs
from hwci.contract.vocabulary import FailureClass, Outcome, Verdict
from hwci.engine.history import Failure, Scope
from hwci.engine.page.reading import read_classified
from tests.simulation.calibration.page import EVER, Line, Part, recorded, share, table
from tests.simulation.fleet import Kind, Plan, Simulated, planted, simulate

FLEETS = 10
LAST_TESTS = 4
SILENT_MAX = 0.1
TITLE = "Real firmware bugs in runs that lost the board"
PLAN = Plan(runs=400, lost=0.02)
TESTS_MIN = 20
"""In smaller suites too few tests fail after a loss to tell it from chance."""
PLANS = {
    "20 tests, 5 boxes": PLAN,
    "20 tests, 1 or 2 of 5 boxes a push": replace(PLAN, boxes_at_once=2),
    "20 tests, one box": replace(PLAN, boxes=1),
    "50 tests, 5 boxes": replace(PLAN, tests=50),
    "20 tests, 5 boxes, 2,000 runs": replace(PLAN, runs=2000),
    "20 tests, 5 boxes, no retries": replace(PLAN, attempts=1),
    "8 tests, 5 boxes": replace(PLAN, tests=8),
    "8 tests, one box": replace(PLAN, tests=8, boxes=1),
}


class Row(NamedTuple):
    """A failure that the rules class a real firmware bug. `is_wrong`: a lost board is its cause, no
    bug; `is_told`: it is said beside it.
    """

    is_wrong: bool
    is_told: bool


def part() -> Part:
    """Return the section about these failures."""
    rows, silent = [], list[list[bool]]()
    for words, plan in PLANS.items():
        found = [row for seed in range(FLEETS) for row in real_bugs(fleet_of(plan, seed))]
        wrong = [not row.is_told for row in found if row.is_wrong]
        others = [row.is_told for row in found if not row.is_wrong]
        rows.append([words, f"{len(found):,}", f"{len(wrong):,}", share(wrong), share(others)])
        silent += [wrong] if plan.tests >= TESTS_MIN else []
    head = ["fleets", "real firmware bugs", "of a lost board", "not told", "told of another"]
    worst = max(silent, key=mean)
    asked = (
        "Of the “real firmware bugs” of a lost board, in suites of 20 tests or more, at most 10 %"
        " have nothing beside them"
    )
    measured = f"{share([*chain.from_iterable(silent)])}; of one fleet {share(worst)} at most"
    line = Line(asked, measured, mean(worst) <= SILENT_MAX, TITLE)
    return Part("\n".join([_LOST, table(head, rows)]), [line])


_LOST = f"""\
## {TITLE}

Of 400 runs, 2 % lose their board midway: all tests from there on fail, and the harness blames the
device. Three bugs and a race of the firmware are planted beside; one of the bugs is in the last
four tests, which looks like a lost board. The next firmware commit "fixes" what a lost board
failed, so the rules class it a real firmware bug. How many of these have nothing beside them that
says that the board was lost, and how many other bugs are said to be of a lost board. The cause is a
lost board where one of the failing runs lost it and nothing planted failed.
"""


def fleet_of(plan: Plan, seed: int) -> Simulated:
    """Return a fleet with bugs, of which one is of the last tests, and a race."""
    bugs = [planted(plan, Kind.BUG, 1.0, 10 * seed + number) for number in range(3)]
    last = range(plan.tests - LAST_TESTS, plan.tests)
    bugs[0] = replace(bugs[0], tests=frozenset(last))
    return simulate(plan, [*bugs, planted(plan, Kind.RACE, 0.1, 10 * seed + 3)], seed)


def real_bugs(fleet: Simulated) -> Iterator[Row]:
    """Yield the real firmware bugs of a fleet, where the harness blames the device."""
    history, _ = recorded(_blaming_the_device(fleet))
    rows = read_classified(history, Scope(), EVER, [FailureClass.REAL_FW_BUG])
    told = in_lost_runs(history, Scope(), EVER, rows)
    for row, failures in zip(rows, history.members([of.episode for of in rows]), strict=True):
        yield Row(_is_wrong(fleet, failures), row in told)


def _blaming_the_device(fleet: Simulated) -> Simulated:
    reports = [
        replace(run, tests=tuple(replace(one, verdict=Verdict.DEVICE) for one in run.tests))
        for run in fleet.facts.reports
    ]
    return replace(fleet, facts=replace(fleet.facts, reports=tuple(reports)))


def _is_wrong(fleet: Simulated, failures: Sequence[Failure]) -> bool:
    """Whether a lost board made a group fail, and nothing planted did. No bench is bad: an honest
    harness blames the bench for lost boards alone.
    """
    lane, shas = failures[0].key.lane, {one.key.sha for one in failures}
    blamed = {
        item.verdict
        for run in fleet.facts.reports
        if run.box_key == lane.box_key and run.sha in shas
        for item in run.tests
        if item.id == lane.test_id and item.outcome is Outcome.FAIL
    }
    test = int(lane.test_id.removeprefix("test_"))
    acting = {
        cause.kind
        for number, commit in enumerate(fleet.commits)
        if commit.sha in shas
        for cause in fleet.causes
        if cause.acts(test, lane.box_key, number)
    }
    planted_did = Kind.BUG in acting or (bool(acting) and Verdict.DEVICE in blamed)
    return Verdict.INFRA in blamed and not planted_did
