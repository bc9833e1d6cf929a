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

import numpy as np
from scipy.stats import fisher_exact

from hwci.analysis.benches.compare import FALSE_DISCOVERIES, ODDS_MIN, false_discoveries
from hwci.analysis.benches.report import Benches, benches
from hwci.analysis.benches.trials import LOST_TESTS_MIN
from hwci.engine.history import Scope
from hwci.engine.vocabulary import Outcome, Verdict
from tests.simulation.calibration.page import EVER, recorded, share, table
from tests.simulation.fleet import Cause, Kind, Plan, Simulated, commits_of, simulate

CASES = {20: 100, 200: 100, 2000: 8}
"""So many fleets of so many runs."""
Causes = Callable[[int], list[Cause]]
"""The causes of the fleet with a seed."""
FLEET = Plan(boxes=5, tests=50, runs=200, base_rate=0.05)
BAD_BOX = "bench-2"


def asked(fleet: Simulated) -> Benches:
    history, _ = recorded(fleet)
    return benches(history, Scope(), EVER, 100, {})


def named(found: Benches) -> list[str]:
    return [
        one.box_key
        for one in found.boxes
        if one.figures.comparison and one.figures.comparison.named
    ]


def part() -> str:
    """Return the section about boxes."""
    return "\n".join([_BAD, _bad(), _CLEAN, _clean(), _TESTS, _tests(), _LOST, _lost()])


_BAD = """\
## A bad box

One box is planted on which the odds of each failure are higher; each run has 50 tests, and a push
runs on five boxes at most. How often it is named, how often another one is, and how often the 95 %
interval holds the planted odds.
"""


def _bad() -> str:
    rows = []
    for plan, odds in (
        (FLEET, 4.0),
        (FLEET, 2.0),
        (replace(FLEET, base_rate=0.01), 4.0),
        (replace(FLEET, lost=0.03), 4.0),
        (replace(FLEET, boxes=2), 4.0),
        (replace(FLEET, boxes=40), 4.0),
        (replace(FLEET, runs=20), 4.0),
        (replace(FLEET, runs=2000), 4.0),
        (replace(FLEET, runs=2000, boxes=40), 2.0),
    ):
        cause = Cause(Kind.BAD_BOX, boxes=frozenset({BAD_BOX}), odds=odds)
        found = [asked(simulate(plan, [cause], seed)) for seed in range(CASES[plan.runs])]
        names = [named(one) for one in found]
        compared = [
            one.figures.comparison
            for each in found
            for one in each.boxes
            if one.box_key == BAD_BOX and one.figures.comparison
        ]
        rows.append(
            [
                *(f"{plan.runs:,}", f"{plan.boxes}", f"{plan.base_rate:.0%}", f"{plan.lost:.0%}"),
                f"{odds:.0f}",
                share([BAD_BOX in one for one in names]),
                share([bool({*one} - {BAD_BOX}) for one in names]),
                share([one.low <= odds <= one.high for one in compared]),
            ]
        )
    head = ["runs", "boxes", "base rate", "runs that lose the board", "odds"]
    return table([*head, "named", "another named", "interval holds it"], rows)


_CLEAN = """\
## No bad box

Fleets whose boxes are alike: in how many periods a box is named, and a test on a box. "By eye" has
no strata and takes results for independent (Fisher's test), with the same bounds for naming.
"""


def _clean() -> str:
    races = [Cause(Kind.RACE, frozenset({test}), rate=0.2) for test in range(5)]
    bugs = partial(_bugs, FLEET)
    rows = []
    fleets_of: Sequence[tuple[str, Plan, Causes]] = (
        ("nothing else", FLEET, lambda _: []),
        ("five races", FLEET, lambda _: races),
        ("bugs in three ranges of commits", FLEET, bugs),
        ("3 % of runs lose the board", replace(FLEET, lost=0.03), lambda _: []),
        ("40 boxes, bugs, 3 % lose the board", replace(FLEET, boxes=40, lost=0.03), bugs),
        ("20 runs", replace(FLEET, runs=20), lambda _: []),
    )
    for words, plan, causes in fleets_of:
        fleets = [simulate(plan, causes(seed), seed) for seed in range(2 * CASES[plan.runs])]
        found = [*map(asked, fleets)]
        rows.append(
            [
                words,
                share([bool(named(one)) for one in found]),
                share([bool(one.tests) for one in found]),
                share([bool(by_eye(one)) for one in fleets]),
            ]
        )
    return table(["fleet", "a box named", "a test on a box", "a box by eye"], rows)


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

One of 50 tests fails at this rate on one of five boxes; all else fails at 1 %.
"""


def _tests() -> str:
    rows = []
    for rate in (0.05, 0.2, 0.5):
        where = frozenset({BAD_BOX})
        cause = Cause(Kind.BOX_TEST, frozenset({7}), where, rate=rate)
        plan = replace(FLEET, base_rate=0.01)
        found = [asked(simulate(plan, [cause], seed)) for seed in range(CASES[plan.runs])]
        pairs = [{(one.test_id, one.box_key) for one in each.tests} for each in found]
        truth = ("test_007", BAD_BOX)
        hits, others = [truth in one for one in pairs], [bool(one - {truth}) for one in pairs]
        rows.append([f"{rate:.0%}", share(hits), share(others)])
    return table(["rate", "named", "another named"], rows)


_LOST = """\
## Runs that lost their board

3 % of the runs fail every test from some test on. Found: of those that lost three tests or more.
Wrong: of the runs that are called lost.
"""


def _lost() -> str:
    rows = []
    for words, plan in (
        ("five boxes at each commit", replace(FLEET, lost=0.03)),
        ("one box", replace(FLEET, lost=0.03, boxes=1)),
        ("one box, 20 % of results fail", replace(FLEET, lost=0.03, boxes=1, base_rate=0.2)),
    ):
        found, wrong = [], []
        for seed in range(CASES[plan.runs]):
            fleet = simulate(plan, [], seed)
            said = {
                (one.run.ci_run_id, box.box_key)
                for box in asked(fleet).boxes
                for one in box.figures.health.lost_runs
            }
            lost = lost_runs(fleet)
            found += [one in said for one in lost]
            wrong += [one not in lost for one in said]
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
