# SPDX-License-Identifier: Apache-2.0
"""What is said of the results of real boards that an engineer had called wrong, or hard to
understand: each as it was, a letter a commit.
"""

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from hwci.analysis.failures.incidents import failing_incidents
from hwci.analysis.flaky.suspects import SeenProduct, pending_by_test
from hwci.analysis.one_test import one_test
from hwci.analysis.one_test_words import About, Concluded, concluded
from hwci.contract.vocabulary import Claim, Outcome, Trigger, Verdict
from hwci.engine.calendar import calendar_days
from hwci.engine.facts import Facts, Product, Report, TestItem
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from tests.simulation.fleet import EPOCH
from tests.support.outcomes import FullRecordedRuns, outcomes_of

PRODUCT = Product("zephyr", "twister")
TEST = "kernel.memory_protection"
DISCO, LPC, MIMX, NUCLEO = "disco", "lpc", "mimx", "nucleo"
WHOLE = "..............................."
OTHERS = {
    DISCO: "....        ..  .. . ....  .  .",
    MIMX: WHOLE,
    NUCLEO: "....        ..  .. . ....  .  .",
}


def reports_of(boxes: Mapping[str, str]) -> list[Report]:
    """Return the runs of a test on boxes, a letter a commit: it passed (`.`), failed by the
    firmware (`F`) or by the bench (`I`), or did not run. Another test passed in each run, but for
    those in which it alone failed (`O`).
    """
    steady, failed = TestItem("boot", Outcome.PASS, 1), TestItem("boot", Outcome.FAIL, 1)
    items = {
        " ": (steady,),
        "O": (failed,),
        ".": (steady, TestItem(TEST, Outcome.PASS, 1)),
        "F": (steady, TestItem(TEST, Outcome.FAIL, 1, verdict=Verdict.DEVICE)),
        "I": (steady, TestItem(TEST, Outcome.FAIL, 1, verdict=Verdict.INFRA)),
    }
    return [
        Report(
            *(PRODUCT.repo_key, "nightly", PRODUCT.suite, day, 1, Trigger.NIGHTLY, "main"),
            sha=f"{day:08x}",
            started_at=EPOCH + timedelta(days=day, minutes=number),
            ended_at=EPOCH + timedelta(days=day, hours=1),
            conclusion="success",
            hello_ok=True,
            box_key=box,
            tests=items[letter],
        )
        for day in range(len(WHOLE))
        for number, (box, letters) in enumerate(boxes.items())
        for letter in letters.ljust(len(WHOLE))[day]
    ]


def said_of(boxes: Mapping[str, str]) -> Concluded:
    """Return what the page of the test says."""
    reports = reports_of(boxes)
    history = FullRecordedRuns(UUID(int=1), Facts(reports=tuple(reports)))
    period = Period(EPOCH, max(report.started_at for report in reports))
    [runs] = outcomes_of(Facts(reports=tuple(reports)), Scope(), period)
    seen, key = SeenProduct(history, runs), (PRODUCT, TEST)
    test = one_test(history, seen, key, calendar_days(period, ZoneInfo("UTC")), "UTC")
    assert test.all is not None
    pending = pending_by_test(history, [key], period).get(key, [])
    incidents = failing_incidents(history, Scope(), period, TEST) if pending else []
    return concluded(About(seen, TEST, pending, incidents), test, test.all)


