# SPDX-License-Identifier: Apache-2.0
"""The commit that broke a test: what is known of it, by a slow definition too, and what is said
where it cannot be known.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from math import log2

import pytest

from hwci.analysis.bisection import (
    COMMITS_MAX,
    Asked,
    Counts,
    Lack,
    Progress,
    bracket_of,
    chances,
    contradict,
    most_telling,
    progress,
)
from hwci.engine.facts import Product, Report
from tests.engine.timeline import (
    EVER,
    ORG,
    REPO,
    SUITE,
    TEST,
    Past,
    changes,
    item,
    report,
)
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

COMMITS = "bcdefgh"
PUSH = report("h:F", 1, sent=changes("a", *COMMITS))
"""The run on the bad commit, which lists all commits after the good one."""


def asked(
    reports: Sequence[Report],
    good: str = "a",
    bad: str = "h",
    test_id: str = TEST,
    box_key: str | None = None,
) -> Progress | Lack:
    history = FullRecordedRuns(ORG, Past([*reports]).facts)
    return progress(history, Product(REPO, SUITE), EVER, Asked(test_id, good, bad, box_key))


def told(reports: Sequence[Report], **given: str) -> Progress:
    found = asked(reports, **given)
    assert isinstance(found, Progress)
    return found


def known(*runs: str) -> Progress:
    """Ask after the push and these runs."""
    return told([PUSH, *(report(run, at) for at, run in enumerate(runs, 2))])


def test_the_commits_are_those_that_runs_listed_after_the_good_one() -> None:
    found = known("a:P")

    assert [one.sha for one in found.commits] == ["a", *COMMITS]
    assert found.counts[0] == Counts(0, 1)
    assert found.counts[-1] == Counts(1, 0)


def test_a_run_in_the_middle_is_proposed_first() -> None:
    found = known("a:P")

    assert found.next_run is not None
    assert found.next_run.commit in {3, 4}
    assert found.next_run.offer.box_key == "box-1"
    assert 0.4 < found.next_run.bits <= 1


def test_a_commit_that_fails_always_is_found_in_a_few_runs_a_step() -> None:
    reports = [report("a:P", 0), PUSH]
    for at in range(2, 12):
        found = told(reports)
        if found.next_run is None:
            break
        sha = found.commits[found.next_run.commit].sha
        reports.append(report(f"{sha}:{'F' if sha >= 'e' else 'P'}", at))

    assert found.next_run is None
    assert found.bracket.first == found.bracket.last
    assert found.commits[found.bracket.first].sha == "e"
    assert found.bracket.chance >= 0.95


def test_one_pass_does_not_clear_a_commit_that_fails_now_and_then() -> None:
    often = known("a:P", "d:P", *["h:F"] * 9)
    seldom = known("a:P", "d:P", *["h:P"] * 9)

    late = slice(4, None)
    assert sum(often.chances[late]) > 0.9
    assert sum(seldom.chances[late]) < 0.7


def test_what_the_harness_blames_on_the_bench_tells_nothing() -> None:
    assert known("a:P", "d:I", "e:L").counts == known("a:P").counts


def test_a_run_that_did_not_reach_the_hardware_tells_nothing() -> None:
    lost = replace(report("d:F", 3), hello_ok=False)

    assert known("a:P").counts == told([PUSH, report("a:P", 2), lost]).counts


def test_a_run_counts_by_its_first_attempt() -> None:
    assert known("d:P3").counts[3] == Counts(1, 0)


def test_only_runs_of_the_box_that_is_named_count() -> None:
    other = report("d:F", 3, box="box-2")
    slow = replace(other, ended_at=other.started_at + timedelta(hours=1))

    whole, of_one = told([PUSH, slow]), told([PUSH, slow], box_key="box-2")

    assert whole.next_run is not None
    assert of_one.next_run is not None
    assert (sum(map(sum, whole.counts)), sum(map(sum, of_one.counts))) == (2, 1)
    assert whole.next_run.offer.box_key == "box-1"
    assert of_one.next_run.offer.box_key == "box-2"


def test_no_run_is_proposed_on_a_box_that_did_not_reach_the_hardware() -> None:
    assert known("a:P", "d:L").next_run is None


def test_a_commit_that_is_listed_twice_counts_at_its_last_place() -> None:
    first = report("d:P", 0, sent=changes("a", "b", "c", "d"))
    rebased = report("h:F", 1, sent=changes("d", "b", "e", "h"))

    found = told([first, rebased])

    assert [one.sha for one in found.commits] == ["a", "c", "d", "b", "e", "h"]


def test_the_good_commit_is_no_candidate_though_it_is_listed_again() -> None:
    found = told([report("h:F", 1, sent=changes("a", "b", "a", "h"))])

    assert [one.sha for one in found.commits] == ["a", "b", "h"]


def test_first_digits_name_a_commit_that_ran() -> None:
    reports = [report("a1:P", 0), report("h1:F", 1, sent=changes("a1", "b", "h1"))]

    assert isinstance(asked(reports), Progress)
    assert asked([*reports, report("h2:P", 3)]) is Lack.SEVERAL_COMMITS


@pytest.mark.parametrize(
    ("reports", "given", "lack"),
    [
        ([], {}, Lack.UNKNOWN_TEST),
        ([PUSH], {"test_id": "flies"}, Lack.UNKNOWN_TEST),
        ([PUSH], {"box_key": "box-9"}, Lack.UNKNOWN_TEST),
        ([PUSH], {"good": "x"}, Lack.UNKNOWN_COMMIT),
        ([PUSH], {"bad": "x"}, Lack.UNKNOWN_COMMIT),
        ([PUSH], {"good": "h", "bad": "a"}, Lack.NOT_CONNECTED),
        ([PUSH], {"good": "h"}, Lack.NOT_CONNECTED),
        ([report("a:P", 0), report("h:F", 1)], {}, Lack.NOT_CONNECTED),
        ([replace(PUSH, tests=(item("P"),))], {}, Lack.NEVER_FAILED),
        ([PUSH, *(report("a:F", at) for at in range(2, 5))], {}, Lack.BROKEN_BEFORE),
        (
            [PUSH, *(report(f"{sha}:F", at) for at, sha in enumerate("abcdefgh", 2))],
            {},
            Lack.BROKEN_BEFORE,
        ),
        (
            [
                PUSH,
                *(report("a:P", at) for at in range(2, 6)),
                *(report("c:F", at) for at in range(6, 10)),
                *(report("e:P", at) for at in range(10, 20)),
                *(report("h:F", at) for at in range(20, 24)),
            ],
            {},
            Lack.CONTRADICTION,
        ),
    ],
)
def test_what_cannot_be_known_has_a_reason_and_no_figure(
    reports: list[Report], given: dict[str, str], lack: Lack
) -> None:
    assert asked(reports, **given) is lack


def test_a_few_passes_behind_a_failure_are_no_contradiction() -> None:
    assert known("a:P", "c:F", *["f:P"] * 5).next_run is not None


def test_a_range_may_be_too_long() -> None:
    listed = [f"{number:04}" for number in range(COMMITS_MAX)]

    assert isinstance(asked([report("h:F", 1, sent=changes("a", *listed[1:], "h"))]), Progress)
    assert asked([report("h:F", 1, sent=changes("a", *listed, "h"))]) is Lack.TOO_LONG


def test_a_good_commit_that_no_run_tested_may_be_broken_too() -> None:
    failing = [f"{sha}:F" for sha in COMMITS]

    found = known(*failing, *failing)

    assert found.bracket.first == 0
    assert found.next_run is not None
    assert found.next_run.commit == 0


def test_the_good_commit_of_a_single_change_is_run_before_it_is_doubted() -> None:
    found = told([report("b:F", 1, sent=changes("a", "b"))], bad="b")

    assert found.next_run is not None
    assert found.next_run.commit == 0


def slowly(counts: Sequence[Counts], likely: Sequence[float]) -> list[float]:
    """Return of each commit how many bits a run there tells, by the definition."""

    def entropy(values: Sequence[float]) -> float:
        return -sum(one * log2(one) for one in values if one > 0)

    told = []
    for at in range(len(counts)):
        left = 0.0
        for outcome in (Counts(1, 0), Counts(0, 1)):
            joint = []
            for onset, chance in enumerate(likely):
                side = counts[onset:] if onset <= at else counts[:onset]
                a, b = (0.5, 0.5) if onset <= at else (0.5, 19.5)
                failed, passed = a + sum(one[0] for one in side), b + sum(one[1] for one in side)
                hit = failed if outcome.failed else passed
                joint.append(chance * hit / (failed + passed))
            left += sum(joint) * entropy([one / sum(joint) for one in joint])
        told.append(entropy(likely) - left)
    return told


def test_the_most_telling_run_is_that_of_the_definition() -> None:
    draw = random.Random(1)
    for _ in range(rounds(30, 1000)):
        counts = [
            Counts(draw.choice([0, 0, 0, 1, 5]), draw.choice([0, 0, 1, 20]))
            for _ in range(draw.randint(2, 9))
        ]
        likely = chances(counts)
        told = slowly(counts, likely)

        best, bits = most_telling(counts, likely)

        assert bits == pytest.approx(max(told), abs=1e-9)
        assert told[best] == pytest.approx(max(told), abs=1e-9)


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
        wrong += contradict(counts)

    assert wrong <= rounds(4, 75)
