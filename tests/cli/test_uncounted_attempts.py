# SPDX-License-Identifier: Apache-2.0
"""Runs of a CI that counts no attempts: Gitea, Forgejo and act have GitHub's variables without one,
and numbers that repeat.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from hwci.ci.job import hashed_run_id
from tests.cli.conftest import Answer, Command
from tests.cli.jobs import body, checkout, git, junit, three_commits
from tests.support.recorded import recorded

__all__ = ["checkout", "three_commits"]  # fixtures

GITEA = {**recorded("github-dispatch"), "GITHUB_RUN_ID": "272", "GITHUB_RUN_ATTEMPT": ""}


def report(
    in_ci: Command,
    folder: Path,
    *flags: str,
    minute: int = 0,
    fails: str = "",
    variables: Mapping[str, str | None] = {},
) -> Answer:
    """Report a run that began at a minute, in a checkout that is on its branch."""
    at = f' timestamp="2026-01-31T09:{minute:02}:00"'
    (folder / "one.xml").write_text(junit("a", "b", fails=fails, timestamp=at))
    head = git(folder, "rev-parse", "HEAD")
    environ: dict[str, str | None] = {**GITEA, "GITHUB_SHA": head, **variables}
    words = ("report-run", "--box", "b", "--junit", "one.xml", "--no-changes", *flags)
    return in_ci(*words, stdin="", **environ)


def test_a_second_try_is_another_attempt(in_ci: Command, checkout: Path) -> None:
    first = report(in_ci, checkout, "-n", fails="b")
    assert (body(first)["run_id"], body(first)["run_attempt"]) == (272, 1)
    report(in_ci, checkout, fails="b")

    second = report(in_ci, checkout, "-n", minute=5)

    assert (body(second)["run_id"], body(second)["run_attempt"]) == (272, 2)
    assert "note: The CI counts no attempts: this is attempt 2" in second.err
    report(in_ci, checkout, minute=5)
    assert body(report(in_ci, checkout, "-n", minute=9))["run_attempt"] == 3


def test_the_same_results_again_are_the_same_attempt(in_ci: Command, checkout: Path) -> None:
    report(in_ci, checkout, minute=20)
    assert body(report(in_ci, checkout, "-n", minute=20))["run_attempt"] == 1


def test_other_results_of_the_same_start_are_another_attempt(
    in_ci: Command, checkout: Path
) -> None:
    report(in_ci, checkout, minute=25, fails="b")
    assert body(report(in_ci, checkout, "-n", minute=25))["run_attempt"] == 2


def test_a_number_that_another_commit_had_is_no_attempt(in_ci: Command, checkout: Path) -> None:
    report(in_ci, checkout, minute=30)
    git(checkout, "commit", "--quiet", "--allow-empty", "-m", "another")
    head = git(checkout, "rev-parse", "HEAD")

    other = body(report(in_ci, checkout, "-n", minute=40))

    assert (other["run_id"], other["ci_run"]) == (hashed_run_id(f"272 of {head}"), 272)
    assert other["run_attempt"] == 1


CONTAINER = {"XDG_STATE_HOME": None, "CI_DISPOSABLE_ENVIRONMENT": "true"}
ALIKE = ("ACT", "GITEA_ACTIONS", "FORGEJO_ACTIONS")


@pytest.mark.parametrize("name", ALIKE)
def test_a_first_attempt_that_is_said_of_each_run_is_none(
    in_ci: Command, checkout: Path, name: str
) -> None:
    number = f"1{ALIKE.index(name)}"
    says = {name: "true", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_RUN_ID": number}
    report(in_ci, checkout, fails="b", variables=says)

    assert body(report(in_ci, checkout, "-n", minute=5, variables=says))["run_attempt"] == 2
    third = report(in_ci, checkout, "-n", minute=5, variables=says | {"GITHUB_RUN_ATTEMPT": "3"})
    assert body(third)["run_attempt"] == 3
    assert "counts no attempts" not in third.err


@pytest.mark.parametrize("other", [{"GITHUB_REF_NAME": "topic"}, {"GITHUB_WORKFLOW": "nightly"}])
def test_a_number_that_another_branch_or_workflow_had_is_no_attempt(
    in_ci: Command, checkout: Path, other: dict[str, str]
) -> None:
    report(in_ci, checkout, minute=10, variables={"GITHUB_RUN_ID": "99"})

    answer = report(in_ci, checkout, "-n", minute=15, variables={"GITHUB_RUN_ID": "99", **other})

    assert body(answer)["run_id"] != 99
    assert (body(answer)["ci_run"], body(answer)["run_attempt"]) == (99, 1)
    assert "run 99 was of another branch or workflow before" in answer.err


def test_a_container_that_ends_with_the_job_makes_each_try_a_run(
    in_ci: Command, checkout: Path
) -> None:
    fresh = {**CONTAINER, "HOME": str(checkout)}
    tries = [report(in_ci, checkout, "-n", minute=at, variables=fresh) for at in (20, 25)]

    assert len({body(answer)["run_id"] for answer in tries}) == 2
    assert "this machine ends with the job, so this try is a run of its own" in tries[0].err
    chosen = fresh | {"HWCI_STATE_DIR": str(checkout / "kept"), "GITHUB_RUN_ID": "77"}
    assert body(report(in_ci, checkout, "-n", variables=chosen))["run_id"] == 77


def test_a_run_of_exec_has_the_id_of_its_start(in_ci: Command, checkout: Path) -> None:
    fresh = {**CONTAINER, "HOME": str(checkout)}
    at = "2026-01-31T08:00:00Z"
    answer = report(in_ci, checkout, "--started-at", at, "-n", minute=20, variables=fresh)

    assert body(answer)["run_id"] == hashed_run_id("272 at 2026-01-31T08:00:00Z")


def test_a_bench_that_keeps_nothing_makes_each_try_a_run(
    in_ci: Command, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hwci.client.store.bench.state_home", lambda _: None)
    tries = [report(in_ci, checkout, "-n", minute=minute) for minute in (0, 5)]

    assert len({body(answer)["run_id"] for answer in tries}) == 2
    assert {body(answer)["ci_run"] for answer in tries} == {272}
    assert "nothing is remembered here, so this try is a run of its own" in tries[0].err


@pytest.mark.parametrize("flag", ["--run-attempt", "--run-id"])
def test_what_a_person_counts_is_left_alone(in_ci: Command, checkout: Path, flag: str) -> None:
    report(in_ci, checkout, minute=50)

    answer = report(
        in_ci, checkout, flag, "1" if flag == "--run-attempt" else "272", "-n", minute=55
    )

    assert body(answer)["run_attempt"] == 1
    assert "counts no attempts" not in answer.err


def test_a_board_that_was_lost_twice_is_two_attempts(in_ci: Command, checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    environ = GITEA | {"GITHUB_SHA": head, "GITHUB_RUN_ID": "273"}

    def lost(minute: int, *flags: str) -> Answer:
        at = f"2026-01-31T09:{minute:02}:00Z"
        run = ("report-run", "--box", "b", "--hello", "failed", "--no-changes")
        times = ("--started-at", at, "--ended-at", at, "--conclusion", "failure")
        return in_ci(*run, *times, *flags, **environ)

    assert lost(0).code == 0

    assert body(lost(5, "-n"))["run_attempt"] == 2
    assert body(lost(0, "-n"))["run_attempt"] == 1


def test_a_store_that_cannot_be_written_keeps_nothing(
    in_ci: Command, checkout: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    nowhere: dict[str, str | None] = {"HWCI_STATE_DIR": str(tmp_path / "file" / "state")}
    tries = [report(in_ci, checkout, "-n", minute=minute, variables=nowhere) for minute in (0, 5)]

    assert len({body(answer)["run_id"] for answer in tries}) == 2
    assert "nothing is remembered here" in tries[0].err
