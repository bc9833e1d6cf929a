# SPDX-License-Identifier: Apache-2.0
"""How good it is to say that tests fail together: on fleets where they do, and where not."""

from collections.abc import Callable
from dataclasses import replace

from hwci.analysis.failures.incidents import Incident, incidents
from hwci.engine.history import Scope
from tests.simulation.calibration.page import EVER, Part, recorded, share, table
from tests.simulation.fleet import Cause, Kind, Plan, planted, simulate

CASES = {20: 40, 200: 40, 2000: 4}
"""So many fleets of so many runs."""
FLEET = Plan(boxes=5, tests=50, runs=200, attempts=1, base_rate=0.02, changes=0.0)
RATES = (0.05, 0.1, 0.2)
STRUCK = ("test_003", "test_007", "test_009")
BOX = "bench-2"


def part() -> Part:
    """Return the section about incidents."""
    return Part("\n".join([_OUTAGE, _outages(), _CLEAN, _clean()]), [])


def again(plan: Plan, causes: list[Cause], seed: int) -> list[Incident]:
    """Return the incidents of tests that failed together again and again."""
    history, _ = recorded(simulate(plan, causes, seed))
    return [one for one in incidents(history, Scope(), EVER) if one.times > 1]


_OUTAGE = """\
## Tests that fail together

CI sends no changes, so no commit is suspected. Three tests of 50 fail in the same runs of one
box; each result fails at 2 % by itself, and a commit runs on five boxes at most. How often all
three are one incident, and how often other failures are taken for one.
"""


def _outages() -> str:
    rows = []
    for runs, boxes, rate in (
        (20, 5, 0.2),
        *((200, 5, rate) for rate in RATES),
        (200, 2, 0.1),
        (200, 40, 0.1),
        *((2000, 5, rate) for rate in RATES),
        (2000, 40, 0.2),
    ):
        cause = Cause(Kind.OUTAGE, frozenset({3, 7, 9}), frozenset({BOX}), rate=rate)
        plan = replace(FLEET, runs=runs, boxes=boxes)
        found = [again(plan, [cause], seed) for seed in range(CASES[runs])]
        right = [[_is_whole(one) for one in each] for each in found]
        wrong = [not all(one.boxes == [BOX] for one in each) for each in found]
        figures = share([*map(any, right)]), share(wrong)
        rows.append([f"{runs:,}", f"{boxes}", f"{rate:.0%}", *figures])
    head = ["runs", "boxes", "of the runs they fail in", "one incident", "others"]
    return table(head, rows)


def _is_whole(one: Incident) -> bool:
    return {*STRUCK} <= {*one.tests} and one.boxes == [BOX]


_CLEAN = """\
## Tests that do not

In how many periods failures are taken for one that have nothing in common. At most 5 % may be.
"""


def _clean() -> str:
    kinds: list[tuple[str, Plan, Callable[[int], list[Cause]]]] = [
        ("nothing else", FLEET, lambda _: []),
        ("10 % of results fail", replace(FLEET, base_rate=0.1), lambda _: []),
        (
            "five races of 30 % that begin and end anywhere",
            FLEET,
            lambda seed: [planted(FLEET, Kind.RACE, 0.3, 10 * seed + n) for n in range(5)],
        ),
        (
            "six races of 40 % in the same thirty commits",
            FLEET,
            lambda _: [
                Cause(Kind.RACE, frozenset({n}), rate=0.4, since=40, until=70) for n in range(6)
            ],
        ),
        ("40 boxes", replace(FLEET, boxes=40), lambda _: []),
        ("2,000 runs", replace(FLEET, runs=2000), lambda _: []),
    ]
    rows = []
    for words, plan, causes in kinds:
        found = [again(plan, causes(seed), seed) for seed in range(2 * CASES[plan.runs])]
        rows.append([words, share([*map(bool, found)])])
    return table(["fleet", "taken for one"], rows)
