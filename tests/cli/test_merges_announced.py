# SPDX-License-Identifier: Apache-2.0
"""Which merges a job announces where no CI says that it is of one: a merge that is announced and is
none stays unchecked for good.
"""

from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.jobs import NOWHERE, body, checkout, git, three_commits
from tests.support.recorded import recorded

__all__ = ["checkout", "three_commits"]

ANNOUNCE = ("merge-announce", "--dry-run")
CIRCLECI = recorded("circleci-push") | {"HWCI_TRIGGER": ""}
JENKINS = recorded("jenkins-freestyle")


def place(folder: Path, environ: dict[str, str], branch: str) -> dict[str, str]:
    """Return the environment of a job of a branch, here; a desk has no environment."""
    git(folder, "checkout", "-q", "-B", branch)
    head = git(folder, "rev-parse", "HEAD")
    named = {"GIT_COMMIT": head, "CIRCLE_SHA1": head, "GIT_BRANCH": f"origin/{branch}"}
    given = {**named, "CIRCLE_BRANCH": branch, "HWCI_URL": NOWHERE}
    return {**environ, **(given if environ else {})}


@pytest.mark.parametrize("environ", [JENKINS, CIRCLECI, {}], ids=["jenkins", "circleci", "desk"])
def test_a_branch_that_nothing_is_merged_into_is_not_announced(
    in_ci: Command, checkout: Path, environ: dict[str, str]
) -> None:
    there = place(checkout, environ, "feature/x")

    by_default, result = (
        in_ci(*ANNOUNCE, **there),
        in_ci(*ANNOUNCE, "--merge-branches=trunk", **there),
    )
    named = in_ci(*ANNOUNCE, "--merge-branches", "feature/*", **there)
    usual = in_ci(*ANNOUNCE, **place(checkout, environ, "master"))

    assert (by_default.code, by_default.out) == (result.code, result.out) == (0, "")
    assert by_default.err == (
        "Nothing is announced: merges do not go to feature/x: none is set, so main "
        "and master are assumed. If it is, name it by --merge-branches (or "
        "HWCI_MERGE_BRANCHES).\n"
    )
    assert "merges go to trunk (--merge-branches)" in result.err
    assert (body(named)["branch"], body(usual)["branch"]) == ("feature/x", "master")


def test_the_default_branch_is_the_one_that_the_clone_or_jenkins_knows(
    in_ci: Command, checkout: Path
) -> None:
    trunk = place(checkout, JENKINS, "trunk")
    by_jenkins = in_ci(*ANNOUNCE, **trunk, BRANCH_NAME="trunk", BRANCH_IS_PRIMARY="true")
    unknown = in_ci(*ANNOUNCE, **trunk)
    git(checkout, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    by_git = in_ci(*ANNOUNCE, **trunk)
    elsewhere = in_ci(*ANNOUNCE, **place(checkout, JENKINS, "main"))

    assert unknown.out == elsewhere.out == ""
    assert body(by_jenkins)["branch"] == body(by_git)["branch"] == "trunk"
    assert "merges go to trunk (git)" in elsewhere.err


def test_a_person_who_names_the_commit_or_the_trigger_says_that_it_is_a_merge(
    in_ci: Command, checkout: Path
) -> None:
    there = place(checkout, JENKINS, "feature/x")

    by_commit = in_ci(*ANNOUNCE, "--sha", "HEAD", **there)
    by_trigger = in_ci(*ANNOUNCE, **there, HWCI_TRIGGER="merge")

    assert body(by_commit)["branch"] == body(by_trigger)["branch"] == "feature/x"


@pytest.mark.parametrize("said", [{"HWCI_SHA": "HEAD"}, {"HWCI_TRIGGER": "merge"}])
def test_no_other_word_wins_over_the_branches_that_are_named(
    in_ci: Command, checkout: Path, said: dict[str, str]
) -> None:
    there = place(checkout, JENKINS, "feature/x") | {"HWCI_MERGE_BRANCHES": "main release/*"}

    answer = in_ci(*ANNOUNCE, **there, **said)

    assert (answer.code, answer.out) == (0, "")
    assert "merges go to main and release/* (HWCI_MERGE_BRANCHES)" in answer.err


def test_a_pull_request_that_a_merge_closed_is_announced_as_that_merge(in_ci: Command) -> None:
    announced = body(in_ci(*ANNOUNCE, **recorded("github-merged")))
    dropped = in_ci(*ANNOUNCE, **recorded("github-dropped"))

    assert (announced["sha"], announced["branch"], announced["merged_at"]) == (
        "6f1c1e4b2d3a49587766554433221100ffeeddcc",
        "main",
        "2026-11-20T16:20:00Z",
    )
    assert (dropped.code, dropped.out) == (0, "")


def test_a_child_of_a_pipeline_that_a_push_started_announces_its_merge(in_ci: Command) -> None:
    announced = body(in_ci(*ANNOUNCE, **recorded("gitlab-child")))
    of_request = in_ci(*ANNOUNCE, **recorded("gitlab-child-of-merge-request"))

    assert announced["branch"] == "main"
    assert (of_request.code, of_request.out) == (0, "")
