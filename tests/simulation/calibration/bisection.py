# SPDX-License-Identifier: Apache-2.0
"""How good a bisection is: its board time, and how often it ends on the commit.

Beside it stands `git bisect` on the same ranges, with each step repeated: five times as people do,
and as often as someone would who knows how often the test fails.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log
from random import Random
from statistics import mean

from hwci.analysis.certainty import SURE
from hwci.analysis.weighing import (
    Counts,
    bracket_of,
    chances,
    contradict,
    most_telling,
    rounds_needed,
)
from tests.simulation.calibration.page import share, table

RUN_MINUTES = 5
RATES = (1.0, 0.5, 0.1, 0.05)
BASE_RATE = 0.001
RANGES = (
    (20, 1, BASE_RATE, 400),
    (20, 4, BASE_RATE, 400),
    (100, 1, BASE_RATE, 40),
    (20, 1, 0.01, 400),
)
"""Commits, boxes, the rate before the one that is looked for, and of how many cases: long ranges
take ten times as long.
"""
REPEATS = 5
ROUNDS_MAX = 5000


@dataclass(frozen=True)
class Case:
    """A range of commits after a good one. From number `since` on a run fails at `rate`, before it
    at `base`.
    """

    commits: int
    rate: float
    seed: int
    base: float = BASE_RATE
    boxes: int = 1

    @property
    def since(self) -> int:
        """The commit that is looked for; the good one is number 0."""
        return Random(f"since {self.seed}").randint(1, self.commits)

    def runs(self) -> Callable[[int], bool]:
        """Return what runs a commit and tells whether it failed."""
        draw, since = Random(self.seed), self.since
        return lambda commit: draw.random() < (self.rate if commit >= since else self.base)


@dataclass(frozen=True)
class End:
    """How a search ended. `held`: the commit is in the bracket, which for git is one commit. A
    contradiction is no bracket. `rounds`: of runs at once, one for each box.
    """

    rounds: int
    held: bool
    contradicted: bool = False

    @property
    def minutes(self) -> int:
        """The time until the end."""
        return self.rounds * RUN_MINUTES


def bisected(case: Case) -> End:
    """Search as `hwci bisect` does, after a pass on the good commit, and a failure on the bad one,
    which CI ran until it came.
    """
    fails = case.runs()
    boxes = {f"bench-{number}": 60.0 * RUN_MINUTES for number in range(case.boxes)}
    counts: list[dict[str, Counts]] = [{} for _ in range(case.commits + 1)]

    def ran(commit: int, box: str = "bench-0") -> bool:
        failed = fails(commit)
        before = counts[commit].get(box, Counts())
        counts[commit][box] = before.plus(Counts(failed, not failed))
        return failed

    counts[0]["bench-0"] = Counts(0, 1)
    while not ran(case.commits):
        pass
    for rounds in range(ROUNDS_MAX):
        likely = chances(counts)
        bracket = bracket_of(likely)
        if contradict(counts):
            return End(rounds, held=False, contradicted=True)
        if bracket.first == bracket.last:
            return End(rounds, bracket.first == case.since)
        for commit, box, _ in most_telling(counts, likely, boxes, case.boxes):
            ran(commit, box)
    return End(ROUNDS_MAX, bracket.first <= case.since <= bracket.last)


def bisected_by_git(case: Case, repeats: int = REPEATS) -> End:
    """Search as `git bisect run` does with a script that tries so often until the test fails."""
    fails = case.runs()
    good, bad, runs = 0, case.commits, 0
    while bad - good > 1:
        middle, failed = (good + bad) // 2, False
        for _ in range(repeats):
            runs, failed = runs + 1, fails(middle)
            if failed:
                break
        good, bad = (good, middle) if failed else (middle, bad)
    return End(runs, bad == case.since)


def repeats_that_suffice(case: Case) -> int:
    """Return how often to repeat a step so that all of them are right with 95 %, for one who knows
    the rate.
    """
    steps = (case.commits - 1).bit_length()
    if case.rate >= 1:
        return 1
    return ceil(log((1 - SURE) / steps) / log(1 - case.rate))


def part() -> str:
    """Return the section about bisections."""
    return "\n".join([_HEAD, _table()])


_HEAD = f"""\
## Bisection

A test begins to fail at one of so many commits, and fails at this rate from there on. One run
takes {RUN_MINUTES} minutes; the bisection ends when one commit has 95 %. Four boxes run at the same
time, what is chosen for them together. "Estimate": the time that is told beforehand of a flaky test
of which the rate is known. "Contradicted": results that are called contradictory, though they are
not; they count as missed. `git bisect` runs on one box. With {REPEATS} repeats it takes the first
failure of them as an answer. "Knows the rate" repeats as often as 95 % takes at this rate, which
nobody knows before.
"""


def _table() -> str:
    head = ["commits", "boxes", "rate", "rate before", "minutes", "estimate", "in the bracket"]
    git_head = ["git bisect: minutes", "right", "knows the rate: minutes", "right"]
    rows = [row(rate, *given) for given in RANGES for rate in RATES]
    return table([*head, "contradicted", *git_head], rows)


def row(rate: float, commits: int, boxes: int, base: float, cases: int) -> list[str]:
    """Return the row of a range."""
    found = [Case(commits, rate, seed, base, boxes) for seed in range(cases)]
    ours = [bisected(one) for one in found]
    git = [bisected_by_git(one) for one in found]
    knows = [bisected_by_git(one, repeats_that_suffice(one)) for one in found]
    minutes, held = _figures(ours)
    estimate = f"{(rounds_needed(commits, rate, boxes) or 0) * RUN_MINUTES:,}"
    contradicted = share([one.contradicted for one in ours])
    where = [f"{commits}", f"{boxes}", f"{rate:.0%}", f"{base:.1%}"]
    return [*where, minutes, estimate, held, contradicted, *_figures(git), *_figures(knows)]


def _figures(ends: list[End]) -> list[str]:
    return [f"{mean(one.minutes for one in ends):,.0f}", share([one.held for one in ends])]
