# SPDX-License-Identifier: Apache-2.0
"""How good it is to say since when a test is flaky.

The observers beside know how the planted cause was drawn, and see the same counts. Nothing better
can be had from them than what is said by the one who knows the rates. LUCI's change point
(`change_points.py`) sees the same counts, too, and knows as little as we do.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from statistics import mean, median
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from hwci.analysis.flaky.onset import FLAKY_RATES
from hwci.analysis.flaky.suspect_words import LIKELY
from hwci.analysis.flaky.suspects import FAILURES_NEEDED, STRONG, fewest_that_hold
from hwci.contract.vocabulary import CommitKind
from tests.simulation.calibration.cases import (
    CASES,
    QUIET,
    RATES,
    Case,
    LikelyCommit,
    cases,
    planted_in,
    sized,
)
from tests.simulation.calibration.change_points import change_points, interval, rises
from tests.simulation.calibration.page import Line, Part, reliability, share, table
from tests.simulation.fleet import Cause, Kind, Plan, commits_of, planted

CHANCES = (0.0, 0.01, 0.05, 0.2, 0.5, 0.8, 1.0)
"""A commit rarely has a high chance, as there are many."""
HELD = (0.87, 0.93)
MANY = 1_000
"""Fleets of the size that is asked about: a share of 130 cases may be two percent off."""
TENTH = 1.1
TITLE = "Since which commit"


class Said(NamedTuple):
    """What was said of the onset: whether the 90 % set holds it, how many commits that is, and the
    part of the chances on commits that changed firmware.
    """

    held: bool
    size: int
    firmware: float


def observed(case: Case, rates: Sequence[float]) -> list[LikelyCommit]:
    """Return the chance for each commit, as one says who knows that it is one cause of one of these
    rates, each as likely, which was drawn as `planted` draws it; and how often other tests fail.
    """
    base, commits = case.fleet.plan.base_rate, len(case.fleet.commits)
    counted, at = case.counted, case.too_old + case.counted.at
    attempts = np.bincount(at, 1 + counted.retries, commits)
    failed = np.bincount(at, counted.failed + counted.retries_failed, commits)
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
    looked_at = (one.commit for one in case.likely())
    found = [LikelyCommit(one, float(chances[number[one.sha]])) for one in looked_at]
    return sorted(found, key=lambda one: -one.chance)


def said(case: Case, rates: Sequence[float] = ()) -> Said | None:
    """Return what is said of the onset, by us or by an observer who knows these rates. None: it is
    not among the commits that are looked at, as it came with the first of them or before.
    """
    likely = observed(case, rates) if rates else case.likely()
    size = fewest_that_hold(np.array([one.chance for one in likely]))
    if case.truth not in {one.commit.sha for one in likely}:
        return None
    whole = sum(one.chance for one in likely)
    return Said(
        held=any(one.commit.sha == case.truth for one in likely[:size]),
        size=size,
        firmware=sum(one.chance for one in likely if one.commit.kind is CommitKind.FIRMWARE)
        / whole,
    )


def told(found: Sequence[Case], rates: Sequence[float] = ()) -> list[Said]:
    """Return what is said of each; `rates`: by an observer who knows these."""
    return [one for case in found if (one := said(case, rates)) is not None]


def told_by_luci(case: Case) -> tuple[bool, int] | None:
    """Return whether the interval of the last change point from which on more fails holds the
    onset, and how many commits that is. None: there is none.
    """
    steps, places = case.steps, case.places
    cuts = change_points(steps)
    up = [which for which in range(len(cuts)) if rises(steps, cuts, which)]
    if not up:
        return None
    first, last = interval(steps, cuts, up[-1])
    low, high = places[first - 1] + 1, places[last]
    return low <= case.since <= high, high - low + 1


class Row(NamedTuple):
    """Cases of one kind in which the onset is looked at: what was said of each by us, by who knows
    that it is one of three rates, by who knows the rate, by who knows all but the rate, and by
    LUCI.
    """

    ours: list[Said]
    one_of_three: list[Said]
    known: list[Said]
    any_rate: list[Said]
    luci: list[tuple[bool, int] | None]


def row(found: Iterable[Case], rate: float) -> Row:
    """Return what is said of the onsets of these cases."""
    answers = Row([], [], [], [], [])
    for case in found:
        if (ours := said(case)) is not None:
            answers.ours.append(ours)
            answers.one_of_three.extend(told([case], RATES))
            answers.known.extend(told([case], (rate,)))
            answers.any_rate.extend(told([case], FLAKY_RATES))
            answers.luci.append(told_by_luci(case))
    return answers


class Chances(NamedTuple):
    """What we say of each commit, and of the time before all of them, each with whether it was
    that.
    """

    of_commits: Sequence[tuple[float, bool]]
    before: tuple[float, bool]


def chances(case: Case) -> Chances:
    """Return what we say of a test, and whether it is true."""
    likely = case.likely()
    return Chances(
        [(one.chance, one.commit.sha == case.truth) for one in likely],
        (1 - sum(one.chance for one in likely), case.since <= case.places[0]),
    )


def part() -> Part:
    """Return the sections about onsets."""
    rows, lines = [], []
    for runs, count in CASES.items():
        for boxes in (2, 5, 40):
            for rate in RATES if boxes == 5 else RATES[1:2]:
                is_asked = (runs, boxes) == (200, 5)
                fleets = MANY if is_asked else count
                answers = row(cases(sized(runs, boxes), Kind.RACE, rate, fleets), rate)
                rows.append([f"{runs:,}", f"{boxes}", f"{rate:.0%}", *_compared(answers)])
                lines += _lines(rate, answers) if is_asked else []
    head = ["runs", "boxes", "rate", "set holds it", "commits", "one of three rates: holds it"]
    head += ["commits", "known rate: holds it", "commits"]
    head += ["LUCI finds one", "holds it", "commits", "ours, of the same: holds it", "commits"]
    text = [_ONSETS, table(head, rows), _CAME_AGAIN, _came_again()]
    text += [_CHANCES, _chances(), _STEADY, _steady()]
    return Part("\n".join(text), lines)


_ONSETS = f"""\
## {TITLE}

