# SPDX-License-Identifier: Apache-2.0
"""Buildkite. Its build numbers count per pipeline, so the run id is made of the build's own id, and
of what names the step, as two steps may test on one box: a job that is retried keeps both. A branch
of a fork bears its owner's name already.
"""

from collections.abc import Mapping

from hwci.ci.fields import whole
from hwci.ci.run_ids import hashed_run_id
from hwci.ci.sourced import Sourced
from hwci.ci.systems.system import (
    JobEnvironment,
    System,
    commit,
    slug,
    started_by,
    variable,
    where,
)
from hwci.engine.vocabulary import Trigger

_BRANCH = (variable("BUILDKITE_BRANCH"),)
_STEP = ("BUILDKITE_STEP_KEY", "BUILDKITE_LABEL", "BUILDKITE_PARALLEL_JOB")
"""What names a step, of a matrix or parallel too. Ids of steps are new in each build."""


def step_of(environ: Mapping[str, str]) -> str:
    """Name the step of a job, "" where it has neither key nor label."""
    return "/".join(filter(None, (environ.get(name, "").strip() for name in _STEP)))


def run_id_of(build: str, environ: Mapping[str, str]) -> int:
    """Give the run id of a build's job that is of the same step as this one."""
    return hashed_run_id("/".join(filter(None, (build, step_of(environ)))))


def _run_id(seen: JobEnvironment) -> Sourced[int] | None:
    build = seen.text("BUILDKITE_BUILD_ID")
    return (
        Sourced(run_id_of(build, seen.environ), "BUILDKITE_BUILD_ID and the step")
        if build
        else None
    )


def _is_pull_request(seen: JobEnvironment) -> bool:
    return seen.text("BUILDKITE_PULL_REQUEST") not in {"", "false"}


_count = whole(0)


def _next(retries: str) -> int:
    return _count(retries) + 1


def _conclusion(status: str) -> str:
    """Say the exit status in Buildkite's own words for a job."""
    return "passed" if _count(status) == 0 else "failed"


BUILDKITE = System(
    name="buildkite",
    title="Buildkite",
    variable="BUILDKITE",
    readers={
        "repo_key": (variable("BUILDKITE_REPO", slug),),
        "workflow": (variable("BUILDKITE_PIPELINE_SLUG"),),
        "run_id": (_run_id,),
        "run_attempt": (variable("BUILDKITE_RETRY_COUNT", _next),),
        "sha": (variable("BUILDKITE_COMMIT", commit),),
        "branch": _BRANCH,
        "trigger": (
            where(_is_pull_request, lambda _: Sourced(Trigger.MANUAL, "BUILDKITE_PULL_REQUEST")),
            started_by(
                "BUILDKITE_SOURCE",
                {"webhook": Trigger.MERGE, "schedule": Trigger.NIGHTLY},
                _BRANCH,
            ),
        ),
        "conclusion": (variable("BUILDKITE_COMMAND_EXIT_STATUS", _conclusion),),
        "box_key": (variable("BUILDKITE_AGENT_NAME"),),
        "default_branch": (variable("BUILDKITE_PIPELINE_DEFAULT_BRANCH"),),
    },
)
