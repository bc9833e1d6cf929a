# SPDX-License-Identifier: Apache-2.0
"""What a job of CircleCI says, and how its printed job is run. Its variables:
<https://circleci.com/docs/reference/variables/>
"""

import yaml

from hwci.ci.job import hashed_run_id
from tests.ci.systems.cases import (
    BEFORE,
    MANUAL,
    MERGE,
    NIGHTLY,
    TESTED,
    Cases,
    Jobs,
    Runner,
    steps,
)

CIRCLE_JOB = hashed_run_id("aa11bb22-0f1e-4d2c-8b3a-123456789abc")


def circleci(text: str) -> Jobs:
    jobs = yaml.safe_load(text)["jobs"]
    variables = jobs["hil"]["environment"]
    assert variables == jobs["announce"]["environment"] | {"HWCI_BOX": "bench-1"}
    passed_on = {"HWCI_TRIGGER": "webhook", "HWCI_BEFORE_SHA": ""}
    return {name: steps(job["steps"]) for name, job in jobs.items()}, variables | passed_on


CASES = Cases(
    fields=(
        ("circleci-push", "repo_key", "acme/firmware", "CIRCLE_PROJECT_REPONAME"),
        ("circleci-push", "workflow", "hil", "CIRCLE_JOB"),
        ("circleci-push", "run_id", CIRCLE_JOB, "CIRCLE_WORKFLOW_JOB_ID"),
        ("circleci-push", "ci_run", 812, "CIRCLE_BUILD_NUM"),
        ("circleci-push", "run_attempt", 1, "default"),
        ("circleci-push", "sha", TESTED, "CIRCLE_SHA1"),
        ("circleci-push", "branch", "main", "CIRCLE_BRANCH"),
        ("circleci-push", "trigger", MERGE, "HWCI_TRIGGER"),
        ("circleci-push", "before_sha", BEFORE, "HWCI_BEFORE_SHA"),
        ("circleci-schedule", "trigger", NIGHTLY, "HWCI_TRIGGER"),
        ("circleci-tag", "branch", "v2.0", "CIRCLE_TAG"),
        ("circleci-tag", "trigger", MANUAL, "HWCI_TRIGGER"),
        ("circleci-tag", "repo_key", "acme/firmware", "CIRCLE_REPOSITORY_URL"),
        (
            "circleci-push",
            "ci_url",
            "https://circleci.com/gh/acme/firmware/812",
            "CIRCLE_BUILD_URL",
        ),
    ),
    unsaid=(
        ("circleci-schedule", "before_sha"),
        ("circleci-push", "box_key"),
    ),
    pages=(
        "https://circleci.com/gh/acme/fw/42",
        "https://app.circleci.com/pipelines/gh/acme/fw/1/workflows/ab/jobs/2",
    ),
    runner=Runner(circleci, "circleci-push", ("bash", "-eo", "pipefail")),
    two_runs=(
        ("circleci-push", {"CIRCLE_WORKFLOW_JOB_ID": "a"}, {"CIRCLE_WORKFLOW_JOB_ID": "b"}),
        ("circleci-push", {"CIRCLE_NODE_INDEX": "0"}, {"CIRCLE_NODE_INDEX": "1"}),
    ),
)
