# SPDX-License-Identifier: Apache-2.0
"""CircleCI. A rerun is a new workflow whose jobs have new ids; the run id is made of the job's, as
two of a workflow may test on one box. What started a pipeline, and where the branch stood before,
are values of its configuration that no variable holds: the configuration passes them on as
`HWCI_TRIGGER` and `HWCI_BEFORE_SHA`.
"""

import json
from collections.abc import Mapping

from hwci.ci.fields import RUN_ID
from hwci.ci.job import Sourced, hashed_run_id
from hwci.ci.systems.identity import Identity, printed_by
from hwci.ci.systems.system import (
    PULLS,
    TAGS,
    JobEnvironment,
    PrintedJob,
    System,
    always,
    commit,
    is_not,
    slug,
    started_by,
    variable,
    where,
)
from hwci.contract.ci_systems import CiSystem
from hwci.contract.vocabulary import Trigger

_WORDS = {
    "webhook": Trigger.MERGE,  # pipeline.trigger_source
    "scheduled_pipeline": Trigger.NIGHTLY,
    "github_app": Trigger.MERGE,  # pipeline.trigger.type
    "schedule": Trigger.NIGHTLY,
}


def _repository(env: JobEnvironment) -> Sourced[str] | None:
    owner, name = env.text("CIRCLE_PROJECT_USERNAME"), env.text("CIRCLE_PROJECT_REPONAME")
    return Sourced(f"{owner}/{name}", "CIRCLE_PROJECT_REPONAME") if owner and name else None


def _run_id(env: JobEnvironment) -> Sourced[int] | None:
    """Distinguish jobs, and the nodes of one that runs on several."""
    names = ("CIRCLE_WORKFLOW_JOB_ID", "CIRCLE_WORKFLOW_ID")
    name = next((name for name in names if env.text(name)), None)
    if name is None:
        return None
    node = env.text("CIRCLE_NODE_INDEX") or "0"
    words = env.text(name) if node == "0" else f"{env.text(name)}/{node}"
    return Sourced(hashed_run_id(words), name)


_JOB = """\
# .circleci/config.yml; HWCI_CI_KEY comes from the context hwci
version: 2.1
jobs:
  announce:
    docker:
      - image: cimg/python:3.13 # {reach}
    environment: &hwci
      HWCI_URL: {url}
      HWCI_WHEEL: {wheel}
      # Values of the pipeline that are in no variable.
      HWCI_TRIGGER: << pipeline.trigger_source >>
      HWCI_BEFORE_SHA: << pipeline.git.base_revision >>
    steps:
      - checkout
      - run: |
          {install} && {hwci} merge-announce ||
            echo "The merge is not announced." >&2
  hil:
    machine: true
    resource_class: acme/bench-1
    environment:
      <<: *hwci
      HWCI_BOX: bench-1
    steps:
      - checkout
      - run: |
          {install_or_go_on}
      # {needs}
      - run: |
          {tests}
workflows:
  hil:
    jobs:
      - announce:
          context: hwci
          filters:
            branches:
              only: {main}
      - hil:
          context: hwci
"""


def _id_token(environ: Mapping[str, str], audience: str) -> str:
    # CIRCLE_OIDC_TOKEN_V2 itself is for every service that the organization signs in to.
    claims = json.dumps({"aud": audience})
    return printed_by(("circleci", "run", "oidc", "get", "--claims", claims), environ)


SYSTEM = System(
    name=CiSystem.CIRCLECI,
    title="CircleCI",
    variable="CIRCLECI",
    readers={
        "repo_key": (_repository, variable("CIRCLE_REPOSITORY_URL", slug)),
        "workflow": (variable("CIRCLE_JOB"),),
        "run_id": (_run_id,),
        "ci_run": (variable("CIRCLE_BUILD_NUM", RUN_ID),),
        "run_attempt": (always(1),),
        "sha": (variable("CIRCLE_SHA1", commit),),
        "branch": (variable("CIRCLE_BRANCH"), variable("CIRCLE_TAG")),
        "kind": (
            where(is_not("CIRCLE_TAG", ""), always(TAGS)),
            where(is_not("CIRCLE_PR_NUMBER", ""), always(PULLS)),  # of a fork
        ),
        "trigger": (started_by("HWCI_TRIGGER", _WORDS, (variable("CIRCLE_BRANCH"),)),),
        "ci_url": (variable("CIRCLE_BUILD_URL"),),
    },
    job=PrintedJob(".circleci/**", _JOB),
    guide={
        "run_id": "from the job's id",
        "run_attempt": "1",
        "covers_shas": "passed on",
        "ci_url": "of the job",
    },
    identity=Identity(
        ("CIRCLE_OIDC_TOKEN_V2",),
        'turn on "Pass secrets to builds from forked pull requests", if this is one',
        _id_token,
    ),
)
