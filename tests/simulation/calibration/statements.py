# SPDX-License-Identifier: Apache-2.0
"""How often a sentence about a test is wrong, on fleets where its cause is planted: a bench, a
group of boxes, the firmware, a hang; with reruns on a spare, a gate, boxes that leave, boards that
are swapped.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple
from zoneinfo import ZoneInfo

from hwci.analysis.benches.blame import Blamed, OnCommit, blame
from hwci.analysis.failures.incidents import failing_incidents
from hwci.analysis.flaky.suspects import SeenProduct, pending_by_test
from hwci.analysis.one_test import one_test
from hwci.analysis.one_test_words import About, Concluded, concluded
from hwci.contract.statements import Statement
from hwci.contract.vocabulary import Claim, Outcome
from hwci.engine.calendar import calendar_days
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from tests.simulation.calibration.page import Line, Part, recorded, share, table
from tests.simulation.fleet import Cause, Kind, Plan, Runs, Simulated, commits_of, simulate
from tests.support.strata import columns

TEST = "test_000"
FIRST = frozenset({0})
A, THREE = "bench-2", ("bench-2", "bench-3", "bench-5")
FLEET = Plan(runs=200, attempts=1, base_rate=0.01)
RATE = 0.2
BENCH = Cause(Kind.BOX_TEST, FIRST, frozenset({A}), rate=RATE)
TYPE = Cause(Kind.BOX_TEST, FIRST, frozenset(THREE), rate=RATE)
RACE = Cause(Kind.RACE, FIRST, rate=RATE)
BUG = Cause(Kind.BUG, FIRST, rate=1.0)

CULPRIT = {Claim.ONE_BOX, Claim.GROUP, Claim.MENDED}
WELL = {Claim.STEADY, Claim.FIXED}


class Planted(NamedTuple):
    """Fleets with a cause of one test. `right`: the claims that say it. `floor`: of the words that
    name its boxes, at least so many; `wrong_max`: so many wrong sentences at most.
    """

    words: str
    plan: Plan
    cause: Cause
    right: Collection[Claim]
    fleets: int = 40
    floor: int | None = None
    wrong_max: int | None = None


def _until(plan: Plan, cause: Cause) -> Cause:
    """Return the cause as it ends at half of the commits."""
    return replace(cause, until=commits_of(plan) // 2)


_POOL = replace(FLEET, boxes_at_once=3, boxes_at_once_min=1)
_ALIKE = (Claim.ALIKE,)
FLEETS: Sequence[Planted] = (
    *(
        Planted(
            f"one box, {runs} runs",
            replace(FLEET, runs=runs),
            BENCH,
            (Claim.ONE_BOX,),
            fleets=24,
            floor=20,
            wrong_max=1,
        )
        for runs in (200, 400, 800)
    ),
    Planted(
        "three of six boxes",
        replace(FLEET, boxes=6, boxes_at_once=6, runs=400),
        TYPE,
        (Claim.GROUP,),
        floor=32,
    ),
    Planted("all alike", FLEET, RACE, _ALIKE, wrong_max=2),
    *(
        Planted(words, replace(FLEET, boxes=boxes, order=order), RACE, _ALIKE, wrong_max=2)
        for words, boxes, order in (
            ("all alike, one box and a spare", 2, Runs.SPARE),
            ("all alike, two boxes and a spare", 3, Runs.SPARE),
            ("all alike, four boxes and a spare", 5, Runs.SPARE),
            ("all alike, a gate of three", 3, Runs.GATE),
            ("all alike, a gate of two", 2, Runs.GATE),
        )
    ),
    Planted(
        "one box, which leaves",
        replace(FLEET, leaves=(A, commits_of(FLEET) // 2)),
        BENCH,
        (Claim.NOT_SEEN,),
        wrong_max=2,
    ),
    Planted(
        "one box, whose board is swapped without a note",
        replace(FLEET, runs=400),
        _until(replace(FLEET, runs=400), BENCH),
        (Claim.ONE_BOX, Claim.FIXED),
        wrong_max=2,
    ),
    Planted("one box, 2 % of runs lose the board", replace(FLEET, lost=0.02), BENCH, [*CULPRIT]),
    Planted("all alike, 2 % of runs lose the board", replace(FLEET, lost=0.02), RACE, _ALIKE),
    Planted(
        "the board hangs in one of 15 runs",
        replace(FLEET, runs=60, base_rate=0.0),
        Cause(Kind.HANG, FIRST, rate=1 / 15),
        (Claim.LOST_BOARD,),
        wrong_max=0,
    ),
    Planted("one box, a push on 1 to 3 of five", _POOL, BENCH, (Claim.ONE_BOX,)),
    Planted("all alike, a push on 1 to 3 of five", _POOL, RACE, _ALIKE),
    Planted(
        "a bug, a push on 1 to 3 of five",
        _POOL,
        replace(BUG, since=commits_of(_POOL) // 2),
        (Claim.FAILS_NOW, Claim.BROKEN),
        wrong_max=2,
    ),
)


def said_of(fleet: Simulated, test_id: str = TEST) -> Concluded:
    """Return what the page of a test says."""
    history, runs = recorded(fleet)
    starts = [run.started_at for run in runs.runs]
    period = Period(min(starts), max(starts))
    days = calendar_days(period, ZoneInfo("UTC"))
    seen = SeenProduct(history, runs)
    test = one_test(history, seen, (runs.product, test_id), days, "UTC")
    assert test.all is not None
    key = runs.product, test_id
    pending = pending_by_test(history, [key], period).get(key, [])
    failing = failing_incidents(history, Scope(), period, test_id) if pending else []
    return concluded(About(seen, test_id, pending, failing), test, test.all)


def is_wrong(statement: Statement, cause: Cause) -> bool:
    """Whether it names a culprit that is not planted, calls all boxes alike where some are planted,
    or says that all is well while the cause acts.
    """
    if statement.claim in CULPRIT:
        a_part = statement.claim is not Claim.GROUP and len(cause.boxes) > 1
        return a_part or not cause.boxes.issuperset(statement.boxes)
    if statement.claim is Claim.ALIKE:
        return bool(cause.boxes)
    return statement.claim in WELL and cause.until is None


def is_right(statement: Statement, planted: Planted) -> bool:
    """Whether it is what is planted, all of the boxes and no other."""
    boxes = planted.cause.boxes
    names_them = statement.claim not in CULPRIT or boxes == {*statement.boxes}
    return statement.claim in planted.right and names_them


def hung(fleet: Simulated) -> bool:
    """Whether a run of it lost its board at the test."""
    return any(
        all(item.outcome is Outcome.FAIL for item in report.tests) for report in fleet.facts.reports
    )


def accused_by_all_runs(fleet: Simulated) -> bool:
    """Whether some boxes would be to blame if no run was left out, and none compared apart."""
    commits: dict[str, dict[str, OnCommit]] = defaultdict(dict)
    for report in fleet.facts.reports:
        boxes = commits[report.sha]
        failed, runs = boxes.get(report.box_key, OnCommit(0, 0))
        bad = any(one.id == TEST and one.outcome is Outcome.FAIL for one in report.tests)
        boxes[report.box_key] = OnCommit(failed + bad, runs + 1)
    found = blame(*columns([*commits.values()]))
    return found is not None and found.blamed in {Blamed.ONE, Blamed.GROUP}


SAID = "What is said of a test"
_HEAD = f"""\
## {SAID}

