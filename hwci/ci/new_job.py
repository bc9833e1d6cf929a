# SPDX-License-Identifier: Apache-2.0
"""The CI job that `hwci init` prints: the whole file of a CI system, to paste or to merge into the
one that is there. It announces merges from a machine without hardware, and tests at the bench.
Which fields hwci finds in the job is decided in `hwci.ci.systems`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

_GITHUB = """\
# .github/workflows/hil.yml; HWCI_CI_KEY is a secret of the repository
name: hil
on:
  push:
    branches: [main] # the default branch; others would run twice, as pull requests too
  pull_request:
permissions:
  contents: read
  actions: read # to find the run before this one
env:
  HWCI_URL: {url}
  HWCI_CI_KEY: ${{ secrets.HWCI_CI_KEY }}
  HWCI_WHEEL: {wheel}
  GITHUB_TOKEN: ${{ github.token }}
jobs:
  announce:
    if: github.event_name == 'push' && github.ref_name == github.event.repository.default_branch
    continue-on-error: true
    runs-on: ubuntu-latest # {reach}
    steps:
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0
      - run: {install} "$HWCI_WHEEL"
      - run: {hwci} merge-announce
  hil:
    runs-on: [self-hosted, bench-1] # {box} runner
    # In a matrix, as its jobs may run on one bench:
    # env:
    #   HWCI_RUN_ID: ${{ github.run_id }}${{ strategy.job-index }}
    steps:
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0
      - run: {install} "$HWCI_WHEEL"
      # {needs}
      - run: {hwci} exec {tests}
"""
_GITLAB = """\
# .gitlab-ci.yml; HWCI_CI_KEY is a masked variable of the project
variables:
  HWCI_URL: {url}
  HWCI_WHEEL: {wheel}
  GIT_DEPTH: "0"
announce:
  stage: .pre
  image: python:3.13 # {reach}
  allow_failure: true
  rules:
    - if: $CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - {install} "$HWCI_WHEEL"
    - {hwci} merge-announce
hil:
  needs: []
  tags: [bench-1] # {box} runner
  script:
    - {install} "$HWCI_WHEEL"
    # {needs}
    - {hwci} exec {tests}
"""
_BUILDKITE = """\
# .buildkite/pipeline.yml; HWCI_CI_KEY comes from the secrets of the cluster or of the agents
env:
  HWCI_URL: {url}
  HWCI_WHEEL: {wheel}
steps:
  - key: announce
    label: Announce the merge
    if: build.branch == pipeline.default_branch && build.source == "webhook"
    soft_fail: true
    agents:
      queue: hosted # {reach}
    command:
      - {install} "$$HWCI_WHEEL"
      - {hwci} merge-announce
  - key: hil
    label: Tests on the bench
    agents:
      queue: bench-1 # {box} agent
    command:
      - {install} "$$HWCI_WHEEL"
      # {needs}
      - {hwci} exec {tests}
"""
_CIRCLECI = """\
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
          {install} "$HWCI_WHEEL" && {hwci} merge-announce ||
            echo "The merge is not announced." >&2
  hil:
    machine: true
    resource_class: acme/bench-1
    environment: *hwci
    steps:
      - checkout
      - run: {install} "$HWCI_WHEEL"
      # {needs}
      - run: {hwci} exec --box bench-1 {tests}
workflows:
  hil:
    jobs:
      - announce:
          context: hwci
          filters:
            branches:
              only: main
      - hil:
          context: hwci
"""
_AZURE = """\
# azure-pipelines.yml; HWCI_CI_KEY is a secret variable, which a step sees only if it is passed on
trigger:
  branches:
    include: [main]
variables:
  HWCI_URL: {url}
  HWCI_WHEEL: {wheel}
jobs:
  - job: announce
    condition: in(variables['Build.Reason'], 'IndividualCI', 'BatchedCI')
    continueOnError: true
    pool:
      vmImage: ubuntu-latest # {reach}
    steps:
      - checkout: self
        fetchDepth: 0
      - script: {install} "$HWCI_WHEEL"
      - script: {hwci} merge-announce
        env:
          HWCI_CI_KEY: $(HWCI_CI_KEY)
  - job: hil
    pool:
      name: bench-1 # {box} agent
    steps:
      - checkout: self
        fetchDepth: 0
      - script: {install} "$HWCI_WHEEL"
      # {needs}
      - script: {hwci} exec {tests}
        env:
          HWCI_CI_KEY: $(HWCI_CI_KEY)
          SYSTEM_ACCESSTOKEN: $(System.AccessToken) # to find the builds before this one
"""
_JENKINS = """\
// Jenkinsfile of a multibranch pipeline; hwci-ci-key is a credential of the kind "secret text"

