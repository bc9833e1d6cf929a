# SPDX-License-Identifier: Apache-2.0
"""What the API of GitLab has of earlier pipelines, those of merge requests among them."""

from typing import Any

import pytest

from hwci.ci.detect import find_job
from hwci.ci.reporting.base import find_base
from hwci.ci.systems.api import get_json
from hwci.client.store import PastRuns
from tests.ci.answering import answering
from tests.ci.apis import (
    GITLAB,
    LATER,
    NEWER,
    OLD,
    TOKEN,
    Found,
    Row,
    by,
    doubted,
    find,
    gitlab_job,
    gitlab_jobs_path,
    history,
    job_of,
)
from tests.support.recorded import recorded

BY_GITLAB_NEWER, BY_GITLAB_OLD = by("GitLab's API", NEWER), by("GitLab's API", OLD)
REQUEST = "/projects/88/merge_requests/7/pipelines"
MERGE = "refs/merge-requests/7/merge"


def test_a_job_of_gitlab_that_tested_and_was_retried_counts() -> None:
    answers: dict[str, object] = {
        GITLAB: [{"id": 4710, "sha": NEWER}, {"id": 4709, "sha": OLD}],
        gitlab_jobs_path(4710): [gitlab_job(52, "canceled"), gitlab_job(51, "success")],
    }
    with answering(answers) as server:
        found = find_base(job_of(server, "GitLab's API"), PastRuns(), get_json)

    assert found == BY_GITLAB_NEWER
    assert server.asked[1].query["include_retried"] == "true"


def test_a_pipeline_of_gitlab_that_was_skipped_is_not_looked_into() -> None:
    answers = history("GitLab's API", (NEWER, None), (OLD, "success"))
    answers[GITLAB][0]["status"] = "skipped"
    answers[gitlab_jobs_path(4710)] = 500

    assert find("GitLab's API", answers) == BY_GITLAB_OLD


def of_merge_request(*pipelines: tuple[int, str, Row]) -> dict[str, Any]:
    """Return the answers about a merge request: of each pipeline its ref and its job's commit."""
    name = recorded("gitlab-merge-request")["CI_JOB_NAME"]
    rows = [
        {"id": number, "sha": LATER, "ref": ref, "project_id": 88} for number, ref, _ in pipelines
    ]
    jobs = {
        gitlab_jobs_path(number): [gitlab_job(number, "success", name, commit=commit)]
        for number, _, commit in pipelines
    }
    return {REQUEST: rows, **jobs}


def find_in_merge_request(answers: dict[str, Any], **more: str) -> Found:
    with answering(answers) as server:
        environ = recorded("gitlab-merge-request") | {
            "GITLAB_TOKEN": TOKEN,
            "CI_API_V4_URL": server.address,
            **more,
        }
        return find_base(find_job({}, environ, None, None), PastRuns(), get_json)


def test_a_pipeline_of_merged_results_tested_the_head_of_the_source_branch() -> None:
    merged = {"id": LATER, "parent_ids": [OLD, NEWER]}

    found = find_in_merge_request(of_merge_request((4710, MERGE, merged)))

    assert found == BY_GITLAB_NEWER


@pytest.mark.parametrize("ref", ["refs/merge-requests/7/head", "faster-boot"])
def test_a_pipeline_of_a_branch_or_of_a_head_tested_its_own_commit(ref: str) -> None:
    answers = of_merge_request((4710, ref, {"id": LATER, "parent_ids": [OLD, NEWER]}))

    assert find_in_merge_request(answers) == by("GitLab's API", LATER)


@pytest.mark.parametrize(
    ("ref", "commit"),
    [
        (MERGE, {"id": LATER}),
        (MERGE, {"id": LATER, "parent_ids": [OLD]}),
        (MERGE, None),
        ("refs/merge-requests/7/train", {"id": LATER, "parent_ids": [OLD, NEWER]}),
    ],
    ids=["no parents told", "no merge", "no commit", "a train"],
)
def test_a_made_up_commit_whose_source_is_not_known_is_in_doubt(ref: str, commit: Row) -> None:
    answers = of_merge_request((4710, ref, commit))

    assert "a commit that it does not name" in doubted(find_in_merge_request(answers))


def test_the_newest_pipeline_of_a_merge_request_counts_wherever_it_is_listed() -> None:
    """Those of the merge request stand before those of its branch; those of a fork are its own."""
    answers = of_merge_request(
        (4709, MERGE, {"parent_ids": [LATER, OLD]}), (4708, "faster-boot", {})
    )
    assert find_in_merge_request(answers) == BY_GITLAB_OLD
    answers[REQUEST][0]["project_id"] = 99
    assert find_in_merge_request(answers) == by("GitLab's API", LATER)
    answers[REQUEST][0] |= {"project_id": 88, "id": 4707}
    answers[gitlab_jobs_path(4707)] = answers.pop(gitlab_jobs_path(4709))
    assert find_in_merge_request(answers) == by("GitLab's API", LATER)


def test_a_child_pipeline_follows_child_pipelines() -> None:
    answers = history("GitLab's API", (NEWER, "success"))
    with answering(answers) as server:
        job = job_of(server, "GitLab's API", CI_PIPELINE_SOURCE="parent_pipeline")
        found = find_base(job, PastRuns(), get_json)

    assert found == BY_GITLAB_NEWER
    assert server.asked[0].query["source"] == "parent_pipeline"
