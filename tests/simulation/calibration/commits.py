# SPDX-License-Identifier: Apache-2.0
"""How well it is said what caused the failures of a pull request, on fleets whose main branch has
a race, a bug and a box that lacks something, and whose boards are lost now and then.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from random import Random
from statistics import mean
from typing import NamedTuple

from hwci.analysis.commits.one_commit import one_commit
from hwci.contract.runs.one_commit import FailureOfCommit
from hwci.contract.vocabulary import Outcome, Whose
from hwci.engine.facts import Report
from hwci.engine.history import Scope
from tests.simulation.calibration.page import EVER, Line, Part, recorded, reliability, share, table
from tests.simulation.fleet import (
    PRODUCT,
    PULL_REQUEST,
    Cause,
    Kind,
    Plan,
    Simulated,
    commits_of,
    simulate,
)

FLEETS, PLANTED = 1_000, 500
FIRST_SEED = 2000
"""The rules were settled on earlier ones."""
RIGHT_MIN = 0.9
TITLE = "What caused a failure of a pull request"
ALL = 10_000
PLAN = Plan(base_rate=0.001, lost=0.01, pull_request=1)
PLANS = {
    "5 boxes": PLAN,
    "3 of 5 boxes a push": replace(PLAN, boxes_at_once=3),
    "5 boxes, run twice": replace(PLAN, pull_request=2),
    "5 boxes, no retries": replace(PLAN, attempts=1),
    "5 boxes, no verdicts": replace(PLAN, verdicts=0.0),
    "5 boxes, no lists of commits": replace(PLAN, changes=0.0),
    "one box": replace(PLAN, boxes=1),
    "one box, run twice": replace(PLAN, boxes=1, pull_request=2),
}
WHOSE = {
    Kind.BUG: Whose.BASE,
    Kind.RACE: Whose.FLAKY,
    Kind.HARNESS: Whose.FLAKY,
    Kind.BAD_BOX: Whose.BENCH,
    Kind.BOX_TEST: Whose.BENCH,
    Kind.OUTAGE: Whose.BENCH,
    Kind.HANG: Whose.FLAKY,
}
"""Whose the failures of a cause are that is on main."""
TAIL, LAST = 3, 4
_OF_FIVE = 0.2
BOARD_TYPE = frozenset({"bench-1", "bench-3"})
AGAIN = (None, "flaky", "mended", "hangs", "hangs now and then")
"""What a planted bug breaks: a steady test, the flaky one, or that of the bug that was fixed; or it
hangs the board, always or in half of the runs.
"""
_HANGS = {"hangs": 1.0, "hangs now and then": 0.5}


class Row(NamedTuple):
    """A failure: what was said of it, whose it may be by the plan, and whether it `is_told`: a run
    failed it that did not lose its board.
    """

    said: FailureOfCommit
    truth: frozenset[Whose]
    is_told: bool

    @property
    def is_right(self) -> bool:
        """Whether the plan says so, too."""
        return self.said.whose in self.truth


def part() -> Part:
    """Return the section about these failures."""
    drawn = {words: [*_drawn(plan)] for words, plan in PLANS.items()}
    rows = [[words, *_figures(found)] for words, found in drawn.items()]
    everything = [row for found in drawn.values() for row in found]
    rows.append(["all", *_figures(everything)])
    told = [row for row in everything if row.is_told]
    rows.append(["of these, where a run failed that kept its board", *_figures(told)])
    by_truth = [
        [truth.value, *_figures([row for row in everything if row.truth == {truth}])]
        for truth in Whose
        if truth is not Whose.TOO_FEW
    ]
    planted = [row for seed in range(PLANTED) for row in planted_bug(FIRST_SEED + seed)]
    said = Counter(row.said.whose for row in planted)
    excused = [row for row in planted if row.said.whose not in _NOT_EXCUSED]
    head = ["failures", "said as planned", "not enough data", "otherwise"]
    chances = [(row.said.chance, row.is_right) for row in everything if row.said.chance is not None]
    text = [
        _HEAD,
        table(["fleets", *head], rows),
        table(["by the plan", *head], by_truth),
        _CHANCES,
        reliability(chances),
        _PLANTED,
        table(
            ["said", "failures"],
            [[whose.value, f"{said[whose]:,}"] for whose in Whose],
        ),
    ]
    lines = [
        *(
            Line(
                f"Of the failures of {FLEETS:,} pull requests{which} {RIGHT_MIN:.0%} have the cause"
                " that was planted",
                share([row.is_right for row in counted]),
                mean(row.is_right for row in counted) >= RIGHT_MIN,
                TITLE,
            )
            for which, counted in (("", everything), (" in runs that kept their board", told))
        ),
        Line(
            f"Of the failures of {PLANTED} bugs of changes none is called the bench's, the base"
            " branch's or flaky",
            f"{len(excused)} of {len(planted)}",
            not excused,
            TITLE,
        ),
    ]
    return Part("\n".join(text), lines)


_NOT_EXCUSED = {Whose.THIS_CHANGE, Whose.TOO_FEW}
_HEAD = f"""\
## {TITLE}

