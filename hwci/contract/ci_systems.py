# SPDX-License-Identifier: Apache-2.0
"""The CI systems by name, and what the rooms below `hwci.ci` know of each: how a job's page is
addressed and the lines that fill a gap, which the server prints; and its hosted machines, which the
store of a bench asks for. Neither may import `hwci.ci`, and both may import this room.

All else of a system is decided in its module of `hwci.ci.systems`, which has its name.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

UNSHALLOW = "git fetch --unshallow || true"
"""The whole history, in a shell of any job."""
APPLY = "hwci suite-config apply"


class CiSystem(StrEnum):
    """A CI system that hwci knows. A job is one of the first whose variable it has: Jenkins is the
    last, as its variable may stand in the environment of a whole machine.
    """

    GITHUB = "github"
    GITLAB = "gitlab"
    BUILDKITE = "buildkite"
    CIRCLECI = "circleci"
    AZURE = "azure"
    JENKINS = "jenkins"


class SigningSystem(StrEnum):
    """A CI system that signs the identity of its jobs: a token, which a job can exchange for a key
    of some minutes.
    """

    GITHUB = CiSystem.GITHUB.value
    GITLAB = CiSystem.GITLAB.value
    BUILDKITE = CiSystem.BUILDKITE.value
    CIRCLECI = CiSystem.CIRCLECI.value


class CiFile(NamedTuple):
    """What is known of a system without a job of it. `page`: matches `//host/path` of a job's page;
    the host may be one's own. `name`: its file, in words that go on from "In".

    Lines of that file: `whole_history` clones it; `find_base` also lets a job find the run whose
    commit is the base of its changes, None if that needs no more; `apply` sends `hwci.toml`.
    `hosted`: a variable and its value on a machine that ends with the job.
    """

    page: re.Pattern[str]
    name: str
    whole_history: str
    apply: str
    find_base: str | None = None
    hosted: tuple[str, str] | None = None


_CHECKOUT_OF_GITHUB = """\
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0"""
_DEPTH_OF_GITLAB = """\
  variables:
    GIT_DEPTH: "0\""""
_COMMAND_OF_BUILDKITE = f"""\
    command:
      - {UNSHALLOW}"""
_CHECKOUT_OF_AZURE = """\
      - checkout: self
        fetchDepth: 0"""

CI_FILES: Mapping[CiSystem, CiFile] = {
    CiSystem.GITHUB: CiFile(
        page=re.compile(r"/actions/runs/\d"),
        name="the file in .github/workflows",
        whole_history=_CHECKOUT_OF_GITHUB,
        find_base=f"""\
    permissions:
      contents: read
      actions: read # to find the run before this one
    env:
      GITHUB_TOKEN: ${{{{ github.token }}}}
    steps:
{_CHECKOUT_OF_GITHUB}""",
        apply=f"      - run: {APPLY}",
        hosted=("RUNNER_ENVIRONMENT", "github-hosted"),
    ),
    CiSystem.GITLAB: CiFile(
        page=re.compile(r"/-/(jobs|pipelines)/\d"),
        name=".gitlab-ci.yml",
        whole_history=_DEPTH_OF_GITLAB,
        find_base=f"""\
  # GITLAB_TOKEN, a masked variable with the scope read_api, finds the job before this one
{_DEPTH_OF_GITLAB}""",
        apply=f"    - {APPLY}",
    ),
    CiSystem.BUILDKITE: CiFile(
        page=re.compile(r"^//[^/]*buildkite[^/]*/[^/]+/[^/]+/builds/\d"),
        name=".buildkite/pipeline.yml",
        whole_history=_COMMAND_OF_BUILDKITE,
        find_base=f"""\
    secrets: # of the cluster: a token with the scope read_builds finds the build before this one
      BUILDKITE_API_TOKEN: HWCI_BUILDKITE_TOKEN
{_COMMAND_OF_BUILDKITE}""",
        apply=f"      - {APPLY}",
        hosted=("BUILDKITE_COMPUTE_TYPE", "hosted"),
    ),
    CiSystem.CIRCLECI: CiFile(
        page=re.compile(r"^//[^/]*circleci[^/]*/"),
        name=".circleci/config.yml",
        whole_history=f"""\
      - checkout
      - run: {UNSHALLOW}""",
        apply=f"      - run: {APPLY}",
    ),
    CiSystem.AZURE: CiFile(
        page=re.compile(r"/_build/"),
        name="azure-pipelines.yml",
        whole_history=_CHECKOUT_OF_AZURE,
        find_base=f"""\
{_CHECKOUT_OF_AZURE}
      # in the step that runs hwci:
        env:
          SYSTEM_ACCESSTOKEN: $(System.AccessToken) # to find the builds before this one""",
        apply=f"""\
      - script: {APPLY}
        env:
          HWCI_CI_KEY: $(HWCI_CI_KEY)""",
        hosted=("AGENT_ISSELFHOSTED", "0"),
    ),
    CiSystem.JENKINS: CiFile(
        page=re.compile(r"/job/.+/\d+/?$"),
        name="the Jenkinsfile",
        # A shell has none of the credentials that Jenkins clones with.
        whole_history=f"""\
// Only if the job has "Shallow clone" among its clone behaviours: take that away, or name here the
// credential that it clones with (of an SSH key: gitSshPrivateKey).
withCredentials([gitUsernamePassword(credentialsId: 'git')]) {{
    sh '{UNSHALLOW}'
}}""",
        apply=f"sh '{APPLY}'",
    ),
}
