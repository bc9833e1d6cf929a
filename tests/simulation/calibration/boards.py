# SPDX-License-Identifier: Apache-2.0
"""How good it is to say which of four twin boards of one box is bad: each push runs on all of them,
a run for each, and its tests name the board.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean

from hwci.analysis.benches.one_box import one_box
from hwci.contract.boxes.benches import BoardOfBox
from hwci.engine.facts import Facts, Report
from hwci.engine.history import Scope
from tests.simulation.calibration.benches import BAD_BOX, FALSE_MAX, POWER_MIN, UNKNOWN
from tests.simulation.calibration.page import EVER, Line, Part, recorded, share, table
from tests.simulation.fleet import Cause, Kind, Plan, Simulated, simulate
from tests.support.outcomes import days_in_utc

FLEETS = 200
BOX = "the box"
TITLE = "A bad board of a box"
FLEET = Plan(boxes=4, boxes_at_once=4, tests=50, runs=60, base_rate=0.05)
ODDS = 4.0
PLANS = {
    "60 runs": FLEET,
    "60 runs, 10 tests": replace(FLEET, tests=10),
    "60 runs, base rate 1 %": replace(FLEET, base_rate=0.01),
    "60 runs, 3 % lose the board": replace(FLEET, lost=0.03),
    "60 runs, three of four boards a push": replace(FLEET, boxes_at_once=3),
    "20 runs": replace(FLEET, runs=20),
}


def part() -> Part:
    """Return the section about boards."""
    rows, powers, alarms = [], {}, {}
    for words, plan in PLANS.items():
        bad = Cause(Kind.BAD_BOX, boxes=frozenset({BAD_BOX}), odds=ODDS)
        planted = [named(boards(simulate(plan, [bad], seed))) for seed in range(FLEETS)]
        alike = [named(boards(simulate(plan, [], seed))) for seed in range(FLEETS)]
        powers[words] = [BAD_BOX in names for names in planted]
        alarms[words] = [bool(names) for names in alike]
        others = [bool({*names} - {BAD_BOX}) for names in planted]
        rows.append([words, share(powers[words]), share(others), share(alarms[words])])
    head = ["runs", "named", "another named", "of four that are alike one named"]
    most, where = max((mean(values), words) for words, values in alarms.items())
    lines = [
        Line(
            "Bad board among four twins of a box (odds ratio 4, base rate 5 %, 50 tests a run):"
            " found with power 0.9 within 60 runs",
            share(powers["60 runs"]),
            mean(powers["60 runs"]) >= POWER_MIN,
            TITLE,
        ),
        Line(
            "Four boards that are alike: at most 5 % of periods name one",
            f"{most:.1%} at most ({where})",
            most <= FALSE_MAX,
            TITLE,
        ),
    ]
    return Part("\n".join([_HEAD, table(head, rows)]), lines)


_HEAD = f"""\
## {TITLE}

A box has four boards of one type, and each push runs on them, a run for each. One is planted on
which the odds of each failure are {ODDS:.0f} times as high. How often it is named, how often
another one is, and how often one is where all are alike; of {FLEETS} fleets each. Where no two
boards run a test on one commit, none can be named.
"""


def boards(fleet: Simulated) -> Sequence[BoardOfBox]:
    """Return what is said of the boards of a box: those of a fleet's boxes."""
    reports = tuple(_on_board(number, run) for number, run in enumerate(fleet.facts.reports))
    history, _ = recorded(replace(fleet, facts=Facts(reports=reports)))
    return one_box(history, Scope(), days_in_utc(EVER), BOX, 100, UNKNOWN).boards


def _on_board(number: int, run: Report) -> Report:
    tests = tuple(replace(test, board=run.box_key) for test in run.tests)
    return replace(run, run_id=number, box_key=BOX, tests=tests)


def named(found: Sequence[BoardOfBox]) -> list[str]:
    """Return the boards that are called worse."""
    return [row.board for row in found if row.comparison and row.comparison.named]
