# SPDX-License-Identifier: Apache-2.0
"""Which boxes explain the failures of a test: against a plain reference that lists every way in
which runs fail, and what is said of boxes that tell nothing.
"""

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from hwci.analysis.benches.blame import (
    IN_GROUP,
    NO_FAILURES,
    SAID_FROM,
    TIMES,
    Blame,
    Blamed,
    OnCommit,
    blame,
)
from tests.support.soak import rounds
from tests.support.strata import columns

Strata = Sequence[Mapping[str, OnCommit]]
ALIKE, ONE, GROUP = Fraction(45, 100), Fraction(40, 100), Fraction(15, 100)


def plain(strata: Strata) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return the chances of one box, a group and all alike: each set of boxes and number of times
    as likely as it makes these runs, and no others, fail among all ways in which as many fail.
    """
    shared = [
        boxes
        for boxes in strata
        if len(boxes) > 1 and any(on.failed < on.runs for on in boxes.values())
    ]
    names = sorted({box for boxes in shared for box in boxes})
    if sum(on.failed for boxes in shared for on in boxes.values()) <= NO_FAILURES:
        return None
    found = {1: Fraction(0), 2: Fraction(0)}
    for size in range(1, len(names)):
        sets = [*combinations(names, size)]
        prior = ONE if len(names) > 2 else ONE + GROUP
        if size > 1:
            prior = GROUP / (len(names) - 2)
        for some in sets:
            for times in TIMES:
                likely = prior / len(sets) / len(TIMES)
                for boxes in shared:
                    likely *= _likelihood(boxes, some, times)
                found[min(size, 2)] += likely
    total = found[1] + found[2] + ALIKE
    return found[1] / total, found[2] / total, ALIKE / total


def _likelihood(boxes: Mapping[str, OnCommit], some: Sequence[str], times: int) -> Fraction:
    """Return how much likelier these runs fail than if the boxes were alike."""
    runs = [box in some for box, on in boxes.items() for _ in range(on.runs)]
    failed = sum(on.failed for on in boxes.values())
    ways = [times ** sum(way) for way in combinations(runs, failed)]
    blamed = sum(on.failed for box, on in boxes.items() if box in some)
    return Fraction(times**blamed * len(ways), sum(ways))


def drawn(seed: int, boxes: int = 4) -> Strata:
    """Return a few commits that some of the boxes ran once or twice."""
    random = Random(seed)
    names = [f"box-{number}" for number in range(1, random.randint(2, boxes) + 1)]
    rates = dict(zip(names, random.choices((0.1, 0.3, 0.9), k=len(names)), strict=True))
    return [
        {
            box: OnCommit(sum(random.random() < rates[box] for _ in range(runs)), runs)
            for box in names
            if (runs := random.choice((0, 1, 1, 2)))
        }
        for _ in range(random.randint(1, 12))
    ]


@pytest.mark.parametrize("seed", range(rounds(40, 1000)))
def test_the_chances_are_those_of_every_way_in_which_runs_fail(seed: int) -> None:
    strata = drawn(seed)
    found, reference = blame(*columns(strata)), plain(strata)

    assert (found is None) is (reference is None)
    if found is not None and reference is not None:
        assert (found.one, found.group, found.alike) == pytest.approx([*map(float, reference)])
        assert found.one + found.group + found.alike == pytest.approx(1)


def _named(found: Blame[str], names: Mapping[str, str]) -> object:
    return (
        found.blamed,
        *(sorted(names[box] for box in of) for of in (found.boxes, found.perhaps, found.others)),
        found.counts,
        found.others_counts,
        found.times,
    )


@pytest.mark.parametrize("seed", range(rounds(20, 200)))
@pytest.mark.parametrize("boxes", [4, 12])
def test_names_of_boxes_and_the_order_of_commits_change_nothing(seed: int, boxes: int) -> None:
    strata, random = drawn(seed, boxes), Random(seed)
    same = {f"box-{number}": f"box-{number}" for number in range(1, boxes + 1)}
    other = dict(zip(same, random.sample([*same], len(same)), strict=True))
    relabelled = [{other[box]: on for box, on in commit.items()} for commit in strata]
    found = blame(*columns(strata))
    again = blame(*columns(random.sample(relabelled, len(relabelled))))

    assert (found is None) is (again is None)
    if found is not None and again is not None and boxes <= 8:
        assert _named(found, other) == _named(again, same)
        assert (found.one, found.alike) == pytest.approx((again.one, again.alike))
    if found is not None and again is not None:
        assert found.blamed is again.blamed


@pytest.mark.parametrize("seed", range(rounds(40, 1000)))
def test_what_is_said_is_sure_and_its_counts_are_those_of_its_boxes(seed: int) -> None:
    strata = drawn(seed)
    found = blame(*columns(strata))
    if found is None:
        return
    told = {*found.boxes}, {*found.perhaps}, {*found.others}
    assert sum(map(len, told)) == len(set.union(*told)) == len(found.compared)
    if found.blamed is Blamed.UNDECIDED:
        assert not found.boxes
    else:
        assert found.chance >= SAID_FROM
    assert (len(found.boxes) == 1) is (found.blamed is Blamed.ONE)
    assert (len(found.boxes) > 1) is (found.blamed is Blamed.GROUP)
    assert (found.times is not None) is bool(found.boxes)
    counted = [
        on
        for boxes in strata
        if len(boxes) > 1 and any(on.failed < on.runs for on in boxes.values())
        for box, on in boxes.items()
        if box in (found.boxes or found.others)
    ]
    assert found.counts == (sum(on.failed for on in counted), sum(on.runs for on in counted))


def once(failed: Mapping[str, int], commits: int = 60) -> Strata:
    """Return commits that each box ran once, on each box so many of which failed."""
    return [
        {
            box: OnCommit((7 * at + 17 * number) % commits < number_failed, 1)
            for number, (box, number_failed) in enumerate(failed.items())
        }
        for at in range(commits)
    ]


@pytest.mark.parametrize("elsewhere", range(4))
def test_few_failures_elsewhere_do_not_clear_the_box_to_blame(elsewhere: int) -> None:
    found = blame(*columns(once({"a": 20, "b": elsewhere, "c": 0, "d": 0})))

    assert found is not None
    assert (found.blamed, found.boxes, found.counts) == (Blamed.ONE, ("a",), (20, 60))
    assert found.others_counts.failed == elsewhere
    low, high = found.times or (0, 0)
    assert 4 <= low < high <= TIMES[-1]


@pytest.mark.parametrize("commits", [60, 200, 800])
def test_words_do_not_turn_to_another_culprit_as_runs_grow(commits: int) -> None:
    failed = {"a": commits // 5, "b": commits // 100, "c": commits // 80, "d": 0}
    found = blame(*columns(once(failed, commits)))

    assert found is not None
    assert found.boxes == ("a",)


def test_a_group_is_named_whole_and_a_box_that_may_belong_to_it_apart() -> None:
    both = blame(*columns(once({"a": 20, "b": 20, "c": 0, "d": 0})))
    assert both is not None
    assert (both.blamed, both.boxes, both.others) == (Blamed.GROUP, ("a", "b"), ("c", "d"))

    seldom_run = [{**commit} for commit in once({"a": 20, "b": 20, "c": 0, "d": 0})]
    quiet = next(commit for commit in seldom_run if not any(on.failed for on in commit.values()))
    quiet["e"] = OnCommit(0, 1)
    unsure = blame(*columns(seldom_run))
    assert unsure is not None
    assert ({*unsure.boxes}, unsure.perhaps) == ({"a", "b"}, ("e",))
    assert 0 < 1 - IN_GROUP < IN_GROUP


@pytest.mark.parametrize(
    "strata",
    [
        [],
        [{"a": OnCommit(5, 9)}],
        [{"a": OnCommit(1, 1), "b": OnCommit(1, 1)}] * 50,
        [{"a": OnCommit(0, 1), "b": OnCommit(0, 1)}] * 50,
        [{"a": OnCommit(1, 1)}, {"b": OnCommit(0, 1)}] * 50,
        [{"a": OnCommit(1, 1), "b": OnCommit(0, 1)}] * 2,
    ],
    ids=["nothing", "one box", "all failed", "none failed", "no commit in common", "too few"],
)
def test_boxes_that_tell_nothing_are_not_compared(strata: Strata) -> None:
    assert blame(*columns(strata)) is None


def test_a_few_failures_do_not_say_which_box_it_is() -> None:
    few = [{"a": OnCommit(1, 1), "b": OnCommit(0, 1)}] * 3
    found = blame(*columns([*few, *once({"a": 0, "b": 0})]))

    assert found is not None
    assert found.blamed is not Blamed.ALIKE
    assert found.chance < 1


@pytest.mark.parametrize(
    "strata",
    [
        [{f"box-{number}": OnCommit(number % 3 == 0, 1) for number in range(10_000)}],
        [{"a": OnCommit(3000, 5000), "b": OnCommit(1000, 5000)}],
        [
            {f"box-{at + number}": OnCommit(number == 0, 1) for number in range(10)}
            for at in range(1000)
        ],
        [
            {f"box-{number}": OnCommit((at + number) % 5 == 0, 1) for number in range(8)}
            for at in range(1000)
        ],
    ],
    ids=["10,000 boxes", "10,000 runs of a commit", "1,000 commits of ten", "1,000 of eight"],
)
def test_large_fleets_are_weighed_within_a_second(strata: Strata) -> None:
    import numpy as np  # what is measured is not how long this takes

    assert np.__version__
    boxes, runs, failed = columns(strata)
    start = time.process_time()
    found = blame(boxes, runs, failed)

    assert time.process_time() - start < 1
    assert found is not None
    assert found.one + found.group + found.alike == pytest.approx(1)
