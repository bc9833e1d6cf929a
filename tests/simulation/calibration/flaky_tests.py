# SPDX-License-Identifier: Apache-2.0
"""How good it is to say since when a test is flaky, on which boxes, and whether it is fixed.

The observers beside know how the planted cause was drawn, and see the same counts. Nothing better
can be had from them than what is said by the one who knows the rates.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log2
from statistics import mean, median
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from hwci.analysis.branch_order import CommitKind
from hwci.analysis.certainty import SURE, clean_runs_needed
from hwci.analysis.onset import Onset, onset
from hwci.analysis.suspects import (
    FAILURES_NEEDED,
    Counted,
    SeenProduct,
    SuspectCommit,
    boxes_compared,
    fewest_that_hold,
    steps_of,
)
from tests.simulation.calibration.page import auc, recorded, share, table
from tests.simulation.fleet import Cause, Kind, Plan, Simulated, planted, simulate

RATES = (0.02, 0.05, 0.2)
CASES = {20: 200, 200: 200, 2000: 60}
"""So many fleets of so many runs: those of 2,000 take as long as all others."""
LOOKS = 10
_QUIET = Plan(tests=1, base_rate=0.001)


class Case(NamedTuple):
    """A fleet with one planted cause, and what was counted of its test."""

    fleet: Simulated
    cause: Cause
    seen: SeenProduct
    counted: Sequence[Counted]

    @property
    def test_id(self) -> str:
        """The test in which the cause is."""
        return f"test_{min(self.cause.tests):03d}"

    def onset(self, counted: Sequence[Counted]) -> Onset:
        """Return our answer, by these of its runs."""
        return onset(steps_of(sorted({one.at for one in counted}), counted))

    def shares(self, counted: Sequence[Counted]) -> list[SuspectCommit]:
        """Return our chance for each commit."""
        return self.seen.shares(sorted({one.at for one in counted}), self.onset(counted))


class Said(NamedTuple):
    """What was said of the onset: whether the 90 % set holds it, how many commits that is, and the
    part of the chances on commits that changed firmware.
    """

    held: bool
    size: int
    firmware: float


def cases(plan: Plan, kind: Kind, rate: float, count: int) -> Iterator[Case]:
    """Yield fleets in which the test failed often enough to be asked about."""
    for seed in range(count):
        cause = planted(plan, kind, rate, seed)
        fleet = simulate(plan, [cause], seed)
        case = Case(fleet, cause, SeenProduct(*recorded(fleet)), [])
        case = case._replace(counted=list(case.seen.counted(case.test_id)))
        if sum(one.tries.first_failed for one in case.counted) >= FAILURES_NEEDED:
            yield case


def observed(case: Case, rates: Sequence[float]) -> list[SuspectCommit]:
    """Return the chance for each commit, as one says who knows that it is one cause of one of these
    rates, each as likely, which was drawn as `planted` draws it; and how often other tests fail.
    """
    base, commits = case.fleet.plan.base_rate, len(case.fleet.commits)
    attempts, failed = np.zeros(commits), np.zeros(commits)
    before = case.fleet.tested[-1] - max(one.at for one in case.counted)  # too old to be looked at
    for one in case.counted:
        attempts[before + one.at] += one.tries.first + one.tries.retries
        failed[before + one.at] += one.tries.first_failed + one.tries.retries_failed
    likely = []
    for rate in rates:
        flaky = 1 - (1 - base) * (1 - rate)
        gains = failed * np.log(flaky / base)
        gains += (attempts - failed) * np.log((1 - flaky) / (1 - base))
        up_to = np.concatenate([[0], gains.cumsum()])
        outside = (attempts - failed).sum() * np.log1p(-base) + failed.sum() * np.log(base)
        fixed = np.logaddexp.accumulate(up_to[:0:-1])[::-1] - np.log(np.arange(commits, 0, -1))
        likely.append(np.logaddexp(fixed, up_to[-1]) - up_to[:-1] + outside)
    chances = softmax(logsumexp(likely, axis=0))
    number = {one.sha: at for at, one in enumerate(case.fleet.commits)}
    looked_at = (one.commit for one in case.shares(case.counted))
    found = [SuspectCommit(one, float(chances[number[one.sha]])) for one in looked_at]
    return sorted(found, key=lambda one: -one.share)


def said(case: Case, rates: Sequence[float] = ()) -> Said | None:
    """Return what is said of the onset, by us or by an observer who knows these rates. None: it is
    not among the commits that are looked at, as it came with the first of them or before.
    """
    shares = observed(case, rates) if rates else case.shares(case.counted)
    size = fewest_that_hold(shares)
    truth = case.fleet.commits[case.cause.since].sha
    if truth not in {one.commit.sha for one in shares}:
        return None
    whole = sum(one.share for one in shares)
    return Said(
        held=any(one.commit.sha == truth for one in shares[:size]),
        size=size,
        firmware=sum(one.share for one in shares if one.commit.kind is CommitKind.FIRMWARE) / whole,
    )


def told(found: Sequence[Case], rates: Sequence[float] = ()) -> list[Said]:
    """Return what is said of each; `rates`: by an observer who knows these."""
    return [one for case in found if (one := said(case, rates)) is not None]


def part() -> str:
    """Return the section about flaky tests."""
    sections = (_ONSETS, _onsets(), _BOXES, _boxes(), _SUSPECTS, _suspects(), _FIXED, _fixed())
    return "\n".join(sections)


_ONSETS = """\
## Since which commit

