# SPDX-License-Identifier: Apache-2.0
"""GitLab: notes of merge requests and statuses of commits. The token that GitLab gives a job writes
neither, so one of the project is needed.

A status joins the pipeline of this job, whose commit may be a merge that GitLab made up: there the
merge request shows it.
"""

from collections.abc import Mapping
from urllib.parse import quote

from hwci.ci.forges.forge import TOKEN, Forge, Place, Request, State, Status
from hwci.ci.job import Job
from hwci.ci.systems.api import Row, at_path


def _place(job: Job, pull: int) -> Place:
    environ = job.environ
    target = environ.get("CI_MERGE_REQUEST_PROJECT_ID") or environ["CI_PROJECT_ID"]
    merge_request = f"{_api(environ)}/projects/{quote(target, '')}/merge_requests/{pull}"
    return Place(merge_request, f"{merge_request}/notes", f"{merge_request}/notes")


def _status(status: Status, job: Job) -> tuple[str, Row]:
    environ = job.environ
    sha = environ["CI_COMMIT_SHA"]
    pipeline = {"pipeline_id": environ["CI_PIPELINE_ID"]}
    if job.is_other:
        sha, pipeline = job.value("sha"), {}
    project = f"{_api(environ)}/projects/{quote(environ['CI_PROJECT_ID'], '')}"
    return f"{project}/statuses/{quote(sha)}", {
        "state": "failed" if status.state is State.FAILURE else status.state,
        "name": status.name,
        "description": status.description,
        "target_url": status.address,
        **pipeline,
    }


def _head_of_job(job: Job) -> str:
    """Return the head of the merge request: a train tests what GitLab merged of several."""
    head = "" if job.is_other else job.environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "")
    return head or job.value("sha")


def _own_user(environ: Mapping[str, str], request: Request) -> object:
    return at_path(request("GET", f"{_api(environ)}/user"), "id")


def _api(environ: Mapping[str, str]) -> str:
    return environ["CI_API_V4_URL"].rstrip("/")


FORGE = Forge(
    title="GitLab",
    is_here=lambda environ: bool(environ.get("GITLAB_CI")),
    tokens=(TOKEN,),
    rights="a token of the project with the scope `api` and the role Developer",
    needs=("CI_API_V4_URL", "CI_PROJECT_ID", "CI_COMMIT_SHA", "CI_PIPELINE_ID"),
    header=lambda token: {"PRIVATE-TOKEN": token},
    place=_place,
    own_user=_own_user,
    status=_status,
    update="PUT",
    author="author",
    head=("sha",),
    head_of_job=_head_of_job,
)
