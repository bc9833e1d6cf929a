# SPDX-License-Identifier: Apache-2.0
"""How good a bisection is: its board time, and how often it ends on the commit.

Beside it stands `git bisect` on the same ranges, with each step repeated: five times as people do,
and as often as someone would who knows how often the test fails.
"""

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log
from random import Random
from statistics import mean

from hwci.analysis.certainty import SURE
from hwci.analysis.flaky.weighing import (
    Counts,
    bracket_of,
    chances,
    contradict,
    most_telling,
    rounds_needed,
)
from hwci.contract.limits import AT_ONCE_MAX
from tests.simulation.calibration.page import CHANCES, Line, Part, reliability, share, table

RUN_MINUTES = 5
RATES = (1.0, 0.5, 0.1, 0.05)
BASE_RATE = 0.001
BASES = (BASE_RATE, 0.01)
MANY = 400
FEW = (0.5, 0.1)
RANGES: Sequence[tuple[int, int, float, int, Sequence[float]]] = (
    (20, 1, BASE_RATE, MANY, RATES),
    (20, 2, BASE_RATE, 100, FEW),
    (20, 5, BASE_RATE, MANY, RATES),
    (20, 40, BASE_RATE, 40, FEW),
    (100, 1, BASE_RATE, 20, RATES),
    (20, 1, BASES[1], MANY, RATES),
)
"""Commits, boxes, the rate before the one that is looked for, of how many cases, and at which
rates: long ranges take ten times as long.
"""
MORE = 4000
SHORT = (1.0, 0.5)
"""At these rates a bisection is short enough for so many cases."""
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
    contradiction is no bracket. `rounds`: of runs at once, one for each box. `said`: the chance of
    the likeliest commit when it came into each range of `CHANCES` first, and whether it was right.
    """

    rounds: int
    held: bool
    contradicted: bool = False
    said: Sequence[tuple[float, bool]] = ()

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
    said: dict[int, tuple[float, bool]] = {}
    for rounds in range(ROUNDS_MAX):
        likely = chances(counts)
        bracket = bracket_of(likely)
        if contradict(counts):
            return End(rounds, held=False, contradicted=True)
        best = max(likely)
        said.setdefault(bisect(CHANCES, best), (best, likely[case.since] == best))
        if bracket.first == bracket.last:
            return End(rounds, bracket.first == case.since, said=[*said.values()])
        for commit, box, _ in most_telling(counts, likely, boxes, min(case.boxes, AT_ONCE_MAX)):
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


def part() -> Part:
    """Return the section about bisections."""
    rows = [found for given in RANGES for found in of_range(*given)]
    more = [found for base in BASES for found in of_range(20, 1, base, MORE, SHORT)]
    head = ["commits", "boxes", "rate", "rate before", "minutes", "estimate", "in the bracket"]
    head += ["contradicted", "git bisect: minutes", "right", "knows the rate: minutes", "right"]
    said = [one for row in rows for end in row.ours for one in end.said]
    text = [_HEAD, table(head, [row.figures() for row in rows]), _MORE, _more(more)]
    return Part("\n".join([*text, _CHANCES, reliability(said)]), _lines([*rows, *more]))


TITLE = "Bisection"
_HEAD = f"""\
## {TITLE}

A test begins to fail at one of so many commits, and fails at this rate from there on. One run
takes {RUN_MINUTES} minutes; the bisection ends when one commit has 95 %. Several boxes run at the
same time, what is chosen for them together, up to {AT_ONCE_MAX}. "Estimate": the time that is told
beforehand of a flaky test of which the rate is known. "Contradicted": results that are called
contradictory, though they are not; they count as missed. `git bisect` runs on one box. With
{REPEATS} repeats it takes the first failure of them as an answer. "Knows the rate" repeats as often
as 95 % takes at this rate, which nobody knows before.
"""
_MORE = f"""\
### More cases

A share of {MANY} cases may be two percent off. The same, where a bisection is short: the {MANY}
cases above, and as many more as make {MORE:,}.
"""
_CHANCES = """\
### Chances of the likeliest commit

The chance of the likeliest commit, each time that a bisection above came into this range first,
against how often it was the one.
"""


@dataclass(frozen=True)
class Row:
    """Cases with one rate, how we ended, and how git did: with repeats, and by who knows it."""

    case: Case
    ours: Sequence[End]
    git: Sequence[End]
    knows: Sequence[End]

    @property
    def held(self) -> float:
        """The part in which the bracket holds the commit."""
        return mean(one.held for one in self.ours)

    def figures(self) -> list[str]:
        """Return the row of the table."""
        of = self.case
        at_once = min(of.boxes, AT_ONCE_MAX)
        estimate = f"{(rounds_needed(of.commits, of.rate, at_once) or 0) * RUN_MINUTES:,}"
        minutes, held = _figures(self.ours)
        contradicted = share([one.contradicted for one in self.ours])
        where = [f"{of.commits}", f"{of.boxes}", f"{of.rate:.0%}", f"{of.base:.1%}"]
        others = [*_figures(self.git), *_figures(self.knows)]
        return [*where, minutes, estimate, held, contradicted, *others]


def of_range(
    commits: int, boxes: int, base: float, cases: int, rates: Sequence[float] = RATES
) -> list[Row]:
    """Return the rows of a range, one for each rate."""
    return [
        of_cases([Case(commits, rate, seed, base, boxes) for seed in range(cases)])
        for rate in rates
    ]


def of_cases(found: Sequence[Case]) -> Row:
    """Return the row of cases that differ by their seed alone."""
    knows = [bisected_by_git(one, repeats_that_suffice(one)) for one in found]
    return Row(found[0], [*map(bisected, found)], [*map(bisected_by_git, found)], knows)


def _more(rows: Sequence[Row]) -> str:
    figures = [
        [
            f"{one.case.rate:.0%}",
            f"{one.case.base:.1%}",
            _figures(one.ours)[0],
            f"{one.held:.1%} of {len(one.ours):,}",
        ]
        for one in rows
    ]
    return table(["rate", "rate before", "minutes", "in the bracket"], figures)


def _figures(ends: Sequence[End]) -> list[str]:
    return [f"{mean(one.minutes for one in ends):,.0f}", share([one.held for one in ends])]


def _lines(rows: Sequence[Row]) -> list[Line]:
    lines, of_most = [], {one.case: one for one in rows}
    for rate in RATES:
        here = [one for one in of_most.values() if one.case.rate == rate]
        here = [one for one in here if len(one.ours) >= MANY]
        least = min(here, key=lambda one: one.held)
        of = least.case
        where = f"{of.boxes} box, {of.base:.1%} before" if of.boxes == 1 else f"{of.boxes} boxes"
        asked = f"Bisection at a rate of {rate:.0%}: the commit in the 95 % bracket in 95 %"
        measured = f"{least.held:.1%} of {len(least.ours):,} at least ({where})"
        lines.append(Line(asked, measured, least.held >= SURE, TITLE))
    first = rows[: len(RATES)]
    minutes, git = (
        ", ".join(f"{mean(one.minutes for one in ends):,.0f}" for ends in of)
        for of in ([row.ours for row in first], [row.git for row in first])
    )
    right = ", ".join(f"{mean(one.held for one in row.git):.0%}" for row in first)
    asked = "Bisection: board minutes against `git bisect` with five repeats, at 100, 50, 10, 5 %"
    lines.append(Line(asked, f"{minutes} against {git}, which are right in {right}", None, TITLE))
    return lines
