# SPDX-License-Identifier: Apache-2.0
"""What is claimed of a test, and its words: each claim by a planted cause or by what is known, and
which is made where several hold.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from hwci.analysis.benches.blame import Blame, OnCommit, Uncompared, blame
from hwci.analysis.benches.trials import Earlier, Side
from hwci.analysis.failures.incidents import failing_incidents
from hwci.analysis.flaky.suspect_words import of_change, of_found
from hwci.analysis.flaky.suspects import (
    NEVER_PASSED,
    Intermittent,
    SeenProduct,
    Suspect,
    Tried,
    bisected,
)
from hwci.analysis.one_test import one_test
from hwci.analysis.outcomes import FirstAttempts, RunOutcomes
from hwci.analysis.statement_words import Answer, answer
from hwci.analysis.statements import (
    CLAIMS,
    Failing,
    Known,
    known_of,
    known_of_row,
    look_first_at,
    statement_of,
)
from hwci.contract.boxes.benches import Note
from hwci.contract.vocabulary import Claim, CommitKind, Outcome, Verdict
from hwci.engine.calendar import calendar_days
from hwci.engine.facts import Facts, Report
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from hwci.said import tenths
from tests.analysis.races import EVER, ONE, RACE, only, planted, text_of
from tests.simulation.calibration.page import recorded
from tests.simulation.calibration.statements import said_of
from tests.simulation.fleet import EPOCH, Cause, Kind
from tests.support.outcomes import FullRecordedRuns
from tests.support.strata import columns

ORDER = (
    Claim.NO_RUN,
    Claim.NOT_SEEN,
    Claim.FAILS_NOW,
    Claim.BROKEN,
    Claim.LOST_BOARD,
    Claim.STEADY,
    Claim.FIXED,
    Claim.MENDED,
    Claim.ONE_BOX,
    Claim.GROUP,
    Claim.TOO_FEW,
    Claim.ALIKE,
    Claim.ONLY_BOX,
    Claim.FLAKY,
)

A, B, C = "bench-1", "bench-2", "bench-3"
BOXES = (A, B, C, "bench-4")
BUG = Cause(Kind.BUG, ONE, rate=1.0)
FROM_START = replace(RACE, since=0)
ON_ONE = Cause(Kind.BOX_TEST, ONE, frozenset({B}), rate=0.3)
ON_TWO = Cause(Kind.BOX_TEST, ONE, frozenset({B, "bench-4"}), rate=0.4)
SUSPECT_BENCH = "suspect the bench, or firmware that only its board runs"
SHARED = "look at what these boxes share, such as a board type, a probe or a supply"
ON_B_ALONE = "it failed on bench-2 in 20 of 60 runs and in none of 180 runs elsewhere"
TOO_FEW_OF_BOX = (
    "too few failures on commits that other boxes ran, too, to say whether it is that box"
)
NOT_COMPARED = "its boxes cannot be compared, as no two ran the same commits"
TOO_FEW = "8 runs on main; 20 are needed"
FAILING = Failing("main", [B], 8, 8, "19943d373e8f" + "0" * 28, EPOCH)
SELDOM = FAILING._replace(commits=1, in_a_row=1)
FAILS_NOW = "Fails now on bench-2: on 8 commits of main since 19943d373e8f of 1 Jan"
SELDOM_NOW = "Fails now on bench-2: on 1 commit of main since 19943d373e8f of 1 Jan"
LEFT = EPOCH + timedelta(days=2)


def row_of(facts: Facts) -> tuple[Suspect, Intermittent]:
    row = only(facts)
    assert row.found is not None
    return row, row.found


def told(facts: Facts) -> Answer:
    """Return what is said of the only flaky test, in its row."""
    row = only(facts)
    history = FullRecordedRuns(UUID(int=1), facts)
    return answer(known_of_row(row, failing_incidents(history, Scope(), EVER, row.test.test_id)))


def runs_lost(boxes: Sequence[str]) -> list[RunOutcomes]:
    """Return runs on these boxes that lost their board."""
    _, runs = recorded(planted(BUG))
    return [next(run for run in runs.runs if run.box_key == box) for box in boxes]


def tried(
    failed: int = 20,
    boxes: Sequence[str] = BOXES,
    runs: int = 240,
    failed_on: Sequence[str] | None = None,
    **changed: Any,
) -> Tried:
    """Return tries of so many runs, shared among boxes, of which so many failed; None: on the
    second of them, or the only one.
    """
    failed_on = boxes[:2][-1:] if failed_on is None else failed_on
    on_boxes = {
        box: FirstAttempts(
            failed // len(failed_on) if box in failed_on else 0,
            len(range(number, runs, len(boxes))),
        )
        for number, box in enumerate(boxes)
    }
    return Tried(on_boxes, {}, [], 0, 20)._replace(**changed)


def strata(**failed: int) -> list[Mapping[Side, OnCommit]]:
    """Return 60 commits that all boxes ran once: on each box, so many of them failed."""
    fails = {name.replace("_", "-"): number for name, number in failed.items()}
    return [
        {
            box: OnCommit((7 * at + 17 * number) % 60 < fails.get(box, 0), 1)
            for number, box in enumerate(BOXES)
        }
        for at in range(60)
    ]


def blamed(**failed: int) -> Blame[Side]:
    found = blame(*columns(strata(**failed)))
    assert found is not None
    return found


ON_B = blamed(bench_2=20)
ON_B_MOSTLY = blamed(bench_2=20, bench_3=1)
ON_B_LIKELY = replace(ON_B, one=0.82, alike=0.18)
ON_B_AND_C = blamed(bench_2=20, bench_3=20)
ON_MOST = replace(ON_B_AND_C, group=0.8, boxes=(A, B, C), perhaps=("bench-4",), others=())
ON_ALL = blamed(bench_1=20, bench_2=20, bench_3=20, bench_4=20)
UNDECIDED = blamed(bench_2=2, bench_3=1)
BEFORE_NOTE: Blame[Side] = replace(ON_B, boxes=(Earlier(B),))
NOTES = {B: Note(at=EPOCH + timedelta(days=3), text="new cable")}

_, FLAKY = row_of(planted(FROM_START).facts)
_, FIXED = row_of(planted(replace(RACE, until=30)).facts)
_, MENDED_BUG = row_of(planted(replace(BUG, since=20, until=30)).facts)
_, MENDED_BY_ONE = row_of(planted(replace(BUG, since=30, until=31)).facts)
BROKEN = replace(FLAKY, broken_for=3, passes_again=False, fixed=replace(FLAKY.fixed, clean_runs=0))
BROKEN_PARTLY = replace(BROKEN, fixed=replace(FLAKY.fixed, clean_runs=3))
BEGAN = "as far back as runs go (1 Jan)"


def likeliest(found: Intermittent, kind: CommitKind, share: float = 0.72) -> Intermittent:
    """Return it with one commit of a kind that did it with this chance."""
    [one, *_] = row_of(planted(RACE).facts)[1].since.suspects
    suspects = (replace(one, chance=share),)
    since = replace(found.since, suspects=suspects, before=0, by_kind={kind: 1.0})
    return replace(found, since=since)


def of_two(found: Intermittent, other: CommitKind = CommitKind.HARNESS) -> Intermittent:
    """Return it with two commits, one of the firmware, either of which did it."""
    suspects = row_of(planted(RACE).facts)[1].since.suspects[:2]
    kinds = (CommitKind.FIRMWARE, other)
    of_kinds = tuple(
        replace(suspect, kind=kind, chance=0.5)
        for suspect, kind in zip(suspects, kinds, strict=True)
    )
    since = replace(found.since, suspects=of_kinds, suspects_total=2, before=0)
    return replace(found, since=since)


SINCE_ONE = likeliest(FLAKY, CommitKind.FIRMWARE)
OTHER = row_of(planted(RACE).facts)[1].since.suspects[1].sha[:12]
SHA = SINCE_ONE.since.suspects[0].sha[:12]
DAY = "2 Jan"
SINCE = f"since {SHA} of {DAY} (72 % sure)"
ALONE = replace(FLAKY, boxes=replace(FLAKY.boxes, boxes_total=1, alike=None))
LOST = tried(4, failed_on=[A, B, C, "bench-4"], lost_here=runs_lost([A, B, B, C]), lost=4)
LOST_ONCE = tried(1, lost_here=runs_lost([B]), lost=3)


@pytest.mark.parametrize(
    ("known", "claim", "sentence", "few_words"),
    [
        (
            Known(tried(0, runs=0, boxes=[]), None, TOO_FEW, None),
            Claim.NO_RUN,
            "Not enough data: all runs were lost before the test",
            "not enough data",
        ),
        (
            Known(tried(gone={B: LEFT}), None, replace(FLAKY, judged_on={B}), ON_B),
            Claim.NOT_SEEN,
            ("Not run on bench-2 since 3 Jan: it was flaky there, so it may still be"),
            "not run on bench-2 since 3 Jan",
        ),
        (
            Known(
                tried(gone={B: LEFT, C: LEFT - timedelta(days=1)}, failed_on=[B, C]),
                None,
                replace(BROKEN, judged_on={B, C}),
                ON_B_AND_C,
            ),
            Claim.NOT_SEEN,
            ("Not run on bench-2 and bench-3 since 3 Jan: it was broken there, so it may still be"),
            "not run on bench-2 and bench-3 since 3 Jan",
        ),
        (
            Known(
                tried(boxes=[B, C], gone={B: LEFT, C: LEFT + timedelta(days=1)}),
                None,
                replace(FLAKY, judged_on={C}),
                None,
            ),
            Claim.NOT_SEEN,
            "Not run since 4 Jan: it was flaky on bench-3, so it may still be",
            "not run since 4 Jan",
        ),
        (
            Known(tried(gone={B: LEFT}, never_passed_on={B}, failed_last={B}), None, TOO_FEW, None),
            Claim.NOT_SEEN,
            "Not run on bench-2 since 3 Jan: it never passed there, so it may still fail",
            "not run on bench-2 since 3 Jan",
        ),
        (
            Known(tried(gone={B: LEFT}, failed_last={B}), FAILING, TOO_FEW, None),
            Claim.NOT_SEEN,
            ("Not run on bench-2 since 3 Jan: it failed there, so it may still fail"),
            "not run on bench-2 since 3 Jan",
        ),
        (
            Known(tried(), FAILING, FLAKY, ON_B, ["Look at bench-2 first"]),
            Claim.FAILS_NOW,
            f"{FAILS_NOW}. Look at bench-2 first",
            "fails now on bench-2",
        ),
        (
            Known(tried(240), FAILING, NEVER_PASSED, None),
            Claim.FAILS_NOW,
            f"{FAILS_NOW}. Broken: {NEVER_PASSED}",
            "fails now on bench-2",
        ),
        (
            Known(tried(240), None, NEVER_PASSED, None),
            Claim.BROKEN,
            f"Broken: {NEVER_PASSED}",
            "broken",
        ),
        (
            Known(tried(), None, BROKEN, None),
            Claim.BROKEN,
            f"Broken {BEGAN}: it has not passed since",
            "broken",
        ),
        (
            Known(tried(), None, BROKEN_PARTLY, None),
            Claim.BROKEN,
            f"Broken {BEGAN}: it has not passed on each box since",
            "broken",
        ),
        (
            Known(LOST, None, FIXED, None),
            Claim.LOST_BOARD,
            (
                "4 runs on 3 boxes lost the board at this test: suspect what it does to the board"
                " first"
            ),
            "lost the board 4 times",
        ),
        (
            Known(LOST_ONCE, None, "1 of 240 runs on main failed", None),
            Claim.LOST_BOARD,
            (
                "Not steady: 1 run on bench-2 lost the board at this test, of 3 runs that lost it"
                " at any test; that may be chance"
            ),
            "lost the board once",
        ),
        (
            Known(tried(0, runs=700), None, "0 of 700 runs on main failed", None),
            Claim.STEADY,
            (
                "Steady: it passed at the first attempt in all of 700 runs on 4 boxes, so it fails"
                " in 0.4 % at most (95 % sure)"
            ),
            "steady",
        ),
        (
            Known(tried(), None, FIXED, ON_ALL),
            Claim.FIXED,
            (
                "Fixed (over 99 % sure): it was flaky since one of 5 commits, likeliest"
                " 8c497c680000 (21 %)"
            ),
            "fixed",
        ),
        (
            Known(tried(), None, MENDED_BUG, None),
            Claim.FIXED,
            "Fixed: it failed in all 20 runs from f50592850000 to f463b3370000, and passes now",
            "fixed",
        ),
        (
            Known(tried(), None, MENDED_BY_ONE, None),
            Claim.FIXED,
            "Fixed: it failed in all 5 runs of bd91a1b70000, and passes now",
            "fixed",
        ),
        (
            Known(tried(), None, of_two(FLAKY), ON_ALL),
            Claim.ALIKE,
            (
                "Flaky on bench-1, bench-2, bench-3 and bench-4 alike, since one of 2 commits:"
                f" {SHA} or {OTHER}: a race in the firmware or in the test is likely"
            ),
            "flaky, boxes alike",
        ),
        (
            Known(tried(), None, FLAKY, BEFORE_NOTE, notes=NOTES),
            Claim.MENDED,
            "Flaky on bench-2 only, before the note of 4 Jan: what was done may have mended it",
            "flaky on bench-2 only",
        ),
        (
            Known(tried(), None, FLAKY, ON_B),
            Claim.ONE_BOX,
            f"Flaky on bench-2 only, {BEGAN}: {SUSPECT_BENCH}",
            "flaky on bench-2 only",
        ),
        (
            Known(tried(22, failed_on=[B, C]), None, FLAKY, ON_B_MOSTLY),
            Claim.ONE_BOX,
            f"Flaky, mostly on bench-2, {BEGAN}: {SUSPECT_BENCH}",
            "flaky, mostly on bench-2",
        ),
        (
            Known(tried(), None, TOO_FEW, ON_B_LIKELY),
            Claim.ONE_BOX,
            f"Flaky on bench-2 only (82 % sure): {SUSPECT_BENCH}",
            "flaky on bench-2 only",
        ),
        (
            Known(tried(), None, SINCE_ONE, ON_B),
            Claim.ONE_BOX,
            (
                f"Flaky on bench-2 only, {SINCE}: suspect the bench, or {SHA} if it breaks that"
                " board alone"
            ),
            "flaky on bench-2 only",
        ),
        (
            Known(tried(40), SELDOM, FLAKY, ON_B, ["Look at bench-1 first"]),
            Claim.ONE_BOX,
            f"{SELDOM_NOW}. Flaky on bench-2 only, {BEGAN}: {SUSPECT_BENCH}",
            "fails now on bench-2",
        ),
        (
            Known(tried(40), None, FLAKY, ON_B_AND_C),
            Claim.GROUP,
            f"Flaky on bench-2 and bench-3, not on bench-1 and bench-4, {BEGAN}: {SHARED}",
            "flaky on bench-2 and bench-3",
        ),
        (
            Known(tried(60), None, TOO_FEW, ON_MOST),
            Claim.GROUP,
            f"Flaky on bench-1, bench-2 and bench-3 (80 % sure): {SHARED}",
            "flaky on bench-1, bench-2 and bench-3",
        ),
        (
            Known(tried(), None, TOO_FEW, None),
            Claim.TOO_FEW,
            (f"Not enough data to say whether it is flaky: {TOO_FEW}. Counting all, {ON_B_ALONE}"),
            "not enough data",
        ),
        (
            Known(tried(0, runs=8), None, TOO_FEW, None),
            Claim.TOO_FEW,
            "Not enough data to call it steady: it passed in 8 runs on 4 boxes; 20 are needed",
            "not enough data",
        ),
        (
            Known(tried(80), None, FLAKY, ON_ALL),
            Claim.ALIKE,
            (
                f"Flaky on bench-1, bench-2, bench-3 and bench-4 alike, {BEGAN}: a race in the"
                " firmware or in the test is likely"
            ),
            "flaky, boxes alike",
        ),
        (
            Known(
                tried(80),
                None,
                replace(SINCE_ONE, boxes=replace(SINCE_ONE.boxes, boxes_total=4)),
                replace(ON_ALL, alike=0.8),
            ),
            Claim.ALIKE,
            f"Flaky on all boxes alike (80 % sure), {SINCE}: a race in the firmware is likely",
            f"flaky since {SHA}, all boxes alike",
        ),
        (
            Known(tried(boxes=[A]), None, ALONE, None),
            Claim.ONLY_BOX,
            (
                f"Flaky, {BEGAN}: only bench-1 ran it, so run it on another box to tell the bench"
                " from the firmware"
            ),
            "flaky on its only box",
        ),
        (
            Known(tried(), None, FLAKY, UNDECIDED),
            Claim.FLAKY,
            f"Flaky, {BEGAN}: {ON_B_ALONE}: {TOO_FEW_OF_BOX}",
            "flaky",
        ),
        (
            Known(tried(uncompared=Uncompared(False)), None, SINCE_ONE, None),
            Claim.FLAKY,
            f"Flaky, {SINCE}: {ON_B_ALONE}: {NOT_COMPARED}",
            f"flaky since {SHA}",
        ),
        (
            Known(tried(uncompared=Uncompared(True)), None, SINCE_ONE, None),
            Claim.FLAKY,
            f"Flaky, {SINCE}: {ON_B_ALONE}: {TOO_FEW_OF_BOX}",
            f"flaky since {SHA}",
        ),
        (
            Known(tried(uncompared=Uncompared(True, [A, B])), None, SINCE_ONE, None),
            Claim.FLAKY,
            f"Flaky, {SINCE}: it failed on bench-1 and bench-2 alike",
            f"flaky since {SHA}",
        ),
    ],
)
def test_each_claim_is_made_of_what_is_known_in_these_words(
    known: Known, claim: Claim, sentence: str, few_words: str
) -> None:
    found = answer(known)

    assert (found.statement.claim, found.sentence, found.few_words) == (claim, sentence, few_words)
    named = re.findall(r"bench-\d", few_words)
    if claim in {Claim.FAILS_NOW, Claim.ONE_BOX, Claim.MENDED}:
        assert [found.box] == named
    assert found.box in {None, *named}
    assert found.names_only_box is (claim is Claim.ONLY_BOX)
    assert bool(found.to_tell) is (claim is Claim.ONE_BOX)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (CommitKind.FIRMWARE, "a race in the firmware is likely"),
        (CommitKind.HARNESS, "a race in the harness is likely"),
        (CommitKind.BOTH, "a race in the firmware or in the harness is likely"),
        (CommitKind.OTHER, "suspect that commit"),
        (CommitKind.UNKNOWN, "suspect that commit"),
    ],
)
def test_alike_on_all_boxes_since_a_commit_is_a_race_in_what_it_changed(
    kind: CommitKind, why: str
) -> None:
    found = likeliest(FLAKY, kind)

    assert answer(Known(tried(80), None, found, ON_ALL)).sentence.endswith(f"{SINCE}: {why}")


def test_what_one_of_two_commits_changed_is_said_if_both_changed_it() -> None:
    harness, firmware = of_two(FLAKY), of_two(FLAKY, CommitKind.FIRMWARE)

    assert of_change(harness.since) == ""
    assert of_change(firmware.since) == "the commit changed firmware only"
    assert "likely" not in of_found(harness, Claim.FLAKY)
    assert "one of 2 commits" in of_found(harness, Claim.FLAKY)


def _all_known() -> list[Known]:
    """Return what may be known of a test, all that can be together."""
    few = (
        tried(0, runs=0, boxes=[]),
        tried(0),
        tried(0, runs=8),
        tried(boxes=[A]),
        tried(),
        tried(gone={B: LEFT}),
        LOST,
        LOST_ONCE,
    )
    suggested: Sequence[Intermittent | str] = (TOO_FEW, NEVER_PASSED, BROKEN, FIXED, FLAKY)
    judged = (None, ON_B, BEFORE_NOTE, ON_B_AND_C, ON_ALL, UNDECIDED)
    places = (None, SELDOM, FAILING)
    return [
        Known(counts, failing if counts.failed else None, found, explains, notes=NOTES)
        for counts, failing, found, explains in product(few, places, suggested, judged)
        if counts.failed or isinstance(found, str)
    ]


def test_of_all_claims_that_hold_the_first_is_made() -> None:
    together: set[tuple[Claim, Claim]] = set()
    made: set[Claim] = set()
    for known in _all_known():
        hold = [claim for claim in ORDER if CLAIMS[claim](known)]
        together.update(combinations(hold, 2))
        made.add(statement_of(known).claim)
        assert statement_of(known).claim is hold[0]
        assert answer(known).statement.claim is hold[0]

    assert [*CLAIMS] == [*ORDER]
    assert made == {*ORDER}
    # Only these neighbours never hold at once: their counts or what explains the failures differ.
    assert {*pairwise(ORDER)} - together == {
        (Claim.NO_RUN, Claim.NOT_SEEN),
        (Claim.LOST_BOARD, Claim.STEADY),
        (Claim.STEADY, Claim.FIXED),
        (Claim.ONE_BOX, Claim.GROUP),
    }


def test_the_semantics_list_the_claims_in_their_order() -> None:
    page = (Path(__file__).parents[2] / "docs/semantics.md").read_text()
    section = page.split("## 14. What is said of a test")[1].split("\n## ")[0]

    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == [claim.value for claim in CLAIMS]


@pytest.mark.parametrize(
    ("known", "first", "then"),
    [
        (Known(tried(gone={B: LEFT}), None, FIXED, ON_B), Claim.NOT_SEEN, Claim.FIXED),
        (Known(tried(gone={B: LEFT}), FAILING, FLAKY, ON_B), Claim.NOT_SEEN, Claim.FAILS_NOW),
        (Known(LOST, None, FIXED, None), Claim.LOST_BOARD, Claim.FIXED),
        (Known(tried(), None, FIXED, ON_B), Claim.FIXED, Claim.ONE_BOX),
        (Known(tried(), None, FIXED, ON_ALL), Claim.FIXED, Claim.ALIKE),
        (Known(tried(), FAILING, FLAKY, ON_B), Claim.FAILS_NOW, Claim.ONE_BOX),
        (Known(tried(), None, FLAKY, BEFORE_NOTE, notes=NOTES), Claim.MENDED, Claim.ONE_BOX),
        (Known(tried(), None, TOO_FEW, ON_B), Claim.ONE_BOX, Claim.TOO_FEW),
        (Known(tried(), None, TOO_FEW, ON_ALL), Claim.TOO_FEW, Claim.ALIKE),
    ],
)
def test_the_claim_that_would_send_people_astray_gives_way(
    known: Known, first: Claim, then: Claim
) -> None:
    assert CLAIMS[first](known)
    assert CLAIMS[then](known)
    assert statement_of(known).claim is first


def test_one_failure_elsewhere_changes_a_nuance_and_not_the_culprit() -> None:
    tries = (tried(), tried(22, failed_on=[B, C]))
    none, one = (
        answer(Known(counts, None, FLAKY, found))
        for counts, found in zip(tries, (ON_B, ON_B_MOSTLY), strict=True)
    )

    assert none.statement.claim is one.statement.claim is Claim.ONE_BOX
    assert none.statement.boxes == one.statement.boxes == (B,)
    assert (none.statement.others_failed, one.statement.others_failed) == (0, 1)
    only, mostly = none.few_words.capitalize(), one.few_words.capitalize()
    assert one.sentence == none.sentence.replace(only, mostly)


def test_a_statement_has_the_counts_of_its_boxes_and_of_the_others_and_how_sure_it_is() -> None:
    found = statement_of(Known(tried(21), None, FLAKY, ON_B_MOSTLY))

    assert (found.failed, found.runs, found.others_failed, found.others_runs) == (20, 60, 1, 180)
    assert found.others == (A, C, "bench-4")
    assert found.chance == ON_B_MOSTLY.one > 0.99
    alike = statement_of(Known(tried(80), None, FLAKY, ON_ALL))
    assert (alike.boxes, alike.others, alike.failed, alike.runs) == ((*BOXES,), (), 80, 240)
    lost = statement_of(Known(LOST, None, FLAKY, None))
    assert (lost.boxes, lost.lost_here, lost.failed, lost.runs) == ((A, B, C), 4, 4, 240)


@pytest.mark.parametrize(
    ("facts", "claim"),
    [
        (planted(ON_ONE).facts, Claim.ONE_BOX),
        (planted(ON_TWO).facts, Claim.GROUP),
        (planted(FROM_START).facts, Claim.ALIKE),
        (planted(RACE, boxes=1, runs=60).facts, Claim.ONLY_BOX),
        (planted(replace(RACE, until=30)).facts, Claim.FIXED),
        (planted(replace(BUG, since=20)).facts, Claim.FAILS_NOW),
        (planted(BUG).facts, Claim.FAILS_NOW),
        (planted(replace(ON_ONE, rate=0.4), leaves=(B, 40)).facts, Claim.NOT_SEEN),
        (planted(FROM_START, runs=10).facts, Claim.TOO_FEW),
    ],
)
def test_a_planted_cause_is_claimed(facts: Facts, claim: Claim) -> None:
    assert told(facts).statement.claim is claim


@pytest.mark.parametrize("seed", range(8))
def test_a_test_that_hangs_the_board_in_some_of_60_runs_is_never_steady_nor_fixed(
    seed: int,
) -> None:
    hang = Cause(Kind.HANG, ONE, rate=1 / 15)
    fleet = planted(hang, runs=60, tests=20, seed=seed)
    found = said_of(fleet)
    hung = [
        report.run_id
        for report in fleet.facts.reports
        if all(item.outcome.value == "fail" for item in report.tests)
    ]

    assert found.statement.lost_here == len(hung)
    assert found.statement.claim is (Claim.LOST_BOARD if hung else Claim.STEADY)
    assert found.answer.startswith("Steady") is not bool(hung)


def test_a_clean_test_of_700_runs_fails_in_half_a_percent_at_most() -> None:
    found = said_of(planted(runs=700))

    assert found.statement.claim is Claim.STEADY
    most = re.search(r"so it fails in ([\d.]+) % at most", found.answer)
    assert most
    assert float(most[1]) <= 0.5


def test_how_often_a_steady_test_fails_at_most_is_the_end_of_the_interval_in_its_table() -> None:
    history, runs = recorded(planted(runs=128))
    days = calendar_days(Period(EPOCH, max(run.started_at for run in runs.runs)), ZoneInfo("UTC"))
    seen = SeenProduct(history, runs)
    tries = one_test(history, seen, (runs.product, "test_000"), days, "UTC").all
    assert tries is not None
    assert tries.first.high is not None
    told = answer(Known(tried(0, runs=tries.first.total), None, "0 of 128 runs failed", None))

    assert f"fails in {tenths(100 * tries.first.high)} % at most" in told.sentence


@pytest.mark.parametrize("seed", range(5))
def test_a_box_that_failed_and_left_makes_it_not_seen_and_never_fixed(seed: int) -> None:
    fleet = planted(replace(ON_ONE, rate=0.4), leaves=(B, 40), seed=seed)
    found = said_of(fleet)
    last = max(report.started_at for report in fleet.facts.reports if report.box_key == B)

    assert found.statement.claim is Claim.NOT_SEEN
    assert (found.statement.boxes, found.statement.since) == ((B,), last)
    assert "ixed" not in found.answer + found.says


def test_a_test_that_is_broken_on_one_box_while_others_pass_is_not_a_bug_of_all() -> None:
    on_one = Cause(Kind.BUG, ONE, frozenset({B}), rate=1.0)
    found = said_of(planted(on_one))

    assert found.statement.claim is Claim.FAILS_NOW
    assert found.statement.boxes == (B,)
    assert found.answer.startswith("Fails now on bench-2: on ")
    assert (
        "Over the period it fails on bench-2 only (41 of 41 runs against 0 of 164 elsewhere"
        in found.says
    )


def _group(boxes: Sequence[str], others: Sequence[str]) -> str:
    """Return what is said of failures on these boxes, not on the others."""
    found = replace(ON_B_AND_C, boxes=tuple(boxes), others=tuple(others))
    known = Known(tried(40, boxes=[*boxes, *others]), None, FLAKY, found)
    return answer(known).sentence.partition(f", {BEGAN}")[0]


def test_a_group_is_called_by_how_its_names_begin_where_no_other_one_begins_so() -> None:
    nrf, stm = ["nrf-1", "nrf-2", "nrf-3"], ["stm-1", "stm-2"]

    assert _group(nrf, stm) == (
        "Flaky on nrf-1, nrf-2 and nrf-3 (all nrf-…), not on stm-1 and stm-2"
    )
    assert _group(nrf[:2], stm) == "Flaky on nrf-1 and nrf-2 (all nrf-…), not on stm-1 and stm-2"
    assert "(" not in _group(nrf[:2], ["nrf-3", "stm-1"])
    assert "(" not in _group(["nrf-1", "nrx-1"], stm)
    assert "(" not in _group(["nrf1", "nrf2"], ["stm1"])
    assert "(" not in _group(nrf, [])


def test_a_box_to_blame_is_not_the_only_one_where_it_failed_on_commits_that_all_fail_too() -> None:
    """libraries.heap of the real boards: on two commits, it failed on all that ran it."""
    facts = planted(Cause(Kind.BOX_TEST, ONE, frozenset({B}), rate=0.4)).facts
    shas = [*dict.fromkeys(report.sha for report in facts.reports)][10:12]
    found = said_of(replace(planted(), facts=with_test(facts, shas, "fail")))

    assert found.statement.claim is Claim.ONE_BOX
    assert found.statement.others_failed == 0
    assert found.answer.startswith("Flaky, mostly on bench-2")
    assert "It fails more on bench-2 than elsewhere (" in found.says


def with_test(facts: Facts, shas: Collection[str], outcome: str | None) -> Facts:
    """Return the facts with another outcome of the first test on these commits; None: it is left
    out.
    """

    def changed(report: Report) -> Report:
        first, *others = report.tests
        if outcome is None:
            return replace(report, tests=tuple(others))
        item = replace(first, outcome=Outcome(outcome), verdict=Verdict.DEVICE)
        return replace(report, tests=(item, *others))

    reports = [
        changed(report) if report.sha in shas else report
        for report in sorted(facts.reports, key=lambda report: report.started_at)
    ]
    return replace(facts, reports=tuple(reports))


def test_a_test_whose_only_run_failed_fails_now_and_is_not_called_broken() -> None:
    facts = planted(replace(BUG, since=0)).facts
    first = min(facts.reports, key=lambda report: report.started_at)
    found = said_of(replace(planted(), facts=replace(facts, reports=(first,))))

    assert found.statement.claim is Claim.FAILS_NOW
    assert "roken" not in found.answer
    assert "ot enough data to say more: 1 run on main; 20 are needed" in found.says


def test_a_failing_test_that_no_box_runs_any_more_is_not_seen_and_does_not_fail_now() -> None:
    """bootloader.mcuboot.swap_using_move of the real boards: it never passed, and was left out."""
    facts = planted(replace(BUG, since=20)).facts
    shas = [*dict.fromkeys(report.sha for report in with_test(facts, (), None).reports)]
    dropped = said_of(replace(planted(), facts=with_test(facts, shas[30:], None)))
    lately = said_of(replace(planted(), facts=with_test(facts, shas[-3:], None)))

    assert dropped.statement.claim is Claim.NOT_SEEN
    assert dropped.answer.startswith("Not run since ")
    assert lately.statement.claim is Claim.FAILS_NOW


def test_a_test_fails_now_on_the_boxes_that_still_run_it_and_was_not_seen_on_the_others() -> None:
    """bootloader.mcuboot of the real boards: one of its two boxes was left out for months."""
    facts = planted(replace(BUG, since=20)).facts
    shas = [*dict.fromkeys(report.sha for report in with_test(facts, (), None).reports)][30:]
    reports = [
        replace(report, tests=report.tests[1:])
        if report.box_key == B and report.sha in shas
        else report
        for report in facts.reports
    ]
    found = said_of(replace(planted(), facts=replace(facts, reports=tuple(reports))))

    assert found.statement.claim is Claim.FAILS_NOW
    assert B not in found.statement.boxes
    assert "It failed on bench-2, too, and was not run there since " in found.says


def test_a_test_of_few_runs_whose_last_run_passed_where_it_failed_may_not_still_be_failing() -> (
    None
):
    """crypto.secp256r1 of the real boards: it failed once on a box, and passed its last two."""
    passed = Known(tried(gone={B: LEFT}), None, TOO_FEW, None)
    failed = Known(tried(gone={B: LEFT}, failed_last={B}), None, TOO_FEW, None)

    assert statement_of(passed).claim is Claim.TOO_FEW
    assert statement_of(failed).claim is Claim.NOT_SEEN


def test_what_is_missing_names_the_boxes_whose_runs_alone_count() -> None:
    """kernel.common.lto of the real boards: 18 of its 45 runs are of the box to blame."""
    on_one = Cause(Kind.BOX_TEST, ONE, frozenset({B}), rate=1.0)
    fleet = planted(on_one, runs=60, verdicts=0.0)
    history, runs = recorded(fleet)

    assert SeenProduct(history, runs).suggested("test_000") == (
        "13 runs of bench-2 on main; 20 are needed"
    )


def test_what_fails_now_on_other_boxes_is_not_put_on_the_box_to_blame() -> None:
    one, two = (SELDOM._replace(boxes=boxes) for boxes in ([A, B], [A, B, C]))

    assert statement_of(Known(tried(40), one, FLAKY, ON_B)).claim is Claim.ONE_BOX
    found = answer(Known(tried(40), two, FLAKY, ON_B, ["No bench stands out"]))
    assert found.statement.claim is Claim.FAILS_NOW
    assert found.sentence.startswith("Fails now on 3 boxes: ")
    assert found.sentence.endswith(". No bench stands out")


def test_what_is_said_of_the_incident_of_a_test_is_of_its_branch_and_boxes_and_no_two_things() -> (
    None
):
    row, found = row_of(planted(replace(BUG, since=20)).facts)
    history = FullRecordedRuns(UUID(int=1), planted(replace(BUG, since=20)).facts)
    [one] = failing_incidents(history, Scope(), EVER, row.test.test_id)
    other = one._replace(look_first="Look at bench-2 first")
    release = replace(found, since=replace(found.since, branch="release"))

    assert known_of(tried(), row.pending, found, None, [one, one]).look_first == [one.look_first]
    assert not known_of(tried(), row.pending, found, None, [one, other]).look_first
    here = FAILING._replace(boxes=[one.incident.lane.box_key])
    assert look_first_at(here, row.pending, [one])
    assert not look_first_at(FAILING._replace(boxes=["bench-9"]), row.pending, [one])
    assert not known_of(tried(), row.pending, release, None, [one]).look_first
    assert not look_first_at(FAILING._replace(branch="release"), row.pending, [one])


def test_a_pass_on_one_box_alone_does_not_show_that_a_broken_test_is_fixed() -> None:
    facts = planted(replace(BUG, since=20, until=30)).facts
    _, mended = row_of(facts)
    runs = sorted(facts.reports, key=lambda report: report.started_at)
    once = replace(facts, reports=tuple(runs[: len(runs) - mended.fixed.clean_runs + 1]))
    row, found = row_of(once)

    assert (found.fixed.clean_runs, mended.is_fixed, found.is_fixed) == (1, True, False)
    assert told(once).sentence.startswith("Fails now on 4 boxes: on 4 commits of main since ")
    assert text_of(row).startswith("broken since one of 3 commits")
    assert bisected(found).bisection is not None


def test_a_failure_on_another_branch_is_no_failure_of_the_branch_that_was_looked_at() -> None:
    row, found = row_of(planted(replace(BUG, since=20)).facts)
    other = replace(found, since=replace(found.since, branch="release"))

    assert known_of(tried(), row.pending, found, None).failing is not None
    assert known_of(tried(), row.pending, other, None).failing is None
    assert known_of(tried(), row.pending, "too few", None).failing is not None


def test_a_test_that_never_failed_but_behind_lost_boards_does_not_fail_now() -> None:
    row, found = row_of(planted(replace(BUG, since=20)).facts)

    assert known_of(tried(0), row.pending, found, None).failing is None


def test_a_row_of_a_test_that_still_fails_does_not_say_that_it_is_fixed() -> None:
    """One failed behind a lost board: the run tells nothing of it, the rules count the failure."""
    row, found = row_of(planted(replace(RACE, until=45)).facts)
    pending = row_of(planted(replace(BUG, since=20)).facts)[0].pending
    failing = replace(row, pending=pending[:1])

    assert found.is_fixed
    assert text_of(row).startswith("fixed (")
    assert text_of(failing).startswith("flaky ")
