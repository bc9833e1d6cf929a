# SPDX-License-Identifier: Apache-2.0
"""Whether a test fails now, is flaky or was fixed, and whom to suspect: each answer, by a planted
cause or by what is known.
"""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from hwci.analysis.benches.report import Note
from hwci.analysis.flaky.branch_order import CommitKind
from hwci.analysis.flaky.suspects import NEVER_PASSED, Intermittent, Suspect, standing_out
from hwci.analysis.suspected import Failing, Known, Suspected, known_of, look_first, suspected
from hwci.engine.facts import Facts
from tests.analysis.races import ONE, RACE, only, planted
from tests.simulation.fleet import EPOCH, Cause, Kind

BUG = Cause(Kind.BUG, ONE, rate=1.0)
ON_ONE = Cause(Kind.BOX_TEST, ONE, frozenset({"bench-2"}), rate=0.3)
SUSPECT_BENCH = (
    "suspect the bench. If swapping its board moves the failures, suspect the board, or a race in"
    " the firmware"
)
FAILING = Failing("main", ["bench-2"], 8, 8, "19943d373e8f" + "0" * 28, EPOCH)


def answer(facts: Facts) -> Suspected:
    row = only(facts)
    return suspected(known_of(row.pending, row.found or row.missing or "", row.worst))


def found_in(facts: Facts) -> tuple[Suspect, Intermittent]:
    row = only(facts)
    assert row.found is not None
    return row, row.found


def likeliest(found: Intermittent, share: float, kind: CommitKind) -> Intermittent:
    """Return it with one commit of a kind that did it with this chance."""
    best, *_ = found.since.suspects
    since = replace(found.since, suspects=[best._replace(share=share)], before=0, kinds={kind: 1.0})
    return replace(found, since=since)


@pytest.mark.parametrize(
    ("facts", "sentence", "few_words"),
    [
        (
            planted(ON_ONE).facts,
            f"Flaky on bench-2 only, since one of 29 commits: {SUSPECT_BENCH}",
            "flaky on bench-2 only",
        ),
        (
            planted(replace(RACE, until=30)).facts,
            (
                "Fixed (over 99 % sure): it was flaky since one of 5 commits,"
                " likeliest 8c497c680000 (21 %)"
            ),
            "fixed",
        ),
        (
            planted(replace(BUG, since=20)).facts,
            (
                "Fails now on 5 boxes: on 27 commits of main since f50592850000 of 2 Jan."
                " Look at the firmware and the test first: no bench stands out"
            ),
            "fails now on 5 boxes",
        ),
        (
            planted(BUG).facts,
            (
                "Fails now on 5 boxes: on 36 commits of main since 331381310000 of 1 Jan."
                f" Broken: {NEVER_PASSED}"
            ),
            "fails now on 5 boxes",
        ),
        (
            planted(replace(RACE, since=0)).facts,
            (
                "Fails now on bench-5: on 1 commit of main since ee52bdb60000 of 5 Jan."
                " Flaky on all boxes alike as far back as runs go (1 Jan):"
                " a race in the firmware or in the test is likely"
            ),
            "fails now on bench-5",
        ),
        (
            planted(RACE, boxes=1, runs=60).facts,
            (
                "Fails now on bench-1: on 2 commits of main since 022bc3200000 of 8 Jan. Flaky"
                " since one of 9 commits, likeliest 870266c40000 (28 %): only bench-1 ran it, so"
                " run it on another box to tell the bench from the firmware"
            ),
            "fails now on bench-1",
        ),
    ],
    ids=["one box", "fixed", "broken now", "never passed", "alike", "only box"],
)
def test_a_planted_cause_is_answered(facts: Facts, sentence: str, few_words: str) -> None:
    found = answer(facts)
    assert (found.sentence, found.few_words) == (sentence, few_words)
    assert found.names_only_box is ("only bench-1 ran it" in sentence)
    named = re.findall(r"bench-\d", few_words)
    assert found.box == (named[0] if len(named) == 1 else None)


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
    _, found = found_in(planted(replace(RACE, since=0)).facts)
    found = likeliest(found, 0.72, kind)
    sha = found.since.suspects[0].commit.sha[:12]

    sentence, few_words, *_ = suspected(Known(None, found, None))

    assert sentence.startswith(f"Flaky on all boxes alike since {sha} of ")
    assert sentence.endswith(f" (72 % sure): {why}")
    assert few_words == f"flaky since {sha}, all boxes alike"


def test_a_commit_that_made_it_flaky_on_one_box_is_to_be_looked_at_there() -> None:
    row, found = found_in(planted(ON_ONE).facts)
    found = likeliest(found, 0.72, CommitKind.FIRMWARE)
    sha = found.since.suspects[0].commit.sha[:12]

    sentence, *_ = suspected(Known(None, found, row.worst))

    assert sentence.endswith(f" (72 % sure): look at {sha} on that bench")


