# SPDX-License-Identifier: Apache-2.0
"""Jenkins. Its build numbers count per job, so the run id is made of job, number and stage: two
stages may test on one box. Why a build runs stands in no variable: `HWCI_TRIGGER` says it.
"""

from urllib.parse import quote

from hwci.ci.run_ids import hashed_run_id
from hwci.ci.sourced import Sourced
from hwci.ci.systems.system import (
    JobEnvironment,
    System,
    always,
    commit,
    slug,
    variable,
    where,
    without,
)
from hwci.engine.vocabulary import Trigger


def _workflow(seen: JobEnvironment) -> Sourced[str] | None:
    """Give the job; that of a multibranch job is the same on each of its branches."""
    job, branch = seen.text("JOB_NAME"), seen.text("BRANCH_NAME")
    ends = (f"/{branch}", f"/{quote(branch, safe='')}") if branch else ()
    end = next((end for end in ends if job.endswith(end)), "")
    name = job.removesuffix(end)
    return Sourced(name, "JOB_NAME") if name else None


def _run_id(seen: JobEnvironment) -> Sourced[int] | None:
    job, number = seen.text("JOB_NAME"), seen.text("BUILD_NUMBER")
    if not (job and number):
        return None
    if stage := seen.text("STAGE_NAME"):
        words, by = f"{job}#{number}/{stage}", "JOB_NAME, BUILD_NUMBER and STAGE_NAME"
    else:
        words, by = f"{job}#{number}", "JOB_NAME and BUILD_NUMBER"
    return Sourced(hashed_run_id(words), by)


def _fork_branch(seen: JobEnvironment) -> Sourced[str] | None:
    """A branch of a fork bears the fork's name: its `main` is not ours."""
    fork, branch = seen.text("CHANGE_FORK"), seen.text("CHANGE_BRANCH")
    return Sourced(f"{fork.partition('/')[0]}:{branch}", "CHANGE_FORK") if fork and branch else None


def _is_primary(seen: JobEnvironment) -> bool:
    """A multibranch job knows the default branch. Another branch is not told which one it is."""
    return seen.text("BRANCH_IS_PRIMARY").lower() == "true"


def _is_change(seen: JobEnvironment) -> bool:
    return bool(seen.text("CHANGE_ID"))


JENKINS = System(
    name="jenkins",
    title="Jenkins",
    variable="JENKINS_URL",
    readers={
        "repo_key": (variable("GIT_URL", slug),),
        "workflow": (_workflow,),
        "run_id": (_run_id,),
        "run_attempt": (always(1),),
        "sha": (variable("GIT_COMMIT", commit),),
        "branch": (
            _fork_branch,
            variable("CHANGE_BRANCH"),
            variable("BRANCH_NAME"),
            variable("GIT_BRANCH", without("refs/remotes/origin/", "refs/heads/", "origin/")),
        ),
        "trigger": (where(_is_change, lambda _: Sourced(Trigger.MANUAL, "CHANGE_ID")),),
        "box_key": (variable("NODE_NAME"),),
        "default_branch": (where(_is_primary, variable("BRANCH_NAME")),),
        "before_sha": (variable("GIT_PREVIOUS_COMMIT", commit),),
        "previous_sha": (variable("GIT_PREVIOUS_COMMIT", commit),),
        "succeeded_sha": (variable("GIT_PREVIOUS_SUCCESSFUL_COMMIT", commit),),
    },
)
