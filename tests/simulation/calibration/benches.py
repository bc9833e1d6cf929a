# SPDX-License-Identifier: Apache-2.0
"""How good it is to say which box is bad, which test fails on one box, and which run lost its
board.

Beside it stands what people do by eye: the failures of each box against those of all others, over
all commits, as if results were independent.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from random import Random
from statistics import mean

import numpy as np
from scipy.stats import fisher_exact

from hwci.analysis.benches.compare import FALSE_DISCOVERIES, ODDS_MIN, false_discoveries
from hwci.analysis.benches.health import health_of
from hwci.analysis.benches.report import KnownOfBoxes, benches, read_runs
from hwci.analysis.benches.trials import LOST_TESTS_MIN
from hwci.contract.boxes.benches import Benches
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.engine.history import Scope
from tests.simulation.calibration.page import EVER, Line, Part, recorded, share, table
from tests.simulation.fleet import Cause, Kind, Plan, Simulated, commits_of, simulate

CASES = {20: 100, 200: 100, 2000: 8}
"""So many fleets of so many runs."""
Causes = Callable[[int], list[Cause]]
"""The causes of the fleet with a seed."""
FLEET = Plan(boxes=5, tests=50, runs=200, base_rate=0.05)
BAD_BOX = "bench-2"
POWER_MIN, FALSE_MAX = 0.9, 0.05
BAD, CLEAN = "A bad box", "No bad box"
UNKNOWN = KnownOfBoxes({}, {})
CHANCES = (0.01, 0.05, 0.1, 0.2, 0.5)


def asked(fleet: Simulated) -> Benches:
    history, _ = recorded(fleet)
    return benches(history, Scope(), EVER, 100, UNKNOWN)


def named(found: Benches) -> list[str]:
    return [row.box_key for row in found.boxes if row.comparison and row.comparison.named]


def part() -> Part:
    """Return the sections about boxes."""
    bad, power = _bad()
    clean, false_alarms = _clean()
    text = [_BAD, bad, _CLEAN, clean, _CHANCES, _chances(), _TESTS, _tests(), _LOST, _lost()]
    return Part("\n".join(text), [*power, *false_alarms])


_BAD = f"""\
## {BAD}

One box is planted on which the odds of each failure are higher; each run has 50 tests, and a push
runs on five boxes at most. How often it is named, how often another one is, and how often the 95 %
interval holds the planted odds.
"""


BAD_FLEETS = (
    (FLEET, 4.0),
    (FLEET, 2.0),
    (replace(FLEET, base_rate=0.01), 4.0),
    (replace(FLEET, lost=0.03), 4.0),
    (replace(FLEET, boxes=2), 4.0),
    (replace(FLEET, boxes=40), 4.0),
    (replace(FLEET, runs=20, boxes=2), 4.0),
    (replace(FLEET, runs=20), 4.0),
    (replace(FLEET, runs=20, boxes=40), 4.0),
    (replace(FLEET, runs=2000, boxes=2), 2.0),
    (replace(FLEET, runs=2000), 4.0),
    (replace(FLEET, runs=2000, boxes=40), 2.0),
)
"""Each with the odds of its bad box."""


def _bad() -> tuple[str, list[Line]]:
    rows, lines = [], []
    for plan, odds in BAD_FLEETS:
        cause = Cause(Kind.BAD_BOX, boxes=frozenset({BAD_BOX}), odds=odds)
        found = [asked(simulate(plan, [cause], seed)) for seed in range(CASES[plan.runs])]
        names = [named(one) for one in found]
        hits = [BAD_BOX in one for one in names]
        compared = [
            one.comparison
            for each in found
            for one in each.boxes
            if one.box_key == BAD_BOX and one.comparison
        ]
        rows.append(
            [
                *(f"{plan.runs:,}", f"{plan.boxes}", f"{plan.base_rate:.0%}", f"{plan.lost:.0%}"),
                f"{odds:.0f}",
                share(hits),
                share([bool({*one} - {BAD_BOX}) for one in names]),
                share([one.low <= odds <= one.high for one in compared]),
            ]
        )
        if plan == FLEET and odds > 2:
            lines.append(Line(_POWER, share(hits), mean(hits) >= POWER_MIN, BAD))
    head = ["runs", "boxes", "base rate", "runs that lose the board", "odds"]
    return table([*head, "named", "another named", "interval holds it"], rows), lines


_POWER = (
    "Bad box planted (odds ratio 4, 200 runs, 5 boxes, base rate 5 %, 50 tests a run): found with"
    " power 0.9"
)
_CLEAN = f"""\
## {CLEAN}