def test_a_box_that_fails_more_is_left_out_where_it_is_sure_that_all_are_alike() -> None:
    row, found = found_in(planted(RACE).facts)
    assert found.boxes.all_alike
    assert row.worst is None
    assert ". Flaky on all boxes alike since one of 5 commits, " in answer(planted(RACE).facts)[0]

    more, _ = found_in(planted(ON_ONE).facts)
    assert standing_out(found, more.worst) is more.worst


def test_a_bench_that_was_mended_is_not_suspected() -> None:
    row, found = found_in(planted(ON_ONE).facts)
    assert row.worst is not None
    noted = replace(row.worst, note=Note(EPOCH + timedelta(days=3), "new cable"), before=True)

    sentence, *_ = suspected(Known(None, found, noted))

    assert sentence == (
        "Flaky on bench-2 only, before the note of 4 Jan: what was done may have mended it"
    )


@pytest.mark.parametrize(
    ("alike", "ends"),
    [
        (0.05, f" and most on bench-{{}}: {SUSPECT_BENCH}"),
        (0.5, ": not enough data to say whether on one box or on all"),
        (None, ": not enough data to say whether on one box or on all"),
    ],
)
def test_boxes_that_are_not_alike_are_told_apart_only_if_that_is_sure(
    alike: float | None, ends: str
) -> None:
    _, found = found_in(planted(replace(RACE, since=0)).facts)
    found = replace(found, boxes=replace(found.boxes, alike=alike))
    worst = found.boxes.boxes[0].box_key.removeprefix("bench-")

    assert suspected(Known(None, found, None)).sentence.endswith(ends.format(worst))


def test_one_that_fails_steadily_on_one_box_is_not_called_flaky() -> None:
    row, found = found_in(planted(ON_ONE).facts)
    found = likeliest(found, 0.75, CommitKind.FIRMWARE)
    sha = found.since.suspects[0].commit.sha[:12]

    assert suspected(Known(FAILING, found, row.worst))[:2] == (
        (
            "Fails now on bench-2: on 8 commits of main since 19943d373e8f of 1 Jan."
            f" Look at {sha} first, on bench-2"
        ),
        "fails now on bench-2",
    )
    few = FAILING._replace(commits=2, in_a_row=2)
    assert ". Flaky on bench-2 only, since " in suspected(Known(few, found, row.worst)).sentence


def test_a_box_that_did_not_run_it_since_the_fix_does_not_make_it_fail_now() -> None:
    _, found = found_in(planted(replace(RACE, until=30)).facts)

    sentence, few_words, *_ = suspected(Known(FAILING, found, None))

    assert sentence.startswith("Fixed (over 99 % sure): it was flaky since ")
    assert sentence.endswith(". It has not passed on bench-2 since")
    assert few_words == "fixed"


def test_without_enough_runs_only_what_fails_now_is_answered() -> None:
    missing = "8 runs on main; 20 are needed"

    assert suspected(Known(None, missing, None))[:2] == (
        f"Not enough data to say whether it is flaky: {missing}",
        "not enough data",
    )
    assert suspected(Known(FAILING, missing, None)).sentence == (
        "Fails now on bench-2: on 8 commits of main since 19943d373e8f of 1 Jan"
    )


def test_a_failure_on_another_branch_is_no_failure_of_the_branch_that_was_looked_at() -> None:
    row, found = found_in(planted(replace(BUG, since=20)).facts)
    other = replace(found, since=replace(found.since, branch="release"))

    assert known_of(row.pending, found, None).failing is not None
    assert known_of(row.pending, other, None).failing is None
    assert known_of(row.pending, "too few", None).failing is not None


@pytest.mark.parametrize(
    ("before", "share", "alike", "box", "place"),
    [
        (0.1, 0.8, 0.5, None, "look at {sha} first"),
        (0.1, 0.8, 0.5, "bench-2", "look at {sha} first, on bench-2"),
        (0.1, 0.4, 0.5, "bench-2", "look at bench-2 first"),
        (0.1, 0.4, 0.95, None, "look at the firmware and the test first: no bench stands out"),
        (0.9, 0.0, 0.1, "bench-2", "look at bench-2 first"),
        (0.9, 0.0, 0.95, None, "look at the firmware and the test first: no bench stands out"),
        (0.9, 0.0, 0.5, None, None),
        (0.9, 0.0, None, None, None),
    ],
)
def test_where_to_look_first_is_the_commit_else_the_box_else_no_bench(
    before: float, share: float, alike: float | None, box: str | None, place: str | None
) -> None:
    found = only(planted(RACE).facts).found
    assert found is not None
    best, *_ = found.since.suspects
    since = replace(found.since, before=before, suspects=[best._replace(share=share)])
    found = replace(found, since=since, boxes=replace(found.boxes, alike=alike))

    expected = [] if place is None else [place.format(sha=best.commit.sha[:12])]

    assert list(look_first(found, box)) == expected
    partly = replace(found, boxes=replace(found.boxes, compared=found.boxes.boxes_total - 1))
    assert not any("no bench" in one for one in look_first(partly, box))
