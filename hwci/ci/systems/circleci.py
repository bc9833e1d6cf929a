# SPDX-License-Identifier: Apache-2.0
"""CircleCI. A rerun is a new workflow with an id of its own. What started a pipeline, and where the
branch stood before, are values of its configuration that no variable holds: the configuration hands
them on as `HWCI_TRIGGER` and `HWCI_BEFORE_SHA`.
"""

from hwci.ci.systems.system import (
    Surroundings,
    System,
    always,
    commit,
    hashed,
    slug,
    started_by,
    variable,
)
from hwci.ci.told import Told
from hwci.engine.vocabulary import Trigger

_BRANCH = (variable("CIRCLE_BRANCH"), variable("CIRCLE_TAG"))
_WORDS = {
    "webhook": Trigger.MERGE,  # pipeline.trigger_source
    "scheduled_pipeline": Trigger.NIGHTLY,
    "github_app": Trigger.MERGE,  # pipeline.trigger.type
    "schedule": Trigger.NIGHTLY,
}


def _repository(seen: Surroundings) -> Told[str] | None:
    owner, name = seen.text("CIRCLE_PROJECT_USERNAME"), seen.text("CIRCLE_PROJECT_REPONAME")
    return Told(f"{owner}/{name}", "CIRCLE_PROJECT_REPONAME") if owner and name else None


CIRCLECI = System(
    name="circleci",
    title="CircleCI",
    variable="CIRCLECI",
    readers={
        "repo_key": (_repository, variable("CIRCLE_REPOSITORY_URL", slug)),
        "workflow": (variable("CIRCLE_JOB"),),
        "run_id": (variable("CIRCLE_WORKFLOW_ID", hashed()),),
        "run_attempt": (always(1),),
        "sha": (variable("CIRCLE_SHA1", commit),),
        "branch": _BRANCH,
        "trigger": (started_by("HWCI_TRIGGER", _WORDS, (variable("CIRCLE_BRANCH"),)),),
    },
)
