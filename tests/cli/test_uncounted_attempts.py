# SPDX-License-Identifier: Apache-2.0
"""Runs of a CI that counts no attempts: Gitea, Forgejo and act have GitHub's variables without one,
and numbers that repeat.
"""

from pathlib import Path

import pytest

from hwci.ci.job import hashed_run_id
from tests.cli.conftest import Answer, Command
from tests.cli.jobs import body, checkout, git, junit, three_commits
from tests.support.recorded import recorded

__all__ = ["checkout", "three_commits"]  # fixtures

GITEA = {**recorded("github-dispatch"), "GITHUB_RUN_ID": "272", "GITHUB_RUN_ATTEMPT": ""}


def report(in_ci: Command, folder: Path, *flags: str, minute: int = 0, fails: str = "") -> Answer:
    """Report a run that began at a minute, in a checkout that is on its branch."""
    at = f' timestamp="2026-01-31T09:{minute:02}:00"'
    (folder / "one.xml").write_text(junit("a", "b", fails=fails, timestamp=at))
    head = git(folder, "rev-parse", "HEAD")
    return in_ci(
        *("report-run", "--box", "b", "--junit", "one.xml", "--no-changes", *flags),
        **GITEA | {"GITHUB_SHA": head},
    )


def test_a_second_try_is_another_attempt(in_ci: Command, checkout: Path) -> None:
    first = report(in_ci, checkout, "-n", fails="b")
    assert (body(first)["run_id"], body(first)["run_attempt"]) == (272, 1)
    report(in_ci, checkout, fails="b")

    second = report(in_ci, checkout, "-n", minute=5)

    assert (body(second)["run_id"], body(second)["run_attempt"]) == (272, 2)
    assert "note: GitHub Actions counts no attempts: this is attempt 2" in second.err
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


def test_a_bench_that_keeps_nothing_makes_each_try_a_run(
    in_ci: Command, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hwci.client.store.bench.state_home", lambda _: None)
    tries = [report(in_ci, checkout, "-n", minute=minute) for minute in (0, 5)]

    assert len({body(one)["run_id"] for one in tries}) == 2
    assert {body(one)["ci_run"] for one in tries} == {272}
    assert "each try is a run of its own" in tries[0].err or "a run of its own" in tries[0].err


@pytest.mark.parametrize("flag", ["--run-attempt", "--run-id"])
def test_what_a_person_counts_is_left_alone(in_ci: Command, checkout: Path, flag: str) -> None:
    report(in_ci, checkout, minute=50)

    told = report(in_ci, checkout, flag, "1" if flag == "--run-attempt" else "272", "-n", minute=55)

    assert body(told)["run_attempt"] == 1
    assert "counts no attempts" not in told.err
