# SPDX-License-Identifier: Apache-2.0
"""The evidence of one failure (contract, `ci-failures/{id}`)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from hwci.contract.failures.failures import FailureEvidence
from hwci.contract.runs.commits import ChangedCommit, ChangeList, Commit
from hwci.contract.vocabulary import Label, Outcome, Reason
from hwci.engine.facts import SuiteConfig
from hwci.engine.full_history import FullHistory
from hwci.engine.page.evidence import evidence
from hwci.engine.page.failures import resolved_failure
from tests.engine.timeline import (
    ORG,
    REPO,
    SUITE,
    Past,
    changes,
    commit,
    id_of,
    lane,
    minute,
    report,
    seen,
)

GROUP = seen(
    "box-1 | a:P b:P c:F d:F e:- f:P g:P h:P",
    changed={"c": "fw doc", "e": "hs", "f": "fw hs"},
)


def of(past: Past, sha: str, margin: int = 5, most: int = 200) -> FailureEvidence:
    found = evidence(past.history, id_of(sha), most, margin)
    assert found is not None
    return found


def kinds(commits: tuple[ChangedCommit, ...] | None) -> list[tuple[str, list[str | None]]] | None:
    if commits is None:
        return None
    return [(one.sha, [file.kind for file in one.files]) for one in commits]


def as_listed(commits: Sequence[ChangedCommit]) -> list[Commit]:
    """Return these commits as a run listed them."""
    return [
        Commit(
            one.sha,
            one.subject,
            one.committed_at,
            tuple(file.path for file in one.files),
            one.files_truncated,
        )
        for one in commits
    ]


def test_any_failure_of_a_group_shows_the_whole_group() -> None:
    found = of(GROUP, "d")

    assert found.failure.sha == "d"
    assert found.failure.label is Label.RESOLVED
    assert found.failure.group_id == id_of("c")
    assert (found.failure.box_key, found.failure.branch) == (lane().box_key, lane().branch)
    assert found.resolved == resolved_failure(GROUP.history, id_of("c"))
    assert found.resolved is not None
    assert found.resolved.automatic.reason is Reason.FIX_TOUCHED_HARNESS


def test_commits_under_test_and_before_the_fix_come_with_the_kind_of_each_file() -> None:
    found = of(GROUP, "c")

    assert kinds(found.under_test) == [("c", ["firmware", "other"])]
    assert kinds(found.before_fix) == [("e", ["harness"]), ("f", ["firmware", "harness"])]


def test_without_a_configuration_files_are_of_no_kind() -> None:
    found = of(GROUP.configured(), "c")

    assert kinds(found.under_test) == [("c", [None, None])]
    assert kinds(found.before_fix) == [("e", [None]), ("f", [None, None])]
    assert kinds(found.timeline_changes[:1]) == [("b", [None])]


def test_every_commit_of_the_timeline_that_a_run_listed_comes_with_its_files() -> None:
    # The first run has no changes: no run lists "a". The lists beside it show "c" and "f".
    found = of(GROUP, "d")

    assert kinds(found.timeline_changes) == [
        ("b", ["other"]),
        ("d", ["other"]),
        ("g", ["other"]),
        ("h", ["other"]),
    ]
    assert kinds(found.under_test) == [("c", ["firmware", "other"])]
    assert kinds(found.before_fix) == [("e", ["harness"]), ("f", ["firmware", "harness"])]


def test_a_commit_that_any_run_of_the_repository_listed_is_known() -> None:
    listed = commit("b", "fw")
    past = Past([report("a:P", 0), report("b:F", 1)])
    elsewhere = report("c:P", 30, branch="topic", box="box-2", sent=changes("a", listed, "c"))
    foreign = replace(elsewhere, repo_key="other")

    assert of(past, "b").timeline_changes == ()
    assert of(past.and_also(foreign), "b").timeline_changes == ()
    assert as_listed(of(past.and_also(elsewhere), "b").timeline_changes) == [listed]


def test_the_first_of_several_runs_that_list_a_commit_counts() -> None:
    first, second = commit("b", "fw ~"), commit("b", "fw hs")
    past = Past(
        [
            report("b:F", 1),
            report("z:P", 9, branch="late", sent=changes("a", second, "z")),
            report("y:P", 8, branch="topic", sent=changes("a", first, "y")),
        ]
    )

    assert as_listed(of(past, "b").timeline_changes) == [first]


def test_what_is_unknown_or_unconnected_is_none() -> None:
    unknown = Past([report("b:F", 1, sent=changes(None, "b")), report("c:P", 2)])

    assert of(unknown, "b").under_test is None
    assert of(unknown, "b").before_fix is None


def test_the_timeline_is_the_lane_from_the_first_failure_to_the_fix_and_around_it() -> None:
    def shown(margin: int) -> str:
        return " ".join(one.sha for one in of(GROUP, "d", margin).timeline)

    assert shown(0) == "c d f"
    assert shown(1) == "b c d f g"
    assert shown(9) == "a b c d f g h"


class Recording(FullHistory):
    """A history that records which commits it was asked for."""

    def __init__(self, past: Past) -> None:
        super().__init__(ORG, past.facts)
        self.asked: list[str] = []

    def first_listing(self, repo_key: str, shas: Sequence[str]) -> Mapping[str, ChangeList]:
        self.asked += shas
        return super().first_listing(repo_key, shas)


def test_only_the_shown_commits_of_a_long_timeline_are_read() -> None:
    past = seen("box-1 | a:P " + " ".join(f"c{at}:F" for at in range(30)), changed={"c9": "fw"})
    whole, history = of(past, "c9"), Recording(past)

    cut = evidence(history, id_of("c9"), 9)

    assert cut is not None
    shown = [one.sha for one in cut.timeline]
    assert shown == ["a", "c0", "c1", "c8", "c9", "c10", "c27", "c28", "c29"]
    assert cut.timeline_total == len(whole.timeline) == whole.timeline_total == 31
    assert [*cut.timeline] == [one for one in whole.timeline if one.sha in shown]
    listed = tuple(one for one in whole.timeline_changes if one.sha in shown)
    assert cut.timeline_changes == listed
    assert history.asked == shown


def test_a_commit_of_the_timeline_has_every_run_of_its_test_and_box() -> None:
    past = GROUP.and_also(
        report("d:P3", 30, branch="topic", workflow="night"),
        report("d:P", 31, box="box-2"),
        report("d:L", 32),
    )
    (shown,) = [one for one in of(past, "d").timeline if one.sha == "d"]

    assert [(run.started_at, run.branch, run.outcome, run.attempts) for run in shown.runs] == [
        (minute(3), "main", Outcome.FAIL, 1),
        (minute(30), "topic", Outcome.PASS, 3),
    ]


def test_a_flake_and_a_pending_failure_are_not_resolved() -> None:
    flake = of(GROUP.and_also(report("d:P", 30)), "d")
    pending = of(seen("box-1 | a:P b:F", changed={"b": "fw"}), "b")

    assert (flake.failure.label, flake.resolved, flake.before_fix) == (Label.FLAKE, None, None)
    assert flake.failure.group_id is None
    assert (pending.failure.label, pending.resolved) == (Label.PENDING, None)
    assert pending.failure.group_id == id_of("b")
    assert kinds(pending.under_test) == [("b", ["firmware"])]
    assert [one.sha for one in pending.timeline] == ["a", "b"]


def test_a_file_of_both_kinds_says_so() -> None:
    past = seen("box-1 | a:P b:F", changed={"b": "fw"})
    both = past.configured(SuiteConfig(REPO, SUITE, ("src/**",), ("src/main.c",)))

    assert kinds(of(both, "b").under_test) == [("b", ["both"])]


def test_no_failure_no_evidence() -> None:
    assert evidence(GROUP.history, UUID(int=7), 200) is None
    assert resolved_failure(GROUP.history, UUID(int=7)) is None
