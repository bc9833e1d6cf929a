# SPDX-License-Identifier: Apache-2.0
"""The reason table: a golden case for every row, and the order of the rows (spec,
"Classification of a resolved failure"; semantics, 6.3-6.6).
"""

from dataclasses import replace

import pytest

from hwci.contract.runs.commits import ChangeList
from hwci.contract.vocabulary import REASONS, FailureClass, Reason
from hwci.engine.facts import Report, SuiteConfig
from hwci.engine.history import Decision, OutOfTimeError
from hwci.engine.rules.classify import (
    CHANGES_ROWS,
    FIX_ROWS,
    VERDICT_ROWS,
    Check,
    CheckedRun,
    Classifier,
    Finding,
)
from tests.engine.hurried import Hurried
from tests.engine.timeline import (
    BOX,
    REPO,
    SUITE,
    Past,
    changes,
    commit,
    lane,
    minute,
    report,
    seen,
)

PICTURE = "box-1 | a:P b:F c:P"
REAL = {"b": "fw", "c": "fw"}


def with_changes(under_test: ChangeList | None, fix: ChangeList | None) -> Past:
    return Past([report("b:F", 1, sent=under_test), report("c:P", 2, sent=fix)])


FIX = changes("b", commit("c", "fw"))
CAUSE = changes("a", commit("b", "fw"))

FAILED, FIXED = CheckedRun(minute(1), 1000, 1, BOX), CheckedRun(minute(2), 2000, 1, BOX)

# Each case is the row of the spec's table that it stands for: "reason | class | condition". With it
# stands what the row finds.
GOLDEN: dict[str, tuple[Past, Finding]] = {
    "Harness verdict: bench or infrastructure | Bench or harness | Verdict blamed the bench": (
        seen("box-1 | a:P b:I c:P", changed=REAL),
        Finding("The harness blamed the bench", FAILED),
    ),
    "No harness verdict was reported | Ambiguous | Failed test has no `verdict`": (
        seen("box-1 | a:P b:U c:P", changed=REAL),
        Finding("The harness blamed neither the device nor the bench", FAILED),
    ),
    "No firmware and harness paths are configured for this product | Ambiguous | "
    "No suite configuration for the product": (
        seen(PICTURE, changed=REAL).configured(),
        Finding("The product has no suite configuration"),
    ),
    "The changes under test are unknown | Ambiguous | "
    "First run on the failing commit has no `changes`, or its `base_sha` is `null`": (
        with_changes(None, FIX),
        Finding("The first run on the failing commit reported no changes"),
    ),
    "The files changed under test were not fully reported | Ambiguous | "
    "No firmware file in the changes under test and some commits or files were not sent": (
        seen(PICTURE, changed={"b": "doc ~", "c": "fw"}),
        Finding("Some files of a commit under test were not sent", FAILED, "b"),
    ),
    "Commit under test did not touch firmware | Bench or harness | "
    "No commit under test changed a firmware file": (
        seen(PICTURE, changed={"b": "doc hs", "c": "fw"}),
        Finding("No commit under test changed firmware", FAILED),
    ),
    "The changes before the fix are not fully recorded | Ambiguous | "
    "Run reports do not connect the failing commit to the fix without a gap": (
        with_changes(CAUSE, changes("x", commit("c", "fw"))),
        Finding("No run reports lead from c back to the last failing commit", commit="b"),
    ),
    "Fix touched harness paths | Bench or harness | "
    "A commit between failure and fix changed harness files and no firmware files": (
        with_changes(CAUSE, changes("b", commit("x", "hs"), commit("c", "fw"))),
        Finding(
            "A commit before the fix changed harness files and no firmware file",
            *(FIXED, "x", "ci/run.py", "ci/**"),
        ),
    ),
    "Fix did not touch firmware | Bench or harness | "
    "No commit between failure and fix changed a firmware file": (
        seen(PICTURE, changed={"b": "fw", "c": "doc"}),
        Finding("No commit up to the fix changed firmware"),
    ),
    "Fix changed firmware and harness in the same commit | Ambiguous | "
    "One commit changed both kinds of files": (
        seen(PICTURE, changed={"b": "fw", "c": "fw hs"}),
        Finding(
            "The fix changed firmware, and the harness file ci/run.py",
            *(FIXED, "c", "src/main.c", "src/**"),
        ),
    ),
    "The files changed before the fix were not fully reported | Ambiguous | "
    "Some commits before the fix have files that were not sent": (
        seen(PICTURE, changed={"b": "fw", "c": "fw ~"}),
        Finding("The fix has files that were not sent", FIXED, "c"),
    ),
}
CLASSES = {
    "Bench or harness": FailureClass.BENCH_OR_HARNESS,
    "Ambiguous": FailureClass.AMBIGUOUS,
}
ROWS = [
    *((row.reason, row.condition) for row in VERDICT_ROWS),
    *((row.reason, row.condition) for row in CHANGES_ROWS),
    *((row.reason, row.condition) for row in FIX_ROWS),
]
ORDER = [reason for reason, _ in ROWS]


