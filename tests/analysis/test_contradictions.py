# SPDX-License-Identifier: Apache-2.0
"""No two statements of all pages about a test contradict each other, on fleets that are drawn with
several causes: the page of the test, its row among flaky tests, the boxes, each box, and where to
look first at what fails now.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from hwci.analysis.benches.one_box import one_box
from hwci.analysis.benches.report import KnownOfBoxes, benches
from hwci.analysis.failures.incidents import Described, failing_incidents
from hwci.analysis.flaky.suspects import SeenProduct, flaky_tests, pending_by_test
from hwci.analysis.one_test import one_test
from hwci.analysis.one_test_words import About, concluded
from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns
from hwci.analysis.statement_words import answer
from hwci.analysis.statements import known_of_row
from hwci.contract.boxes.benches import Note, TestOnBox
from hwci.contract.statements import Statement
from hwci.contract.vocabulary import Claim
from hwci.engine.calendar import calendar_days
from hwci.engine.history import Scope
from hwci.engine.page.tables import FlakySelection
from hwci.engine.periods import Period
from tests.simulation.calibration.page import recorded
from tests.simulation.fleet import Cause, Kind, Plan, Runs, Simulated, commits_of, simulate
from tests.support.outcomes import days_in_utc
from tests.support.soak import rounds

ALL = Scope()
MOST = 100
TESTS = 6
FIRMWARE = "firmware first"
"""The failures are put down to the firmware, or the test, and to no bench."""
BENCH = "bench first"
"""A bench is to be looked at."""


class Says(NamedTuple):
    """What a page says of a test, of which boxes, and in which words."""

    page: str
    what: str
    boxes: frozenset[str]
    words: str


def _on_some(says: Says) -> bool:
    return says.what in {Claim.ONE_BOX, Claim.MENDED, Claim.GROUP}


def _of(*what: str) -> Callable[[Says], bool]:
    return lambda says: says.what in what


def _any(_: Says) -> bool:
    return True


def _always(_: Says, __: Says) -> bool:
    return True


def _other_boxes(one: Says, other: Says) -> bool:
    return one.boxes != other.boxes


def _outside(one: Says, other: Says) -> bool:
    return not one.boxes & other.boxes


def _about_the_same(one: Says, _: Says) -> bool:
    """Whether a claim is about what fails now, too: its sentence says nothing else, or it is the
    claim of the test. Commits on which all boxes fail tell nothing of boxes.
    """
    return one.page in {"test", "flaky tests", "page"} or (
        one.page == "test, below" and "ver the period it fails" not in one.words
    )


CONTRADICTIONS: Sequence[
    tuple[Callable[[Says], bool], Callable[[Says], bool], Callable[[Says, Says], bool]]
] = (
    (_of(Claim.ALIKE), _on_some, _always),
    (_of(Claim.ALIKE), _of(BENCH), _about_the_same),
    (_on_some, _on_some, _other_boxes),
    (_on_some, _of(BENCH), _outside),
    (_on_some, _of(FIRMWARE), _about_the_same),
    (_of(Claim.STEADY), _any, lambda one, other: one.what != other.what),
    (_of(Claim.FIXED), _of(Claim.FAILS_NOW, Claim.NOT_SEEN, Claim.LOST_BOARD, BENCH), _always),
    (_of(Claim.NOT_SEEN), _of(Claim.FAILS_NOW, BENCH), _always),
)
"""What one page says and another, or the same, must not say at once; and of which boxes."""


def contradict(one: Says, other: Says) -> bool:
    """Whether both cannot be true."""
    return any(
        (first(one) and second(other) and differ(one, other))
        or (first(other) and second(one) and differ(other, one))
        for first, second, differ in CONTRADICTIONS
    )


def _of_statement(page: str, statement: Statement, words: str) -> Iterator[Says]:
    yield Says(page, statement.claim, frozenset(statement.boxes), words)
    yield from _of_words(page, words)


def _of_words(page: str, words: str) -> Iterator[Says]:
    """Yield what a sentence says of where to look, and that it fails now."""
    boxes = _named(words)
    if re.search("No bench stands out|began to fail with it, on .+ too: look", words):
        yield Says(page, FIRMWARE, boxes, words)
    if look := re.search(r"[Ll]ook at (bench-\d+(?: and bench-\d+)?) first", words):
        yield Says(page, BENCH, _named(look[1]), words)
    if words.lower().startswith("fails now"):
        yield Says(page, Claim.FAILS_NOW, boxes, words)
    if alike := re.search(r"fails on (.+?) alike \(", words):
        yield Says(page, Claim.ALIKE, _named(alike[1]), words)
    if only := re.search(r"fails on (bench-\d+) only \(", words):
        yield Says(page, Claim.ONE_BOX, _named(only[1]), words)
    if more := re.search(r"fails more on (.+?)(?:, perhaps on .+)? than elsewhere \(", words):
        some = _named(more[1])
        yield Says(page, Claim.ONE_BOX if len(some) == 1 else Claim.GROUP, some, words)


def _named(words: str) -> frozenset[str]:
    return frozenset(re.findall(r"bench-\d+", words))


def _of_test(page: str, test: TestOnBox) -> Says:
    boxes = frozenset(test.boxes)
    what = Claim.ONE_BOX if len(boxes) == 1 else Claim.GROUP
    assert test.box_key in boxes
    return Says(page, what, boxes, f"{test.box_key}: {test.comparison}")


def all_that_is_said(fleet: Simulated, notes: Mapping[str, Note]) -> Mapping[str, Sequence[Says]]:
    """Return what all pages say of each test."""
    history, runs = recorded(fleet)
    starts = [run.started_at for run in runs.runs]
    period = Period(min(starts), max(starts))
    said: dict[str, list[Says]] = defaultdict(list)
    for row in flaky_tests(
        history, ALL, period, FlakySelection(offset=0, limit=MOST), notes=notes
    ).items:
        incidents = _incidents(history, period, row.test.test_id, bool(row.pending))
        found = answer(known_of_row(row, incidents))
        page = "flaky tests"
        said[row.test.test_id] += _of_statement(page, found.statement, found.sentence)
        said[row.test.test_id] += _of_statement(page, found.statement, found.few_words)
    known = KnownOfBoxes(notes, {})
    for test in benches(history, ALL, period, MOST, known).tests:
        said[test.test_id].append(_of_test("boxes", test))
    line = days_in_utc(period)
    for box in fleet.plan.box_keys:
        for test in one_box(history, ALL, line, box, MOST, known).tests:
            said[test.test_id].append(_of_test(box, test))
    for test_id in runs.tests.values():
        said[test_id] += _of_page(history, runs, test_id, period, notes)
    return said


def _incidents(
    history: RecordedRuns, period: Period, test_id: str, fails: bool
) -> Sequence[Described]:
    return failing_incidents(history, ALL, period, test_id) if fails else []


def _of_page(
    history: RecordedRuns,
    runs: ProductOutcomes,
    test_id: str,
    period: Period,
    notes: Mapping[str, Note],
) -> Iterator[Says]:
    """Yield what the page of a test says, and the rows of what fails now."""
    seen = SeenProduct(history, runs, notes)
    test = one_test(
        history, seen, (runs.product, test_id), calendar_days(period, ZoneInfo("UTC")), "UTC"
    )
    if test.all is None:
        return
    key = runs.product, test_id
    pending = pending_by_test(history, [key], period).get(key, ())
    incidents = _incidents(history, period, test_id, bool(pending))
    about = About(seen, test_id, pending, incidents)
    found = concluded(about, test, test.all)
    yield from _of_statement("test", found.statement, found.answer)
    yield from _of_words("test, below", found.says)
    for described in incidents:
        yield from _of_words("fails now", described.look_first or "")


def drawn(seed: int) -> tuple[Simulated, Mapping[str, Note]]:
    """Return a fleet with up to three causes, each in one or two tests of some or all boxes, whose
    runs come together, or one after the other; a box of it may leave, and one may have a note.
    """
    random = Random(f"fleet {seed}")
    boxes = random.randint(1, 6)
    at_once = random.randint(1, boxes)
    plan = Plan(
        boxes=boxes,
        boxes_at_once=at_once,
        tests=TESTS,
        runs=random.choice((10, 60, 200, 300)),
        attempts=random.randint(1, 2),
        base_rate=random.choice((0.0, 0.01, 0.03)),
        lost=random.choice((0.0, 0.0, 0.02, 0.1)),
        unreached=random.choice((0.0, 0.05)),
        order=random.choice([*Runs]) if at_once > 1 else Runs.TOGETHER,
    )
    if random.random() < 0.3 and boxes > 1:
        plan = replace(plan, leaves=("bench-1", random.randrange(1, commits_of(plan))))
    if random.random() < 0.5 and plan.order is Runs.TOGETHER:
        plan = replace(plan, boxes_at_once_min=1)
    causes = [_drawn_cause(random, plan) for _ in range(random.randint(0, 3))]
    fleet = simulate(plan, causes, seed)
    notes = {}
    if random.random() < 0.3:
        starts = [report.started_at for report in fleet.facts.reports]
        notes["bench-1"] = Note(at=random.choice(starts), text="new cable")
    return fleet, notes


def _drawn_cause(random: Random, plan: Plan) -> Cause:
    kind = random.choice((Kind.BUG, Kind.RACE, Kind.BOX_TEST, Kind.OUTAGE, Kind.HANG, Kind.HARNESS))
    boxes = frozenset(random.sample(plan.box_keys, random.randint(1, plan.boxes)))
    rate = {Kind.BUG: 1.0, Kind.HANG: 0.1}.get(kind, random.choice((0.05, 0.2, 0.5, 1.0)))
    since = random.choice((0, random.randrange(commits_of(plan))))
    return Cause(
        kind,
        frozenset(random.sample(range(TESTS), random.randint(1, 2))),
        boxes if random.random() < 0.5 else frozenset(),
        rate=rate,
        since=since,
        until=random.choice((None, random.randint(since + 1, commits_of(plan)))),
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((Claim.ALIKE, "12"), (Claim.ONE_BOX, "1")),
        ((Claim.ALIKE, "12"), (BENCH, "1")),
        ((Claim.ONE_BOX, "1"), (Claim.ONE_BOX, "2")),
        ((Claim.GROUP, "12"), (Claim.ONE_BOX, "1")),
        ((Claim.GROUP, "12"), (BENCH, "3")),
        ((Claim.ONE_BOX, "1"), (FIRMWARE, "")),
        ((Claim.STEADY, "12"), (Claim.FLAKY, "12")),
        ((Claim.FIXED, "12"), (Claim.FAILS_NOW, "1")),
        ((Claim.NOT_SEEN, "1"), (Claim.FAILS_NOW, "1")),
    ],
)
def test_claims_that_cannot_both_be_contradict_each_other(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    first, second = (Says("page", what, frozenset(boxes), "") for what, boxes in (one, other))

    assert contradict(first, second)
    assert contradict(second, first)
    assert not contradict(first, first)


@pytest.mark.parametrize("seed", range(rounds(30, 200)))
def test_no_two_statements_about_a_test_contradict_each_other(seed: int) -> None:
    fleet, notes = drawn(seed)
    said = all_that_is_said(fleet, notes)

    assert not [
        (test_id, one, other)
        for test_id, of_test in said.items()
        for one, other in combinations(of_test, 2)
        if contradict(one, other)
    ]


@pytest.mark.parametrize("seed", range(rounds(5, 50)))
def test_each_page_makes_the_same_claim_of_a_test(seed: int) -> None:
    fleet, notes = drawn(seed)
    for of_test in all_that_is_said(fleet, notes).values():
        claims = {
            (says.what, says.boxes)
            for says in of_test
            if says.page in {"test", "flaky tests"} and says.what in {*Claim} - {Claim.FAILS_NOW}
        }
        assert len(claims) <= 1
