# SPDX-License-Identifier: Apache-2.0
"""What still fails in fleets with broken and flaky tests: the band of each, and which stands above
which.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from random import Random
from typing import NamedTuple

from hwci.analysis.failures.incidents import by_harm, incidents, seen_products
from hwci.contract.vocabulary import Band, Label
from hwci.engine.history import Scope
from tests.engine.timeline import EVER
from tests.simulation.calibration.page import Line, Part, recorded, share, table
from tests.simulation.fleet import Cause, Kind, Plan, Simulated, commits_of, simulate

FLEETS = 200
RACES, NEW_RACES, BUGS = 4, 1, 2
RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
ABOVE_MIN, CALLED_MAX = 0.98, 0.05

_HEAD = f"""\
## Broken or flaky

Fleets of two to six boxes with or without a retry. Of 20 tests {RACES} are flaky at 2 % to 50 %,
from the beginning or since a commit of the first three quarters, {NEW_RACES} is so since one of the
last quarter, and {BUGS} break there and stay so; each attempt fails at 0.2 %. Of the incidents that
still fail at the end: the band, and in how many pairs and fleets what a bug broke stands above what
is flaky. A test that only just began to fail now and then looks like a broken one.
"""


class Ranked(NamedTuple):
    """What still fails in a fleet, each with its place and its band: what a bug broke, what is
    flaky, and what became so only in the last quarter.
    """

    broken: Sequence[tuple[int, Band]]
    flaky: Sequence[tuple[int, Band]]
    new: Sequence[tuple[int, Band]]

    @property
    def pairs(self) -> Sequence[bool]:
        """Whether the broken one stands above, of each pair with one that is flaky."""
        flaky = [*self.flaky, *self.new]
        return [bug < race for (bug, _), (race, _) in product(self.broken, flaky)]


def fleet_of(seed: int) -> Simulated:
    """Return a fleet with tests that are flaky and tests that broke."""
    random = Random(f"bands {seed}")
    plan = Plan(
        boxes=random.randint(2, 6),
        boxes_at_once=random.randint(1, 6),
        runs=random.choice([200, 400]),
        attempts=random.choice([1, 2]),
        base_rate=0.002,
    )
    last = commits_of(plan)
    tests = random.sample(range(plan.tests), RACES + NEW_RACES + BUGS)
    causes = [
        Cause(
            Kind.RACE,
            frozenset({test}),
            rate=random.choice(RATES),
            since=random.choice([0, random.randrange(3 * last // 4)]),
        )
        for test in tests[:RACES]
    ]
    kinds = [(Kind.RACE, random.choice(RATES))] * NEW_RACES + [(Kind.BUG, 1.0)] * BUGS
    causes += [
        Cause(kind, frozenset({test}), rate=rate, since=last - random.randint(2, last // 4))
        for test, (kind, rate) in zip(tests[RACES:], kinds, strict=True)
    ]
    return simulate(plan, causes, seed)


def ranked(fleet: Simulated) -> Ranked:
    """Return what is made of a fleet. An incident with a broken test is of a bug, and one with a
    test that is new to flaking of that.
    """
    history, _ = recorded(fleet)
    pending = incidents(history, Scope(), EVER, Label.PENDING)
    rows = by_harm(history, pending, seen_products(history, Scope(), EVER, pending))
    *_, new, _, _ = names = [f"test_{test:03d}" for cause in fleet.causes for test in cause.tests]
    broken: list[tuple[int, Band]] = []
    flaky: list[tuple[int, Band]] = []
    fresh: list[tuple[int, Band]] = []
    for place, row in enumerate(rows):
        if not {*names[-BUGS:]}.isdisjoint(row.incident.tests):
            broken.append((place, row.band))
        else:
            (fresh if new in row.incident.tests else flaky).append((place, row.band))
    return Ranked(broken, flaky, fresh)


def part() -> Part:
    """Return the section about bands."""
    fleets = [ranked(fleet_of(seed)) for seed in range(FLEETS)]
    bugs, races = (
        bands_of(fleet.broken for fleet in fleets),
        bands_of(fleet.flaky for fleet in fleets),
    )
    pairs = [pair for fleet in fleets for pair in fleet.pairs]
    whole = [all(fleet.pairs) for fleet in fleets if fleet.pairs]
    rows = [
        [words, *(share([band is of for band in bands]) for of in (Band.BROKEN, Band.FLAKY))]
        for words, bands in (
            ("a bug broke", bugs),
            ("is flaky", races),
            ("is flaky since the last quarter", bands_of(fleet.new for fleet in fleets)),
        )
    ]
    above = table(["broken above flaky", ""], [["pairs", share(pairs)], ["fleets", share(whole)]])
    called = sum(band is Band.BROKEN for band in races) / len(races)
    lines = [
        Line(
            f"What a bug broke stands above all that is flaky in {ABOVE_MIN:.0%} of fleets",
            f"{sum(whole) / len(whole):.1%}",
            sum(whole) >= ABOVE_MIN * len(whole),
            "Broken or flaky",
        ),
        Line(
            f"What is flaky is called broken in {CALLED_MAX:.0%} at most",
            f"{called:.1%}",
            called <= CALLED_MAX,
            "Broken or flaky",
        ),
    ]
    head = ["what fails", "called broken", "called flaky"]
    return Part("\n".join([_HEAD, table(head, rows), above]), lines)


def bands_of(rows: Iterable[Sequence[tuple[int, Band]]]) -> list[Band]:
    """Return the bands of these, of all fleets."""
    return [band for of_fleet in rows for _, band in of_fleet]
