# SPDX-License-Identifier: Apache-2.0
"""The jobs that `hwci init` prints, read as their CI systems read them: the scripts of each job, in
the order of their steps, and the shell that each system runs them in.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from tests.examples.reading import stages

Jobs = tuple[dict[str, list[str]], dict[str, str]]
"""The scripts of each job, and the variables that all have."""


class CiShell(NamedTuple):
    """A system: how its file is read, a recorded job of it, and the shell of each script."""

    read: Callable[[str], Jobs]
    environment: str
    shell: Sequence[str]


def steps(steps_of_job: Sequence[Any]) -> list[str]:
    """Return what the steps of a job run."""
    scripts = (
        step.get("run") or step.get("script", "") for step in steps_of_job if isinstance(step, dict)
    )
    return [script for script in scripts if script]


def github(text: str) -> Jobs:
    file = yaml.safe_load(text)
    return {name: steps(job["steps"]) for name, job in file["jobs"].items()}, file["env"]


def gitlab(text: str) -> Jobs:
    file = yaml.safe_load(text)
    scripts = {job: ["\n".join(file[job]["script"])] for job in ("announce", "hil")}
    return scripts, file["variables"]


def buildkite(text: str) -> Jobs:
    file = yaml.safe_load(text)
    assert file["secrets"] == ["HWCI_CI_KEY"]  # a cluster gives a job no other secret
    lines = {step["key"]: "\n".join(step["command"]) for step in file["steps"]}
    assert not any(re.search(r"(?<!\$)\$(?!\$)", line) for line in lines.values())
    return {key: [line.replace("$$", "$")] for key, line in lines.items()}, file["env"]


def circleci(text: str) -> Jobs:
    jobs = yaml.safe_load(text)["jobs"]
    variables = jobs["hil"]["environment"]
    assert variables == jobs["announce"]["environment"]
    passed_on = {"HWCI_TRIGGER": "webhook", "HWCI_BEFORE_SHA": ""}
    return {name: steps(job["steps"]) for name, job in jobs.items()}, variables | passed_on


def azure(text: str) -> Jobs:
    file = yaml.safe_load(text)
    last = [job["steps"][-1] for job in file["jobs"]]
    assert [step["env"]["HWCI_CI_KEY"] for step in last] == ["$(HWCI_CI_KEY)"] * 2
    return {job["job"]: steps(job["steps"]) for job in file["jobs"]}, file["variables"]


def jenkins(text: str) -> Jobs:
    [push] = stages(text).values()
    jobs = {name.lower(): re.findall(r"sh '(.*)'", stage) for name, stage in stages(push).items()}
    variables = dict(re.findall(r"(HWCI_\w+) = '(.*)'", text))
    assert "HWCI_TRIGGER = trigger()" in text
    return jobs, variables | {"HWCI_TRIGGER": "merge"}


def lines(text: str) -> Jobs:
    announce, hil = text.split("# in the job at the bench:\n")
    return {"announce": [announce], "hil": [hil]}, {}


SYSTEMS: Mapping[str, CiShell] = {
    ".github/workflows/ci.yml": CiShell(github, "github-push", ["bash", "-e"]),
    ".gitlab-ci.yml": CiShell(gitlab, "gitlab-push", ["bash", "-eo", "pipefail"]),
    ".buildkite/pipeline.yml": CiShell(buildkite, "buildkite-webhook", ["bash", "-e"]),
    ".circleci/config.yml": CiShell(circleci, "circleci-push", ["bash", "-eo", "pipefail"]),
    "azure-pipelines.yml": CiShell(azure, "azure-ci", ["bash", "--noprofile", "--norc"]),
    "Jenkinsfile": CiShell(jenkins, "jenkins-multibranch", ["sh", "-xe"]),
    "src/a.c": CiShell(lines, "gitlab-push", ["sh"]),
}
"""By a file that a system has in the repository; any other repository gets lines of a shell."""
