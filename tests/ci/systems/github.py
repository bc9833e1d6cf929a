# SPDX-License-Identifier: Apache-2.0
"""What a job of GitHub Actions says, and how its printed job is run. Its variables:
<https://docs.github.com/en/actions/reference/variables-reference>
<https://docs.github.com/en/webhooks/webhook-events-and-payloads>
<https://github.blog/changelog/2023-09-13-github-actions-updates-to-github_ref-and-github-ref/>
"""

import yaml

from tests.ci.systems.cases import (
    AT_1620,
    BEFORE,
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

EVENT = "GitHub's event file"


def github(text: str) -> Jobs:
    file = yaml.safe_load(text)
    return {name: steps(job["steps"]) for name, job in file["jobs"].items()}, file["env"]


CASES = Cases(
    fields=(
        ("github-push", "repo_key", "acme/firmware", "GITHUB_REPOSITORY"),
        ("github-push", "workflow", "hil", "GITHUB_WORKFLOW"),
        ("github-push", "run_id", 19543210987, "GITHUB_RUN_ID"),
        ("github-push", "run_attempt", 2, "GITHUB_RUN_ATTEMPT"),
        ("github-push", "sha", TESTED, "GITHUB_SHA"),
        ("github-push", "branch", "main", "GITHUB_REF_NAME"),
        ("github-push", "trigger", MERGE, "GITHUB_EVENT_NAME"),
        ("github-push", "box_key", "bench-1", "RUNNER_NAME"),
        ("github-push", "merged_at", AT_1620, EVENT),
        ("github-push", "before_sha", BEFORE, EVENT),
        ("github-pull-request", "sha", HEAD_OF_PULL, EVENT),
        ("github-pull-request", "branch", "faster-boot", "GITHUB_HEAD_REF"),
        ("github-pull-request", "trigger", MANUAL, "GITHUB_EVENT_NAME"),
        ("github-merged", "sha", TESTED, EVENT),
        ("github-merged", "branch", "main", EVENT),
        ("github-merged", "trigger", MERGE, EVENT),
        ("github-merged", "merged_at", AT_1620, EVENT),
        ("github-dropped", "sha", HEAD_OF_PULL, EVENT),
        ("github-dropped", "branch", "faster-boot", "GITHUB_HEAD_REF"),
        ("github-dropped", "trigger", MANUAL, "GITHUB_EVENT_NAME"),
        ("github-fork", "sha", HEAD_OF_PULL, EVENT),
        ("github-fork", "branch", "mallory:main", EVENT),
        ("github-fork", "trigger", MANUAL, "GITHUB_EVENT_NAME"),
        ("github-workflow-run", "sha", TESTED, EVENT),
        ("github-workflow-run", "branch", "main", EVENT),
        ("github-workflow-run", "trigger", MERGE, EVENT),
        ("github-workflow-run-failed", "rerun_of", 19543210000, EVENT),
        ("github-workflow-run-of-fork", "branch", "mallory:main", EVENT),
        ("github-workflow-run-of-fork", "trigger", MANUAL, EVENT),
        ("github-merge-group", "branch", "release/2.x", "GITHUB_REF_NAME"),
        ("github-merge-group", "trigger", MERGE, "GITHUB_EVENT_NAME"),
        ("github-merge-group", "before_sha", BEFORE, EVENT),
        ("github-schedule", "trigger", NIGHTLY, "GITHUB_EVENT_NAME"),
        ("github-dispatch", "trigger", MANUAL, "GITHUB_EVENT_NAME"),
        ("github-tag", "branch", "tags/main", "GITHUB_REF_NAME"),
        ("github-tag", "trigger", MANUAL, "GITHUB_REF_TYPE"),
        (
            "github-push",
            "ci_url",
            "https://github.com/acme/firmware/actions/runs/19543210987/attempts/2",
            "GITHUB_SERVER_URL",
        ),
    ),
    unsaid=(
        ("github-tag", "before_sha"),  # a hash of zeros
        ("github-forced", "before_sha"),  # what was dropped is not part of the push
        ("github-schedule", "before_sha"),
        (
            "github-merged",
            "before_sha",
        ),  # the base as it was when the pull request was last looked at
        ("github-push", "conclusion"),  # the action hands on `job.status`
        ("github-push", "started_at"),
        ("github-push", "ci_run"),  # the run id is the number that people know
        ("github-push", "rerun_of"),
        ("github-workflow-run", "rerun_of"),  # every box waits for a build that passes
    ),
    pages=(
        "https://github.com/acme/fw/actions/runs/17/attempts/2",
        "https://ghe.acme.example/acme/fw/actions/runs/17",
    ),
    runner=Runner(github, "github-push", ("bash", "-e")),
    hosted=("RUNNER_ENVIRONMENT", "github-hosted", "self-hosted"),
)
