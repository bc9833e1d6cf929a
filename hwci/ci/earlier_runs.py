# SPDX-License-Identifier: Apache-2.0
"""Which runs of this workflow and branch came before, as the API of the CI system lists them.

This module decides what is asked and with which token; an answer of another shape lists nothing.
A CI system knows how a run ended, not whether it reached the hardware: who knows better is asked in
`hwci.ci.base`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from hwci.ci.asking import Ask
from hwci.ci.job import Job
from hwci.ci.run_ids import hashed_run_id

PER_PAGE = 100
PAGES = 3
"""Later runs than this one stand before those that came before it."""
PIPELINES_LOOKED_INTO = 10

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """`run_ids`: by any of which a report may call it. `ended`: by itself, well or not."""

    run_ids: tuple[int, ...]
    sha: str
    ended: bool


@dataclass(frozen=True, slots=True)
class Api:
    """The API of a CI system. `runs` gives the newest first; it raises AskError."""

    title: str
    tokens: tuple[str, ...]
    needs: tuple[str, ...]
    runs: Callable[[Job, str, Ask], Iterator[EarlierRun]]


def _github(job: Job, token: str, ask: Ask) -> Iterator[EarlierRun]:
    environ = job.environ
    # A branch of a fork is `owner:branch`; the API lists it by its name alone.
    owner, _, branch = str(job.value("branch")).rpartition(":")
    file = environ["GITHUB_WORKFLOW_REF"].partition("@")[0].rpartition("/")[2]
    path = f"repos/{environ['GITHUB_REPOSITORY']}/actions/workflows/{quote(file, '')}/runs"
    wanted = {"branch": branch, "status": "completed", "exclude_pull_requests": "true"}
    address = f"{environ['GITHUB_API_URL'].rstrip('/')}/{path}"
    for row in _pages(ask, address, wanted, {"Authorization": f"Bearer {token}"}, "workflow_runs"):
        theirs = str(_in(row, "head_repository", "full_name"))
        of_branch = (
            theirs.partition("/")[0] == owner if owner else theirs == environ["GITHUB_REPOSITORY"]
        )
        if of_branch and _number(row, "id") < int(environ["GITHUB_RUN_ID"]):
            ended = row.get("conclusion") in {"success", "failure"}
            yield EarlierRun((_number(row, "id"),), str(row.get("head_sha")), ended)


def _gitlab(job: Job, token: str, ask: Ask) -> Iterator[EarlierRun]:
    """A pipeline counts when it ran this job: other pipelines of the branch tested nothing."""
    environ = job.environ
    headers = {"PRIVATE-TOKEN": token}
    project = f"{environ['CI_API_V4_URL'].rstrip('/')}/projects/{environ['CI_PROJECT_ID']}"
    ref = environ.get("CI_MERGE_REQUEST_REF_PATH") or str(job.value("branch"))
    wanted = {"ref": ref, "order_by": "id", "sort": "desc"}
    own, looked_into = int(environ["CI_PIPELINE_ID"]), 0
    for pipeline in _pages(ask, f"{project}/pipelines", wanted, headers):
        number = _number(pipeline, "id")
        if number >= own:
            continue
        if (looked_into := looked_into + 1) > PIPELINES_LOOKED_INTO:
            return
        jobs = ask(f"{project}/pipelines/{number}/jobs?per_page={PER_PAGE}", headers)
        for row in _rows(jobs):
            if row.get("name") == environ["CI_JOB_NAME"]:
                ended = row.get("status") in {"success", "failed"}
                ids = (_number(row, "id"), number)
                yield EarlierRun(ids, str(pipeline.get("sha")), ended)


def _buildkite(job: Job, token: str, ask: Ask) -> Iterator[EarlierRun]:
    environ = job.environ
    organization, pipeline = (
        quote(environ[name], "")
        for name in ("BUILDKITE_ORGANIZATION_SLUG", "BUILDKITE_PIPELINE_SLUG")
    )
    path = f"v2/organizations/{organization}/pipelines/{pipeline}/builds"
    wanted = {"branch": str(job.value("branch")), "state": "finished"}
    headers = {"Authorization": f"Bearer {token}"}
    for row in _pages(ask, f"https://api.buildkite.com/{path}", wanted, headers):
        if _number(row, "number") < int(environ["BUILDKITE_BUILD_NUMBER"]):
            ended = row.get("state") in {"passed", "failed"}
            run_id = hashed_run_id(str(row.get("id")))
            yield EarlierRun((run_id,), str(row.get("commit")), ended)


def _azure(job: Job, token: str, ask: Ask) -> Iterator[EarlierRun]:
    environ = job.environ
    project = quote(environ["SYSTEM_TEAMPROJECT"], "")
    wanted = {
        "definitions": environ["SYSTEM_DEFINITIONID"],
        "branchName": environ["BUILD_SOURCEBRANCH"],
        "statusFilter": "completed",
        "queryOrder": "queueTimeDescending",
        "$top": str(PER_PAGE),
        "api-version": "7.0",
    }
    address = f"{environ['SYSTEM_COLLECTIONURI'].rstrip('/')}/{project}/_apis/build/builds"
    answer = ask(f"{address}?{urlencode(wanted)}", {"Authorization": f"Bearer {token}"})
    for row in _rows(_in(answer, "value")):
        number = _number(row, "id")
        if number < int(environ["BUILD_BUILDID"]):
            ended = row.get("result") in {"succeeded", "partiallySucceeded", "failed"}
            yield EarlierRun((number,), str(row.get("sourceVersion")), ended)


APIS: Mapping[str, Api] = {
    "github": Api(
        "GitHub's API",
        ("GITHUB_TOKEN", "GH_TOKEN"),
        ("GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_WORKFLOW_REF", "GITHUB_RUN_ID"),
        _github,
    ),
    "gitlab": Api(
        "GitLab's API",
        ("GITLAB_TOKEN",),  # a job's own token may not list pipelines
        ("CI_API_V4_URL", "CI_PROJECT_ID", "CI_PIPELINE_ID", "CI_JOB_NAME"),
        _gitlab,
    ),
    "buildkite": Api(
        "Buildkite's API",
        ("BUILDKITE_API_TOKEN",),
        ("BUILDKITE_ORGANIZATION_SLUG", "BUILDKITE_PIPELINE_SLUG", "BUILDKITE_BUILD_NUMBER"),
        _buildkite,
    ),
    "azure": Api(
        "Azure's API",
        ("SYSTEM_ACCESSTOKEN",),
        (
            "SYSTEM_COLLECTIONURI",
            "SYSTEM_TEAMPROJECT",
            "SYSTEM_DEFINITIONID",
            "BUILD_BUILDID",
            "BUILD_SOURCEBRANCH",
        ),
        _azure,
    ),
}
"""By the name of the system. The others have no such API, or nothing to ask it with."""


def api_of(job: Job) -> tuple[Api, str] | None:
    """Give the API that can be asked for earlier runs of a job, and the token for it."""
    api = APIS.get(job.system or "")
    if api is None or not job.value("branch"):
        return None
    token = next((job.environ[name] for name in api.tokens if job.environ.get(name)), None)
    known = all(job.environ.get(name) for name in api.needs)
    return (api, token) if token and known else None


def _pages(
    ask: Ask, address: str, wanted: Mapping[str, str], headers: Mapping[str, str], key: str = ""
) -> Iterator[Row]:
    """Give the rows of a list, page after page, as far as they are taken."""
    for page in range(1, PAGES + 1):
        query = urlencode({**wanted, "per_page": str(PER_PAGE), "page": str(page)})
        answer = ask(f"{address}?{query}", headers)
        rows = _rows(_in(answer, key) if key else answer)
        yield from rows
        if len(rows) < PER_PAGE:
            return


def _rows(answer: object) -> list[Row]:
    """Give the objects of a list."""
    return [row for row in answer if isinstance(row, dict)] if isinstance(answer, list) else []


def _in(answer: object, *path: str) -> object:
    for key in path:
        answer = answer.get(key) if isinstance(answer, dict) else None
    return answer


def _number(row: Row, key: str) -> int:
    """Give a number of a row, or one that nothing is before."""
    value = row.get(key)
    return value if isinstance(value, int) else 2**63
