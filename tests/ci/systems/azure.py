# SPDX-License-Identifier: Apache-2.0
"""What a job of Azure Pipelines says, and how its printed job is run. Its variables:
<https://learn.microsoft.com/azure/devops/pipelines/build/variables>
"""

from datetime import UTC, datetime

import yaml

from tests.ci.systems.cases import (
    HEAD_OF_PULL,
    MANUAL,
    MERGE,
    NIGHTLY,
    TESTED,
    Cases,
    Jobs,
    Runner,
    steps,
)

PIPELINE_START = datetime(2026, 11, 20, 16, 23, 24, tzinfo=UTC)


def azure(text: str) -> Jobs:
    file = yaml.safe_load(text)
    last = [job["steps"][-1] for job in file["jobs"]]
    assert [step["env"]["HWCI_CI_KEY"] for step in last] == ["$(HWCI_CI_KEY)"] * 2
    return {job["job"]: steps(job["steps"]) for job in file["jobs"]}, file["variables"]


CASES = Cases(
    fields=(
        ("azure-ci", "repo_key", "acme/firmware", "BUILD_REPOSITORY_NAME"),
        ("azure-ci", "workflow", "hil", "BUILD_DEFINITIONNAME"),
        ("azure-ci", "run_id", 90210, "BUILD_BUILDID"),
        ("azure-ci", "run_attempt", 2, "SYSTEM_JOBATTEMPT"),
        ("azure-ci", "sha", TESTED, "BUILD_SOURCEVERSION"),
        ("azure-ci", "branch", "main", "BUILD_SOURCEBRANCH"),
        ("azure-ci", "trigger", MERGE, "BUILD_REASON"),
        ("azure-ci", "conclusion", "SucceededWithIssues", "AGENT_JOBSTATUS"),
        ("azure-ci", "started_at", PIPELINE_START, "SYSTEM_PIPELINESTARTTIME"),
        ("azure-ci", "box_key", "bench-1", "AGENT_NAME"),
        ("azure-batched", "trigger", MERGE, "BUILD_REASON"),
        ("azure-schedule", "trigger", NIGHTLY, "BUILD_REASON"),
        ("azure-pull-request", "sha", HEAD_OF_PULL, "SYSTEM_PULLREQUEST_SOURCECOMMITID"),
        ("azure-pull-request", "branch", "faster-boot", "SYSTEM_PULLREQUEST_SOURCEBRANCH"),
        ("azure-pull-request", "trigger", MANUAL, "BUILD_REASON"),
        ("azure-fork", "branch", "pull/7/merge", "BUILD_SOURCEBRANCH"),
        (
            "azure-ci",
            "ci_url",
            (
                "https://dev.azure.com/acme/firmware/_build/results?buildId=90210&view=logs"
                "&j=12f1170f-54f2-53f3-20dd-22fc7dff55f9"
            ),
            "SYSTEM_COLLECTIONURI",
        ),
    ),
    unsaid=(
        ("azure-ci", "suite"),  # a macro that nobody filled in
        ("azure-schedule", "box_key"),  # an agent that Azure lends
    ),
    pages=("https://dev.azure.com/acme/fw/_build/results?buildId=7&view=logs",),
    runner=Runner(azure, "azure-ci", ("bash", "--noprofile", "--norc")),
    hosted=("AGENT_ISSELFHOSTED", "0", "1"),
)
