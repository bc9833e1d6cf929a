# SPDX-License-Identifier: Apache-2.0
"""Earlier pipelines of a GitLab branch or merge request, and this job in each, with its retries.

A pipeline has only the jobs that its rules chose, by the names of the configuration: one without
this job tested nothing of it. A pipeline of merged results is of a commit that GitLab makes up; its
second parent is the head of the source branch, which is what a report calls its commit.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from hwci.ci.earlier.answers import Row, inside, number_of, pages
from hwci.ci.earlier.runs import EarlierRun, Ending
from hwci.ci.job import Job
from hwci.ci.systems.api import GetJson

_ENDINGS = {"success": Ending.TESTED, "failed": Ending.IN_DOUBT}
"""By the status of a job. One of any other was skipped or cancelled before it began, or goes on."""

_PARENTS_OF_A_MERGE = 2


def runs(job: Job, token: str, get_json: GetJson) -> Iterator[EarlierRun]:
    """Give this job in the pipelines before its own, the newest first."""
    environ = job.environ
    headers = {"PRIVATE-TOKEN": token}
    projects = f"{environ['CI_API_V4_URL'].rstrip('/')}/projects"
    own = int(environ["CI_PIPELINE_ID"])
    for pipeline in _pipelines(job, projects, headers, get_json):
        number = number_of(pipeline, "id")
        if number >= own or pipeline.get("status") == "skipped":
            continue
        address = f"{projects}/{environ['CI_PROJECT_ID']}/pipelines/{number}/jobs"
        for row in pages(get_json, address, {"include_retried": "true"}, headers):
            if row.get("name") == environ["CI_JOB_NAME"]:
                ids = (number_of(row, "id"), number)
                sha, ending = _tested(pipeline, row), partial(_ending, row)
                yield EarlierRun(f"job {ids[0]}", ids, sha, ending)


def _pipelines(
    job: Job, projects: str, headers: Mapping[str, str], get_json: GetJson
) -> Iterator[Row] | Sequence[Row]:
    """List the pipelines of a branch; of a merge request with those of its source branch."""
    environ = job.environ
    request, target = (
        environ.get("CI_MERGE_REQUEST_IID"),
        environ.get("CI_MERGE_REQUEST_PROJECT_ID"),
    )
    is_child = environ.get("CI_PIPELINE_SOURCE") == "parent_pipeline"
    if request and target and not is_child:
        address = f"{projects}/{target}/merge_requests/{request}/pipelines"
        found = pages(get_json, address, {}, headers)
        ours = [row for row in found if str(row.get("project_id")) == environ["CI_PROJECT_ID"]]
        # Those of the merge request stand before those of the branch, whichever came first.
        return sorted(ours, key=lambda row: number_of(row, "id"), reverse=True)
    ref = environ.get("CI_MERGE_REQUEST_REF_PATH") or str(job.value("branch"))
    wanted = {"ref": ref, "order_by": "id", "sort": "desc"}
    if is_child:
        wanted["source"] = "parent_pipeline"  # such are not listed otherwise
    return pages(get_json, f"{projects}/{environ['CI_PROJECT_ID']}/pipelines", wanted, headers)


def _ending(row: Row) -> Ending:
    if row.get("status") == "canceled" and row.get("started_at"):
        return Ending.IN_DOUBT
    return _ENDINGS.get(str(row.get("status")), Ending.NOT_TESTED)


def _tested(pipeline: Row, row: Row) -> str:
    """Give the commit that a job of a pipeline tested; "" where it cannot be known. The commits of
    a merge train may be squashed ones.
    """
    ref = str(pipeline.get("ref"))
    if not ref.startswith("refs/merge-requests/") or ref.endswith("/head"):
        return str(pipeline.get("sha"))
    parents = inside(row, "commit", "parent_ids")
    if ref.endswith("/merge") and isinstance(parents, list) and len(parents) == _PARENTS_OF_A_MERGE:
        return str(parents[1])
    return ""