Main has a race of 5 to 30 % in one test, in another a bug since its last commits, in a third one
that was fixed, and a box on which a fourth fails at 40 to 100 %; 1 % of runs lose their board. A
pull request is forked from its last commit; half of them break a test, of those one of five on two
boxes alone. It is asked what caused each of its failures. The rules were settled on other seeds.
What failed in a run that lost its board may be of a change that hangs it, so it is called the
bench's only after enough runs that kept theirs; until then it is "not enough data".
"""
_CHANCES = """\
How sure it was said to be, and how often the plan says so:
"""
_PLANTED = f"""\
{PLANTED} pull requests that break a test: a steady one, the flaky one, or that of the bug that was
fixed; on all boxes or on two alone; the last tests of a run; with harnesses that blame the bench
wrongly in 5 %. Two of five hang the board instead, always or in half of the runs, of which the
harness blames the bench for all that failed.
"""


def _drawn(plan: Plan) -> Iterator[Row]:
    for number in range(FLEETS // len(PLANS)):
        yield from rows_of(fleet_of(plan, FIRST_SEED + number, breaks=number % 2 == 0))


def planted_bug(seed: int) -> Iterator[Row]:
    """Yield the failures that a planted bug of a change brings."""
    plans = [*PLANS.values(), replace(PLAN, wrong_verdicts=0.05)]
    round_, at = divmod(seed, len(plans))
    again = AGAIN[round_ % len(AGAIN)]
    for row in rows_of(fleet_of(plans[at], seed, breaks=True, again=again)):
        if row.truth == {Whose.THIS_CHANGE}:
            yield row


def fleet_of(plan: Plan, seed: int, *, breaks: bool, again: str | None = None) -> Simulated:
    """Return a fleet with a race, a bug, one that was fixed and a bad box on main, and a pull
    request. `again`: what of `AGAIN` it does.
    """
    random, last = Random(f"commit {seed}"), commits_of(plan)
    flaky, bug, mended, lacking, *others = random.sample(range(plan.tests), plan.tests)
    since = last - random.randint(4, 16)
    causes = [
        Cause(Kind.RACE, frozenset({flaky}), rate=random.choice((0.05, 0.1, 0.2, 0.3))),
        Cause(Kind.BUG, frozenset({bug}), rate=1.0, since=since),
        Cause(Kind.BUG, frozenset({mended}), rate=1.0, since=last // 2, until=last // 2 + 12),
    ]
    if plan.boxes > 1:
        box = frozenset({random.choice(plan.box_keys)})
        rate = random.choice((0.4, 0.7, 1.0))
        causes.append(Cause(Kind.BOX_TEST, frozenset({lacking}), box, rate=rate))
    if breaks:
        steady = {*others[: random.choice((1, 1, 3))]}
        if random.random() < _OF_FIVE:
            steady = {*range(plan.tests - LAST, plan.tests)} & {*others}
        tests = {"flaky": {flaky}, "mended": {mended}}.get(again or "", steady)
        some = plan.boxes > 1 and random.random() < _OF_FIVE
        boxes = BOARD_TYPE if some else frozenset[str]()
        if again in _HANGS:
            at = random.choice(
                [test for test in (flaky, mended, *others) if test < plan.tests - LAST]
            )
            hung = frozenset({at})
            causes.append(Cause(Kind.HANG, hung, boxes, rate=_HANGS[again], since=last))
        else:
            causes.append(Cause(Kind.BUG, frozenset(tests), boxes, rate=1.0, since=last))
    return simulate(plan, causes, seed)


def rows_of(fleet: Simulated) -> Iterator[Row]:
    """Yield the failures of the pull request of a fleet."""
    history, _ = recorded(fleet)
    answer = one_commit(history, Scope(PRODUCT.repo_key), EVER, PULL_REQUEST, ALL)
    for failure in answer.failures:
        failing = [run for run in fleet.facts.reports if _failed(run, failure.test_id)]
        is_told = not all(_is_lost(run, failure.test_id) for run in failing)
        yield Row(failure, _truth(fleet, failure), is_told)


def _truth(fleet: Simulated, failure: FailureOfCommit) -> frozenset[Whose]:
    """Return whose a failure may be: of the change, if that acts on a box on which it failed."""
    number, test = len(fleet.commits), int(failure.test_id.removeprefix("test_"))
    acting = {
        Whose.THIS_CHANGE if cause.since == number else WHOSE[cause.kind]
        for cause in fleet.causes
        for box in failure.failed_on
        if cause.acts(test, box, number)
    }
    runs = [run for run in fleet.facts.reports if run.sha == PULL_REQUEST]
    if Whose.THIS_CHANGE in acting and not all(_is_lost(run, failure.test_id) for run in runs):
        return frozenset({Whose.THIS_CHANGE})
    if any(_is_hung(cause, number, test, failure.failed_on) for cause in fleet.causes):
        acting.add(Whose.THIS_CHANGE)  # the bench lost no board beside
    elif any(_is_lost(run, failure.test_id) for run in runs):
        acting.add(Whose.BENCH)
    return frozenset(acting or {Whose.FLAKY})


def _is_hung(cause: Cause, number: int, test: int, failed_on: Sequence[str]) -> bool:
    """Whether a test is behind the one at which a change hangs the board on such a box."""
    return (
        cause.kind is Kind.HANG
        and cause.since == number
        and test >= min(cause.tests)
        and any(not cause.boxes or box in cause.boxes for box in failed_on)
    )


def _failed(run: Report, test_id: str) -> bool:
    """Whether a run of the pull request failed a test."""
    failed = {item.id for item in run.tests if item.outcome is Outcome.FAIL}
    return run.sha == PULL_REQUEST and test_id in failed


def _is_lost(run: Report, test_id: str) -> bool:
    """Whether a run ends with tests that all failed, this one among them."""
    tail = [*takewhile(lambda item: item.outcome is Outcome.FAIL, reversed(run.tests))]
    return len(tail) >= TAIL and test_id in {item.id for item in tail}


def _figures(rows: Sequence[Row]) -> list[str]:
    few = [row.said.whose is Whose.TOO_FEW for row in rows]
    right = [row.is_right for row in rows]
    wrong = [not (one or other) for one, other in zip(few, right, strict=True)]
    return [f"{len(rows)}", *(share(values) for values in (right, few, wrong))]