One test of 20 fails for a planted cause, at 20 % where nothing else is said, all else at 1 %; of
200 runs on five boxes that all run each push, but for what the first column says (400 runs for
three of six boxes and a swapped board; 60 for the hang, where nothing else fails, of the fleets
that hung). Right: the sentence on its page says what is planted, all of its boxes and no other.
Wrong: it names a box that is not planted, one box of a group, calls boxes alike that are not, or
says "steady" or "fixed" while the cause acts. The rest is undecided, or says only where it fails
now.
"""
_BIAS = """\
### Runs that exist because of others

The same fleets in which all boxes are alike: how often a box is accused as it is said, and how
often if no run was left out and none compared apart (ADR 0010).
"""


def part() -> Part:
    """Return the section about sentences."""
    rows, bias, lines = [], [], list[Line]()
    for planted in FLEETS:
        drawn = (simulate(planted.plan, [planted.cause], seed) for seed in range(planted.fleets))
        fleets = [fleet for fleet in drawn if planted.cause.kind is not Kind.HANG or hung(fleet)]
        statements = [said_of(fleet).statement for fleet in fleets]
        right = [is_right(one, planted) for one in statements]
        wrong = [is_wrong(one, planted.cause) for one in statements]
        neither = [not (yes or no) for yes, no in zip(right, wrong, strict=True)]
        rows.append([planted.words, *map(share, (right, wrong, neither))])
        lines += _lines(planted, right, wrong)
        if planted.cause is RACE:
            accused = [one.claim in CULPRIT for one in statements]
            by_all = [*map(accused_by_all_runs, fleets)]
            bias.append([planted.words, share(accused), share(by_all)])
    head = ["planted", "right", "wrong", "neither"]
    text = [_HEAD, table(head, rows), _BIAS, table(["fleet", "accused", "by all runs"], bias)]
    return Part("\n".join(text), lines)


def _lines(planted: Planted, right: Sequence[bool], wrong: Sequence[bool]) -> list[Line]:
    asked: list[tuple[str, Sequence[bool], int | None, Callable[[int, int], bool]]] = [
        (f"right in at least {planted.floor}", right, planted.floor, int.__ge__),
        (f"wrong in at most {planted.wrong_max}", wrong, planted.wrong_max, int.__le__),
    ]
    return [
        Line(
            f"Planted, {planted.words}: the sentence is {words} of {len(cases)}",
            f"{sum(cases)} of {len(cases)}",
            meets(sum(cases), limit),
            SAID,
        )
        for words, cases, limit, meets in asked
        if limit is not None
    ]