Fleets whose boxes are alike: in how many periods a box is named, and a test on a box. "By eye" has
no strata and takes results for independent (Fisher's test), with the same bounds for naming.
"""


def _clean() -> tuple[str, list[Line]]:
    rows, lines = [], []
    for words, plan, causes in CLEAN_FLEETS:
        fleets = [simulate(plan, causes(seed), seed) for seed in range(2 * CASES[plan.runs])]
        found = [*map(asked, fleets)]
        is_named = [bool(named(one)) for one in found]
        by_test = [bool(one.tests) for one in found]
        said_by_eye = [bool(by_eye(one)) for one in fleets]
        rows.append([words, *map(share, (is_named, by_test, said_by_eye))])
        lines.append((mean(is_named), words))
    most, where = max(lines)
    asked_for = "Clean fleets: at most 5 % of periods name a box"
    line = Line(asked_for, f"{most:.1%} at most ({where})", most <= FALSE_MAX, CLEAN)
    return table(["fleet", "a box named", "a test on a box", "a box by eye"], rows), [line]


_CHANCES = """\
### Chances of boxes that are alike

How often the chance (p-value) of a box of such fleets is so small or smaller. It should be as often
as it says, or less often.
"""


def _chances() -> str:
    rows = []
    for words, plan, causes in CLEAN_FLEETS[:4]:
        chances = [
            one.comparison.chance
            for seed in range(CASES[plan.runs])
            for one in asked(simulate(plan, causes(seed), seed)).boxes
            if one.comparison
        ]
        often = (f"{mean(one <= at for one in chances):.1%}" for at in CHANCES)
        rows.append([words, f"{len(chances):,}", *often])
    return table(["fleet", "boxes", *(f"at most {one:.0%}" for one in CHANCES)], rows)


def _bugs(plan: Plan, seed: int) -> list[Cause]:
    """Return three bugs of ten tests each, each in a range of commits."""
    draw = Random(f"bugs {seed}")
    ends = sorted(draw.sample(range(commits_of(plan)), 6))
    return [
        Cause(
            Kind.BUG,
            frozenset(draw.sample(range(plan.tests), 10)),
            rate=1.0,
            since=since,
            until=until,
        )
        for since, until in [*pairwise(ends)][::2]
    ]


_RACES = [Cause(Kind.RACE, frozenset({test}), rate=0.2) for test in range(5)]
CLEAN_FLEETS: Sequence[tuple[str, Plan, Causes]] = (
    ("nothing else", FLEET, lambda _: []),
    ("five races", FLEET, lambda _: _RACES),
    ("bugs in three ranges of commits", FLEET, partial(_bugs, FLEET)),
    ("3 % of runs lose the board", replace(FLEET, lost=0.03), lambda _: []),
    ("2 boxes", replace(FLEET, boxes=2), lambda _: []),
    (
        "40 boxes, bugs, 3 % lose the board",
        replace(FLEET, boxes=40, lost=0.03),
        partial(_bugs, FLEET),
    ),
    ("20 runs", replace(FLEET, runs=20), lambda _: []),
    ("2,000 runs", replace(FLEET, runs=2000), lambda _: []),
)


def by_eye(fleet: Simulated) -> Sequence[str]:
    """Return the boxes that people would name who compare all results."""
    boxes = fleet.plan.box_keys
    failed, ran = dict.fromkeys(boxes, 0), dict.fromkeys(boxes, 0)
    for report in fleet.facts.reports:
        bad = [one.outcome is Outcome.FAIL or one.attempts > 1 for one in report.tests]
        failed[report.box_key] += sum(bad)
        ran[report.box_key] += len(bad)
    odds, chances = [], []
    for box in boxes:
        here = failed[box], ran[box] - failed[box]
        others = sum(failed.values()) - here[0], sum(ran.values()) - sum(failed.values()) - here[1]
        ratio, chance = fisher_exact([here, others], alternative="greater")
        odds.append(ratio)
        chances.append(chance)
    false = false_discoveries(np.array(chances))
    return [
        box
        for box, ratio, one in zip(boxes, odds, false, strict=True)
        if ratio >= ODDS_MIN and one <= FALSE_DISCOVERIES
    ]


_TESTS = """\
## A test that fails on one box

One of 50 tests fails at this rate on one box; all else fails at 1 %.
"""


TEST_FLEETS = (
    (200, 5, 0.05),
    (200, 5, 0.2),
    (200, 5, 0.5),
    (200, 2, 0.2),
    (200, 40, 0.2),
    (20, 5, 0.5),
    (2000, 5, 0.05),
)
"""Runs, boxes, and how often the test fails."""


def _tests() -> str:
    rows = []
    for runs, boxes, rate in TEST_FLEETS:
        where = frozenset({BAD_BOX})
        cause = Cause(Kind.BOX_TEST, frozenset({7}), where, rate=rate)
        plan = replace(FLEET, base_rate=0.01, runs=runs, boxes=boxes)
        found = [asked(simulate(plan, [cause], seed)) for seed in range(CASES[plan.runs])]
        pairs = [{(one.test_id, one.box_key) for one in each.tests} for each in found]
        truth = ("test_007", BAD_BOX)
        hits, others = [truth in one for one in pairs], [bool(one - {truth}) for one in pairs]
        rows.append([f"{runs:,}", f"{boxes}", f"{rate:.0%}", share(hits), share(others)])
    return table(["runs", "boxes", "rate", "named", "another named"], rows)


_LOST = """\
## Runs that lost their board

3 % of the runs fail every test from some test on; a commit runs on five boxes at most. Found: of
those that lost three tests or more. Wrong: of the runs that are called lost.
"""


LOST_FLEETS = (
    ("five boxes", FLEET),
    ("one box", replace(FLEET, boxes=1)),
    ("two boxes", replace(FLEET, boxes=2)),
    ("40 boxes", replace(FLEET, boxes=40)),
    ("one box, 20 % of results fail", replace(FLEET, boxes=1, base_rate=0.2)),
    ("five boxes, 20 runs", replace(FLEET, runs=20)),
    ("five boxes, 2,000 runs", replace(FLEET, runs=2000)),
)


def _lost() -> str:
    rows = []
    for words, plan in LOST_FLEETS:
        found, wrong = [], []
        for seed in range(CASES[plan.runs]):
            fleet = simulate(replace(plan, lost=0.03), [], seed)
            history, _ = recorded(fleet)
            read = read_runs(history.outcomes(Scope(), EVER), UNKNOWN, history.check_time)
            told = {
                (run.run_id, side)
                for side, places in read.places.items()
                for run in health_of(places).lost_runs
            }
            lost = lost_runs(fleet)
            found += [run in told for run in lost]
            wrong += [run not in lost for run in told]
        rows.append([words, share(found), share(wrong)])
    return table(["fleet", "found", "wrong"], rows)


def lost_runs(fleet: Simulated) -> set[tuple[int, str]]:
    """Return the runs that lost their board before their last three tests: on benches that are not
    bad, an honest harness blames the bench for nothing else.
    """
    return {
        (report.run_id, report.box_key)
        for report in fleet.facts.reports
        if sum(one.verdict is Verdict.INFRA for one in report.tests) >= LOST_TESTS_MIN
    }
