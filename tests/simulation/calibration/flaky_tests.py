# SPDX-License-Identifier: Apache-2.0
"""How good it is to say on which boxes a test is flaky, and whether by firmware or harness."""

from collections.abc import Sequence
from dataclasses import replace
from math import log2
from statistics import mean
from typing import NamedTuple

import numpy as np

from hwci.analysis.flaky.suspects import STRONG, Counted, SeenProduct
from tests.simulation.calibration.cases import CASES, RATES, Case, cases, sized
from tests.simulation.calibration.onsets import said, told
from tests.simulation.calibration.page import Line, Part, auc, recorded, reliability, share, table
from tests.simulation.fleet import Cause, Kind, Plan, simulate

SIZES = ((20, 5), (200, 2), (200, 5), (200, 40), (2000, 5))
"""Runs and boxes."""
HARNESS_OF_FIRMWARE = 4 / 11
"""Of the simulated commits, so many times as many change the harness only as firmware only."""
SUSPECTS = "Firmware or harness"
TENTH = 0.9


def part() -> Part:
    """Return the sections about boxes and kinds of commits."""
    suspects, lines = _suspects()
    return Part("\n".join([_BOXES, _boxes(), _ALIKE, _alike_table(), suspects]), lines)


_BOXES = """\
## On which boxes

A race that is on all boxes, against a fault of one test on one box: how often all boxes are called
alike, and how often not. Where neither is said, there were not enough runs.
"""


def _boxes() -> str:
    rows = []
    for kind in (Kind.RACE, Kind.BOX_TEST):
        for runs, boxes in SIZES:
            for rate in RATES if boxes == 5 and runs > 20 else RATES[-1:]:
                alike = _alike(kind, sized(runs, boxes), rate)
                yes = share([one is not None and one >= STRONG for one in alike])
                no = share([one is not None and one <= 1 - STRONG for one in alike])
                rows.append([kind.value, f"{runs:,}", f"{boxes}", f"{rate:.0%}", yes, no])
    return table(["cause", "runs", "boxes", "rate", "alike", "not alike"], rows)


def _alike(kind: Kind, plan: Plan, rate: float) -> list[float | None]:
    """Return the chance that all boxes are alike, in fleets of this size."""
    found, plan = [], replace(plan, tests=1)
    for seed in range(CASES[plan.runs]):
        where = frozenset({"bench-2"}) if kind is Kind.BOX_TEST else frozenset[str]()
        cause = Cause(kind, frozenset({0}), where, rate=rate)
        seen = SeenProduct(*recorded(simulate(plan, [cause], seed)))
        blame = seen.blame_of("test_000")
        found.append(None if blame is None else blame.alike)
    return found


_ALIKE = """\
### Chances of boxes

The chance that all boxes are alike, where it is said, against how often they were: of fleets with 5
boxes, half with a race and half with a fault on one box, at 2, 5, 20 % and 200 runs.
"""


def _alike_table() -> str:
    found = [
        (chance, kind is Kind.RACE)
        for kind in (Kind.RACE, Kind.BOX_TEST)
        for rate in RATES
        for chance in _alike(kind, sized(200), rate)
        if chance is not None
    ]
    return reliability(found)


_SUSPECTS = f"""\
## {SUSPECTS}

Races of the firmware against tests that are written badly. The score is the part of the chances
that is on commits that changed firmware only. The first four figures are the chance that a race has
the higher score (AUC); half is a guess. The flip rate (how often the result changes from run to
run) and the entropy of the results, by which other tools rank flaky tests, know no commits. The
last two are the mean score of races.
"""
_CHANCES = """\
### Chances of firmware

The part of the chances that is on commits that changed firmware only, against how often it was
firmware: 200 runs on 5 boxes, all three rates, of every fifteen tests eleven with a race and four
that are written badly, as commits of the two kinds are. Every fourth commit changed neither or
both, and broke nothing; we do not know that, so what is said is too low.
"""


class Suspects(NamedTuple):
    """Tests with a race, and tests that are written badly."""

    races: Sequence[Case]
    harness: Sequence[Case]


def _suspects() -> tuple[str, list[Line]]:
    rows, lines, chances = [], [], list[tuple[float, bool]]()
    for runs, boxes in SIZES:
        for rate in RATES if (runs, boxes) == (200, 5) else RATES[-1:]:
            plan, count = sized(runs, boxes), CASES[runs]
            drawn = (list(cases(plan, kind, rate, count)) for kind in (Kind.RACE, Kind.HARNESS))
            found = Suspects(*drawn)
            ours, best = (
                [[one.firmware for one in told(of, known)] for of in found]
                for known in ((), (rate,))
            )
            others = [
                auc(*[[score(one.counted) for one in of] for of in found])
                for score in (flip_rate, entropy)
            ]
            means = [f"{mean(of[0]):.2f}" for of in (ours, best)]
            aucs = [auc(*ours), auc(*best)]
            rows.append([f"{runs:,}", f"{boxes}", f"{rate:.0%}", *aucs, *others, *means])
            if (runs, boxes) == (200, 5):
                lines += _lines(rate, aucs, means)
                chances += _said_of_kinds(found)
    head = ["runs", "boxes", "rate", "ours", "observer", "flip rate", "entropy"]
    text = table([*head, "share, ours", "share, observer"], rows)
    return "\n".join([_SUSPECTS, text, _CHANCES, reliability(chances)]), lines


def _lines(rate: float, aucs: Sequence[str], means: Sequence[str]) -> list[Line]:
    return [
        Line(
            f"Race planted ({rate:.0%}, all boxes, 200 runs, 5 boxes): {what} within a tenth of"
            " who knows the rates",
            f"{ours}, who knows has {best}",
            float(ours) >= TENTH * float(best),
            SUSPECTS,
        )
        for what, (ours, best) in (
            ("the AUC of suspects against flaky harness", aucs),
            ("the firmware share", means),
        )
    ]


def _said_of_kinds(found: Suspects) -> list[tuple[float, bool]]:
    harness = found.harness[: round(HARNESS_OF_FIRMWARE * len(found.races))]
    return [
        (one.firmware, is_race)
        for of, is_race in ((found.races, True), (harness, False))
        for case in of
        if (one := said(case)) is not None
    ]


def flip_rate(counted: Counted) -> float:
    """Return how often the result changes from run to run."""
    return float(np.diff(counted.failed).astype(bool).mean())


def entropy(counted: Counted) -> float:
    """Return the entropy of the results, in bits."""
    failing = float(counted.failed.mean())
    return -sum(part * log2(part) for part in (failing, 1 - failing) if part)