A race begins at any commit, is on all boxes, and is fixed half of the time. Of those that failed
twice and began within the commits that are looked at: how often the 90 % set holds the commit, and
how many commits it names (median). As it is the smallest set that holds 90 % or more, a short one
holds some percent more. The second observer knows the rate, and nothing better can be had; the
first knows that it is 2, 5 or 20 %. Both know how often a steady test fails, and that the test is
flaky once at most. We see how often the {QUIET.tests - 1} other tests fail, and allow for several
times and for lower rates, so our set is longer and holds more
([ADR 0011](adr/0011-a-commit-has-one-certainty.md)). Of 200 runs on 5 boxes {MANY:,} races are
drawn, of other sizes {CASES[200]} or {CASES[2000]}: a share of 130 may be two percent off.

[LUCI Analysis](https://pkg.go.dev/go.chromium.org/luci/analysis), which watches the tests of
Chromium, cuts the runs of a test where that explains them ten thousand times better. How often it
finds a change to more failures, how often the last of them holds the commit within its interval of
90 %, and what we say of the cases in which it finds one. It looks at each kind of builder by
itself; here it has the runs of all boxes together, which is kinder to it.
"""


def _compared(found: Row) -> list[str]:
    figures = []
    for of in (found.ours, found.one_of_three, found.known):
        figures += [share([one.held for one in of]), _middle([one.size for one in of])]
    by_luci = [one for one in found.luci if one is not None]
    same = [one for one, luci in zip(found.ours, found.luci, strict=True) if luci is not None]
    return [
        *figures,
        share([one is not None for one in found.luci]),
        share([held for held, _ in by_luci]),
        _middle([size for _, size in by_luci]),
        share([one.held for one in same]),
        _middle([one.size for one in same]),
    ]


def _middle(sizes: Sequence[int]) -> str:
    return f"{median(sizes):.0f}" if sizes else "-"


def _lines(rate: float, found: Row) -> list[Line]:
    race = f"Race planted ({rate:.0%}, all boxes, 200 runs, 5 boxes)"
    observers = (found.ours, found.known, found.any_rate)
    held = [mean(one.held for one in of) for of in observers]
    size = [median(one.size for one in of) for of in observers]
    beside = "who knows the rates has {1}, who knows all but the race's {2}"
    return [
        Line(
            f"{race}: the 90 % set holds the onset in 87 to 93 %",
            f"{{0}} of {len(found.ours)}, {beside}".format(*(f"{100 * one:.0f} %" for one in held)),
            HELD[0] <= held[0] <= HELD[1],
            TITLE,
        ),
        Line(
            f"{race}: the set is within a tenth of who knows the rates",
            f"{{0}} commits, {beside}".format(*(f"{one:.0f}" for one in size)),
            size[0] <= TENTH * size[1],
            TITLE,
        ),
    ]


_CAME_AGAIN = """\
### Races that came again

A race that was fixed and brought back, at commits drawn at random (200 runs, 5 boxes), and that
failed twice since: how often the set holds the commit that brought it back. It holds less than it
says, as we take that to be rare ([ADR 0011](adr/0011-a-commit-has-one-certainty.md)): otherwise
the sets above would be about a third longer.
"""
_CHANCES = """\
### Chances of commits

What is said of each commit, against how often it was the one: 200 runs on 5 boxes, all three rates.
Half of the races begin at any commit, half were there before the first, about as it is weighed
before any run. The second table has what is said of the time before the first commit.
"""
_STEADY = """\
### Tests that are as they were

No cause is planted: all tests fail at this rate, from before the first run to the last. Of those
that failed twice: how often we take it for likelier that the test became flaky within the period,
how often we are sure of it (90 %), and how often LUCI finds a change to more failures.
"""


def _came_again() -> str:
    rows = []
    for rate in RATES:
        found = told([one for seed in range(CASES[200]) for one in came_again(rate, seed)])
        sizes = _middle([one.size for one in found])
        rows.append([f"{rate:.0%}", share([one.held for one in found]), sizes])
    return table(["rate", "set holds it", "commits"], rows)


def came_again(rate: float, seed: int) -> Iterator[Case]:
    """Yield a race that was fixed and came again, if its test failed often enough since."""
    plan = sized(200)
    numbers = Random(f"came again {seed}").sample(range(commits_of(plan)), 3)
    since, until, back = sorted(numbers)
    one = frozenset({0})
    first = Cause(Kind.RACE, one, rate=rate, since=since, until=until)
    second = Cause(Kind.RACE, one, rate=rate, since=back)
    for case in planted_in(plan, second, seed, first):
        if case.counted.failed[case.counted.at >= case.since].sum() >= FAILURES_NEEDED:
            yield case


def _chances() -> str:
    found = [
        chances(case)
        for rate in RATES
        for seed in range(CASES[200])
        for cause in begun_or_not(sized(200), rate, seed)
        for case in planted_in(sized(200), cause, seed)
    ]
    of_commits = [one for case in found for one in case.of_commits]
    before = [case.before for case in found]
    return "\n".join([reliability(of_commits, CHANCES), reliability(before)])


def begun_or_not(plan: Plan, rate: float, seed: int) -> tuple[Cause, Cause]:
    """Return a race that begins at any commit, and one that was there before the first."""
    cause = planted(plan, Kind.RACE, rate, seed)
    return cause, replace(cause, since=0)


def _steady() -> str:
    rows = []
    for rate in (0.01, 0.05, 0.2):
        for runs, boxes in ((20, 5), (200, 2), (200, 5), (200, 40), (2000, 5)):
            cause = Cause(Kind.RACE, frozenset({0}), rate=rate)
            found = [
                case
                for seed in range(CASES[runs])
                for case in planted_in(sized(runs, boxes), cause, seed)
            ]
            within = [sum(case.onset().at) for case in found]
            ours = (share([one > least for one in within]) for least in (1 - LIKELY, STRONG))
            luci = share([told_by_luci(case) is not None for case in found])
            rows.append([f"{rate:.0%}", f"{runs:,}", f"{boxes}", *ours, luci])
    return table(["rate", "runs", "boxes", "likelier", "sure", "LUCI"], rows)
