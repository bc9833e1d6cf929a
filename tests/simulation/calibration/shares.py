# SPDX-License-Identifier: Apache-2.0
"""How good the intervals of shares of results are, and of how they changed, on fleets whose causes
come and go as often at any time.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from statistics import fmean, median
from typing import NamedTuple

from hwci.analysis.benches.by_parts import SureShare, sure_shares, whole
from hwci.analysis.benches.shares import tallies
from hwci.analysis.certainty import wilson
from hwci.analysis.periods.trends import ShareChange, change_between
from hwci.engine.periods import Period
from tests.simulation.calibration.page import Part, recorded, share, table
from tests.simulation.fleet import Cause, Kind, Plan, Simulated, commits_of, simulate

FLEETS = 200
"""So many of each kind."""
FLEET = Plan(boxes=5, tests=20, runs=200)
LONGEST = 10
"""A bug is fixed within so many commits."""


class Look(NamedTuple):
    """The shares of failed attempts in the second half of a history and in the first, and the
    change between them.
    """

    now: SureShare
    before: SureShare
    change: ShareChange


class Looks(NamedTuple):
    """The same by parts, and by the number of results."""

    ours: Look
    by_number: Look


def part() -> Part:
    """Return the section about shares of results."""
    return Part("\n".join([_TEXT, _table()]), [])


_TEXT = """\
## Shares of results

The share of failed attempts in the second half of a history, and how it changed against the first.
Nothing changed: causes come and go as often in both. How often the 95 % interval holds the true
share (the mean of all fleets), and how often that of the change holds 0; how wide that is (median,
in points). "By number" takes results for independent. By ours, a period has seven parts
([ADR 0098](adr/0098-shares-of-results-by-parts-of-the-period.md)).
"""


def _table() -> str:
    rows = []
    for words, plan, causes in KINDS:
        looks = [look(simulate(plan, causes(seed), seed)) for seed in range(FLEETS)]
        true = fmean(one.ours.now.share for one in looks)
        row = [words]
        for of in ("ours", "by_number"):
            found: list[Look] = [getattr(one, of) for one in looks]
            within = [one.now.within for one in found]
            row += [
                share([each is not None and each[0] <= true <= each[1] for each in within]),
                share([one.change.low <= 0 <= one.change.high for one in found]),
                f"{100 * median(one.change.high - one.change.low for one in found):.1f}",
            ]
        rows.append(row)
    head = ["fleet", "share holds it", "change holds 0", "points"]
    return table([*head, *(f"by number: {one}" for one in head[1:])], rows)


def look(fleet: Simulated) -> Looks:
    """Look at the halves of the history of a fleet."""
    _, product = recorded(fleet)
    start, end = product.runs[0].started_at, product.runs[-1].started_at
    middle = start + (end - start) / 2
    late = [run for run in product.runs if run.started_at > middle]
    early = [run for run in product.runs if run.started_at <= middle]
    counted = [
        tallies(late, Period(middle, end)).flaky,
        tallies(early, Period(start, middle)).flaky,
    ]
    by_number = [
        SureShare(*total, wilson(total.part / total.total, total.total))
        for total in map(whole, counted)
    ]
    return Looks(_look(sure_shares(*counted)), _look(by_number))


def _look(shares: Sequence[SureShare]) -> Look:
    now, before = shares
    assert now.within is not None
    assert before.within is not None
    return Look(now, before, change_between(now.share, now.within, before.share, before.within))


def _bugs(plan: Plan, number: int, seed: int) -> list[Cause]:
    """Return bugs that begin at any commit, or shortly before the first, and are fixed soon."""
    draw, last = Random(f"bugs {seed}"), commits_of(plan)
    causes = []
    for _ in range(number):
        since = draw.randrange(-LONGEST, last)
        until = since + draw.randrange(2, LONGEST)
        if until > 0:
            test = frozenset({draw.randrange(plan.tests)})
            until_shown = until if until < last else None
            causes.append(Cause(Kind.BUG, test, rate=1.0, since=max(since, 0), until=until_shown))
    return causes


_RACES = [Cause(Kind.RACE, frozenset({test}), rate=0.2) for test in range(3)]
_LOST = replace(FLEET, lost=0.03)
KINDS: Sequence[tuple[str, Plan, Callable[[int], list[Cause]]]] = (
    ("nothing else", FLEET, lambda _: []),
    ("three races", FLEET, lambda _: _RACES),
    ("3 % of runs lose the board", _LOST, lambda _: []),
    ("the same, 40 runs", replace(_LOST, runs=40), lambda _: []),
    ("the same, 2 boxes, 100 runs", replace(_LOST, boxes=2, runs=100), lambda _: []),
    ("the same, 1 box, 16 runs", replace(_LOST, boxes=1, runs=16), lambda _: []),
    ("8 bugs of up to ten commits", FLEET, partial(_bugs, FLEET, 8)),
    (
        "30 such bugs, 2 boxes, 400 runs",
        replace(FLEET, boxes=2, runs=400),
        partial(_bugs, replace(FLEET, boxes=2, runs=400), 30),
    ),
    (
        "30 such bugs, 1,000 runs",
        replace(FLEET, runs=1000),
        partial(_bugs, replace(FLEET, runs=1000), 30),
    ),
)
"""Each kind of fleet in words, with its causes by seed."""