@pytest.mark.parametrize(
    ("row", "number"), [(row, number) for number, row in enumerate(GOLDEN)], ids=str
)
def test_a_row_of_the_table(row: str, number: int) -> None:
    text, failure_class, condition = row.split(" | ")
    judged = GOLDEN[row][0].judged("b")
    reason = ORDER[number]

    assert judged.reason is reason
    assert ROWS[number] == (reason, condition)
    assert REASONS[reason].text == text
    assert judged.failure_class is CLASSES[failure_class]
    assert [check.reason for check in judged.trace] == ORDER[: number + 1]
    assert [check.decided for check in judged.trace] == [False] * number + [True]


def test_the_table_has_every_reason_in_the_specs_order_and_a_case_for_each() -> None:
    assert [one for one in Reason if one is not Reason.DISMISSED] == ORDER
    assert len(GOLDEN) == len(ROWS)


def test_a_failure_that_no_row_decides_is_a_real_firmware_bug() -> None:
    judged = seen(PICTURE, changed=REAL).judged("b")

    assert (judged.failure_class, judged.reason) == (FailureClass.REAL_FW_BUG, None)
    assert [check.reason for check in judged.trace] == ORDER
    assert [check.decided for check in judged.trace] == [False] * len(ORDER)


# The conditions of both rows hold at once; the upper one gives the reason. Where neighbours
# exclude each other (a verdict is one of two; firmware was changed or was not; without a walk there
# is no range), the nearest rows that can hold together pin the order.
NONE = Past([report("b:I", 1), report("c:P", 2)]).configured()
PAIRS = {
    (Reason.VERDICT_INFRA, Reason.PATHS_NOT_CONFIGURED): NONE,
    (Reason.VERDICT_MISSING, Reason.PATHS_NOT_CONFIGURED): Past(
        [report("b:U", 1), report("c:P", 2)]
    ).configured(),
    (Reason.PATHS_NOT_CONFIGURED, Reason.CHANGES_UNKNOWN): with_changes(None, FIX).configured(),
    (Reason.CHANGES_UNKNOWN, Reason.CHANGES_INCOMPLETE): with_changes(
        changes(None, commit("b", "doc ~"), truncated=True), FIX
    ),
    (Reason.CHANGES_INCOMPLETE, Reason.FIX_UNCONNECTED): with_changes(
        changes("a", commit("b", "doc ~")), None
    ),
    (Reason.CHANGES_NOT_FIRMWARE, Reason.FIX_UNCONNECTED): with_changes(
        changes("a", commit("b", "hs")), None
    ),
    (Reason.FIX_TOUCHED_HARNESS, Reason.FIX_NOT_FIRMWARE): seen(
        PICTURE, changed={"b": "fw", "c": "hs"}
    ),
    (Reason.FIX_TOUCHED_HARNESS, Reason.FIX_MIXED): with_changes(
        CAUSE, changes("b", commit("x", "fw hs"), commit("c", "hs"))
    ),
    (Reason.FIX_TOUCHED_HARNESS, Reason.FIX_INCOMPLETE): with_changes(
        CAUSE, changes("b", commit("x", "hs ~"), commit("y", "hs"), commit("c", "doc"))
    ),
    (Reason.FIX_MIXED, Reason.FIX_INCOMPLETE): seen(PICTURE, changed={"b": "fw", "c": "fw hs ~"}),
}


@pytest.mark.parametrize(("pair", "past"), PAIRS.items(), ids=str)
def test_the_upper_of_two_rows_gives_the_reason(pair: tuple[Reason, Reason], past: Past) -> None:
    assert ORDER.index(pair[0]) < ORDER.index(pair[1])
    assert past.reason("b") == pair[0]


# "Never concluding that a file was not changed from a list that was cut short."
def test_no_firmware_in_a_cut_list_before_the_fix_is_not_fully_reported() -> None:
    assert seen(PICTURE, changed={"b": "fw", "c": "doc ~"}).reason("b") == "fix_incomplete"