@pytest.mark.parametrize(
    ("boxes", "claim", "words"),
    [
        pytest.param(
            {**OTHERS, LPC: "...  ......I...FF........ . ..."},
            Claim.FLAKY,
            (
                "it failed on lpc in 3 of 27 runs and in none of 61 runs elsewhere: too few"
                " failures on commits that other boxes ran, too, to say whether it is that box."
            ),
            id="on one of four boxes, with few failures",
        ),
        pytest.param(
            {**OTHERS, LPC: "I..  ..........F.... ........ ."},
            Claim.TOO_FEW,
            (
                "1 of 87 runs on main failed, besides 1 that the harness blames on the bench; 2"
                " failures are needed. Counting all, it failed on lpc in 2 of 27 runs and in none"
                " of 61 runs elsewhere."
            ),
            id="too few of many runs",
        ),
        pytest.param(
            {**OTHERS, LPC: "...  ..I.........I.IFF... . ..."},
            Claim.ONE_BOX,
            "Flaky on lpc only (",
            id="twice in a row is not broken where it fails now and then",
        ),
        pytest.param(
            {**OTHERS, LPC: "...  ......I...FFF .... ..  .. "},
            Claim.FIXED,
            "Fixed on lpc: it failed there in all 3 runs from 0000000f to 00000011, and",
            id="three times in a row, then passes",
        ),
        pytest.param(
            {
                NUCLEO: "....        ..  .. . ....  F  .",
                DISCO: "....        ..  .. . ....  F  .",
            },
            Claim.FIXED,
            "Fixed: it failed in both runs of 0000001b, and passes now.",
            id="on all boxes of one commit",
        ),
        pytest.param(
            {**OTHERS, MIMX: ".....FF........................", LPC: "...  F......I............."},
            Claim.FIXED,
            "Fixed on lpc and mimx (",
            id="a box passed the last commit that failed on another",
        ),
        pytest.param(
            {DISCO: "....        ..", NUCLEO: "....        ..", LPC: f"{'':20}F I  FIFFIF"},
            Claim.FAILS_NOW,
            "Fails now on lpc: on 8 commits of main since 00000014",
            id="the boxes that passed had left before the one that fails came",
        ),
        pytest.param(
            {
                LPC: ".I.  ......IF...",
                MIMX: "................",
                **dict.fromkeys([DISCO, NUCLEO, "stm"], "....        .."),
            },
            Claim.NOT_SEEN,
            "Not run since 16 Jan: it failed on lpc, not in its last 3 runs, so it may still fail.",
            id="no box runs it any more",
        ),
        pytest.param(
            {MIMX: f"{'':23}F"},
            Claim.NOT_SEEN,
            "Not run since 24 Jan: it ran once, and failed on mimx: not enough data to say more.",
            id="it ran once and was left out",
        ),
        pytest.param(
            {**OTHERS, LPC: "...  .......I.............. . ."},
            Claim.STEADY,
            (
                "Steady: it passed at the first attempt in all of 88 runs on 4 boxes but 1 that the"
                " harness blames on the bench, so it fails in 2.8 % at most (95 % sure)."
            ),
            id="it failed once, by the bench",
        ),
        pytest.param(
            {LPC: f"{'':25}I I"},
            Claim.FAILS_NOW,
            "It never passed in this period, and the harness blames the bench each time.",
            id="it never passed, by the bench",
        ),
        pytest.param(
            {LPC: "...  ...........F. ............", MIMX: "FFFFFFFFFFFFFFFFFF"},
            Claim.NOT_SEEN,
            "Not run on mimx since 18 Jan: it never passed there, so it may still fail.",
            id="the box that never passed runs it no more",
        ),
    ],
)
def test_each_box_is_named_with_what_it_did(
    boxes: Mapping[str, str], claim: Claim, words: str
) -> None:
    conclusion = said_of(boxes)

    assert conclusion.statement.claim is claim
    assert words in conclusion.answer


def test_boxes_that_left_before_the_failing_one_came_do_not_say_since_when() -> None:
    """libraries.cmsis_dsp.interpolation: three boxes passed it and stopped, a fourth never did."""
    conclusion = said_of(
        {DISCO: "....        ..", NUCLEO: "....        ..", LPC: f"{'':20}F I  FIFFIF"}
    )

    assert conclusion.since is None
    assert "It never passed on lpc." in conclusion.says
    assert "5 runs of lpc on main; 20 are needed" in conclusion.says


def test_failures_that_the_harness_blames_on_the_bench_are_told_of() -> None:
    conclusion = said_of({**OTHERS, LPC: "..I  ...........I......F... ..."})

    assert conclusion.statement.claim is Claim.ONE_BOX
    assert "The harness blames the bench for 2 of 3 failures." in conclusion.says


def test_a_test_that_the_bench_fails_three_times_is_not_called_steady() -> None:
    conclusion = said_of({**OTHERS, LPC: "...  ..I.......I......I...... ."})

    assert conclusion.statement.claim is not Claim.STEADY


def test_clean_runs_leave_out_what_the_harness_blames_on_the_bench_and_say_so() -> None:
    conclusion = said_of({LPC: ".F.  F.FF.......I.......... ..", **OTHERS})

    assert "passed at the first attempt, not counting 1 that the harness blames on the bench" in (
        conclusion.says
    )


def test_runs_elsewhere_are_those_on_commits_that_the_box_ran_where_not_all_failed() -> None:
    """zdsp.utils.shift_q31: the other box failed once, on a commit that this one did not run."""
    apart = said_of(
        {**OTHERS, LPC: "FF.  .F.F...........  ... ... .", MIMX: f"{'.' * 21}F{'.' * 9}"}
    )
    together = said_of(
        {**OTHERS, LPC: "...  .F.F...F......FF ....... .", MIMX: f"{'.' * 20}F{'.' * 10}"}
    )

    assert "against 0 of " in apart.says
    assert " elsewhere on the same commits)" in apart.says
    assert "but for 1 commit on which all runs failed" in together.says


def test_what_some_runs_fail_by_the_firmware_is_not_the_benchs_alone() -> None:
    both = said_of({LPC: f"{'':25}I F"})
    bench = said_of({LPC: f"{'':25}I I I"})

    assert "The harness blames the bench" not in both.answer
    assert "The harness blames the bench: look at lpc first" in bench.answer


def test_boxes_on_which_other_tests_began_to_fail_with_it_are_named_beside_where_to_look() -> None:
    other = {LPC: f"{'.' * 25}FFFFFF", MIMX: f"{'':25}OOOOOO"}
    same = {DISCO: f"......{'F' * 25}", LPC: "......FFFFFFFFFF", NUCLEO: WHOLE}

    assert "Other tests began to fail with it, on mimx too: look at " in said_of(other).answer
    assert "No bench stands out" not in said_of(other).answer
    assert "Other tests" not in said_of(same).answer


def test_what_the_bench_fails_each_time_is_said_once() -> None:
    conclusion = said_of({LPC: f"{'':25}I I"})

    assert "the harness blames the bench each time" in conclusion.answer
    assert "harness" not in conclusion.says
