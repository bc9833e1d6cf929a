# SPDX-License-Identifier: Apache-2.0
"""Earlier runs by the API of GitHub: how this job is recognized, and which commit a run tested."""

from collections.abc import Mapping
from typing import Any

import pytest

from hwci.ci.detect import find_job
from hwci.ci.reporting.base import find_base
from hwci.ci.systems.api import get_json
from hwci.client.store import PastRuns
from tests.ci.answering import answering
from tests.ci.apis import (
    BUILT,
    GITHUB_OWN,
    GITHUB_RUNS,
    LATER,
    NEWER,
    OLD,
    THIS_GITHUB_JOB,
    TOKEN,
    Found,
    Row,
    by,
    doubted,
    find,
    github_job,
    github_jobs,
    github_jobs_path,
    github_run,
    history,
    job_of,
)
from tests.support.recorded import recorded


def github(*jobs: Row, this: Row | None = None, **more: str) -> Found:
    """Find the base where the run before this one had these jobs."""
    answers: dict[str, Any] = {
        GITHUB_RUNS: {"workflow_runs": [github_run(8, NEWER), github_run(7, OLD)]},
        **THIS_GITHUB_JOB,
        github_jobs_path(8): github_jobs(BUILT, *jobs),
        github_jobs_path(7): github_jobs(BUILT, *([this | ENDED_WELL] if this else [HIL])),
    }
    if this is not None:
        answers[github_jobs_path(GITHUB_OWN)] = github_jobs(BUILT, this)
    return find("GitHub's API", answers, **more)


ENDED_WELL = {"status": "completed", "conclusion": "success"}
HIL = github_job("hil", "success")
BY_GITHUB_NEWER, BY_GITHUB_OLD = by("GitHub's API", NEWER), by("GitHub's API", OLD)


@pytest.mark.parametrize(
    ("name", "skipped"),
    [
        ("hil", "hil"),
        ("hil (stm32, gcc)", "hil"),
        ("hil (stm32, gcc)", "hil (${{ matrix.board }}, ${{ matrix.compiler }})"),
        ("nightly / hil", "nightly"),
        ("nightly / hil (stm32)", "nightly / hil"),
        ("Tests on stm32 (slow)", "Tests on ${{ matrix.board }} (slow)"),
    ],
)
def test_a_matrix_or_workflow_that_was_skipped_bears_the_name_of_the_whole(
    name: str, skipped: str
) -> None:
    this = github_job(name, None)
    summary = github_job("summary", "success")

    assert github(github_job(skipped, "skipped"), summary, this=this) == BY_GITHUB_OLD


@pytest.mark.parametrize("skipped", ["hil 2", "hi", "other", "${{ matrix.board }} hil", "hil ("])
def test_another_job_that_was_skipped_says_nothing_of_this_one(skipped: str) -> None:
    """A job that this run does not have ran, and may be this one under an earlier name."""
    jobs = github_job(skipped, "skipped"), github_job("hardware", "success")

    assert "run 8 on" in doubted(github(*jobs))


def test_a_run_of_other_jobs_that_this_run_has_too_tested_nothing() -> None:
    assert github() == BY_GITHUB_OLD


def test_one_of_a_matrix_is_not_another() -> None:
    this = github_job("hil (stm32)", None)
    jobs = github_job("hil (stm32)", "failure"), github_job("hil (nrf52)", "success", "bench-2")

    assert "run 8" in doubted(github(*jobs, this=this))


def test_one_attempt_that_succeeded_is_enough() -> None:
    failed = github_job("hil", "failure", run_attempt=2)
    with answering(
        {
            GITHUB_RUNS: {"workflow_runs": [github_run(8, NEWER, "failure")]},
            **THIS_GITHUB_JOB,
            github_jobs_path(8): github_jobs(HIL, failed, github_job("hil", "cancelled")),
        }
    ) as server:
        found = find_base(job_of(server, "GitHub's API"), PastRuns(), get_json)

    assert found == BY_GITHUB_NEWER
    assert [asked.query.get("filter") for asked in server.asked] == [None, None, "latest", "all"]


def test_a_run_that_goes_on_tested_when_its_job_has_ended() -> None:
    jobs = github_job("hil", "success"), github_job("deploy", None, "GitHub Actions 9")
    answers = history("GitHub's API", (NEWER, "success"), (OLD, "success"))
    answers[GITHUB_RUNS]["workflow_runs"][0] |= {"status": "in_progress", "conclusion": None}
    answers[github_jobs_path(GITHUB_OWN - 1)] = github_jobs(*jobs)

    assert find("GitHub's API", answers) == BY_GITHUB_NEWER
    answers[github_jobs_path(GITHUB_OWN - 1)] = github_jobs(github_job("hil", None))
    assert find("GitHub's API", answers) == BY_GITHUB_OLD