def test_harness_alone_in_a_cut_list_may_still_have_touched_firmware() -> None:
    assert seen(PICTURE, changed={"b": "fw", "c": "hs ~"}).reason("b") == "fix_incomplete"
    cut = trace(seen(PICTURE, changed={"b": "fw", "c": "doc ~"}))
    assert cut[Reason.FIX_NOT_FIRMWARE].finding.commit == "c"


def test_firmware_in_a_cut_list_under_test_is_enough() -> None:
    assert seen(PICTURE, changed={"b": "fw ~", "c": "fw"}).reason("b") == "real"
    cut = changes("a", commit("b", "fw"), truncated=True)
    assert with_changes(cut, FIX).reason("b") == "real"


def test_commits_that_were_not_sent_under_test_are_not_fully_reported() -> None:
    cut = changes("a", commit("b", "hs"), truncated=True)

    assert with_changes(cut, FIX).reason("b") == "changes_incomplete"


def test_any_commit_under_test_may_touch_firmware() -> None:
    two = changes("a", commit("x", "fw"), commit("b", "hs"))

    assert with_changes(two, FIX).reason("b") == "real"


# Other files do not matter: the spec's table is exact, its shorter rule is not.
def test_a_harness_commit_with_other_files_touched_harness() -> None:
    past = with_changes(CAUSE, changes("b", commit("x", "hs doc"), commit("c", "fw")))

    assert past.reason("b") == "fix_touched_harness"


def test_a_mixed_commit_is_no_harness_commit() -> None:
    past = with_changes(CAUSE, changes("b", commit("x", "hs fw"), commit("c", "fw")))

    assert past.reason("b") == "fix_mixed"


def test_a_file_that_matches_both_lists_is_of_both_kinds() -> None:
    both = SuiteConfig(REPO, SUITE, ("src/**", "ci/fw/**"), ("ci/**",))
    past = with_changes(CAUSE, changes("b", commit("c", "ci/fw/hal.c"))).configured(both)

    assert past.reason("b") == "fix_mixed"


def test_empty_lists_are_a_configuration() -> None:
    empty = SuiteConfig(REPO, SUITE, (), ())

    assert seen(PICTURE, changed=REAL).configured(empty).reason("b") == "changes_not_firmware"


def test_a_configuration_of_another_product_is_none() -> None:
    other = SuiteConfig(REPO, "boot", ("src/**",), ("ci/**",))

    assert seen(PICTURE, changed=REAL).configured(other).reason("b") == "paths_not_configured"


def test_a_commit_listed_twice_in_a_walk_is_looked_at_in_each_place() -> None:
    past = with_changes(CAUSE, changes("b", commit("x", "fw hs"), commit("c", "fw"))).and_also(
        report("x:P", 3, sent=changes("b", commit("x", "fw")))
    )
    twice = with_changes(CAUSE, changes("b", commit("c", "fw"), commit("c", "hs")))

    assert past.reason("b") == "fix_mixed"
    assert twice.reason("b") == "fix_touched_harness"


def test_without_a_fix_the_checks_end_in_unconnected_at_the_latest() -> None:
    pending = seen("box-1 | a:P b:F", changed={"b": "fw"})

    assert pending.reason("b") == "fix_unconnected"
    assert pending.configured().reason("b") == "paths_not_configured"


def test_the_groups_first_failure_gives_verdict_and_changes_under_test() -> None:
    past = seen("box-1 | a:P b:F c:I d:P", changed={"b": "fw", "c": "hs", "d": "fw"})

    assert past.reason("c") == "real"


# "Only the first run on a commit carries the real range": one bench was lost, another retried.
def test_the_retry_of_a_run_that_lost_its_bench_keeps_the_real_changes() -> None:
    past = Past(
        [
            report("b:L", 1, sent=CAUSE),
            report("b:F", 2, sent=changes("b")),
            report("c:P", 3, sent=FIX),
        ]
    )

    assert past.reason("b") == "real"


def trace(past: Past) -> dict[Reason, Check]:
    return {check.reason: check for check in past.judged("b").trace}


