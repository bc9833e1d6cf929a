# SPDX-License-Identifier: Apache-2.0
"""How good it is to say that tests fail together, on fleets where they do, and where not; and that
failures on a pool of boxes are one.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import mean
from typing import NamedTuple

from hwci.analysis.failures.incidents import Incident, failures_by_incident, incidents
from hwci.analysis.failures.one_cause import CauseKey, Ends, cause_of
from hwci.contract.runs.commits import Commit
from hwci.contract.vocabulary import Label, Verdict
from hwci.engine.facts import FailureKey
from hwci.engine.history import Scope
from hwci.engine.rules.changes import broken_by
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import groups_of
from tests.simulation.calibration.page import EVER, Line, Part, recorded, share, table
from tests.simulation.fleet import Cause, Kind, Plan, Simulated, planted, simulate

CASES = {20: 40, 200: 40, 2000: 4}
"""So many fleets of so many runs."""
FLEET = Plan(boxes=5, tests=50, runs=200, attempts=1, base_rate=0.02, changes=0.0)
RATES = (0.05, 0.1, 0.2)
STRUCK = ("test_003", "test_007", "test_009")
BOX = "bench-2"


def part() -> Part:
    """Return the section about incidents."""
    pools, lines = _pools()
    return Part("\n".join([_OUTAGE, _outages(), _CLEAN, _clean(), _POOL, pools]), lines)


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


POOL = Plan(boxes=5, boxes_at_once=3, boxes_at_once_min=1, tests=10, attempts=1, base_rate=0.0)
POOLS = 100
INCIDENTS_MAX, GUILTY_MIN = 1.2, 0.95
BOARD_TYPE = frozenset({"bench-1", "bench-3", "bench-4"})
_POOL = """\
## One bug on a pool of boxes

Each push runs on one to three of five boxes. One commit makes one test fail, until another one
fixes it in half of the fleets. How many incidents have a failure of the test within that time, and
in how many of them the commit is among the suspects; beside it the same where each box is looked at
alone, as "Broken by" does.
"""


class Told(NamedTuple):
    """Failures that were called one, by their keys, and the suspects that were named."""

    failures: Sequence[FailureKey]
    suspects: Sequence[Commit] | None


class Pooled(NamedTuple):
    """How many were told of a planted cause, and of each whether its commit was named."""

    incidents: int
    guilty: Sequence[bool]


def pooled(fleet: Simulated) -> Pooled:
    """Return what incidents make of the cause of a fleet."""
    history, _ = recorded(fleet)
    found = incidents(history, Scope(), EVER)
    return _of_cause(
        fleet,
        (
            Told([it.key for it in of.all], one.suspects)
            for one, of in zip(found, failures_by_incident(history, found), strict=True)
        ),
    )


def box_by_box(fleet: Simulated) -> Pooled:
    """Return what is made of it where each box is looked at alone."""
    history, _ = recorded(fleet)
    groups = groups_of(history, history.failures(Scope(), EVER))
    groups = [one for one in groups if one.label is not Label.FLAKE]
    classifier = Classifier(history)
    suspected = broken_by(history, [(one.first.key, classifier.under_test(one)) for one in groups])
    together: dict[CauseKey, list[FailureKey]] = defaultdict(list)
    suspects = {}
    for one, of in zip(groups, suspected, strict=True):
        ends = Ends(one.label, one.fix, one.first.first.verdict is Verdict.INFRA)
        cause = cause_of(one.first.key, ends, of)
        suspects[cause] = of
        together[cause] += (it.key for it in one.failures)
    return _of_cause(fleet, (Told(keys, suspects[cause]) for cause, keys in together.items()))


def _of_cause(fleet: Simulated, told: Iterable[Told]) -> Pooled:
    [cause] = fleet.causes
    [test] = cause.tests
    numbers = {one.sha: number for number, one in enumerate(fleet.commits)}
    guilty = [
        any(one.sha == fleet.commits[cause.since].sha for one in each.suspects or ())
        for each in told
        if any(
            lane.test_id == f"test_{test:03d}" and cause.acts(test, lane.box_key, numbers[sha])
            for lane, sha in each.failures
        )
    ]
    return Pooled(len(guilty), guilty)


def _pools() -> tuple[str, list[Line]]:
    rows = []
    found = {}
    for words, kind, rate, boxes, base_rate in (
        ("a bug", Kind.BUG, 1.0, frozenset[str](), 0.0),
        ("a bug, and 1 % of all results fail", Kind.BUG, 1.0, frozenset[str](), 0.01),
        ("a bug on three of the boxes", Kind.BUG, 1.0, BOARD_TYPE, 0.0),
        ("a race of 20 %", Kind.RACE, 0.2, frozenset[str](), 0.0),
    ):
        plan = replace(POOL, base_rate=base_rate)
        fleets = [
            simulate(plan, [replace(planted(plan, kind, rate, seed), boxes=boxes)], seed)
            for seed in range(POOLS)
        ]
        ours, alone = _failing(map(pooled, fleets)), _failing(map(box_by_box, fleets))
        found[words] = ours
        rows.append([words, f"{len(ours)}", *_figures(ours), *_figures(alone)])
    head = ["cause", "fleets that failed", "incidents", "suspected", "box by box", "suspected"]
    bug = found["a bug"]
    number, named = mean(one.incidents for one in bug), mean(_guilty(bug))
    line = Line(
        f"One bug on a pool is {INCIDENTS_MAX} incidents at most, and its commit is suspected in"
        f" {GUILTY_MIN:.0%}",
        f"{number:.2f}, {named:.0%}",
        number <= INCIDENTS_MAX and named >= GUILTY_MIN,
        "One bug on a pool of boxes",
    )
    return table(head, rows), [line]


def _failing(found: Iterable[Pooled]) -> list[Pooled]:
    return [one for one in found if one.incidents]


def _guilty(found: Iterable[Pooled]) -> list[bool]:
    return [one for each in found for one in each.guilty]


def _figures(found: Sequence[Pooled]) -> Iterator[str]:
    yield f"{mean(one.incidents for one in found):.2f}"
    yield share(_guilty(found))
