# SPDX-License-Identifier: Apache-2.0
"""Why a merge is unchecked: a case for each row of the table, and random cases against a slow
definition that reads the reports themselves.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from hwci.analysis.merges.unchecked import CAUSES, UncheckedMerge, explain
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import UncheckedCause
from hwci.engine.facts import Report
from tests.engine.timeline import BOX, MAIN, REPO, SUITE, Past, changes, minute, report
from tests.support.soak import rounds

MERGE = Merge(REPO, SUITE, "b", MAIN, minute(1))
ANY = replace(MERGE, suite=None)
OTHER = "boot"


def explained(reports: Sequence[Report], *merges: Merge) -> list[UncheckedMerge]:
    """The causes of these merges, of those among them that no run checked."""
    past = Past([*reports]).announced(*merges)
    return explain(past.history, past.read().unchecked_merges)


def the(reports: Sequence[Report], merge: Merge = MERGE) -> tuple[UncheckedCause, int | None]:
    (found,) = explained(reports, merge)
    return found.cause, found.runs[0].ci_run_id if found.runs else None


LOST = report("b:L", 3, run_id=3)
EMPTY = report("b:-", 2, run_id=2)
OF_OTHER = report("b:P", 1, run_id=1, suite=OTHER)
LATER = report("d:F", 4, run_id=4, sent=changes("a", "b", "c", "d"))
ROWS = {
    "hardware not reached": (
        [EMPTY, OF_OTHER, LATER, LOST],
        (UncheckedCause.HARDWARE_NOT_REACHED, 3),
    ),
    "ran without tests": ([OF_OTHER, LATER, EMPTY], (UncheckedCause.NO_TESTS, 2)),
    "only another product ran": ([LATER, OF_OTHER], (UncheckedCause.OTHER_PRODUCT, 1)),
    "in the tree of a later run": ([LATER], (UncheckedCause.NOT_IN_PUSH_LIST, 4)),
    "nothing ran": ([report("a:P", 5)], (UncheckedCause.NOTHING_RAN, None)),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_first_row_that_fits_is_the_cause(row: str) -> None:
    reports, cause = ROWS[row]

    assert the(reports) == cause


def test_the_golden_rows_name_each_cause_in_its_order() -> None:
    assert [cause for _, (cause, _) in ROWS.values()] == [*CAUSES]


def test_the_earliest_run_that_tells_the_cause_is_named() -> None:
    assert the([report("b:L", 9, run_id=9), LOST]) == (UncheckedCause.HARDWARE_NOT_REACHED, 3)


def test_all_runs_on_the_commit_that_tell_the_cause_are_kept_in_their_order() -> None:
    later = report("b:L", 9, run_id=9, box="bench-2")
    (found,) = explained([later, EMPTY, OF_OTHER, LOST], MERGE)

    assert [(run.ci_run_id, run.box_key) for run in found.runs] == [(3, BOX), (9, "bench-2")]


def test_of_later_runs_only_the_earliest_is_kept() -> None:
    (found,) = explained([replace(LATER, run_id=5, started_at=minute(9)), LATER], MERGE)

    assert [run.ci_run_id for run in found.runs] == [4]


def test_a_run_of_another_product_that_lost_its_bench_is_no_run_of_the_merge() -> None:
    assert the([report("b:L", 1, run_id=1, suite=OTHER)]) == (UncheckedCause.OTHER_PRODUCT, 1)


def test_every_product_counts_for_an_unassigned_merge() -> None:
    lost = report("b:L", 1, run_id=1, suite=OTHER)

    assert the([lost], ANY) == (UncheckedCause.HARDWARE_NOT_REACHED, 1)


def test_a_run_whose_push_list_names_the_merge_tells_why_it_does_not_count() -> None:
    assert the([report("d:L", 6, run_id=6, covers=["b", "d"])]) == (
        UncheckedCause.HARDWARE_NOT_REACHED,
        6,
    )


@pytest.mark.parametrize("run", ["d:L", "d:-"])
def test_a_later_run_that_checked_nothing_itself_is_no_reason(run: str) -> None:
    assert the([replace(LATER, tests=(), hello_ok=run != "d:L")]) == (
        UncheckedCause.NOTHING_RAN,
        None,
    )


def test_a_later_run_of_another_product_is_no_reason() -> None:
    assert the([replace(LATER, suite=OTHER)]) == (UncheckedCause.NOTHING_RAN, None)
    assert the([replace(LATER, suite=OTHER)], ANY) == (UncheckedCause.NOT_IN_PUSH_LIST, 4)


def test_the_retry_of_a_later_run_that_lost_its_bench_had_the_commit_in_its_tree() -> None:
    lost = replace(LATER, tests=(), hello_ok=False)
    retry = replace(LATER, run_attempt=2, changes=None, started_at=minute(7))

    assert the([lost, retry]) == (UncheckedCause.NOT_IN_PUSH_LIST, 4)


def test_the_subject_is_that_which_a_report_told() -> None:
    (told,) = explained([LATER], MERGE)
    (untold,) = explained([LOST], MERGE)

    assert (told.subject, untold.subject) == ("Change b", None)


def slow_cause(merge: Merge, reports: Sequence[Report]) -> tuple[UncheckedCause, int | None]:
    """The cause as the table reads, from the reports themselves."""
    ordered = sorted(reports, key=lambda one: (one.started_at, one.run_id, one.run_attempt))
    naming = [one for one in ordered if merge.sha in {one.sha, *one.covers_shas}]
    own = [one for one in naming if merge.suite in {None, one.suite}]
    for run in own:
        if not run.hello_ok:
            return UncheckedCause.HARDWARE_NOT_REACHED, run.run_id
    if own:
        return UncheckedCause.NO_TESTS, own[0].run_id
    if naming:
        return UncheckedCause.OTHER_PRODUCT, naming[0].run_id
    for run in ordered:
        listed = run.changes.commits if run.changes else ()
        good = run.hello_ok and run.tests and merge.suite in {None, run.suite}
        if good and merge.sha in {one.sha for one in listed}:
            return UncheckedCause.NOT_IN_PUSH_LIST, run.run_id
    return UncheckedCause.NOTHING_RAN, None


def story(draw: random.Random) -> tuple[list[Report], list[Merge]]:
    """Some runs and merges of few commits and two products."""
    commits = "abcde"
    reports = []
    for number in range(draw.randint(0, 5)):
        end = draw.randint(1, 4)
        start = draw.randint(0, end - 1)
        reports.append(
            report(
                f"{commits[end]}:{draw.choice('PFL-')}",
                draw.randint(0, 3),
                run_id=number,
                suite=draw.choice([SUITE, OTHER]),
                covers=draw.sample(commits, draw.choice([0, 0, 2])),
                sent=draw.choice([None, changes(commits[start], *commits[start + 1 : end + 1])]),
            )
        )
    merges = [
        replace(MERGE, sha=sha, suite=draw.choice([None, SUITE, OTHER]))
        for sha in draw.sample(commits, 3)
    ]
    return reports, merges


def test_each_unchecked_merge_has_the_cause_that_the_table_gives_it() -> None:
    seen = set()
    for seed in range(rounds(300, 20_000)):
        reports, merges = story(random.Random(seed))
        for one in explained(reports, *merges):
            found = one.cause, one.runs[0].run_id if one.runs else None
            assert found == slow_cause(one.merge, reports), f"seed {seed}"
            seen.add(one.cause)
    assert seen == {*UncheckedCause}
