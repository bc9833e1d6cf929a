# SPDX-License-Identifier: Apache-2.0
"""Boxes and tests compared: bad boxes planted on simulated benches, and scipy's own figures."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import numpy as np
import pytest
from scipy.stats import false_discovery_control, hypergeom, pearson3

from hwci.analysis.benches.compare import (
    chances_by_curve,
    chances_of_boxes,
    compare,
    false_discoveries,
    is_worse,
)
from hwci.analysis.benches.health import covered
from hwci.analysis.benches.report import KnownOfBoxes, benches
from hwci.analysis.benches.strata import Strata, Sum
from hwci.analysis.benches.trials import Trial, box_of
from hwci.contract.boxes.benches import Benches, BoxHealth, Counts, Note
from hwci.contract.shares import Share
from hwci.contract.vocabulary import NotCompared, Outcome
from hwci.engine.facts import Facts, Part, Report, TestItem
from hwci.engine.history import OutOfTimeError, Scope
from hwci.engine.periods import Period
from tests.simulation.fleet import EPOCH, Cause, Kind, Plan, simulate
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

EVER = Period(EPOCH, EPOCH + timedelta(days=3650))
FLEET = Plan(boxes=5, tests=50, runs=200, base_rate=0.05)
BAD = Cause(Kind.BAD_BOX, boxes=frozenset({"bench-2"}), odds=4)
SMALL = Plan(boxes=2, boxes_at_once=2, tests=4, runs=24, attempts=1, base_rate=0.0)
EACH = len(simulate(SMALL, [], 1).facts.reports) // 2  # runs of each of its boxes


def asked(
    facts: Facts | Sequence[Report], most: int = 100, notes: Mapping[str, Note] | None = None
) -> Benches:
    facts = facts if isinstance(facts, Facts) else Facts(reports=tuple(facts))
    history, known = FullRecordedRuns(UUID(int=1), facts), KnownOfBoxes(notes or {}, {})
    return benches(history, Scope(), EVER, most, known)


def box(found: Benches, box_key: str) -> BoxHealth:
    [row] = [row for row in found.boxes if row.box_key == box_key]
    return row


def named(found: Benches) -> list[str]:
    return [row.box_key for row in found.boxes if row.comparison and row.comparison.named]


def counts(failed: int, results: int, others_failed: int, others_results: int) -> Counts:
    return Counts(
        failed=failed,
        results=results,
        others_failed=others_failed,
        others_results=others_results,
    )


def parts(share: Share | None) -> tuple[int, int]:
    assert share is not None
    return share.part, share.total


def reports(plan: Plan = SMALL, *causes: Cause, seed: int = 1) -> list[Report]:
    return [*simulate(plan, causes, seed).facts.reports]


def failing(report: Report, tests: Sequence[int], attempts: int = 1) -> Report:
    """Return a report in which these tests fail."""
    items = tuple(
        replace(one, outcome=Outcome.FAIL, attempts=attempts) if number in tests else one
        for number, one in enumerate(report.tests)
    )
    return replace(report, tests=items)


def with_more(report: Report, tests: int) -> Report:
    """Return a report of so many tests, all passed."""
    [item, *_] = report.tests
    items = tuple(replace(item, id=f"test_{number:03d}") for number in range(tests))
    return replace(report, tests=items)


@pytest.mark.parametrize("seed", range(rounds(2, 40)))
def test_a_bad_box_is_named_with_its_odds_and_no_other_is(seed: int) -> None:
    found = asked(simulate(FLEET, [BAD], seed).facts)
    assert named(found) == ["bench-2"]
    assert found.boxes[0].comparison is not None
    assert 2.5 < found.boxes[0].comparison.odds_ratio < 6.5
    seen = found.boxes[0].counts
    assert seen.failed / seen.results > 2 * seen.others_failed / seen.others_results


def test_the_sentence_of_a_bad_box_has_the_interval_of_its_rate() -> None:
    found = asked(simulate(FLEET, [BAD], 1).facts).boxes[0]
    ends = re.search(
        r"fails (.+) times as often as the 4 others compared \(95 % sure: (.+) to (.+?);",
        found.says,
    )
    assert ends
    times, low, high = map(float, ends.groups())
    assert 1 < low < times < high
    assert found.comparison
    assert high < found.comparison.high  # rates are less far apart than odds


def test_the_boxes_with_which_one_was_compared_are_named_or_counted() -> None:
    seen = [failing(one, [1]) if one.box_key == "bench-2" else one for one in reports()]
    third = [
        replace(one, box_key="bench-3", run_id=one.run_id + 1000)
        for one in seen
        if one.box_key == "bench-1"
    ]
    elsewhere = [replace(one, sha=f"{n:040x}") for n, one in enumerate(third)]
    all_failed = [failing(one, range(4)) for one in seen if one.sha == seen[0].sha]
    where_all_failed = failing(replace(third[0], sha=seen[0].sha), range(4))
    beside = [one for one in seen if one.sha != seen[0].sha]
    for history, never, only in (
        ([*seen, *elsewhere], "bench-1 never does", True),
        ([*beside, *all_failed, where_all_failed], "bench-1 never does", False),
        ([*seen, *third], "the 2 others compared never do", True),
    ):
        found = asked(history)
        [bad] = [one for one in found.boxes if one.box_key == "bench-2"]
        [test] = found.tests
        assert bad.answer == f"fails where {never}"
        assert test.only is only
        words = "fails on bench-2 only (" if only else "fails more on bench-2 than elsewhere ("
        assert test.says.startswith(words)
    lone = box(asked([*seen, *elsewhere]), "bench-3")
    assert lone.missing is NotCompared.NOTHING_IN_COMMON
    without = [replace(one, tests=(one.tests[0], *one.tests[2:])) for one in third]
    [test] = asked([*seen, *without]).tests
    assert test.counts.others_results == EACH, "of bench-1 alone"


def test_a_box_that_is_worse_because_of_few_of_its_tests_names_them() -> None:
    def told(always: set[int], once: int, of: int, suites: int = 1) -> str:
        runs = [with_more(one, of) for one in reports()]
        others = [one for one in runs if one.box_key != "bench-2"]
        bad = [one for one in runs if one.box_key == "bench-2"]
        fails = [always | {n} if n < once else always for n in range(len(bad))]
        sent = [*others, *map(failing, bad, map(sorted, fails))]
        names = [f"suite-{number}" for number in range(suites)]
        found = asked([replace(one, suite=suite) for suite in names for one in sent])
        [row] = [one for one in found.boxes if one.box_key == "bench-2"]
        return row.evidence.partition(" on the same commits")[2]

    assert told({0}, 4, 4) == f"; {EACH} of the {EACH + 3} are of test_000"
    two = f"; {2 * EACH} of the {2 * EACH + 5} are of test_000 and test_001"
    assert told({0, 1}, 7, 7) == two
    assert told({0, 1}, 3, 7) == ""  # two of three that failed there are not few
    assert told({0, 1, 2, 3}, EACH, 20) == ""  # three have too little of it
    both = f"; {2 * EACH} of the {2 * EACH + 6} are of test_000"
    assert told({0}, 4, 4, suites=2) == both  # which has this name in both


def test_a_comparison_whose_interval_holds_1_names_nothing() -> None:
    assert is_worse(odds_ratio=9.4, low=1.1, false_discovery=0.01)
    assert not is_worse(odds_ratio=9.4, low=0.38, false_discovery=0.01)
    assert not is_worse(odds_ratio=9.4, low=1.1, false_discovery=0.06)


def test_few_clean_fleets_name_a_box_and_few_a_test() -> None:
    race = Cause(Kind.RACE, frozenset({3}), rate=0.2)
    clean = [asked(simulate(FLEET, [race], seed).facts) for seed in range(rounds(3, 300))]
    assert sum(map(bool, map(named, clean))) <= 0.05 * len(clean)
    assert sum(bool(one.tests) for one in clean) <= 0.05 * len(clean)


def test_a_test_that_fails_on_one_box_is_told_with_all_its_runs_there() -> None:
    cause = Cause(Kind.BOX_TEST, frozenset({7}), frozenset({"bench-3"}), rate=0.6)
    found = asked(simulate(replace(FLEET, base_rate=0.0), [cause], 1).facts)
    [one] = found.tests
    assert (one.test_id, one.box_key, one.only) == ("test_007", "bench-3", True)
    seen = one.counts
    assert (seen.others_failed, seen.others_results) == (0, 4 * seen.results)
    assert 0.4 * seen.results < seen.failed < seen.results


def test_the_odds_ratio_and_its_interval_are_those_of_a_published_example() -> None:
    # Admission to Berkeley by sex and department, 1973 (R: mantelhaen.test(UCBAdmissions)).
    refused_and_admitted = [
        ((512, 313), (89, 19)),
        ((353, 207), (17, 8)),
        ((120, 205), (202, 391)),
        ((138, 279), (131, 244)),
        ((53, 138), (94, 299)),
        ((22, 351), (24, 317)),
    ]
    strata = Strata.of(["men", "women"])
    people = [
        [
            Trial(sex, 1, failed)
            for sex, numbers in (("men", men), ("women", women))
            for failed, number in zip((1, 0), numbers, strict=True)
            for _ in range(number)
        ]
        for men, women in refused_and_admitted
    ]
    strata.add(0, people, lambda: None)
    found = compare(strata.by_box, chances_by_curve(strata.by_box))[0]
    assert round(found.odds_ratio, 6) == 0.904697
    r, s = strata.by_box[0, [Sum.R, Sum.S]]
    pr, ps_qr, qs = strata.by_box[0, Sum.PR : Sum.RR]
    width = 1.959964 * np.sqrt(pr / (2 * r**2) + ps_qr / (2 * r * s) + qs / (2 * s**2))
    assert np.round(r / s * np.exp([-width, width]), 5).tolist() == [0.77191, 1.06033]
    assert found.low < 0.7720  # no narrower than that
    assert found.high > 1.0603


@pytest.mark.parametrize("seed", range(rounds(3, 60)))
def test_the_chance_of_a_box_is_that_of_dealing_whole_runs_to_boxes(seed: int) -> None:
    draw = np.random.default_rng(seed)
    strata, groups = Strata.of(["a", "b", "c"]), []
    for _ in range(12):
        of = [*draw.choice(["a", "b", "c"], 4), "a", "b"]
        # Runs fail as a whole now and then, so that their results are far from independent.
        failed = [int(draw.integers(0, 2**8)) if draw.random() < 0.3 else 0 for _ in of]
        groups.append(
            [Trial(str(name), 2**8 - 1, bad) for name, bad in zip(of, failed, strict=True)]
        )
    strata.add(0, groups, lambda: None)
    dealt = np.zeros(3)
    for _ in range(2000):
        other = Strata.of(["a", "b", "c"])
        other.by_box = sum((excess_of(group, draw) for group in groups), np.zeros(3))
        dealt += other.by_box >= strata.by_box[:, Sum.EXCESS] - 1e-9
    exact = dealt / 2000
    assert np.abs(chances_of_boxes(strata, lambda: None) - exact).max() < 0.06
    assert np.abs(chances_by_curve(strata.by_box) - exact).max() < 0.1


@pytest.mark.parametrize("seed", range(3))
def test_sums_do_not_depend_on_how_many_runs_are_looked_at_together(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    groups = []
    for _ in range(30):
        ran = [(name, draw.getrandbits(70) | 1) for name in ("a", "b", *draw.choices("abcd", k=3))]
        groups.append([Trial(name, tests, tests & draw.getrandbits(70)) for name, tests in ran])
    sums = []
    for cells, rows in ((500_000, 200_000), (1, 1), (1000, 100)):
        monkeypatch.setattr("hwci.analysis.benches.strata._CELLS", cells)
        monkeypatch.setattr("hwci.analysis.benches.strata._ROWS", rows)
        strata = Strata.of([*"abcd"])
        for product in (0, 1):
            strata.add(product, groups, lambda: None)
        arrays = strata.by_box, strata.met, strata.keys, strata.by_test, *strata.excess
        sums.append([array.tolist() for array in arrays])
    assert sums[0] == sums[1] == sums[2]
    assert len(sums[0]) > 60
    assert len(sums[0][3]) > 300


def excess_of(group: Sequence[Trial], draw: np.random.Generator) -> np.ndarray:
    """Return the excess of each box when the runs of a group are dealt to its boxes by chance."""
    boxes = [box_of(one.side) for one in group]
    shares = [one.failed.bit_count() for one in group]
    mean, found = sum(shares) / len(shares), np.zeros(3)
    for name, at in zip(boxes, draw.permutation(len(group)), strict=True):
        found["abc".index(name)] += shares[at] - mean
    return found


@pytest.mark.parametrize("seed", range(rounds(20, 400)))
def test_the_chance_of_a_test_on_a_box_is_near_the_exact_one(seed: int) -> None:
    draw = random.Random(seed)
    strata, groups = Strata.of(["a", "b"]), []
    exact, hits = np.ones(1), 0
    for _ in range(draw.randrange(5, 15)):
        here, there = draw.randrange(1, 4), draw.randrange(1, 8)
        bad = (
            [draw.random() < 0.3 for _ in range(here)],
            [draw.random() < 0.2 for _ in range(there)],
        )
        runs = [Trial("ab"[at], 1, int(one)) for at in (0, 1) for one in bad[at]]
        groups.append(runs)
        failed = sum(map(sum, bad))
        hits += sum(bad[0])
        exact = np.convolve(exact, hypergeom(here + there, failed, here).pmf(range(here + 1)))
    strata.add(0, groups, lambda: None)
    if [0, 0, 0] in strata.keys.tolist():
        [chance] = chances_by_curve(strata.by_test[:1])
        expected = exact[hits:].sum()
        assert chance == pytest.approx(expected, rel=0.35, abs=0.007)
        # Where it decides what is named, it errs to the side that names nothing.
        assert chance > expected or expected > 0.05


def test_the_curve_and_the_false_discoveries_are_those_of_scipy() -> None:
    draw = np.random.default_rng(1)
    rows = np.zeros((40, len(Sum)))
    rows[:, Sum.EXCESS] = draw.normal(2, 3, 40) + 0.5
    rows[:, Sum.VARIANCE], rows[:, Sum.WAYS] = draw.uniform(1, 4, 40), 700
    rows[:, Sum.SKEW] = draw.normal(0, 2, 40)
    spread = np.sqrt(rows[:, Sum.VARIANCE])
    beyond, skew = (rows[:, Sum.EXCESS] - 0.5) / spread, rows[:, Sum.SKEW] / spread**3
    chances = chances_by_curve(rows)
    assert chances == pytest.approx(pearson3.sf(beyond, skew), abs=1e-9)
    assert false_discoveries(chances) == pytest.approx(false_discovery_control(chances))


def test_a_missing_comparison_says_what_is_missing() -> None:
    clean = reports()
    alone = [one for one in clean if one.box_key == "bench-1"]
    apart = [replace(one, sha=f"{n:07x}") for n, one in enumerate(clean)]
    twice = [failing(one, [0]) if n in {0, 2, 4} else one for n, one in enumerate(clean)]
    every = [failing(one, range(4)) for one in clean]
    for history, missing in (
        (alone, NotCompared.ONE_BOX),
        (clean[:1], NotCompared.ONE_BOX),
        (apart, NotCompared.NOTHING_IN_COMMON),
        (clean, NotCompared.NO_FAILURE),
        (every, NotCompared.NO_FAILURE),
        (twice, NotCompared.FEW_COMMITS),
    ):
        found = asked(history)
        assert [one.missing for one in found.boxes] == [missing] * len(found.boxes)
        assert [one.comparison for one in found.boxes] == [None] * len(found.boxes)
        assert not found.tests
    nothing = asked([])
    assert (nothing.boxes, nothing.boxes_total) == ((), 0)
    assert (nothing.tests, nothing.tests_total) == ((), 0)


def test_what_fails_on_all_boxes_of_a_commit_counts_for_none() -> None:
    history = [
        failing(one, [0, 1] if one.box_key == "bench-2" else [0]) if n < EACH else one
        for n, one in enumerate(reports())
    ]
    found = asked(history)
    alone = sum(one.box_key == "bench-2" for one in history[:EACH])
    both = EACH - EACH % 2
    assert box(found, "bench-2").counts.failed == alone
    assert box(found, "bench-2").counts.results == 4 * EACH - both // 2


def test_a_pass_on_a_retry_counts_as_a_failure_of_the_box() -> None:
    def retried(one: Report) -> Report:
        return replace(one, tests=tuple(replace(item, attempts=2) for item in one.tests))

    history = [retried(one) if one.box_key == "bench-2" else one for one in reports()]
    found = asked(history)
    assert named(found) == ["bench-2"]
    assert box(found, "bench-2").counts == counts(4 * EACH, 4 * EACH, 0, 4 * EACH)


def test_what_never_reached_the_hardware_is_no_failure() -> None:
    history = [
        failing(replace(one, hello_ok=False), range(4)) if one.box_key == "bench-2" else one
        for one in reports()
    ]
    found = box(asked(history), "bench-2")
    assert (found.counts, found.missing) == (counts(0, 0, 0, 0), NotCompared.NOTHING_IN_COMMON)
    assert parts(found.never_reached) == (EACH, EACH)
    assert (found.lost_board, found.last_clean_run_at) == (None, None)


def test_the_parts_of_a_run_are_one_run() -> None:
    def cut(one: Report) -> list[Report]:
        half = len(one.tests) // 2
        first = replace(one, tests=one.tests[:half], part_of=Part(one.run_id, 1, 2))
        rest = replace(one, tests=one.tests[half:], part_of=Part(one.run_id, 2, 2))
        return [first, replace(rest, run_id=one.run_id + 1000)]

    history = reports(SMALL, replace(BAD, rate=0.5), seed=3)
    whole, parts = asked(history), asked([part for one in history for part in cut(one)])
    assert [one.comparison for one in parts.boxes] == [one.comparison for one in whole.boxes]
    assert [one.never_reached for one in parts.boxes] == [one.never_reached for one in whole.boxes]


def test_boxes_that_run_mostly_other_tests_are_not_compared() -> None:
    def other(one: Report) -> Report:
        items = [replace(item, id=f"radio {item.id}") for item in one.tests[1:]]
        return failing(replace(one, tests=(one.tests[0], *items)), [0])

    history = [other(one) if one.box_key == "bench-2" else one for one in reports()]
    assert {one.missing for one in asked(history).boxes} == {NotCompared.NOTHING_IN_COMMON}


def test_a_run_that_lost_its_board_is_told_and_counts_once() -> None:
    plan = replace(SMALL, tests=40)
    history = reports(plan)
    history[7] = failing(history[7], range(25, 40), attempts=2)
    found = asked(history)
    hit = box(found, history[7].box_key)
    [lost] = hit.lost_runs
    assert (lost.first_test, lost.tests, lost.sha) == ("test_025", 15, history[7].sha)
    assert lost.chance < 1e-9
    assert sum(one.counts.failed for one in found.boxes) == 1, "where it was lost"
    assert parts(hit.lost_board) == (1, len(history) // 2)


def test_what_fails_on_every_box_or_all_the_time_is_no_lost_board() -> None:
    plan = replace(SMALL, tests=40)
    everywhere = [
        failing(one, range(30, 40)) if n < 2 else one for n, one in enumerate(reports(plan))
    ]
    always = [failing(one, range(37, 40)) for one in reports(plan)]
    early = [failing(one, range(20)) for one in reports(plan)]
    for history in (everywhere, always, early):
        assert not any(one.lost_runs for one in asked(history).boxes)


def test_hours_and_the_last_clean_run() -> None:
    history = [one for one in reports() if one.box_key == "bench-1"]
    history[-1] = failing(history[-1], [0])
    seen = box(asked(history), "bench-1")
    assert seen.board_seconds == EACH * timedelta(minutes=45).total_seconds()
    assert seen.last_run_at == history[-1].started_at
    assert seen.last_clean_run_at == history[-2].started_at
    spans = [
        (EPOCH + h * timedelta(hours=1), EPOCH + t * timedelta(hours=1))
        for h, t in [(0, 2), (1, 3), (1, 2), (5, 4), (6, 7)]
    ]
    assert covered(spans) == timedelta(hours=4)


def test_a_box_that_was_mended_is_told_apart_before_and_since_its_note() -> None:
    seen = reports(replace(SMALL, runs=60))
    half = len(seen) // 4 * 2
    mended = seen[half].started_at
    history = [
        failing(one, [1]) if n < half and one.box_key == "bench-2" else one
        for n, one in enumerate(seen)
    ]
    found = asked(history, notes={"bench-2": Note(at=mended, text="new cable")})
    assert not named(found)
    [noted] = [one for one in found.boxes if one.note]
    assert (noted.box_key, noted.counts.failed, noted.idle) == ("bench-2", 0, False)
    assert noted.before is not None
    assert noted.before.comparison is not None
    assert noted.before.comparison.named
    assert noted.before.counts == counts(half // 2, 2 * half, 0, 2 * half)
    assert noted.before.last_run_at < mended <= noted.last_run_at
    [test] = found.tests
    assert (test.box_key, test.before) == ("bench-2", True)
    assert noted.answer.startswith("since the note of ")
    assert "; before it: fails where bench-1 never does, " in noted.evidence
    assert ", before the note of " in test.says
    assert named(asked(history)) == ["bench-2"]


def test_a_box_that_did_not_run_since_its_note_says_so() -> None:
    history = [failing(one, [1]) if one.box_key == "bench-2" else one for one in reports()]
    later = max(one.started_at for one in history) + timedelta(hours=1)
    found = asked(history, notes={"bench-2": Note(at=later, text="new cable")})
    [noted] = [one for one in found.boxes if one.note]
    assert (noted.idle, noted.before, found.boxes_total) == (True, None, 2)
    assert noted.comparison is not None
    assert noted.comparison.named
    assert noted.answer.startswith("before the note of ")
    assert noted.answer.endswith(": fails where bench-1 never does")
    assert noted.evidence.endswith("; it has not run since")


def test_a_box_is_never_compared_with_itself() -> None:
    alone = [replace(one, box_key="bench-1") for one in reports()]
    half = Note(at=alone[len(alone) // 2].started_at, text="new cable")
    one = [replace(run, sha="0000000") for run in alone]
    [found] = asked(one, notes={"bench-1": half}).boxes
    assert found.before is not None
    assert {found.missing, found.before.missing} == {NotCompared.ONE_BOX}

    other = [*one, replace(alone[0], box_key="bench-2", sha="0000000")]
    found, _ = sorted(asked(other, notes={"bench-1": half}).boxes, key=lambda row: row.box_key)
    assert found.before is not None
    assert found.before.missing is NotCompared.NOTHING_IN_COMMON
    assert found.counts.others_results == len(alone[0].tests)  # of bench-2 alone


def test_only_so_many_rows_are_shown_the_worst_first_and_all_are_counted() -> None:
    found = asked(simulate(FLEET, [BAD], 1).facts, most=2)
    assert (found.boxes[0].box_key, len(found.boxes)) == ("bench-2", 2)
    assert found.boxes_total == 5


def test_ten_thousand_boxes_are_compared() -> None:
    item = TestItem("boot", Outcome.PASS)
    [one] = reports()[:1]
    history = [
        replace(
            one,
            run_id=n,
            box_key=f"b{n % 10_000}",
            sha=f"{n // 10_000:07x}",
            hello_ok=True,
            tests=(replace(item, outcome=Outcome.FAIL) if n % 100 == 7 else item,),
        )
        for n in range(20_000)
    ]
    found = asked(history)
    assert (found.boxes_total, len(found.boxes)) == (10_000, 100)
    assert {one.missing for one in found.boxes} == {NotCompared.FEW_COMMITS}


def test_it_stops_when_the_time_is_over() -> None:
    def over() -> None:
        raise OutOfTimeError

    history = FullRecordedRuns(UUID(int=1), simulate(FLEET, [], 1).facts, over)
    with pytest.raises(OutOfTimeError):
        benches(history, Scope(), EVER, 100, KnownOfBoxes({}, {}))