A race begins at any commit, is on all boxes, and is fixed half of the time. Of those that failed
twice and began within the commits that are looked at: how often the 90 % set holds the commit, and
how many commits it names (median). As it is the smallest set that holds 90 % or more, a short one
holds some percent more. The second observer knows the rate, and nothing better can be had; the
first knows that it is 2, 5 or 20 %. Both know how often a steady test fails, and that the test is
flaky once at most: we allow that it was flaky several times, which takes more commits.
"""


def _onsets() -> str:
    rows = []
    for runs, count in CASES.items():
        for boxes in (2, 5, 40):
            for rate in RATES if boxes == 5 else RATES[1:2]:
                plan = replace(_QUIET, runs=runs, boxes=boxes, boxes_at_once=min(boxes, 5))
                found = list(cases(plan, Kind.RACE, rate, count))
                compared = _compared(*(told(found, known) for known in ((), RATES, (rate,))))
                rows.append([f"{runs:,}", f"{boxes}", f"{rate:.0%}", *compared])
    head = ["runs", "boxes", "rate", "set holds it", "commits", "one of three rates: holds it"]
    return table([*head, "commits", "known rate: holds it", "commits"], rows)


def _compared(*answers: Sequence[Said]) -> list[str]:
    return [
        figure
        for of in answers
        for figure in (
            share([one.held for one in of]),
            f"{median(one.size for one in of):.0f}" if of else "-",
        )
    ]


_BOXES = """\
## On which boxes

A race that is on all boxes, against a fault of one test on one of five boxes: how often all boxes
are called alike, and how often not. Where neither is said, there were not enough runs.
"""


def _boxes() -> str:
    rows = []
    for kind in (Kind.RACE, Kind.BOX_TEST):
        for runs in (200, 2000):
            for rate in RATES:
                alike = _alike(kind, runs, rate)
                yes = share([one is not None and one >= 0.9 for one in alike])
                no = share([one is not None and one <= 0.1 for one in alike])
                rows.append([kind.value, f"{runs:,}", f"{rate:.0%}", yes, no])
    return table(["cause", "runs", "rate", "alike", "not alike"], rows)


def _alike(kind: Kind, runs: int, rate: float) -> list[float | None]:
    """Return the chance that all boxes are alike, in fleets of 5 boxes."""
    plan, found = replace(_QUIET, runs=runs, verdicts=0.0), []
    for seed in range(CASES[runs]):
        where = frozenset({"bench-2"}) if kind is Kind.BOX_TEST else frozenset[str]()
        cause = Cause(kind, frozenset({0}), where, rate=rate)
        seen = SeenProduct(*recorded(simulate(plan, [cause], seed)))
        found.append(boxes_compared(list(seen.counted("test_000"))).alike)
    return found


_SUSPECTS = """\
## Firmware or harness