@pytest.mark.parametrize("conclusion", ["skipped", "startup_failure", "action_required"])
def test_a_run_without_jobs_is_not_looked_into(conclusion: str) -> None:
    answers = history("GitHub's API", (NEWER, None), (OLD, "success"))
    answers[GITHUB_RUNS]["workflow_runs"][0]["conclusion"] = conclusion
    answers[github_jobs_path(GITHUB_OWN - 1)] = 500

    assert find("GitHub's API", answers) == BY_GITHUB_OLD


@pytest.mark.parametrize(
    "this", [{"runner_name": "bench-9"}, {"status": "completed"}, {"runner_name": None}]
)
def test_where_this_job_is_not_recognized_a_run_of_several_is_in_doubt(this: Row) -> None:
    unknown = github_job("hil", None) | this

    assert "run 8" in doubted(github(HIL, this=unknown))


def test_two_jobs_that_run_on_a_runner_of_this_name_are_not_distinguished() -> None:
    answers = history("GitHub's API", (NEWER, "success"))
    twins = github_job("hil", None), github_job("soak", None)
    answers[github_jobs_path(GITHUB_OWN)] = github_jobs(*twins)

    assert f"{NEWER[:12]}" in doubted(find("GitHub's API", answers))


def test_a_job_that_is_the_only_one_of_its_run_needs_no_name() -> None:
    answers = history("GitHub's API", (LATER, None), (NEWER, "success"))
    answers[github_jobs_path(GITHUB_OWN)] = github_jobs(BUILT)
    answers[github_jobs_path(GITHUB_OWN - 1)] = github_jobs(github_job("hil", "skipped"))
    answers[github_jobs_path(GITHUB_OWN - 2)] = github_jobs(HIL)

    assert find("GitHub's API", answers) == BY_GITHUB_NEWER


def test_a_job_that_succeeded_without_the_step_that_reports_is_in_doubt() -> None:
    """Conditions may stand at each step: then the job succeeds and does nothing."""

    def steps(conclusion: str | None) -> dict[str, Any]:
        status = "in_progress" if conclusion is None else "completed"
        upload = {"name": "Upload logs", "status": "completed", "conclusion": "skipped"}
        report = {"name": "Report", "status": status, "conclusion": conclusion}
        return {"steps": [upload, report]}

    this = github_job("hil", None, **steps(None))

    idle = github(github_job("hil", "success", **steps("skipped")), this=this)
    busy = github(github_job("hil", "success", **steps("success")), this=this)

    assert "run 8" in doubted(idle)
    assert busy == BY_GITHUB_NEWER


def test_a_run_that_a_comment_started_is_listed_with_a_commit_that_it_did_not_test() -> None:
    answers = history("GitHub's API", (NEWER, "success"), (OLD, "success"))
    answers[GITHUB_RUNS]["workflow_runs"][0]["event"] = "issue_comment"

    assert "a commit that it does not name" in doubted(find("GitHub's API", answers))


def test_a_run_that_follows_another_is_listed_with_a_commit_that_it_did_not_test() -> None:
    answers = history("GitHub's API", (NEWER, "success"), (OLD, "success"))
    answers[GITHUB_RUNS]["workflow_runs"][0]["event"] = "workflow_run"

    assert "a commit that it does not name" in doubted(find("GitHub's API", answers))
    with answering(answers) as server:
        environ = recorded("github-workflow-run") | {
            "GITHUB_TOKEN": TOKEN,
            "GITHUB_API_URL": server.address,
        }
        found = find_base(find_job({}, environ, None, None), PastRuns(), get_json)
    assert "that follows another" in doubted(found)
    assert server.asked == []


def test_each_attempt_of_a_run_has_the_same_base_by_the_api() -> None:
    """Runs that came after its first attempt are not before it."""
    later = [github_run(GITHUB_OWN + number, LATER) for number in range(150, 0, -1)]
    answers = history("GitHub's API", (NEWER, "success"))
    every = [*later, *answers[GITHUB_RUNS]["workflow_runs"]]
    with answering(answers) as server:
        job = job_of(server, "GitHub's API")

        def paged(address: str, headers: Mapping[str, str]) -> object:
            if GITHUB_RUNS not in address:
                return get_json(address, headers)
            page = int(address.rpartition("page=")[2])
            return {"workflow_runs": every[(page - 1) * 100 : page * 100]}

        found = find_base(job, PastRuns(), paged)
        every = later * 3
        endless = find_base(job, PastRuns(), paged)

    assert found == BY_GITHUB_NEWER
    assert "lists more than 300" in doubted(endless)


