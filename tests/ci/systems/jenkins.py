# SPDX-License-Identifier: Apache-2.0
"""What a job of Jenkins says, and how its printed job is run. Its variables:
the page `/env-vars.html/` of a controller
<https://plugins.jenkins.io/git/>
<https://plugins.jenkins.io/github-branch-source/>
"""

import re

from hwci.ci.job import hashed_run_id
from tests.ci.systems.cases import BEFORE, MANUAL, TESTED, Cases, Jobs, Runner
from tests.examples.reading import stages

BRANCH_BUILD = hashed_run_id("boards/firmware/release%2F2.x#57")


def jenkins(text: str) -> Jobs:
    [push] = stages(text).values()
    scripts = re.compile(r"sh '''(.*?)'''|sh '([^'\n]+)'", re.DOTALL)
    jobs = {
        name.lower(): ["".join(script) for script in scripts.findall(stage)]
        for name, stage in stages(push).items()
    }
    variables = dict(re.findall(r"(HWCI_\w+) = '(.*)'", text))
    assert "HWCI_TRIGGER = trigger()" in text
    return jobs, variables | {"HWCI_TRIGGER": "merge"}


CASES = Cases(
    fields=(
        ("jenkins-multibranch", "repo_key", "acme/firmware", "GIT_URL"),
        ("jenkins-multibranch", "workflow", "boards/firmware", "JOB_NAME"),
        ("jenkins-multibranch", "run_id", BRANCH_BUILD, "JOB_NAME and BUILD_NUMBER"),
        ("jenkins-multibranch", "ci_run", 57, "BUILD_NUMBER"),
        ("jenkins-multibranch", "run_attempt", 1, "default"),
        ("jenkins-multibranch", "sha", TESTED, "GIT_COMMIT"),
        ("jenkins-multibranch", "branch", "release/2.x", "BRANCH_NAME"),
        ("jenkins-multibranch", "trigger", MANUAL, "default"),
        ("jenkins-multibranch", "box_key", "bench-1", "NODE_NAME"),
        ("jenkins-multibranch", "before_sha", BEFORE, "GIT_PREVIOUS_COMMIT"),
        ("jenkins-change", "workflow", "boards/firmware", "JOB_NAME"),
        ("jenkins-change", "branch", "faster-boot", "CHANGE_BRANCH"),
        ("jenkins-change", "trigger", MANUAL, "CHANGE_ID"),
        ("jenkins-fork", "branch", "mallory:main", "CHANGE_FORK"),
        ("jenkins-freestyle", "workflow", "nightly", "JOB_NAME"),
        ("jenkins-freestyle", "branch", "main", "GIT_BRANCH"),
        (
            "jenkins-multibranch",
            "ci_url",
            "https://jenkins.example/job/boards/job/firmware/job/release%252F2.x/57/",
            "BUILD_URL",
        ),
    ),
    unsaid=(),
    pages=("https://ci.acme.example/job/fw/job/main/12/",),
    runner=Runner(jenkins, "jenkins-multibranch", ("sh", "-xe")),
    two_runs=(("jenkins-multibranch", {"STAGE_NAME": "Smoke"}, {"STAGE_NAME": "Full"}),),
)
