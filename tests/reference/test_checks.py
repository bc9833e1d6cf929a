# SPDX-License-Identifier: Apache-2.0
"""Changes under test, walks, reasons and blame, as computed by hand (semantics §5 to §7)."""

from typing import Any

import pytest

from tests.reference.cases import (
    BREAK,
    MEND,
    config,
    page,
    reason,
    run,
    sha,
    the_one,
)

# -- §5: changes under test


def test_changes_whose_base_is_the_own_commit_count_as_not_carried() -> None:
    empty = run("b", 5, "fail", after="b", of="", run_id=7)
    carried = run("b", 10, "fail", after="a", of="b:fw", run_id=7, run_attempt=2)
    assert reason(config(), empty, MEND) == "changes_unknown"
    assert reason(config(), empty, carried, MEND) is None


def test_the_first_run_on_the_commit_decides_and_not_the_first_failing_one() -> None:
    other_box = run("b", 5, "pass", after="a", of="b:ot", box_key="box 2")
    assert reason(config(), other_box, BREAK, MEND) == "changes_not_firmware"
    other_workflow = run("b", 5, "pass", after="a", of="b:ot", workflow="w", box_key="box 2")
    assert reason(config(), other_workflow, BREAK, MEND) is None


def test_a_later_run_cannot_lend_its_changes_to_the_first() -> None:
    assert reason(config(), run("b", 5, "fail"), BREAK, MEND) == "changes_unknown"


# -- §6.1, §6.2: from the failure to the fix


def test_the_range_begins_after_the_last_failing_commit() -> None:
    harness = run("c", 15, "fail", after="b", of="c:hs")
    assert reason(config(), BREAK, harness, run("d", 20, "pass", after="c", of="d:fw")) is None


def test_steps_of_several_runs_connect() -> None:
    between = run("c", 15, after="b", of="c:hs", workflow="nightly", suite="ota", branch="side")
    assert reason(config(), BREAK, between, run("d", 20, "pass", after="c", of="d:fw")) == (
        "fix_touched_harness"
    )


def test_a_step_leads_from_any_commit_of_its_list_up_to_that_one() -> None:
    longer = run("e", 15, after="b", of="c:fw d:fw e:hs")
    assert reason(config(), BREAK, longer, run("d", 20, "pass")) is None


def test_an_exact_walk_goes_before_a_shorter_cut_one() -> None:
    cut = run("d", 12, after="a", of="b:fw c:fw d:fw", workflow="nightly")
    steps = [run("c", 15, after="b", of="c:hs"), run("d", 20, "pass", after="c", of="d:fw")]
    assert reason(config(), BREAK, cut, run("d", 20, "pass")) is None
    assert reason(config(), BREAK, cut, *steps) == "fix_touched_harness"


def test_an_exact_step_counts_whole_also_where_it_names_the_last_failing_commit() -> None:
    names_it = run("c", 20, "pass", after="b", of="9:hs b:fw c:fw")
    assert reason(config(), BREAK, names_it) == "fix_touched_harness"


def test_a_cut_step_counts_after_the_last_place_of_the_failing_commit() -> None:
    cut = run("c", 20, "pass", after="a", of="b:fw 9:hs b:fw c:fw")
    assert reason(config(), BREAK, cut) is None
    before = run("c", 20, "pass", after="a", of="b:fw 9:hs c:fw")
    assert reason(config(), BREAK, before) == "fix_touched_harness"


def test_only_the_last_step_may_be_cut() -> None:
    """Two steps, of which the one at the failure is cut."""
    cut = run("c", 15, after="a", of="b:fw c:fw")
    assert reason(config(), BREAK, cut, run("d", 20, "pass", after="c", of="d:fw")) is None


def test_the_fewest_steps_count() -> None:
    long = [run("c", 12, after="b", of="c:hs"), run("d", 13, after="c", of="d:fw")]
    short = run("d", 20, "pass", after="b", of="c:fw d:fw")
    assert reason(config(), BREAK, *long, short) is None


def test_of_equally_short_walks_the_one_whose_steps_come_first_counts() -> None:
    clean = run("c", 12, after="b", of="c:fw", workflow="w1")
    mixed = run("c", 11, after="b", of="c:bo", workflow="w2")
    fix = run("c", 20, "pass")
    assert reason(config(), BREAK, clean, fix) is None
    assert reason(config(), BREAK, clean, mixed, fix) == "fix_mixed"


def test_equally_short_walks_are_compared_from_the_fix_backwards() -> None:
    """The step at the fix decides, although the other walk has the earliest step of all."""
    first = [run("d", 13, after="c", of="d:fw"), run("c", 16, after="b", of="c:hs")]
    second = [run("d", 14, after="e", of="d:fw", workflow="w"), run("e", 12, after="b", of="e:fw")]
    assert reason(config(), BREAK, *first, *second, run("d", 30, "pass")) == "fix_touched_harness"


@pytest.mark.parametrize(
    "gap",
    [
        {"after": None, "of": "c:fw"},
        {"after": "b", "of": "c:fw", "truncated": True},
        {"after": "b", "of": "9:fw"},  # a run's sha that its own list lacks leads nowhere
        {"after": "9", "of": "c:fw"},
        {"after": "c", "of": "b:fw c:fw"},  # its base is its own commit
    ],
)
def test_what_leads_nowhere_leaves_the_fix_unconnected(gap: dict[str, Any]) -> None:
    assert reason(config(), BREAK, run("c", 20, "pass", **gap)) == "fix_unconnected"


# -- §6.3, §6.4: the reasons