def test_the_trace_names_the_run_commit_file_and_pattern_that_decided() -> None:
    found = trace(seen(PICTURE, changed={"b": "doc fw", "c": "fw hs"}))
    first = CheckedRun(minute(1), 1000, 1, BOX)
    fixed = CheckedRun(minute(2), 2000, 1, BOX)

    assert found[Reason.VERDICT_INFRA].finding.run == first
    under_test = found[Reason.CHANGES_NOT_FIRMWARE].finding
    assert (under_test.run, under_test.commit) == (first, "b")
    assert (under_test.file, under_test.pattern) == ("src/main.c", "src/**")
    mixed = found[Reason.FIX_MIXED]
    assert mixed.decided
    assert (mixed.finding.run, mixed.finding.commit) == (fixed, "c")
    assert (mixed.finding.file, mixed.finding.pattern) == ("src/main.c", "src/**")
    assert "ci/run.py" in mixed.finding.note


def test_the_trace_names_the_harness_file_that_decided() -> None:
    finding = trace(seen(PICTURE, changed={"b": "fw", "c": "hs"}))[
        Reason.FIX_TOUCHED_HARNESS
    ].finding

    assert (finding.commit, finding.file, finding.pattern) == ("c", "ci/run.py", "ci/**")


def test_changes_without_a_base_are_named_with_their_run() -> None:
    past = Past([report("b:F", 1, sent=changes(None, "b")), report("c:P", 2, sent=FIX)])
    check = trace(past)[Reason.CHANGES_UNKNOWN]

    assert check.decided
    assert (check.finding.note, check.finding.run) == (
        "The changes of the first run on the failing commit have no base commit",
        CheckedRun(minute(1), 1000, 1, BOX),
    )


def test_a_cut_file_list_names_its_commit() -> None:
    finding = trace(seen(PICTURE, changed={"b": "doc ~", "c": "fw"}))[
        Reason.CHANGES_INCOMPLETE
    ].finding

    assert (finding.note, finding.commit) == (
        "Some files of a commit under test were not sent",
        "b",
    )


def test_the_trace_of_a_real_bug_in_words() -> None:
    first = CheckedRun(minute(1), 1000, 1, BOX)
    fixed = CheckedRun(minute(2), 2000, 1, BOX)
    blamed = "The harness blamed the device under test"
    under_test = "A commit under test changed firmware"

    assert {
        reason: (check.finding.note, check.finding.run)
        for reason, check in trace(seen(PICTURE, changed=REAL)).items()
    } == {
        Reason.VERDICT_INFRA: (blamed, first),
        Reason.VERDICT_MISSING: (blamed, first),
        Reason.PATHS_NOT_CONFIGURED: ("The product has a suite configuration", None),
        Reason.CHANGES_UNKNOWN: ("The first run on the failing commit tested 1 commit", first),
        Reason.CHANGES_INCOMPLETE: (under_test, first),
        Reason.CHANGES_NOT_FIRMWARE: (under_test, first),
        Reason.FIX_UNCONNECTED: (
            "1 run report connects the failure to its fix over 1 commit",
            fixed,
        ),
        Reason.FIX_TOUCHED_HARNESS: (
            "No commit up to the fix is known to be one of harness alone",
            None,
        ),
        Reason.FIX_NOT_FIRMWARE: ("The fix changed firmware", fixed),
        Reason.FIX_MIXED: (
            "No commit up to the fix changed firmware and harness together",
            None,
        ),
        Reason.FIX_INCOMPLETE: ("Every file changed up to the fix was sent", None),
    }


@pytest.mark.parametrize(("past", "found"), GOLDEN.values(), ids=ORDER)
def test_the_row_that_decides_says_in_words_what_it_found(past: Past, found: Finding) -> None:
    assert past.judged("b").trace[-1].finding == found


@pytest.mark.parametrize(
    ("past", "reason", "found"),
    [
        (
            seen("box-1 | a:P b:F", changed={"b": "fw"}),
            Reason.FIX_UNCONNECTED,
            Finding("No later commit of the branch passed"),
        ),
        (
            with_changes(changes("a", commit("b", "doc"), truncated=True), FIX),
            Reason.CHANGES_INCOMPLETE,
            Finding("Some commits under test were not sent", FAILED),
        ),
        (
            with_changes(changes("a", commit("b", "doc")), FIX),
            Reason.CHANGES_INCOMPLETE,
            Finding("Every commit and file under test was sent", FAILED),
        ),
        (
            with_changes(changes("a", commit("x"), commit("b", "fw")), FIX),
            Reason.CHANGES_UNKNOWN,
            Finding("The first run on the failing commit tested 2 commits", FAILED),
        ),
        (
            with_changes(CAUSE, changes("x", commit("c", "fw"))).and_also(
                report("x:-", 1.5, sent=changes("b", commit("w"), commit("x")))
            ),
            Reason.FIX_UNCONNECTED,
            Finding("2 run reports connect the failure to its fix over 3 commits", FIXED, "c"),
        ),
    ],
    ids=["no fix", "commits cut", "all sent", "commits under test", "commits of the walk"],
)
def test_a_row_says_in_words_what_it_found(past: Past, reason: Reason, found: Finding) -> None:
    assert trace(past)[reason].finding == found


