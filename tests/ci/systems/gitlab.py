# SPDX-License-Identifier: Apache-2.0
"""What a job of GitLab CI says, and how its printed job is run. Its variables:
<https://docs.gitlab.com/ci/variables/predefined_variables/>
<https://docs.gitlab.com/ci/pipelines/downstream_pipelines/>
"""

from datetime import UTC, datetime

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
)

JOB_START = datetime(2026, 11, 20, 16, 25, 7, tzinfo=UTC)


def gitlab(text: str) -> Jobs:
    file = yaml.safe_load(text)
    return {name: file[name]["script"] for name in ("announce", "hil")}, file["variables"]


CASES = Cases(
    fields=(
        ("gitlab-push", "repo_key", "acme/boards/firmware", "CI_PROJECT_PATH"),
        ("gitlab-push", "workflow", "hil", "CI_JOB_NAME"),
        ("gitlab-push", "run_id", 50861, "CI_JOB_ID"),
        ("gitlab-push", "run_attempt", 1, "default"),
        ("gitlab-push", "sha", TESTED, "CI_COMMIT_SHA"),
        ("gitlab-push", "branch", "main", "CI_COMMIT_BRANCH"),
        ("gitlab-push", "trigger", MERGE, "CI_PIPELINE_SOURCE"),
        ("gitlab-push", "conclusion", "failed", "CI_JOB_STATUS"),
        ("gitlab-push", "started_at", JOB_START, "CI_JOB_STARTED_AT"),
        ("gitlab-push", "merged_at", AT_1620, "CI_COMMIT_TIMESTAMP"),
        ("gitlab-push", "box_key", "bench-1", "CI_RUNNER_DESCRIPTION"),
        ("gitlab-push", "before_sha", BEFORE, "CI_COMMIT_BEFORE_SHA"),
        ("gitlab-merge-request", "workflow", "boards", "CI_PIPELINE_NAME"),
        ("gitlab-merge-request", "sha", HEAD_OF_PULL, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"),
        ("gitlab-merge-request", "branch", "faster-boot", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"),
        ("gitlab-merge-request", "trigger", MANUAL, "CI_PIPELINE_SOURCE"),
        ("gitlab-fork", "branch", "mallory:main", "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH"),
        ("gitlab-fork", "sha", "2" * 40, "CI_COMMIT_SHA"),
        ("gitlab-schedule", "trigger", NIGHTLY, "CI_PIPELINE_SOURCE"),
        ("gitlab-child", "trigger", MERGE, "CI_COMMIT_BEFORE_SHA"),
        ("gitlab-child", "branch", "main", "CI_COMMIT_BRANCH"),
        ("gitlab-child", "before_sha", BEFORE, "CI_COMMIT_BEFORE_SHA"),
        ("gitlab-child-of-merge-request", "trigger", MANUAL, "CI_PIPELINE_SOURCE"),
        (
            "gitlab-child-of-merge-request",
            "sha",
            HEAD_OF_PULL,
            "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA",
        ),
        ("gitlab-child-of-schedule", "trigger", MANUAL, "CI_PIPELINE_SOURCE"),
        (
            "gitlab-push",
            "ci_url",
            "https://gitlab.example/acme/boards/firmware/-/jobs/50861",
            "CI_JOB_URL",
        ),
    ),
    unsaid=(
        ("gitlab-merge-request", "before_sha"),
        ("gitlab-merge-request", "conclusion"),  # the job still runs
    ),
    pages=("https://gitlab.acme.example/group/sub/fw/-/jobs/7",),
    runner=Runner(gitlab, "gitlab-push", ("bash", "-eo", "pipefail"), one_shell=True),
    two_runs=(("gitlab-push", {"CI_JOB_ID": "1"}, {"CI_JOB_ID": "2"}),),
)