@pytest.mark.parametrize(
    ("fix", "expected"),
    [
        ("c:fw", None),
        ("c:ot d:fw", None),
        ("c:fw d:hs", "fix_touched_harness"),
        ("c:fw d:hs+ot", "fix_touched_harness"),
        ("c:bo d:hs", "fix_touched_harness"),
        ("c:fw d:hs~", "fix_incomplete"),
        ("c:ot d:hs~", "fix_incomplete"),
        ("c:ot", "fix_not_firmware"),
        ("c: d:", "fix_not_firmware"),
        ("c:ot~", "fix_incomplete"),
        ("c:fw+hs d:fw", "fix_mixed"),
        ("c:bo", "fix_mixed"),
        ("c:bo~ d:ot~", "fix_mixed"),
        ("c:fw~", "fix_incomplete"),
        ("c:fw d:ot~", "fix_incomplete"),
        ("c:hs c:fw", "fix_touched_harness"),
    ],
)
def test_the_range_decides_in_this_order(fix: str, expected: str | None) -> None:
    last = fix.rsplit(maxsplit=1)[-1][0]
    assert reason(config(), BREAK, run(last, 20, "pass", after="b", of=fix)) == expected


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        (run("b", 10, "fail", verdict="infra"), "verdict_infra"),
        (run("b", 10, "fail", verdict="unknown"), "verdict_missing"),
        (run("b", 10, "fail", verdict=None), "verdict_missing"),
        (run("b", 10, "fail"), "changes_unknown"),
        (run("b", 10, "fail", after=None, of="b:fw"), "changes_unknown"),
        (run("b", 10, "fail", after="a", of="b:ot"), "changes_not_firmware"),
        (run("b", 10, "fail", after="a", of="b:hs~"), "changes_incomplete"),
        (run("b", 10, "fail", after="a", of="b:ot", truncated=True), "changes_incomplete"),
        (run("b", 10, "fail", after="a", of="b:fw~", truncated=True), None),
        (run("b", 10, "fail", after="a", of="b:bo"), None),
    ],
)
def test_the_checks_before_the_walk(failing: tuple[str, dict[str, object]], expected: str) -> None:
    assert reason(config(), failing, MEND) == expected


def test_no_configuration_is_looked_for_after_the_verdict() -> None:
    assert reason(BREAK, MEND) == "paths_not_configured"
    assert reason(run("b", 10, "fail", verdict="infra"), MEND) == "verdict_infra"
    assert reason(run("b", 10, "fail"), MEND) == "paths_not_configured"


def test_two_empty_lists_are_a_configuration_and_a_new_one_replaces_it() -> None:
    empty = config(firmware_paths=[], harness_paths=[])
    assert reason(empty, BREAK, MEND) == "changes_not_firmware"
    assert reason(empty, BREAK, MEND, config()) is None


def test_reasons_have_the_classes_and_texts_of_the_table() -> None:
    row = the_one(config(), BREAK, run("c", 20, "pass"))
    assert row["class"] == "ambiguous"
    assert row["reasonText"] == "The changes before the fix are not fully recorded"
    assert page(config(), BREAK, run("c", 20, "pass"))["tiles"]["realFwBugs"] == {
        "real": 0,
        "benchOrHarness": 0,
        "ambiguous": 1,
        "dismissed": 0,
    }


# -- §7: the commit that broke the test


def blamed(*events: tuple[str, dict[str, object]]) -> str | None:
    """The letters of the commits in `brokenBy`."""
    broken_by = the_one(*events)["brokenBy"]
    return broken_by and "".join(one["sha"][0] for one in broken_by["commits"])


RANGE = run("e", 10, "fail", after="a", of="b:fw c:ot d:fw e:fw")
AFTER = run("f", 50, "pass")


def test_several_firmware_commits_are_a_range_without_those_between() -> None:
    assert blamed(config(), RANGE, AFTER) == "bde"
    broken_by = the_one(config(), RANGE, AFTER)["brokenBy"]
    assert (broken_by["from"], broken_by["to"]) == (sha("b"), sha("e"))


def test_a_pass_by_hand_narrows_the_range() -> None:
    assert blamed(config(), RANGE, run("c", 20, "pass"), AFTER) == "de"
    assert blamed(config(), RANGE, run("c", 20, "pass", branch="side"), AFTER) == "de"
    assert blamed(config(), RANGE, run("d", 20, "pass"), run("c", 21, "pass"), AFTER) == "e"
    assert blamed(config(), RANGE, run("c", 20, "pass", box_key="box 2"), AFTER) == "bde"


def test_a_flakes_commit_narrows_the_range() -> None:
    flake = [run("d", 20, "fail"), run("d", 21, "pass")]
    assert blamed(config(), RANGE, *flake, AFTER) == "e"


def test_a_failing_commit_by_hand_moves_the_group_and_its_changes() -> None:
    by_hand = run("d", 20, "fail", after="b", of="c:ot d:fw", workflow="by hand", suite="hil")
    assert blamed(config(), RANGE, by_hand, AFTER) == "d"


def test_a_pass_outside_the_list_narrows_nothing() -> None:
    assert blamed(config(), run("a", 0, "pass"), RANGE, AFTER) == "bde"


def test_without_firmware_knowledge_or_configuration_no_commit_is_blamed() -> None:
    assert blamed(config(), run("b", 10, "fail"), MEND) is None
    assert blamed(config(), run("b", 10, "fail", after="a", of="b:ot"), MEND) is None
    assert blamed(BREAK, MEND) is None


def test_the_blame_does_not_depend_on_the_verdict_or_a_truncated_range() -> None:
    failing = run("b", 10, "fail", after="a", of="b:fw", truncated=True, verdict="infra")
    assert blamed(config(), failing, MEND) == "b"
