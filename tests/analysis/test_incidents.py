# SPDX-License-Identifier: Apache-2.0
"""Incidents: which failures make one, on small examples. Those of a pool of boxes, and random
histories: `test_incidents_of_a_pool.py`.
"""

from dataclasses import replace

import pytest

from hwci.analysis.failures.incidents import (
    Described,
    Incident,
    described,
    failures_by_incident,
    failures_of,
    incidents,
    seen_products,
)
from hwci.contract.failures.incidents import Merged
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import Label
from hwci.engine.facts import Report
from hwci.engine.page.reading import read_failures
from hwci.engine.periods import Period
from tests.analysis.stories import BROKEN, run
from tests.engine.timeline import (
    ALL,
    EVER,
    MAIN,
    ORG,
    REPO,
    Past,
    changes,
    item,
    minute,
    report,
    seen,
)
from tests.support.outcomes import FullRecordedRuns


def found(past: Past) -> list[Incident]:
    return incidents(FullRecordedRuns(ORG, past.facts), ALL, EVER)


def merged_to(branch: str, passing: int, failing: int, not_run: int) -> Merged:
    return Merged(branch=branch, passing=passing, failing=failing, not_run=not_run)


def shown(past: Past) -> list[Described]:
    """Each incident that is pending, as a page shows it."""
    history = FullRecordedRuns(ORG, past.facts)
    rows = incidents(history, ALL, EVER, Label.PENDING)
    return described(history, rows, EVER, seen_products(history, ALL, EVER, rows))


def summary(past: Past) -> set[tuple[str, str, str]]:
    """Each incident as its tests and boxes, and its label."""
    return {(" ".join(one.tests), " ".join(one.boxes), one.label.value) for one in found(past)}


def test_tests_and_boxes_that_broke_and_were_fixed_together_are_one_incident() -> None:
    assert summary(Past(BROKEN)) == {
        ("i2c spi", "box-1 box-2", "resolved"),
        ("adc", "box-1", "pending"),
    }


def test_an_incident_has_its_start_and_counts_its_commits_and_runs() -> None:
    past = Past([*BROKEN, run("c", 3.5, {"spi": "F"})])
    pending, resolved = found(past)
    history = FullRecordedRuns(ORG, past.facts)
    still, failures = failures_by_incident(history, [pending, resolved])

    assert (pending.since, pending.label, len(still.shas)) == (minute(3), Label.PENDING, 2)
    assert (resolved.since, failures.last_failed_at) == (minute(2), minute(3.5))
    assert (len(failures.shas), failures.runs, failures.reruns) == (2, 6, 1)
    assert resolved.suspects is not None
    assert [one.subject for one in resolved.suspects] == ["Change b"]
    assert resolved.first_commit is not None
    assert (resolved.first_commit.sha, resolved.first.fix) == ("b", "d")


def test_incidents_hold_the_failures_of_the_list_of_failures() -> None:
    past = Past([run(sha, at, {"i2c": "F", "spi": "F"}) for at, sha in enumerate("abc")])
    history, late = FullRecordedRuns(ORG, past.facts), Period(minute(1), minute(2))

    [one] = incidents(history, ALL, late)
    assert sum(failed.episode.commits for failed in one.failed) == 6
    of_each = failures_by_incident(history, [one])
    assert failures_of(history, ALL, late, of_each) == len(read_failures(history, ALL, late)) == 4


def test_the_failure_that_began_first_gives_the_incident_its_identity() -> None:
    _, resolved = found(Past(BROKEN))

    assert resolved.first.key.lane.box_key == "box-1"
    assert [one.episode.started_at for one in resolved.failed] == sorted(
        one.episode.started_at for one in resolved.failed
    )


def test_another_fix_is_another_incident() -> None:
    later = [run("e", 5, {"spi": "P"}), run("d", 4.7, {"spi": "F"}, "box-3")]
    two = [run("b", 2.6, {"spi": "F"}, "box-3"), run("c", 3.6, {"spi": "F"}, "box-3")]

    assert ("spi", "box-3", "pending") in summary(Past([*BROKEN, *two, *later]))


def test_what_the_harness_blames_on_the_bench_is_another_incident() -> None:
    blamed = run("b", 2.2, {"uart": "I"}, base="a")
    passes = run("d", 4.2, {"uart": "P"}, base="c")

    assert ("uart", "box-1", "resolved") in summary(Past([*BROKEN, blamed, passes]))


def test_a_flake_is_no_incident() -> None:
    assert found(seen("box-1 | a:P b:F b:P")) == []


def test_without_changes_an_incident_begins_at_its_first_failing_commit() -> None:
    unknown = [replace(one, changes=None) for one in BROKEN]
    (resolved,) = (one for one in found(Past(unknown)) if one.label is Label.RESOLVED)

    assert (resolved.suspects, resolved.first_commit) == (None, None)
    assert (resolved.tests, resolved.boxes) == (["i2c", "spi"], ["box-1", "box-2"])


