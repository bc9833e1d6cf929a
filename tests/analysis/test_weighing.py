# SPDX-License-Identifier: Apache-2.0
"""The model of a bisection, by slow definitions too."""

import random
from collections.abc import Sequence
from itertools import product
from math import log2

import pytest

from hwci.analysis.flaky.weighing import (
    ByBox,
    Counts,
    bracket_of,
    chances,
    contradict,
    effort,
    most_telling,
    rounds_needed,
)
from tests.support.soak import rounds


def entropy(values: Sequence[float]) -> float:
    return -sum(one * log2(one) for one in values if one > 0)


def on_one_box(counts: Sequence[Counts]) -> list[ByBox]:
    return [{"bench-1": one} for one in counts]


def fails(counts: Sequence[Counts], since: int, at: int, *, is_new: bool) -> float:
    """Return the chance that a run on a commit fails, if the test fails since another one. The only
    box that ran may have a rate of its own, a new one has the common rate.
    """
    side = counts[since:] if since <= at else counts[:since]
    prior = Counts(0.5, 0.5) if since <= at else Counts(1, 39)
    failed = prior.failed + sum(one.failed for one in side)
    runs = sum(prior) + sum(map(sum, side))
    common = failed / runs
    own = (sum(one.failed for one in side) + common) / (sum(map(sum, side)) + 1)
    return common if is_new else (common + own) / 2


def told_by(
    counts: Sequence[Counts], likely: Sequence[float], runs: Sequence[int], *, is_new: bool
) -> float:
    """Return how many bits runs on these commits tell, by the definition."""
    left = 0.0
    for ends in product([True, False], repeat=len(runs)):
        joint = list(likely)
        for at, failed in zip(runs, ends, strict=True):
            chance = [fails(counts, since, at, is_new=is_new) for since in range(len(likely))]
            joint = [one * (p if failed else 1 - p) for one, p in zip(joint, chance, strict=True)]
        left += sum(joint) * entropy([one / sum(joint) for one in joint])
    return entropy(likely) - left


def drawn(draw: random.Random, commits: int) -> list[Counts]:
    return [
        Counts(draw.choice([0, 0, 0, 1, 5]), draw.choice([0, 0, 1, 20])) for _ in range(commits)
    ]


def test_the_most_telling_run_is_that_of_the_definition() -> None:
    draw = random.Random(1)
    for _ in range(rounds(30, 1000)):
        counts = drawn(draw, draw.randint(2, 9))
        likely = chances(on_one_box(counts))
        told = [told_by(counts, likely, [at], is_new=False) for at in range(len(counts))]

        [best] = most_telling(on_one_box(counts), likely, {"bench-1": 60})

        assert best.bits == pytest.approx(max(told), abs=1e-9)
        assert told[best.commit] == pytest.approx(max(told), abs=1e-9)


def test_a_run_beside_another_tells_most_whatever_that_one_gives() -> None:
    draw = random.Random(4)
    for _ in range(rounds(20, 500)):
        counts = [Counts(1, 1), *drawn(draw, draw.randint(2, 6))]
        likely = chances(on_one_box(counts))
        boxes = {"bench-2": 60.0, "bench-3": 60.0}

        first, second = most_telling(on_one_box(counts), likely, boxes, at_once=2)
        told = [
            told_by(counts, likely, [first.commit, at], is_new=True) for at in range(len(likely))
        ]

        assert {first.box, second.box} == {*boxes}
        assert told[second.commit] == pytest.approx(max(told), abs=0.02)
        assert first.bits + second.bits == pytest.approx(max(told), abs=0.1)


def test_the_next_run_is_on_the_box_that_tells_most_for_its_time() -> None:
    counts: list[ByBox] = [{}] * 12
    counts[0] = {"bench-1": Counts(0, 9), "bench-2": Counts(0, 9)}
    counts[-1] = {"bench-1": Counts(0, 9), "bench-2": Counts(9, 0)}
    likely = chances(counts)

    def box(bench_1: float, bench_2: float) -> str:
        [run] = most_telling(counts, likely, {"bench-1": bench_1, "bench-2": bench_2})
        return run.box

    assert box(60, 60) == "bench-2"
    assert box(60, 120) == "bench-2"
    assert box(1, 6000) == "bench-1"


def test_a_box_that_never_fails_clears_no_commit_for_the_others() -> None:
    ends = Counts(0, 9), Counts(9, 0)
    counts: list[ByBox] = [
        {"bench-2": ends[0]},
        {},
        {"bench-1": Counts(0, 9)},
        {"bench-1": Counts(0, 9), "bench-2": ends[1]},
    ]
    on_all = [{"bench-1": sum_of(one)} for one in counts]

    assert sum(chances(counts)[1:3]) > 0.5 > sum(chances(on_all)[1:3])


def sum_of(by_box: ByBox) -> Counts:
    return Counts(*(sum(one[at] for one in by_box.values()) for at in (0, 1)))


def test_boxes_that_are_told_apart_by_nothing_count_as_one() -> None:
    draw = random.Random(5)
    for _ in range(rounds(20, 500)):
        counts = drawn(draw, draw.randint(2, 9))
        one_box = chances(on_one_box(counts))

        assert chances([{"bench-1": one, "bench-2": Counts()} for one in counts]) == pytest.approx(
            one_box
        )


@pytest.mark.parametrize(("rate", "runs"), [(1.0, 8), (0.5, 25), (0.1, 204), (0.05, 483)])
def test_an_estimate_is_near_what_bisections_took(rate: float, runs: int) -> None:
    estimate = rounds_needed(20, rate)

    assert estimate is not None
    assert 0.7 * runs < estimate < 1.2 * runs


def test_boxes_at_once_take_fewer_rounds_and_hardly_more_runs() -> None:
    for rate in (1.0, 0.5, 0.1):
        found = effort(20, rate, 4)

        assert found is not None
        assert found.runs / 4 <= found.rounds + 2
        assert found.rounds <= found.runs / 2


def test_very_long_searches_are_not_shown_and_only_some_of_many_boxes_are_used() -> None:
    assert effort(20, 0.0005, 2) is None
    found = effort(4, 0.5, 10_000)
    assert found is not None
    assert found.boxes == 8


def test_a_bracket_is_the_shortest_range_that_holds_95_percent() -> None:
    draw = random.Random(2)
    for _ in range(rounds(50, 2000)):
        values = [draw.random() ** 6 for _ in range(draw.randint(1, 12))]
        likely = [one / sum(values) for one in values]
        found = bracket_of(likely)
        spans = [
            (last - first, -sum(likely[first : last + 1]))
            for first in range(len(likely))
            for last in range(first, len(likely))
            if sum(likely[first : last + 1]) >= 0.95
        ]

        assert (found.last - found.first, -found.chance) == pytest.approx(min(spans))


def test_results_of_one_change_rarely_contradict_each_other() -> None:
    draw = random.Random(3)
    wrong = 0
    for _ in range(rounds(200, 5000)):
        onset, rate = draw.randint(1, 9), draw.random()
        counts = []
        for at in range(10):
            runs = draw.choice([0, 1, 20])
            failed = sum(draw.random() < (rate if at >= onset else 0.01) for _ in range(runs))
            counts.append(Counts(failed, runs - failed))
        wrong += contradict(on_one_box(counts))

    assert wrong <= rounds(4, 75)
