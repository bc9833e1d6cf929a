# SPDX-License-Identifier: Apache-2.0
"""Buildkite. Its build numbers count per pipeline, so the run id is made of the build's own id. A
branch of a fork bears its owner's name already.
"""

from hwci.ci.systems.system import (
    Surroundings,
    System,
    commit,
    hashed,
    slug,
    started_by,
    variable,
    where,
    whole,
)
from hwci.ci.told import Told
from hwci.engine.vocabulary import Trigger

_BRANCH = (variable("BUILDKITE_BRANCH"),)


def _is_pull_request(seen: Surroundings) -> bool:
    return seen.text("BUILDKITE_PULL_REQUEST") not in {"", "false"}


def _next(retries: str) -> int:
    return whole(retries) + 1


def _conclusion(status: str) -> str:
    """Say the exit status in Buildkite's own words for a job."""
    return "passed" if whole(status) == 0 else "failed"


BUILDKITE = System(
    name="buildkite",
    title="Buildkite",
    variable="BUILDKITE",
    readers={
        "repo_key": (variable("BUILDKITE_REPO", slug),),
        "workflow": (variable("BUILDKITE_PIPELINE_SLUG"),),
        "run_id": (variable("BUILDKITE_BUILD_ID", hashed()),),
        "run_attempt": (variable("BUILDKITE_RETRY_COUNT", _next),),
        "sha": (variable("BUILDKITE_COMMIT", commit),),
        "branch": _BRANCH,
        "trigger": (
            where(_is_pull_request, lambda _: Told(Trigger.MANUAL, "BUILDKITE_PULL_REQUEST")),
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
