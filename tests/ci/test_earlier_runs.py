# SPDX-License-Identifier: Apache-2.0
"""What became of this job in earlier runs, as the API of each CI system reports it."""

from collections.abc import Mapping
from typing import Any

import pytest

from hwci.ci.reporting.base import find_base
from hwci.ci.systems.earlier import REQUESTS
from hwci.client.store import PastRuns
from tests.ci.answering import answering
from tests.ci.apis import (
    APIS,
    AZURE,
    AZURE_OWN,
    BUILDKITE,
    GITHUB_OWN,
    GITHUB_RUNS,
    GITLAB,
    LATER,
    NEWER,
    OLD,
    asking,
    azure_path,
    by,
    doubted,
    find,
    github_jobs_path,
    gitlab_jobs_path,
    history,
    job_of,
    knowing,
)

# By system: the states of a job that did not run, and of one that may have ended before its tests.
NOT_RUN = {
    "GitHub's API": ("skipped", "cancelled", None),
    "GitLab's API": ("skipped", "canceled", "manual", "created"),
    "Azure's API": ("skipped", "canceled"),
    "Buildkite's API": ("broken", "skipped", "canceled", "expired"),
}
MAYBE_RUN = {
    "GitHub's API": ("failure", "timed_out"),
    "GitLab's API": ("failed",),
    "Azure's API": ("failed", "succeededWithIssues", "abandoned"),
    "Buildkite's API": ("failed", "timed_out"),
}


def each(words: Mapping[str, tuple[str | None, ...]]) -> list[tuple[str, str | None]]:
    return [(title, word) for title, of_it in words.items() for word in of_it]


@pytest.mark.parametrize(("title", "ended"), [it for it in each(NOT_RUN) if it[1]])
def test_a_run_that_succeeded_without_this_job_tested_nothing(title: str, ended: str) -> None:
    """Its path filter skipped it: what was pushed then is still under test."""
    answers = history(title, (LATER, ended), (NEWER, ended), (OLD, APIS[title].passed))

    assert find(title, answers) == by(title, OLD)


@pytest.mark.parametrize("title", ["GitLab's API", "Azure's API", "Buildkite's API"])
def test_a_run_whose_rules_left_this_job_out_tested_nothing(title: str) -> None:
    answers = history(title, (LATER, None), (OLD, APIS[title].passed))

    assert find(title, answers) == by(title, OLD)


@pytest.mark.parametrize(("title", "ended"), each(MAYBE_RUN))
def test_a_job_that_may_have_ended_before_its_tests_is_in_doubt(title: str, ended: str) -> None:
    answers = history(title, (NEWER, ended), (OLD, APIS[title].passed))

    assert f"on {NEWER[:12]} tested, if anything" in doubted(find(title, answers))


BEGUN = {"started_at": "2026-11-20T16:25:07Z"}
CANCELLED = {
    "GitHub's API": ("cancelled", {"runner_name": "bench-1"}),
    "GitLab's API": ("canceled", BEGUN),
    "Azure's API": ("canceled", {"workerName": "bench-1"}),
    "Buildkite's API": ("canceled", BEGUN),
}
"""By system: its word for a cancelled job, and the fields of one that had begun."""


@pytest.mark.parametrize("title", APIS)
def test_a_job_that_was_cancelled_after_it_had_begun_is_in_doubt(title: str) -> None:
    word, begun = CANCELLED[title]
    answers = history(title, (NEWER, word), (OLD, APIS[title].passed))

    assert find(title, answers) == by(title, OLD)
    _job_of_newer(title, answers).update(begun)
    assert f"on {NEWER[:12]} tested, if anything" in doubted(find(title, answers))


