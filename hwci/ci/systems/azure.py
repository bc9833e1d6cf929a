# SPDX-License-Identifier: Apache-2.0
"""Azure Pipelines. An agent that Azure lends has another name each time, and no board."""

from hwci.ci.fields import ATTEMPT, RUN_ID
from hwci.ci.sourced import Sourced
from hwci.ci.systems.system import (
    JobEnvironment,
    System,
    commit,
    started_by,
    variable,
    where,
    without,
)
from hwci.engine.vocabulary import Trigger
from hwci.wire.base import parse_time


def _own_agent(seen: JobEnvironment) -> bool:
    return seen.text("AGENT_ISSELFHOSTED") != "0"


def _is_ours(seen: JobEnvironment) -> bool:
    """A branch of a fork is told by the number of its pull request: its `main` is not ours."""
    return seen.text("SYSTEM_PULLREQUEST_ISFORK").lower() != "true"


def _is_batch(seen: JobEnvironment) -> bool:
    return seen.text("BUILD_REASON") == "BatchedCI"


def _time(text: str) -> object:
    """Azure writes a blank for the `T`."""
    return parse_time(text.replace(" ", "T", 1))


_BRANCH = (
    where(_is_ours, variable("SYSTEM_PULLREQUEST_SOURCEBRANCH", without("refs/heads/"))),
    variable("BUILD_SOURCEBRANCH", without("refs/heads/", "refs/tags/", "refs/")),
)

AZURE = System(
    name="azure",
    title="Azure Pipelines",
    variable="TF_BUILD",
    readers={
        "repo_key": (variable("BUILD_REPOSITORY_NAME"),),
        "workflow": (variable("BUILD_DEFINITIONNAME"),),
        "run_id": (variable("BUILD_BUILDID", RUN_ID),),
        "run_attempt": (variable("SYSTEM_JOBATTEMPT", ATTEMPT),),
        "sha": (
            variable("SYSTEM_PULLREQUEST_SOURCECOMMITID", commit),
            variable("BUILD_SOURCEVERSION", commit),
        ),
        "branch": _BRANCH,
        "trigger": (
            started_by(
                "BUILD_REASON",
                {
                    "IndividualCI": Trigger.MERGE,
                    "BatchedCI": Trigger.MERGE,
                    "Schedule": Trigger.NIGHTLY,
                },
                (variable("BUILD_SOURCEBRANCH", without("refs/heads/")),),
            ),
        ),
        "conclusion": (variable("AGENT_JOBSTATUS"),),
        "started_at": (variable("SYSTEM_PIPELINESTARTTIME", _time),),
        "box_key": (where(_own_agent, variable("AGENT_NAME")),),
        "batched": (where(_is_batch, lambda _: Sourced(True, "BUILD_REASON")),),
    },
)
