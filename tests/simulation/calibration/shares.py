# SPDX-License-Identifier: Apache-2.0
"""How good the intervals of shares of results are, on fleets whose causes come and go as often at
any time.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from statistics import fmean, median
from typing import NamedTuple

from hwci.analysis.benches.by_parts import sure_shares, whole
from hwci.analysis.benches.shares import tallies
from hwci.analysis.certainty import share_of_cases
from hwci.contract.shares import Share
from hwci.engine.periods import Period
from tests.simulation.calibration.page import Part, recorded, share, table
from tests.simulation.fleet import Cause, Kind, Plan, Simulated, commits_of, simulate

FLEETS = 200
"""So many of each kind."""
FLEET = Plan(boxes=5, tests=20, runs=200)
LONGEST = 10
"""A bug is fixed within so many commits."""


class Look(NamedTuple):
    """The share of failed attempts on one box, by parts, beside all others, and by its number."""

    ours: Share
    by_number: Share


def part() -> Part:
    """Return the section about shares of results."""
    return Part("\n".join([_TEXT, _table()]), [])


_TEXT = """\
## Shares of results

The share of failed attempts on one box over a history. Causes come and go as often at any time. How
often the 95 % interval holds the true share (the mean of all fleets), and how wide that is (median,
in points). "By number" takes results for independent. By ours, a period has seven parts, in which
the box and all others tell together how much shares differ
([ADR 0010](adr/0010-a-box-is-compared-within-test-and-commit.md)).
"""


def _table() -> str:
    rows = []
    for words, plan, causes in KINDS:
        looks = [look(simulate(plan, causes(seed), seed)) for seed in range(FLEETS)]
        true = fmean(seen.ours.part / seen.ours.total for seen in looks)
        row = [words]
        for shares in zip(*looks, strict=True):
            within = [ends for ends in map(interval_of, shares) if ends is not None]
            row += [
                share([low <= true <= high for low, high in within]),
                f"{100 * median(high - low for low, high in within):.1f}",
            ]
        rows.append(row)
    head = ["fleet", "share holds it", "points"]
    return table([*head, *(f"by number: {title}" for title in head[1:])], rows)


def look(fleet: Simulated) -> Look:
    """Look at the box that ran first, over the history of a fleet."""
    _, product = recorded(fleet)
    ran = Period(product.runs[0].started_at, product.runs[-1].started_at)
    box = product.runs[0].box_key
    own = [run for run in product.runs if run.box_key == box]
    others = [run for run in product.runs if run.box_key != box]
    counted = [tallies(runs, ran).flaky for runs in (own, others)]
    by_number = share_of_cases(*whole(counted[0]))
    assert by_number is not None
    return Look(sure_shares(*counted)[0], by_number)


def interval_of(share: Share) -> tuple[float, float] | None:
    """Return the interval of a share, if it has one."""
    return None if share.low is None or share.high is None else (share.low, share.high)


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