def _job_of_newer(title: str, answers: dict[str, Any]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = {
        "GitHub's API": lambda: answers[github_jobs_path(GITHUB_OWN - 1)]["jobs"],
        "GitLab's API": lambda: answers[gitlab_jobs_path(4710)],
        "Azure's API": lambda: answers[azure_path(AZURE_OWN - 1)]["records"],
        "Buildkite's API": lambda: answers[BUILDKITE][1]["jobs"],
    }[title]()
    return rows[-1]


@pytest.mark.parametrize("title", APIS)
def test_a_job_that_failed_does_not_matter_where_its_commit_was_tested_before(title: str) -> None:
    api = APIS[title]

    found = find(title, history(title, (OLD, api.failed), (OLD, api.passed)))

    assert found == by(title, OLD)


@pytest.mark.parametrize("title", APIS)
def test_a_failure_beside_this_job_does_not_matter(title: str) -> None:
    """The run failed, but the API gives each job a state of its own."""
    answers = failed_beside(title)

    assert find(title, answers) == by(title, NEWER)


def failed_beside(title: str) -> dict[str, Any]:
    answers = history(title, (NEWER, APIS[title].passed), (OLD, APIS[title].passed))
    number = {"GitHub's API": GITHUB_OWN - 1, "Azure's API": AZURE_OWN - 1}.get(title, 0)
    if title == "GitHub's API":
        answers[GITHUB_RUNS]["workflow_runs"][0]["conclusion"] = "failure"
        answers[github_jobs_path(number)]["jobs"][0]["conclusion"] = "failure"
    elif title == "GitLab's API":
        answers[GITLAB][0]["status"] = "failed"
        answers[gitlab_jobs_path(4710)][0]["status"] = "failed"
    elif title == "Azure's API":
        answers[AZURE]["value"][0]["result"] = "failed"
        answers[azure_path(number)]["records"][1]["result"] = "failed"
    else:
        answers[BUILDKITE][1]["state"] = "failed"
        answers[BUILDKITE][1]["jobs"][0]["state"] = "failed"
    return answers


@pytest.mark.parametrize("title", APIS)
def test_the_search_ends_after_the_agreed_number_of_requests(title: str) -> None:
    """The job is skipped most of the time: a note says that the search ended."""
    skipped = NOT_RUN[title][0]
    runs = [*[(NEWER, skipped)] * 30, (OLD, APIS[title].passed)]
    with answering(history(title, *runs)) as server:
        found = find_base(job_of(server, title), PastRuns(), asking(server))

    assert len(server.asked) <= REQUESTS
    if title == "Buildkite's API":
        assert found == by(title, OLD)  # its list holds the jobs
    else:
        assert "15 requests were not enough" in doubted(found)


@pytest.mark.parametrize("title", ["GitHub's API", "Azure's API"])
def test_a_run_that_this_bench_remembers_is_not_looked_into(title: str) -> None:
    with answering(history(title, (NEWER, "as the bench says"))) as server:
        job = job_of(server, title)
        own = GITHUB_OWN if title == "GitHub's API" else AZURE_OWN
        found = find_base(job, knowing(job, (own - 1, OLD, True)), asking(server))

    assert found == by(title, OLD)  # the bench knows the commit, so no request is needed
    assert not [asked for asked in server.asked if not asked.path.endswith(("/runs", "/builds"))]


SHAPES: list[object] = ["7", {}, [[]], {"workflow_runs": {}, "jobs": 1}, {"value": [None]}]


@pytest.mark.parametrize("title", APIS)
@pytest.mark.parametrize("answer", SHAPES)
def test_an_answer_of_another_shape_is_no_answer(title: str, answer: object) -> None:
    """It must not be read as an empty list: a run without jobs would be skipped."""
    passed = APIS[title].passed
    answers = history(title, (NEWER, passed), (OLD, passed))
    for path in answers:
        if title == "Buildkite's API":
            given: dict[str, object] = {
                path: [answers[path][0], answers[path][1] | {"jobs": answer}]
            }
        else:
            given = {**answers, path: answer}
        found = find(title, given)
        if found != by(title, NEWER):  # the second run was not looked into
            assert "answers in an unknown form" in doubted(found)


@pytest.mark.parametrize("title", APIS)
def test_a_refused_request_for_jobs_is_noted(title: str) -> None:
    answers = history(title, (NEWER, APIS[title].passed))
    for path in list(answers)[1:]:
        base, (note,) = find(title, {**answers, path: 403})

        assert base.value is None
        assert "answers 403" in note
