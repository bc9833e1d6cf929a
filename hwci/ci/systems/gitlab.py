# SPDX-License-Identifier: Apache-2.0
"""GitLab CI. It counts no attempts: a retried job is a new job, so the run id is the job's, unless
someone says the attempt himself.
"""

import re

from hwci.ci.fields import RUN_ID
from hwci.ci.sourced import Sourced
from hwci.ci.systems.system import (
    JobEnvironment,
    System,
    always,
    commit,
    started_by,
    variable,
    where,
)
from hwci.engine.vocabulary import Trigger
from hwci.wire.base import parse_time

_TWIN = re.compile(r"(?:: \[.*\]| \d+/\d+)+")


def _without_twin(job: str) -> str:
    """Name all jobs of a matrix or of `parallel` by one name."""
    match = re.search(_TWIN.pattern + r"$", job)
    return job[: match.start()] if match else job


def _finished(status: str) -> str | None:
    """A job that still runs has no conclusion: it is there in `after_script` only."""
    return None if status == "running" else status


def _attempt_is_told(seen: JobEnvironment) -> bool:
    return "run_attempt" in seen.told


def _fork_branch(seen: JobEnvironment) -> Sourced[str] | None:
    """A branch of a fork bears the fork's name: its `main` is not ours."""
    project = seen.text("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH")
    name = seen.text("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME")
    ours = seen.text("CI_MERGE_REQUEST_PROJECT_PATH") or seen.text("CI_PROJECT_PATH")
    if not (project and name) or project == ours:
        return None
    return Sourced(f"{project.rpartition('/')[0]}:{name}", "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH")


_BRANCH = (
    _fork_branch,
    variable("CI_COMMIT_BRANCH"),
    variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"),
    variable("CI_COMMIT_REF_NAME"),
)

GITLAB = System(
    name="gitlab",
    title="GitLab CI",
    variable="GITLAB_CI",
    readers={
        "repo_key": (variable("CI_PROJECT_PATH"),),
        "workflow": (variable("CI_PIPELINE_NAME"), variable("CI_JOB_NAME", _without_twin)),
        "run_id": (
            where(_attempt_is_told, variable("CI_PIPELINE_ID", RUN_ID)),
            variable("CI_JOB_ID", RUN_ID),
        ),
        "run_attempt": (always(1),),
        "sha": (
            variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", commit),
            variable("CI_COMMIT_SHA", commit),
        ),
        "branch": _BRANCH,
        "trigger": (
            started_by(
                "CI_PIPELINE_SOURCE",
                {"push": Trigger.MERGE, "schedule": Trigger.NIGHTLY},
                (variable("CI_COMMIT_BRANCH"),),
            ),
        ),
        "conclusion": (variable("CI_JOB_STATUS", _finished),),
        "started_at": (variable("CI_JOB_STARTED_AT", parse_time),),
        "merged_at": (variable("CI_COMMIT_TIMESTAMP", parse_time),),
        "box_key": (variable("CI_RUNNER_DESCRIPTION"),),
        "default_branch": (variable("CI_DEFAULT_BRANCH"),),
        "before_sha": (variable("CI_COMMIT_BEFORE_SHA", commit),),
    },
)