def test_a_branch_of_a_fork_is_not_ours() -> None:
    theirs = {"head_repository": {"full_name": "stranger/firmware"}}
    runs = [github_run(5, LATER) | theirs, github_run(4, NEWER)]
    jobs = {github_jobs_path(number): github_jobs(BUILT, HIL) for number in (4, 5)}
    with answering({GITHUB_RUNS: {"workflow_runs": runs}, **THIS_GITHUB_JOB, **jobs}) as server:
        ours, _ = find_base(job_of(server, "GitHub's API"), PastRuns(), get_json)
        environ = recorded("github-fork") | {
            "GITHUB_TOKEN": TOKEN,
            "GITHUB_API_URL": server.address,
        }
        fork = find_job({}, environ, None, None)
        owner = fork.value("branch").partition(":")[0]
        runs[0]["head_repository"]["full_name"] = f"{owner}/firmware"
        of_fork, _ = find_base(fork, PastRuns(), get_json)

    assert ours.value == NEWER
    assert of_fork.value == LATER
    lists = [it.query for it in server.asked if it.path == GITHUB_RUNS]
    assert [it.get("branch") for it in lists] == ["main", None, "main"]  # a fork has no queue here


def queued(number: int, sha: str, branch: str) -> Row:
    """A run that tried a merge, as GitHub lists it."""
    name = f"gh-readonly-queue/{branch}/pr-7-{OLD}"
    return github_run(number, sha, event="merge_group", head_branch=name)


@pytest.mark.parametrize(
    ("name", "branch"), [("github-push", "main"), ("github-merge-group", "release/2.x")]
)
def test_what_a_merge_queue_tried_was_a_run_on_the_branch_behind_it(name: str, branch: str) -> None:
    """GitHub lists it under a branch of its own."""
    runs = [queued(9, LATER, "other"), queued(8, NEWER, branch), github_run(7, OLD)]
    jobs = {github_jobs_path(number): github_jobs(BUILT, HIL) for number in (7, 8, 9)}
    with answering({GITHUB_RUNS: {"workflow_runs": runs}, **THIS_GITHUB_JOB, **jobs}) as server:
        given = {"GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": server.address}
        job = find_job({}, recorded(name) | given, None, None)

        def by_branch(address: str, headers: Mapping[str, str]) -> object:
            answer = get_json(address, headers)
            if "branch=" not in address:
                return answer
            assert isinstance(answer, dict)
            rows = answer["workflow_runs"]
            return {"workflow_runs": [row for row in rows if row["event"] == "push"]}

        found = find_base(job, PastRuns(), by_branch)

    assert job.value("branch") == branch
    assert found == BY_GITHUB_NEWER


def test_a_branch_that_nothing_is_merged_into_has_no_queue() -> None:
    runs = [queued(8, NEWER, "topic"), github_run(7, OLD)]
    with answering({GITHUB_RUNS: {"workflow_runs": runs}, **THIS_GITHUB_JOB}) as server:
        given = {"GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": server.address, "HWCI_BRANCH": "topic"}
        find_base(find_job({}, recorded("github-push") | given, None, None), PastRuns(), get_json)

    assert [it.query.get("event") for it in server.asked if it.path == GITHUB_RUNS] == [None]


@pytest.mark.parametrize(
    ("ended", "reported"),
    [("success", True), ("failure", True), ("skipped", False), ("cancelled", False)],
)
def test_a_job_that_was_cancelled_before_it_reported_tested_nothing(
    ended: str, reported: bool
) -> None:
    """Its tests are unknown, if there were any."""
    running = {"name": "Report", "status": "in_progress", "conclusion": None}
    report = {"name": "Report", "status": "completed", "conclusion": ended}
    this = github_job("hil", None) | {"steps": [running]}
    cancelled = github_job("hil", "cancelled") | {"runner_name": "bench-1", "steps": [report]}

    found = github(cancelled, this=this)

    if reported:
        assert "run 8 on" in doubted(found)
    else:
        assert found == BY_GITHUB_OLD
