# SPDX-License-Identifier: Apache-2.0
"""The band of an incident that still fails, and the order of these (semantics, 17): each row of the
rule by counts, and from runs.
"""

from dataclasses import replace

import pytest

from hwci.analysis.failures.bands import Counts, band_of, chance_of_broken
from hwci.analysis.failures.incidents import Banded, by_harm, incidents, seen_products
from hwci.analysis.outcomes import FirstAttempts
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import Band, Label, Verdict
from hwci.engine.facts import Report
from tests.analysis.stories import run
from tests.engine.timeline import ALL, EVER, MAIN, ORG, REPO, Past
from tests.support.outcomes import FullRecordedRuns

DEVICE, INFRA, UNKNOWN = Verdict.DEVICE, Verdict.INFRA, Verdict.UNKNOWN


def counts(*tests: tuple[int, int, int], verdicts: set[Verdict] | None = None) -> Counts:
    """Each test as how many runs of the incident failed, and how many runs of the period failed at
    first, of how many.
    """
    names = [f"test-{number}" for number in range(len(tests))]
    return Counts(
        verdicts=verdicts or {DEVICE},
        is_lost=False,
        failed={name: failed for name, (failed, _, _) in zip(names, tests, strict=True)},
        tried={name: FirstAttempts(*of) for name, (_, *of) in zip(names, tests, strict=True)},
    )


@pytest.mark.parametrize(
    ("known", "band"),
    [
        # The bench: each verdict is of it, or all runs had lost their board.
        (counts((9, 9, 900), verdicts={INFRA}), Band.BENCH),
        (counts((9, 9, 900), verdicts={INFRA, UNKNOWN}), Band.BROKEN),
        (counts((9, 9, 900))._replace(is_lost=True), Band.BENCH),
        # A test that was steady, and one that fails now and then.
        (counts((1, 1, 100)), Band.FLAKY),
        (counts((1, 1, 1000)), Band.BROKEN),
        (counts((2, 2, 100)), Band.BROKEN),
        (counts((2, 12, 102)), Band.FLAKY),
        (counts((4, 14, 104)), Band.BROKEN),
        (counts((4, 54, 104)), Band.FLAKY),
        (counts((12, 62, 112)), Band.BROKEN),
        # What never passed, in however few runs.
        (counts((1, 1, 1)), Band.BROKEN),
        (counts((2, 5, 5)), Band.BROKEN),
        (counts((2, 4, 5)), Band.FLAKY),
        # Several tests that broke at once, and flaky ones that failed at once.
        (counts((1, 1, 100), (1, 1, 100)), Band.BROKEN),
        (counts((1, 20, 100), (1, 5, 100), (1, 10, 100)), Band.FLAKY),
        # No run tells anything of the firmware.
        (counts(verdicts={INFRA, DEVICE}), Band.FLAKY),
        # It failed before the period, too.
        (counts((40, 3, 3)), Band.BROKEN),
        (counts((40, 3, 4)), Band.BROKEN),
    ],
)
def test_a_band_follows_from_the_counts(known: Counts, band: Band) -> None:
    assert band_of(known) is band


def test_the_chance_weighs_a_change_against_flaking_so_often_in_a_row() -> None:
    by_chance = (10.5 / 101) ** 2
    assert chance_of_broken(counts((2, 12, 102))) == pytest.approx(0.001 / (0.001 + by_chance))
    both = by_chance * (0.5 / 101)
    two = counts((2, 12, 102), (1, 1, 101))
    assert chance_of_broken(two) == pytest.approx(0.0001 / (0.0001 + both))


def test_hundreds_of_tests_in_thousands_of_runs_have_a_band() -> None:
    assert band_of(counts(*[(3_000, 3_010, 6_000)] * 800)) is Band.BROKEN
    assert band_of(counts(*[(1, 5_000, 6_000)] * 800)) is Band.FLAKY


def ranked(*reports: Report, merges: tuple[tuple[str, str], ...] = ()) -> list[Banded]:
    past = Past([*reports])
    for number, (sha, branch) in enumerate(merges):
        past = past.announced(Merge(REPO, None, sha, branch, past.facts.reports[number].started_at))
    history = FullRecordedRuns(ORG, past.facts)
    rows = incidents(history, ALL, EVER, Label.PENDING)
    return by_harm(history, rows, seen_products(history, ALL, EVER, rows))


def bands(*reports: Report) -> dict[str, Band]:
    """The band of each incident, by its tests."""
    return {" ".join(row.incident.tests): row.band for row in ranked(*reports)}


def passing(number: int, *tests: str) -> list[Report]:
    return [run(f"p{at}", at / 1000, dict.fromkeys(tests, "P")) for at in range(number)]


def test_a_steady_test_is_broken_and_one_that_fails_now_and_then_is_flaky() -> None:
    before = [
        *passing(40, "boot", "race"),
        *(run(f"q{at}", 1 + at, {"race": "FP"[at % 2]}) for at in range(20)),
    ]
    failing = [run("x", 50, {"boot": "F"}), run("y", 51, {"boot": "F", "race": "F"})]

    assert bands(*before, *failing) == {"boot": Band.BROKEN, "race": Band.FLAKY}


def test_what_the_harness_blames_on_the_bench_on_each_commit_is_the_benchs() -> None:
    before = passing(40, "boot")
    blamed = [run("x", 50, {"boot": "I"}), run("y", 51, {"boot": "I"})]

    assert bands(*before, *blamed) == {"boot": Band.BENCH}
    assert bands(*before, *blamed, run("z", 52, {"boot": "F"})) == {"boot": Band.FLAKY}


def test_runs_that_lost_their_board_are_the_benchs() -> None:
    tests = ("adc", "boot", "i2c", "spi")
    lost = run("x", 50, {"adc": "P", "boot": "F", "i2c": "F", "spi": "F"})

    assert {*bands(*passing(40, *tests), lost).values()} == {Band.BENCH}


def test_reruns_count_as_runs() -> None:
    before = passing(40, "boot")
    rerun = replace(run("x", 51, {"boot": "F"}), run_id=77)

    assert bands(*before, run("x", 50, {"boot": "F"})) == {"boot": Band.FLAKY}
    assert bands(*before, run("x", 50, {"boot": "F"}), rerun) == {"boot": Band.BROKEN}


def test_the_default_branch_comes_first_then_the_band_then_the_harm() -> None:
    before = [
        *passing(60, "often", "twice", "late", "once", "bench"),
        *(run(f"q{at}", 1 + at, {"race": "FP"[at % 2]}) for at in range(20)),
    ]

    def broken(test: str, at: int, runs: int, branch: str = MAIN) -> list[Report]:
        return [
            replace(
                run(f"{test}-{branch}", at + number / 60, {test: "F"}),
                branch=branch,
                run_id=at + number,
            )
            for number in range(runs)
        ]

    rows = ranked(
        *before,
        *broken("often", 100, 6),
        *broken("twice", 200, 3),
        *broken("late", 300, 3),
        *broken("race", 400, 1),
        run("bench-main", 500, {"bench": "I"}),
        *broken("often", 600, 9, "release"),
        *broken("often", 700, 9, "topic"),
        merges=(("p1", MAIN), ("p2", MAIN), ("r", "release")),
    )

    assert [(row.incident.lane.branch, row.incident.tests[0], row.band.value) for row in rows] == [
        (MAIN, "often", "broken"),
        (MAIN, "late", "broken"),
        (MAIN, "twice", "broken"),
        (MAIN, "race", "flaky"),
        (MAIN, "bench", "bench"),
        ("release", "often", "broken"),
        ("topic", "often", "broken"),
    ]