// Jenkins has no variable for the trigger of a build.
def trigger() {
    if (currentBuild.getBuildCauses('hudson.triggers.TimerTrigger$TimerTriggerCause')) {
        return 'nightly'
    }
    if (currentBuild.getBuildCauses('hudson.model.Cause$UserIdCause') || env.CHANGE_ID) {
        return 'manual'
    }
    return env.BRANCH_IS_PRIMARY == 'true' ? 'merge' : 'manual'
}

pipeline {
    agent none
    environment {
        HWCI_URL = '{url}'
        HWCI_WHEEL = '{wheel}'
        HWCI_CI_KEY = credentials('hwci-ci-key')
        HWCI_TRIGGER = trigger()
    }
    stages {
        stage('Push') {
            parallel {
                stage('Announce') {
                    when {
                        beforeAgent true
                        expression { trigger() == 'merge' }
                    }
                    agent { label '!bench-1' }
                    steps {
                        catchError(buildResult: 'SUCCESS') {
                            sh '{install} "$HWCI_WHEEL"'
                            sh '{hwci} merge-announce'
                        }
                    }
                }
                stage('HIL') {
                    agent { label 'bench-1' } // {box} node
                    steps {
                        sh '{install} "$HWCI_WHEEL"'
                        // {needs}
                        sh '{hwci} exec {tests}'
                    }
                }
            }
        }
    }
}
"""
_OTHER = """\
# HWCI_CI_KEY is a secret of the CI. In a job that needs no hardware, on each push:
export HWCI_URL={url}
{install} "{wheel}"
{hwci} merge-announce
# in the job at the bench:
export HWCI_URL={url}
{install} "{wheel}"
# {needs}
{hwci} exec --box bench-1 {tests}
"""
_NEEDS = "Install here what the tests need"
_PYTEST = {
    "needs": f"{_NEEDS}, as with .hwci/bin/pip install pytest, and the flash tool.",
    "tests": "--junit out.xml -- .hwci/bin/pytest{in_folder} --junit-xml=out.xml",
}
_TWISTER = {
    "needs": f"{_NEEDS}: west, the packages of Zephyr, the flash tool. The map names the boards.",
    "tests": "--junit twister-out/twister.json --"
    " west twister -T {folder} --device-testing --hardware-map map.yml",
}


class CiJob(NamedTuple):
    """A job to paste; `pattern`: which files the CI system has in a repository; `host`: what is in
    the address of a repository that it is a part of.
    """

    pattern: str
    text: str
    host: str | None = None

    def is_of(self, files: Sequence[str]) -> bool:
        """Return whether a repository of these files uses the system."""
        folder = self.pattern.removesuffix("**")
        return self.pattern in files or (
            folder != self.pattern and any(file.startswith(folder) for file in files)
        )


JOBS = {
    "github": CiJob(".github/workflows/**", _GITHUB, "github.com"),
    "gitlab": CiJob(".gitlab-ci.yml", _GITLAB, "gitlab"),
    "buildkite": CiJob(".buildkite/**", _BUILDKITE),
    "circleci": CiJob(".circleci/**", _CIRCLECI),
    "azure": CiJob("azure-pipelines.yml", _AZURE),
    "jenkins": CiJob("Jenkinsfile", _JENKINS),
}


def jobs_of(files: Sequence[str]) -> list[CiJob]:
    """Return the jobs of the CI systems that a repository of these tracked files uses."""
    return [job for job in JOBS.values() if job.is_of(files)]


def job_for(files: Sequence[str], remote: str | None) -> CiJob | None:
    """Return the job of the first CI system whose files there are, else that of the site of the
    repository.
    """
    host = re.sub(r"^\w+://", "", remote or "").rpartition("@")[2]
    host = re.split("[:/]", host)[0]
    hosted = (job for job in JOBS.values() if job.host and job.host in host)
    return next(iter(jobs_of(files)), None) or next(hosted, None)


def job_text(
    job: CiJob | None, harness: Sequence[str], url: str, wheel: str, *, twister: bool = False
) -> str:
    """Return the job to paste; None: lines of a shell. `twister`: it runs the tests, not pytest."""
    folders = [one.removesuffix("/**") for one in harness if one.endswith("/**") and one[0] != "."]
    values = {
        "url": url,
        "wheel": wheel,
        "install": "python3 -m venv .hwci && .hwci/bin/pip install --quiet",
        "hwci": ".hwci/bin/hwci",
        "reach": "it must reach HWCI_URL, else take a machine of your own",
        "box": "`hwci exec --box` names the box, else the",
        **(_TWISTER if twister else _PYTEST),
        "in_folder": "".join(f" {one}" for one in folders[:1]),
        "folder": next(iter(folders), "."),
    }
    text = job.text if job else _OTHER
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