Races of the firmware against tests that are written badly, 200 runs on 5 boxes. The score is the
part of the chances that is on commits that changed firmware only. The first four figures are the
chance that a race has the higher score (AUC); half is a guess. The flip rate (how often the result
changes from run to run) and the entropy of the results, by which other tools rank flaky tests, know
no commits. The last two are the mean score of races.
"""


def _suspects() -> str:
    rows = []
    for rate in RATES:
        plan = replace(_QUIET, runs=200)
        races = list(cases(plan, Kind.RACE, rate, 200))
        harness = list(cases(plan, Kind.HARNESS, rate, 200))
        ours, best = (
            [[one.firmware for one in told(of, known)] for of in (races, harness)]
            for known in ((), (rate,))
        )
        others = [
            auc(*[[score(one.counted) for one in of] for of in (races, harness)])
            for score in (flip_rate, entropy)
        ]
        means = [f"{mean(of[0]):.2f}" for of in (ours, best)]
        rows.append([f"{rate:.0%}", auc(*ours), auc(*best), *others, *means])
    head = ["rate", "ours", "observer", "flip rate", "entropy", "share, ours", "share, observer"]
    return table(head, rows)


def flip_rate(counted: Sequence[Counted]) -> float:
    results = [one.tries.first_failed for one in counted]
    return mean(one != other for one, other in itertools.pairwise(results))


def entropy(counted: Sequence[Counted]) -> float:
    failing = mean(one.tries.first_failed for one in counted)
    return -sum(part * log2(part) for part in (failing, 1 - failing) if part)


_FIXED = """\
## Fixed?

Races as above, looked at ten times at equal distances over their history. A race is claimed to be
fixed the first time that its chance is 95 % (ours), or that it passed as often in a row since it
failed last as a test of its rate does once in twenty times (clean runs alone). How many were
claimed, and how many of the claims were wrong: the race was still there. At most 5 % may be.
"""


def _fixed() -> str:
    rows = []
    for runs, count in CASES.items():
        for rate in RATES if runs > 20 else RATES[-1:]:
            found = list(cases(replace(_QUIET, runs=runs), Kind.RACE, rate, count))
            rows.append([f"{runs:,}", f"{rate:.0%}", *_claims(found)])
    head = ["runs", "rate", "ours: claimed", "wrong", "clean runs alone: claimed", "wrong"]
    return table(head, rows)


def _claims(found: Sequence[Case]) -> list[str]:
    figures = []
    for claims in (_is_fixed, _passed_often):
        wrong: list[bool] = []
        for case in found:
            looks = (len(case.counted) * look // LOOKS for look in range(1, LOOKS + 1))
            at = next((look for look in looks if claims(case, look)), None)
            if at is not None:
                wrong.append(_acts(case, at))
        figures += [f"{len(wrong)} of {len(found)}", share(wrong)]
    return figures


def _acts(case: Case, runs: int) -> bool:
    """Whether the cause still acts after so many runs."""
    until = case.cause.until
    numbers = {one.sha: number for number, one in enumerate(case.fleet.commits)}
    return until is None or numbers[case.fleet.facts.reports[runs - 1].sha] < until


def _is_fixed(case: Case, runs: int) -> bool:
    counted = case.counted[:runs]
    if sum(one.tries.first_failed for one in counted) < FAILURES_NEEDED:
        return False
    found = case.onset(counted)
    return 1 - found.still_flaky - found.never >= SURE


def _passed_often(case: Case, runs: int) -> bool:
    counted = case.counted[:runs]
    failing = [at for at, one in enumerate(counted) if one.tries.first_failed]
    if len(failing) < FAILURES_NEEDED:
        return False
    while_flaky = failing[-1] - failing[0]  # from its first failure to its last
    needed = clean_runs_needed(len(failing) - 1, while_flaky - len(failing) + 1)
    return needed is not None and len(counted) - 1 - failing[-1] >= needed