def test_the_trace_names_each_run_by_the_number_that_the_ci_shows_too() -> None:
    failed = replace(report("b:F", 1, sent=CAUSE), ci_run=31)
    fixed = replace(report("c:P", 2, sent=FIX), ci_run=32)
    found = trace(Past([failed, fixed]))

    assert found[Reason.VERDICT_INFRA].finding.run == FAILED._replace(ci_run=31)
    assert found[Reason.CHANGES_UNKNOWN].finding.run == FAILED._replace(ci_run=31)
    assert found[Reason.FIX_NOT_FIRMWARE].finding.run == FIXED._replace(ci_run=32)


# What a store keeps of a decision, to know when to ask again.
INFRA = seen("box-1 | a:P b:I c:P", changed=REAL)
PENDING = seen("box-1 | a:P b:F", changed=REAL)
GAP = with_changes(CAUSE, changes("x", commit("c", "fw"))).and_also(
    report("x:-", 1.5, sent=changes("w", commit("x")))
)


@pytest.mark.parametrize(
    ("past", "decision"),
    [
        (INFRA, Decision(FailureClass.BENCH_OR_HARNESS, Reason.VERDICT_INFRA)),
        (PENDING, Decision(FailureClass.AMBIGUOUS, Reason.FIX_UNCONNECTED)),
        (seen(PICTURE, changed=REAL), Decision(FailureClass.REAL_FW_BUG, None, frozenset("bc"))),
        (GAP, Decision(FailureClass.AMBIGUOUS, Reason.FIX_UNCONNECTED, frozenset("b"))),
    ],
    ids=["no walk is asked for", "no fix", "a walk", "a gap"],
)
def test_a_decision_names_the_commits_that_its_walk_rests_on(
    past: Past, decision: Decision
) -> None:
    assert Classifier(past.history).decide(past.group("b")) == decision


def test_where_no_walk_is_all_that_leads_back_from_the_fix_could_make_one() -> None:
    def reached(past: Past) -> str:
        return " ".join(sorted(Classifier(past.history).reached(past.group("b"))))

    assert reached(GAP) == "b c w x"
    assert reached(seen(PICTURE, changed=REAL)) == "b c"
    decided = Past([report("b:I", 1), report("c:P", 2, sent=changes("x", commit("c", "fw")))])
    assert reached(INFRA) == reached(PENDING) == reached(decided) == ""


def test_the_time_is_checked_before_each_file_is_matched() -> None:
    many = " ".join(["doc"] * 1000)
    past = seen(PICTURE, changed={"b": f"{many} fw", "c": "fw"})

    assert Classifier(Hurried(past.facts, 5000)).automatic(past.group("b")).reason is None
    with pytest.raises(OutOfTimeError):
        Classifier(Hurried(past.facts, 900)).automatic(past.group("b"))


def test_the_changes_under_test_are_those_of_the_first_failing_runs_workflow() -> None:
    def runs(workflow: str) -> list[Report]:
        bare = "hil" if workflow == "night" else "night"
        return [
            report("b:-", 0, workflow=bare),
            report("b:F", 1, workflow=workflow, sent=CAUSE),
            report("b:F", 2, workflow=bare),
            report("c:P", 3, sent=FIX),
        ]

    assert Past(runs("night")).reason("b") == "real"
    assert Past(runs("hil")).reason("b") == "real"


def test_groups_of_one_commit_in_two_workflows_keep_their_own_changes() -> None:
    past = Past(
        [
            report("b:F", 1, sent=CAUSE),
            report("b:F", 1, box="box-2", workflow="night"),
            report("c:P", 2, sent=FIX),
            report("c:P", 2, box="box-2"),
        ]
    )
    classifier = Classifier(past.history)
    here, there = past.group("b"), past.group("b", lane("box-2"))

    assert classifier.automatic(here).reason is None
    assert classifier.automatic(there).reason is Reason.CHANGES_UNKNOWN
