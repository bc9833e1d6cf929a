# SPDX-License-Identifier: Apache-2.0
"""What a job of Buildkite says, and how its printed job is run. Its variables:
<https://buildkite.com/docs/pipelines/environment_variables>
"""

import yaml

from hwci.ci.job import hashed_run_id
from tests.ci.systems.cases import MANUAL, MERGE, NIGHTLY, TESTED, Cases, Jobs, Runner

BUILD = hashed_run_id("0193a7e2-5e0b-4c43-9d66-6b2fbcf2ad5d")


def buildkite(text: str) -> Jobs:
    file = yaml.safe_load(text)
    assert file["secrets"] == ["HWCI_CI_KEY"]  # a cluster gives a job no other secret
    jobs = {
        step["key"]: [line.replace("$$", "$") for line in step["command"]] for step in file["steps"]
    }
    assert "$" not in text.replace("$$", "")  # it would be the agent's at the upload
    return jobs, file["env"]


CASES = Cases(
    fields=(
        ("buildkite-webhook", "repo_key", "acme/firmware", "BUILDKITE_REPO"),
        ("buildkite-webhook", "workflow", "firmware-hil", "BUILDKITE_PIPELINE_SLUG"),
        ("buildkite-webhook", "run_id", BUILD, "BUILDKITE_BUILD_ID and the step"),
        ("buildkite-webhook", "ci_run", 57, "BUILDKITE_BUILD_NUMBER"),
        ("buildkite-webhook", "run_attempt", 2, "BUILDKITE_RETRY_COUNT"),
        ("buildkite-webhook", "sha", TESTED, "BUILDKITE_COMMIT"),
        ("buildkite-webhook", "branch", "main", "BUILDKITE_BRANCH"),
        ("buildkite-webhook", "trigger", MERGE, "BUILDKITE_SOURCE"),
        ("buildkite-webhook", "conclusion", "passed", "BUILDKITE_COMMAND_EXIT_STATUS"),
        ("buildkite-webhook", "box_key", "bench-1", "BUILDKITE_AGENT_NAME"),
        ("buildkite-pull-request", "branch", "mallory:main", "BUILDKITE_BRANCH"),
        ("buildkite-pull-request", "trigger", MANUAL, "BUILDKITE_PULL_REQUEST"),
        ("buildkite-pull-request", "conclusion", "failed", "BUILDKITE_COMMAND_EXIT_STATUS"),
        ("buildkite-schedule", "trigger", NIGHTLY, "BUILDKITE_SOURCE"),
        ("buildkite-ui", "trigger", MANUAL, "BUILDKITE_SOURCE"),
        (
            "buildkite-webhook",
            "ci_url",
            "https://buildkite.com/acme/firmware-hil/builds/57#0193a7e2-63f7-4b9e-8a5c-0d6a7d1f9f10",
            "BUILDKITE_BUILD_URL",
        ),
    ),
    unsaid=(
        ("buildkite-ui", "sha"),  # `HEAD` is not a commit
        ("buildkite-ui", "ci_url"),  # no variable has the address of the build
    ),
    pages=("https://buildkite.com/acme/fw/builds/42#0190-ab",),
    runner=Runner(buildkite, "buildkite-webhook", ("bash", "-e"), one_shell=True),
    two_runs=(
        ("buildkite-webhook", {"BUILDKITE_STEP_KEY": "a"}, {"BUILDKITE_STEP_KEY": "b"}),
        ("buildkite-webhook", {"BUILDKITE_LABEL": "a"}, {"BUILDKITE_LABEL": "b"}),
        ("buildkite-webhook", {"BUILDKITE_PARALLEL_JOB": "0"}, {"BUILDKITE_PARALLEL_JOB": "1"}),
    ),
    hosted=("BUILDKITE_COMPUTE_TYPE", "hosted", "self-hosted"),
)