def test_an_incident_knows_whether_merges_go_to_its_branch() -> None:
    topic = replace(run("x", 9, {"i2c": "F"}, "box-9"), branch="topic")
    release = replace(run("y", 9, {"i2c": "F"}, "box-9"), branch="release")
    merges = [("b", MAIN), ("c", MAIN), ("d", "release")]
    past = Past([*BROKEN, topic, release]).announced(
        *(Merge(REPO, None, sha, branch, minute(1)) for sha, branch in merges)
    )

    assert {(one.lane.branch, one.on_merge_branch, one.on_main_branch) for one in found(past)} == {
        ("main", True, True),
        ("release", True, False),
        ("topic", False, False),
    }


def test_retries_are_the_attempts_after_the_first_one_of_each_run() -> None:
    tests = [replace(item("F", "i2c"), attempts=3)]
    past = Past([report("a:P", 1, tests=tests), report("a:P", 2, run_id=7, tests=tests)])
    (pending,) = shown(past)

    assert (pending.failures.reruns, pending.retries) == (1, 4)


def test_a_box_that_passed_a_failing_commit_and_failed_none_is_named() -> None:
    failing = [run("a", 1, {"i2c": "F"}), run("b", 2, {"i2c": "F"})]
    others = [
        replace(run("a", 3, {"i2c": "P"}, "passes"), branch="topic"),
        run("b", 3, {"i2c": "P"}, "passes-again"),
        run("a", 3, {"i2c": "P"}, "flaky"),
        run("a", 4, {"i2c": "F"}, "flaky"),
        run("b", 3, {"spi": "P"}, "another-test"),
        run("0", 0, {"i2c": "P"}, "another-commit"),
        replace(run("a", 3, {"i2c": "P"}, "another-product"), suite="other"),
        replace(run("a", 3, {"i2c": "P"}, "lost"), hello_ok=False),
    ]
    (pending,) = shown(Past([*failing, *others]))

    assert pending.passes_on == ["passes", "passes-again"]


def test_the_only_box_that_runs_a_test_is_known_as_such() -> None:
    failing = [run("a", 1, {"i2c": "F", "spi": "P"}), run("b", 2, {"i2c": "F", "spi": "P"})]

    def only(*others: Report) -> bool:
        (pending,) = shown(Past([*failing, *others]))
        return pending.only_box

    assert only()
    assert only(run("a", 3, {"spi": "P"}, "box-2"))
    assert only(replace(run("a", 3, {"i2c": "P"}, "box-2"), hello_ok=False))
    assert only(replace(run("a", 3, {"i2c": "P"}, "box-2"), suite="other"))
    assert not only(run("c", 3, {"i2c": "P"}, "box-2"))
    assert not only(run("a", 3, {"i2c": "F"}, "box-2"))


TOPIC = [
    replace(run("x", 2, {"i2c": "F", "spi": "F", "adc": "F"}, base="a"), branch="topic"),
    run("m", 3, {"i2c": "P", "spi": "F"}, base="a"),
]


def topic(*merges: str, sent: tuple[str, ...] = ("x", "m")) -> Merged | None:
    """Return where the topic branch was merged; `sent`: the commits that the run on main lists."""
    on_main = replace(TOPIC[1], changes=changes("a", *sent))
    announced = [Merge(REPO, None, sha, MAIN, minute(1)) for sha in merges]
    past = Past([TOPIC[0], on_main]).announced(*announced)
    (one,) = (row for row in shown(past) if row.incident.lane.branch == "topic")
    return one.merged


def test_a_merged_branch_shows_how_its_tests_do_where_it_was_merged() -> None:
    assert topic("m") == merged_to(MAIN, passing=1, failing=1, not_run=1)
    assert topic("m", sent=("m",)) is None
    assert topic("m", "x", sent=("m",)) == merged_to(MAIN, passing=1, failing=1, not_run=1)
    assert topic() is None


@pytest.mark.parametrize(
    ("there", "looked"),
    [
        (
            {"i2c": "P", "spi": "P"},
            "Nothing to look at: it was merged to main, and passes there",
        ),
        (
            {"i2c": "P", "spi": "F"},
            "Test commit x on box-1 again: if it passes there, it is a flake",
        ),
        ({"i2c": "P"}, "Test commit x on box-1 again: if it passes there, it is a flake"),
    ],
)
def test_what_passes_where_it_was_merged_needs_no_look(there: dict[str, str], looked: str) -> None:
    failing = replace(run("x", 2, {"i2c": "F", "spi": "F"}, base="a"), branch="topic")
    on_main = replace(run("m", 3, there), changes=changes("a", "x", "m"))
    past = Past([failing, on_main]).announced(Merge(REPO, None, "m", MAIN, minute(1)))
    (one,) = (row for row in shown(past) if row.incident.lane.branch == "topic")
    assert one.look_first == looked


def test_the_last_run_after_a_merge_decides_how_a_test_does() -> None:
    before = run("o", 1, {"i2c": "F"}, base="a")
    last = run("n", 4, {"i2c": "F"}, base="m")
    merges = [Merge(REPO, None, "m", MAIN, minute(1))]

    def after_merge(*runs: Report) -> Merged | None:
        past = Past([TOPIC[0], *runs]).announced(*merges)
        (one,) = (row for row in shown(past) if row.incident.lane.branch == "topic")
        return one.merged

    on_main = replace(TOPIC[1], changes=changes("a", "x", "m"))
    assert after_merge(before, on_main) == merged_to(MAIN, passing=1, failing=1, not_run=1)
    assert after_merge(on_main, last) == merged_to(MAIN, passing=0, failing=2, not_run=1)
