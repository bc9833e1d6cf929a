# SPDX-License-Identifier: Apache-2.0
"""Whether a test fails now, is flaky or was fixed, and whom to suspect: each answer, by a planted
cause or by what is known.
"""

import re
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from hwci.analysis.benches.report import Note
from hwci.analysis.failures.incidents import failing_incidents
from hwci.analysis.flaky.branch_order import CommitKind
from hwci.analysis.flaky.suspect_words import of_suspect
from hwci.analysis.flaky.suspects import NEVER_PASSED, Intermittent, Suspect, standing_out
from hwci.analysis.statements import (
    Failing,
    Known,
    Suspected,
    known_of,
    look_first_at,
    suspected,
)
from hwci.engine.facts import Facts
from hwci.engine.history import Scope
from tests.analysis.races import EVER, ONE, RACE, only, planted
from tests.simulation.fleet import EPOCH, Cause, Kind
from tests.support.outcomes import FullRecordedRuns

BUG = Cause(Kind.BUG, ONE, rate=1.0)
ON_ONE = Cause(Kind.BOX_TEST, ONE, frozenset({"bench-2"}), rate=0.3)
SUSPECT_BENCH = "suspect the bench rather than a race in the firmware"
FAILING = Failing("main", ["bench-2"], 8, 8, "19943d373e8f" + "0" * 28, EPOCH)


def answer(facts: Facts) -> Suspected:
    row = only(facts)
    history = FullRecordedRuns(UUID(int=1), facts)
    failing = failing_incidents(history, Scope(), EVER, row.test.test_id)
    return suspected(known_of(row.pending, row.found or row.missing or "", row.worst, failing))


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
                " No bench stands out: look at the 2 commits that may have broken it first"
            ),
            "fails now on 5 boxes",
        ),
        (
            planted(replace(BUG, since=20, until=30)).facts,
            "Fixed: it was broken, and passes now",
            "fixed",
        ),
        (
            planted(replace(BUG, since=30, until=31)).facts,
            ("Fixed: it was broken since bd91a1b70000 of 2 Jan (over 99 % sure), and passes now"),
            "fixed",
        ),
        (
            planted(BUG).facts,
            (
                "Fails now on 5 boxes: on 36 commits of main since 331381310000 of 1 Jan."
                " No bench stands out: look at the firmware and the test first."
                f" Broken: {NEVER_PASSED}"
            ),
            "fails now on 5 boxes",
        ),
        (
            planted(replace(RACE, since=0)).facts,
            (
                "Fails now on bench-5: on 1 commit of main since ee52bdb60000 of 5 Jan."
                " Test commit ee52bdb60000 on bench-5 again: if it passes there, it is a flake."
                " Flaky on all boxes alike as far back as runs go (1 Jan):"
                " a race in the firmware or in the test is likely"
            ),
            "fails now on bench-5",
        ),
        (
            planted(RACE, boxes=1, runs=60).facts,
            (
                "Fails now on bench-1: on 2 commits of main since 022bc3200000 of 8 Jan."
                " Test commit 8f8b2b830000 on bench-1 again: if it passes there, it is a flake."
                " Flaky since one of 9 commits, likeliest 870266c40000 (28 %): only bench-1"
                " ran it, so run it on another box to tell the bench from the firmware"
            ),
            "fails now on bench-1",
        ),
    ],
    ids=[
        "one box",
        "fixed",
        "broken now",
        "mended",
        "mended, by one",
        "never passed",
        "alike",
        "only box",
    ],
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
    look_first = ["Look at bench-2 first"]

    assert suspected(Known(FAILING, found, row.worst, look_first))[:2] == (
        (
            "Fails now on bench-2: on 8 commits of main since 19943d373e8f of 1 Jan."
            " Look at bench-2 first"
        ),
        "fails now on bench-2",
    )
    few = FAILING._replace(commits=2, in_a_row=2)
    sentence, *_ = suspected(Known(few, found, row.worst, look_first))
    assert ". Look at bench-2 first. Flaky on bench-2 only, since " in sentence


def test_what_is_said_of_incidents_on_the_branch_is_said_once() -> None:
    row, found = found_in(planted(replace(BUG, since=20)).facts)
    history = FullRecordedRuns(UUID(int=1), planted(replace(BUG, since=20)).facts)
    [one] = failing_incidents(history, Scope(), EVER, row.test.test_id)
    other = one._replace(look_first="Look at bench-2 first")
    release = replace(found, since=replace(found.since, branch="release"))

    said = known_of(row.pending, found, None, [one, other, other]).look_first

    assert said == [one.look_first, "Look at bench-2 first"]
    assert not known_of(row.pending, release, None, [one]).look_first
    assert not look_first_at(FAILING._replace(branch="release"), [one])


def test_a_box_that_did_not_run_it_since_the_fix_does_not_make_it_fail_now() -> None:
    _, found = found_in(planted(replace(RACE, until=30)).facts)

    sentence, few_words, *_ = suspected(Known(FAILING, found, None))

    assert sentence.startswith("Fixed (over 99 % sure): it was flaky since ")
    assert sentence.endswith(". It has not passed on bench-2 since")
    assert few_words == "fixed"


def test_a_pass_on_one_box_alone_does_not_show_that_a_broken_test_is_fixed() -> None:
    facts = planted(replace(BUG, since=20, until=30)).facts
    _, mended = found_in(facts)
    runs = sorted(facts.reports, key=lambda one: one.started_at)
    once = replace(facts, reports=tuple(runs[: len(runs) - mended.fixed.clean_runs + 1]))
    row, found = found_in(once)

    assert (found.fixed.clean_runs, mended.is_fixed, found.is_fixed) == (1, True, False)
    assert answer(once).sentence.startswith("Fails now on 4 boxes: on 4 commits of main since ")
    assert of_suspect(row).startswith("broken since one of 3 commits")
    assert found.bisection is not None
    elsewhere = suspected(Known(None, found, None)).sentence
    assert elsewhere.endswith(": it has not passed on each box since")


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
