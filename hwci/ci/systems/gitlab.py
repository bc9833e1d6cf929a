# SPDX-License-Identifier: Apache-2.0
"""GitLab CI. It counts no attempts: a retried job is a new job, so the run id is the job's, unless
a person sets the attempt.

Earlier pipelines: each has only the jobs that its rules chose, by the names of the configuration,
so one without this job tested nothing of it. A pipeline of merged results is of a commit that
GitLab makes up; its second parent is the head of the source branch, which a report calls its
commit.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from hwci.ci.fields import RUN_ID
from hwci.ci.job import Job, Sourced
from hwci.ci.systems.api import GetJson, Row, at_path, number_of, pages
from hwci.ci.systems.earlier import EarlierRun, EarlierRunsApi, Ending
from hwci.ci.systems.identity import ID_TOKEN, Identity
from hwci.ci.systems.system import (
    PULLS,
    TAGS,
    JobEnvironment,
    PrintedJob,
    System,
    always,
    commit,
    is_not,
    is_set,
    merge_or_manual,
    started_by,
    variable,
    where,
)
from hwci.contract.ci_systems import CiSystem
from hwci.contract.vocabulary import Trigger
from hwci.wire.base import parse_time

_TWIN = re.compile(r"(?:: \[.*\]| \d+/\d+)+$")


def _without_twin(job: str) -> str:
    """Return one name for all jobs of a matrix or of `parallel`."""
    return _TWIN.sub("", job)


def _finished(status: str) -> str | None:
    """A job that still runs has no conclusion: only `after_script` knows one."""
    return None if status == "running" else status


def _has_attempt(env: JobEnvironment) -> bool:
    return "run_attempt" in env.set_by_people


def _fork_branch(env: JobEnvironment) -> Sourced[str] | None:
    """A branch of a fork bears the fork's name: its `main` is not ours."""
    project = env.text("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH")
    name = env.text("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME")
    ours = env.text("CI_MERGE_REQUEST_PROJECT_PATH") or env.text("CI_PROJECT_PATH")
    if not (project and name) or project == ours:
        return None
    return Sourced(f"{project.rpartition('/')[0]}:{name}", "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH")


_EVENT_TYPE = "CI_MERGE_REQUEST_EVENT_TYPE"
_in_train = is_set(_EVENT_TYPE, "merge_train")
"""A merge train merges the commit that it tests."""


def _is_request(env: JobEnvironment) -> bool:
    return bool(env.text("CI_MERGE_REQUEST_IID")) and not _in_train(env)


_BRANCH_PUSHED = (variable("CI_COMMIT_BRANCH"),)


def _child_trigger(env: JobEnvironment) -> Sourced[Trigger] | None:
    """Return the trigger of a child pipeline, which is its parent's: GitLab passes on the commit
    before, and there is one only if the parent was started by a push.
    """
    name = "CI_COMMIT_BEFORE_SHA"
    if commit(env.text(name)) is None:
        return None
    return Sourced(merge_or_manual(Trigger.MERGE, _BRANCH_PUSHED, env), name)


# Earlier pipelines

_ENDINGS = {"success": Ending.TESTED, "failed": Ending.IN_DOUBT}
"""By the status of a job. Any other was skipped or cancelled before it began, or still runs."""

_PARENTS_OF_A_MERGE = 2


def _runs(job: Job, token: str, get_json: GetJson) -> Iterator[EarlierRun]:
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
) -> Iterable[Row]:
    """List the pipelines of a branch, or of a merge request with those of its source branch."""
    environ = job.environ
    request = environ.get("CI_MERGE_REQUEST_IID")
    target = environ.get("CI_MERGE_REQUEST_PROJECT_ID")
    is_child = environ.get("CI_PIPELINE_SOURCE") == "parent_pipeline"
    if request and target and not is_child:
        address = f"{projects}/{target}/merge_requests/{request}/pipelines"
        pipelines = pages(get_json, address, {}, headers)
        ours = [row for row in pipelines if str(row.get("project_id")) == environ["CI_PROJECT_ID"]]
        # Those of the merge request come before those of the branch, whichever came first.
        return sorted(ours, key=lambda row: number_of(row, "id"), reverse=True)
    ref = environ.get("CI_MERGE_REQUEST_REF_PATH") or str(job.value("branch"))
    query = {"ref": ref, "order_by": "id", "sort": "desc"}
    if is_child:
        query["source"] = "parent_pipeline"  # such are not listed otherwise
    return pages(get_json, f"{projects}/{environ['CI_PROJECT_ID']}/pipelines", query, headers)


