# SPDX-License-Identifier: Apache-2.0
"""The answer of a gate: what passes each requirement, what speaks against it, and that what is
not known never passes.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.analysis.gate import Facts, PlannedRun, RequirementError, decide, required
from hwci.cli.terminal.gate import SHOWN, lines
from hwci.contract.failures.failures import (
    ClassAndReason,
    Failure,
    FirstFailure,
    ResolvedFailure,
)
from hwci.contract.gate import BranchEnd, Finding, KnownException, Requirement
from hwci.contract.runs.commits import Fix
from hwci.contract.runs.merges import AnnouncedMerge
from hwci.contract.runs.runs import Run, TestCounts
from hwci.contract.vocabulary import (
    FailureClass,
    Label,
    RunEnding,
    RunStatus,
    Trigger,
    UncheckedCause,
    Verdict,
)
from hwci.engine.facts import Product
from hwci.engine.periods import last_days

REPO, SUITE, BRANCH = "acme/firmware", "hil", "main"
HIL = Product(REPO, SUITE)
OLD, MERGED, END, LATER = (letter * 40 for letter in "abcd")
AT = datetime(2026, 5, 4, 12, tzinfo=UTC)
TODAY = AT.date()
ALL = required("checked,no-open-bug,no-pending,boxes=2,reached=50")


def merge(sha: str, *, checked: bool, suite: str | None = SUITE) -> AnnouncedMerge:
    return AnnouncedMerge(
        repo_key=REPO,
        suite=suite,
        sha=sha,
        branch=BRANCH,
        merged_at=AT,
        subject=None,
        checked=checked,
        run=None,
        cause=None if checked else UncheckedCause.NOTHING_RAN,
        cause_text=None if checked else "No run on it was reported",
        boxes=(),
    )


def failure(number: int = 1, sha: str = END, verdict: Verdict = Verdict.DEVICE) -> Failure:
    """Return a pending failure; all of a test are one group, the first of them 1."""
    return Failure(
        id=UUID(int=number),
        repo_key=REPO,
        suite=SUITE,
        test_id="i2c",
        box_key="bench-1",
        branch=BRANCH,
        sha=sha,
        label=Label.PENDING,
        items=1,
        first_started_at=AT + timedelta(minutes=number),
        last_started_at=AT + timedelta(minutes=number),
        verdict=verdict,
        group_id=UUID(int=1),
    )


def bug(fix: str | None, first: str = MERGED) -> ResolvedFailure:
    """Return a real firmware bug that began at one commit and was fixed at another."""
    as_class = ClassAndReason(failure_class=FailureClass.REAL_FW_BUG, reason=None, reason_text=None)
    return ResolvedFailure(
        **vars(as_class),
        id=UUID(int=9),
        repo_key=REPO,
        suite=SUITE,
        test_id="spi",
        box_key="bench-1",
        branch=BRANCH,
        first_failure=FirstFailure(
            sha=first,
            started_at=AT,
            workflow="hil",
            run_id=1,
            run_attempt=1,
            run_record_id=UUID(int=8),
            ci_run=None,
        ),
        last_failing_sha=first,
        failing_commits=1,
        broken_by=None,
        fix=None if fix is None else Fix(sha=fix, started_at=AT),
        verdict=Verdict.DEVICE,
        automatic=as_class,
        review=None,
        status="Automatic",
    )


def run(
    box: str,
    ending: RunEnding = RunEnding.PASSED,
    sha: str = END,
    tests: int = 4,
    suite: str = SUITE,
) -> Run:
    failed = int(ending is RunEnding.FAILED)
    return Run(
        id=UUID(int=7),
        repo_key=REPO,
        suite=suite,
        workflow="hil",
        run_id=1,
        run_attempt=1,
        box_key=box,
        trigger=Trigger.MERGE,
        branch=BRANCH,
        sha=sha,
        status=RunStatus.REPORTED,
        started_at=AT,
        ended_at=AT,
        conclusion="success",
        hello_ok=ending is not RunEnding.NEVER_REACHED,
        tests=TestCounts(total=tests, passed=tests - failed, failed=failed, retried=0),
        ending=ending,
    )


GOOD = Facts(
    commits="v1..v2",
    product=None,
    period=last_days(30, AT),
    merges=[merge(END, checked=True), merge(MERGED, checked=True)],
    ends=[BranchEnd(repo_key=REPO, branch=BRANCH, sha=END)],
    held={OLD: True, MERGED: True, END: True, LATER: False},
    at_end=[run("bench-1"), run("bench-2")],
    runs=[run("bench-1"), run("bench-2")],
    benches={HIL: ["bench-1", "bench-2", "bench-3"]},
)
NOTHING = replace(GOOD, merges=[], ends=[], at_end=[], runs=[])


def against(facts: Facts, require: str) -> list[Finding]:
    """Return what speaks against a release."""
    return [*decide(facts, required(require)).against]


def test_what_one_run_settles_is_cut_short_and_the_run_written_once() -> None:
    failures = [replace(failure(number), group_id=None) for number in range(1, 101)]
    of_one = replace(GOOD, pending=failures)

    written = [*lines(decide(of_one, required("no-pending,no-open-bug")))]

    assert len([line for line in written if not line.startswith("#")]) == 1
    assert len([line for line in written if "pending, " in line]) == 2 * SHOWN
    assert written.count("#   … 80 more like these (--json has all)") == 2


def test_what_nothing_is_known_of_is_neither_met_nor_not_met() -> None:
    written = "\n".join(lines(decide(NOTHING, required("checked,boxes=1"))))

    assert "# checked: not known. It asks" in written
    assert "# boxes=1: not met. It asks" in written


def test_a_release_passes_that_meets_all_requirements() -> None:
    decided = decide(GOOD, ALL)

    assert (decided.passed, decided.against) == (True, ())
    assert all(row.met for row in decided.requirements)


@pytest.mark.parametrize(
    "require", ["checked", "no-open-bug", "no-pending", "boxes=1", "reached=1"]
)
def test_a_release_without_a_merge_or_with_none_that_ran_never_passes(require: str) -> None:
    unchecked = replace(GOOD, merges=[merge(END, checked=False)])

    assert [row.met for row in decide(NOTHING, required(require)).requirements] == [False]
    assert [row.says for row in against(NOTHING, require) if row.requirement is None] == [
        "Nobody announced a merge of v1..v2"
    ]
    assert [row.says for row in against(unchecked, require) if row.requirement is None] == [
        "No run on real hardware checked a merge of v1..v2: 1 announced merge"
    ]


def test_an_unchecked_merge_speaks_against_it_with_the_run_that_would_check_it() -> None:
    facts = replace(
        GOOD,
        merges=[*GOOD.merges, merge(OLD, checked=False), merge(LATER, checked=False, suite=None)],
        planned=[
            PlannedRun(HIL, OLD, "run old"),
            PlannedRun(Product(REPO, "boot"), LATER, "run later"),
            PlannedRun(Product(REPO, "boot"), OLD, "run boot"),
        ],
    )

    assert [(row.sha, row.runs, row.to_do) for row in against(facts, "checked")] == [
        (OLD, ("run old",), None),
        (LATER, ("run later",), None),
    ]
    (alone,) = against(
        replace(
            facts,
            merges=[*GOOD.merges, merge(OLD, checked=False)],
            planned=[],
            unplanned={(REPO, SUITE): "No box answers"},
        ),
        "checked",
    )
    assert (alone.runs, alone.to_do) == ((), "No box answers")


def test_a_commit_that_nobody_announced_or_ran_speaks_against_it() -> None:
    facts = replace(GOOD, unannounced=[OLD])
    (finding,) = against(facts, "checked")

    assert (finding.sha, finding.repo_key) == (OLD, REPO)
    assert OLD in finding.runs[0]
    assert "--box bench-1" in finding.runs[0]
    assert against(replace(facts, benches={}), "checked")[0].to_do is not None
    assert against(facts, "no-pending") == []


def test_a_pending_failure_is_one_of_its_group_and_settled_by_a_run_at_the_end() -> None:
    facts = replace(GOOD, pending=[failure(2, END), failure(1, MERGED)])
    (finding,) = against(facts, "no-pending")

    assert finding.says == (
        f"i2c fails on bench-1 since {MERGED[:12]}: pending, the harness blamed the device"
    )
    assert finding.failure_ids == (UUID(int=1), UUID(int=2))
    assert finding.sha == END
    assert f"--sha {END}" in finding.runs[0]


@pytest.mark.parametrize(
    ("pending", "is_open"),
    [
        (failure(), True),
        (failure(verdict=Verdict.UNKNOWN), True),
        (failure(verdict=Verdict.INFRA), False),
        (failure(sha=LATER), False),  # it began after the end
        (failure(sha="e" * 40), True),  # nobody knows when
    ],
)
def test_a_pending_failure_may_be_a_bug_unless_the_bench_is_blamed_or_it_began_later(
    pending: Failure, is_open: bool
) -> None:
    facts = replace(GOOD, pending=[pending])

    assert bool(against(facts, "no-open-bug")) is is_open
    assert len(against(facts, "no-pending")) == 1


@pytest.mark.parametrize(
    ("real_bug", "why"),
    [
        (bug(END), None),
        (bug(LATER), "comes after the end"),
        (bug(None), "nothing passed since"),
        (bug("e" * 40), "does not tell"),
        (bug(LATER, first=LATER), None),  # it began after the end
        (bug(LATER, first="e" * 40), "comes after the end"),
    ],
)
def test_a_real_bug_is_open_at_the_end_unless_the_end_holds_its_fix(
    real_bug: ResolvedFailure, why: str | None
) -> None:
    findings = against(replace(GOOD, bugs=[real_bug]), "no-open-bug")

    assert [why in finding.says for finding in findings if why] == [True] * (why is not None)
    assert len(findings) == (why is not None)
    assert all(finding.runs or finding.to_do for finding in findings)


def test_an_ambiguous_failure_whose_fix_comes_later_may_be_a_bug_of_the_release() -> None:
    later = replace(bug(LATER), failure_class=FailureClass.AMBIGUOUS)
    (finding,) = against(replace(GOOD, bugs=[later]), "no-open-bug")

    assert finding.says.endswith(f"ambiguous: its fix {LATER[:12]} comes after the end")


def test_without_a_range_a_bug_is_open_only_without_a_fix() -> None:
    now = replace(GOOD, held=None)

    assert against(replace(now, bugs=[bug(LATER)]), "no-open-bug") == []
    assert len(against(replace(now, bugs=[bug(None)]), "no-open-bug")) == 1
    assert len(against(replace(now, pending=[failure(sha=LATER)]), "no-open-bug")) == 1


def test_the_last_commit_passes_on_so_many_boxes_of_each_of_its_products() -> None:
    (few,) = against(GOOD, "boxes=4")
    assert few.says == "The last commit passed on bench-1 and bench-2: fewer than 4"
    assert ["--box bench-3" in command for command in few.runs] == [True]
    assert few.to_do is not None
    assert "on 1 more," in few.to_do

    boot = replace(GOOD, at_end=[*GOOD.at_end, run("bench-1", suite="boot")])
    assert [(row.suite, row.requirement) for row in against(boot, "boxes=2")] == [
        ("boot", Requirement.BOXES)
    ]
    untested = replace(GOOD, merges=[merge(MERGED, checked=True)], at_end=[])
    (none,) = against(untested, "boxes=1")
    assert none.says == "No run on real hardware tested the last commit"
    assert none.requirement is Requirement.BOXES


@pytest.mark.parametrize("required_text", ["no-open-bug,no-pending", "reached=50"])
def test_a_last_commit_that_no_run_tested_speaks_against_it_whatever_is_required(
    required_text: str,
) -> None:
    unannounced = replace(GOOD, unannounced=[END], at_end=[])
    unchecked = replace(GOOD, merges=[*GOOD.merges, merge(END, checked=False)], at_end=[])
    for facts in (unannounced, unchecked):
        (finding,) = against(facts, required_text)
        assert finding.says == "No run on real hardware tested the last commit"
        assert (finding.sha, bool(finding.runs)) == (END, True)
        assert against(replace(facts, at_end=GOOD.at_end), required_text) == []


@pytest.mark.parametrize(
    "other",
    [
        run("bench-2", RunEnding.FAILED),
        run("bench-2", RunEnding.NEVER_REACHED),
        run("bench-2", tests=0),
        run("bench-2", sha=MERGED),
        run("bench-1"),
    ],
)
def test_a_box_counts_once_and_by_a_run_of_the_last_commit_that_passed_tests(other: Run) -> None:
    facts = replace(GOOD, at_end=[run("bench-1"), other])

    assert against(facts, "boxes=1") == []
    assert len(against(facts, "boxes=2")) == 1


@pytest.mark.parametrize(
    ("require", "passes"), [("reached=66.6", True), ("reached=66.7", False), ("reached=100", False)]
)
def test_so_many_runs_reach_the_hardware(require: str, passes: bool) -> None:
    runs = [*GOOD.runs, run("bench-3", RunEnding.NEVER_REACHED)]
    findings = against(replace(GOOD, runs=runs), require)

    assert (findings == []) is passes
    assert passes or findings[0].says == "2 of 3 runs reached the hardware: 66.7 %"
    assert len(against(replace(GOOD, runs=[]), require)) == 1


# Exceptions


def exception(**fields: object) -> KnownException:
    whole: dict[str, object] = {"reason": "Known", "until": TODAY, **fields}
    return KnownException(**whole)  # type: ignore[arg-type]


BAD = replace(
    GOOD,
    merges=[*GOOD.merges, merge(OLD, checked=False)],
    pending=[failure(1, MERGED), failure(2)],
)
EXCEPTIONS = [exception(commit=OLD), exception(failure=UUID(int=2))]


def test_a_known_exception_does_not_speak_against_it_to_the_end_of_its_last_day() -> None:
    requirements = required("checked,no-pending")
    decided = decide(BAD, requirements, EXCEPTIONS, TODAY)
    day_after = decide(BAD, requirements, EXCEPTIONS, TODAY + timedelta(days=1))

    assert (decided.passed, len(decided.excepted)) == (True, 2)
    assert all(row.met for row in decided.requirements)
    assert (day_after.passed, day_after.excepted) == (False, ())
    assert [row.exception for row in day_after.against] == EXCEPTIONS


@pytest.mark.parametrize(
    ("known", "fits"),
    [
        (exception(commit=OLD, product=f"{REPO}:{SUITE}"), True),
        (exception(commit=OLD, product=f"{REPO}:boot"), False),
        (exception(commit=OLD[:12]), False),
        (exception(commit=END), False),
        (exception(test="i2c"), True),
        (exception(test="i2"), False),
        (exception(failure=UUID(int=1)), True),
        (exception(failure=UUID(int=3)), False),
    ],
)
def test_an_exception_fits_a_merge_or_a_failure_and_else_it_is_unused(
    known: KnownException, fits: bool
) -> None:
    decided = decide(BAD, required("checked,no-pending"), [known], TODAY)

    assert len(decided.excepted) == fits
    assert decided.unused == (() if fits else (known,))
    assert not decided.passed


def test_an_exception_of_a_merge_excepts_no_missing_data_and_no_number() -> None:
    known = [exception(commit=OLD), exception(commit=END)]
    unchecked = replace(GOOD, merges=[merge(OLD, checked=False)])

    assert not decide(unchecked, required("checked"), known, TODAY).passed
    assert not decide(GOOD, required("boxes=3"), known, TODAY).passed


# One more fact that speaks against it

MORE: Mapping[str, Callable[[Facts], Facts]] = {
    "unchecked": lambda facts: replace(facts, merges=[*facts.merges, merge(LATER, checked=False)]),
    "unannounced": lambda facts: replace(facts, unannounced=[*facts.unannounced, LATER]),
    "pending": lambda facts: replace(facts, pending=[*facts.pending, failure(3)]),
    "of the bench": lambda facts: replace(
        facts, pending=[*facts.pending, failure(4, verdict=Verdict.INFRA)]
    ),
    "open bug": lambda facts: replace(facts, bugs=[*facts.bugs, bug(None)]),
    "failed": lambda facts: replace(
        facts, at_end=[*facts.at_end, run("bench-1", RunEnding.FAILED)]
    ),
    "another product failed": lambda facts: replace(
        facts, at_end=[*facts.at_end, run("bench-1", RunEnding.FAILED, suite="boot")]
    ),
    "not reached": lambda facts: replace(
        facts,
        runs=[*facts.runs, run("bench-1", RunEnding.NEVER_REACHED)],
        at_end=[*facts.at_end, run("bench-1", RunEnding.NEVER_REACHED)],
    ),
}
WHAT = st.sampled_from(
    ["checked", "no-open-bug", "no-pending", "boxes=1", "boxes=2", "reached=1", "reached=99"]
)


@given(
    start=st.sampled_from([GOOD, NOTHING, BAD]),
    before=st.lists(st.sampled_from([*MORE]), max_size=3),
    more=st.sampled_from([*MORE]),
    requirements=st.lists(
        WHAT, min_size=1, max_size=3, unique_by=lambda word: word.partition("=")[0]
    ),
    known=st.lists(st.sampled_from(EXCEPTIONS), max_size=2),
)
def test_a_fact_that_speaks_against_a_release_never_lets_it_pass(
    start: Facts, before: list[str], more: str, requirements: list[str], known: list[KnownException]
) -> None:
    facts = start
    for name in before:
        facts = MORE[name](facts)
    require = required(",".join(requirements))

    if not decide(facts, require, known, TODAY).passed:
        assert not decide(MORE[more](facts), require, known, TODAY).passed


# What is required


def test_what_is_required_is_read_in_its_order() -> None:
    assert required(" boxes=2, checked ,reached=97.5%") == {
        Requirement.BOXES: 2,
        Requirement.CHECKED: None,
        Requirement.REACHED: 97.5,
    }


@pytest.mark.parametrize(
    "text",
    [
        *("", ",", "check", "checked=1", "boxes", "boxes=", "boxes=0", "boxes=-1", "boxes=1.5"),
        *("boxes=1e3", "boxes=٣", f"boxes={'9' * 5000}", "boxes=2%", "boxes=2,boxes=3"),
        *("reached", "reached=0", "reached=0.0", "reached=101", "reached=nan", "reached=-5"),
        *("checked,checked", "CHECKED", "no_pending"),
    ],
)
def test_what_is_no_requirement_is_refused(text: str) -> None:
    with pytest.raises(RequirementError):
        required(text)