def _ending(row: Row) -> Ending:
    if row.get("status") == "canceled" and row.get("started_at"):
        return Ending.IN_DOUBT
    return _ENDINGS.get(str(row.get("status")), Ending.NOT_TESTED)


def _tested(pipeline: Row, row: Row) -> str:
    """Return the commit that a job of a pipeline tested, "" if unknown: the commits of a merge
    train may be squashed ones.
    """
    ref = str(pipeline.get("ref"))
    if not ref.startswith("refs/merge-requests/") or ref.endswith("/head"):
        return str(pipeline.get("sha"))
    parents = at_path(row, "commit", "parent_ids")
    if ref.endswith("/merge") and isinstance(parents, list) and len(parents) == _PARENTS_OF_A_MERGE:
        return str(parents[1])
    return ""


_JOB = """\
# .gitlab-ci.yml; HWCI_CI_KEY is a masked variable of the project
variables:
  HWCI_URL: {url}
  HWCI_WHEEL: {wheel}
  GIT_DEPTH: "0"
announce:
  stage: .pre
  image: python:3.13 # {reach}
  allow_failure: true
  rules:
    - if: $CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - {install}
    - {hwci} merge-announce
hil:
  needs: []
  tags: [bench-1] # {box} runner
  script:
    - |
      {install_or_go_on}
    # {needs}
    - |
      {tests}
"""


SYSTEM = System(
    name=CiSystem.GITLAB,
    title="GitLab CI",
    variable="GITLAB_CI",
    readers={
        "repo_key": (variable("CI_PROJECT_PATH"),),
        "workflow": (variable("CI_PIPELINE_NAME"), variable("CI_JOB_NAME", _without_twin)),
        "run_id": (
            where(_has_attempt, variable("CI_PIPELINE_ID", RUN_ID)),
            variable("CI_JOB_ID", RUN_ID),
        ),
        "run_attempt": (always(1),),
        "sha": (
            where(_in_train, variable("CI_COMMIT_SHA", commit)),
            variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", commit),
            variable("CI_COMMIT_SHA", commit),
        ),
        "built": (variable("CI_COMMIT_SHA", commit),),
        "branch": (
            where(_in_train, variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")),
            _fork_branch,
            variable("CI_COMMIT_BRANCH"),
            variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"),
            variable("CI_COMMIT_REF_NAME"),
        ),
        "kind": (
            where(is_not("CI_COMMIT_TAG", ""), always(TAGS)),
            where(_is_request, always(PULLS)),
            where(is_not("CI_EXTERNAL_PULL_REQUEST_IID", ""), always(PULLS)),
        ),
        "pull": (variable("CI_MERGE_REQUEST_IID", RUN_ID),),
        "queued": (where(_in_train, always(value=True, source=_EVENT_TYPE)),),
        "trigger": (
            where(_in_train, always(Trigger.MERGE, _EVENT_TYPE)),
            where(is_set("CI_PIPELINE_SOURCE", "parent_pipeline"), _child_trigger),
            started_by(
                "CI_PIPELINE_SOURCE",
                {"push": Trigger.MERGE, "schedule": Trigger.NIGHTLY},
                _BRANCH_PUSHED,
            ),
        ),
        "conclusion": (variable("CI_JOB_STATUS", _finished),),
        "started_at": (variable("CI_JOB_STARTED_AT", parse_time),),
        "ci_url": (variable("CI_JOB_URL"),),
        "merged_at": (variable("CI_COMMIT_TIMESTAMP", parse_time),),
        "box_key": (variable("CI_RUNNER_DESCRIPTION"),),
        "default_branch": (variable("CI_DEFAULT_BRANCH"),),
        "before_sha": (variable("CI_COMMIT_BEFORE_SHA", commit),),
    },
    job=PrintedJob(".gitlab-ci.yml", _JOB, host="gitlab"),
    guide={
        "run_id": "of the job",
        "run_attempt": "1",
        "merge": "push",
        "nightly": "schedule",
        "covers_shas": "yes",
        "box_key": "runner",
        "ci_url": "of the job",
        "conclusion": "in `after_script`",
    },
    api=EarlierRunsApi(
        title="GitLab's API",
        tokens=("GITLAB_TOKEN",),  # a job's own token may not list pipelines
        needs=("CI_API_V4_URL", "CI_PROJECT_ID", "CI_PIPELINE_ID", "CI_JOB_NAME"),
        runs=_runs,
        rights="scope `read_api`, role Reporter; of a project or person",
        known_by="its name",
    ),
    identity=Identity(
        (ID_TOKEN,),
        f"give the job `id_tokens: {ID_TOKEN}: aud:` with the address of the server",
        lambda environ, _: environ[ID_TOKEN].strip(),
    ),
)
