# SPDX-License-Identifier: Apache-2.0
"""The lines of CI that fill a gap, to paste: of the CI systems whose pages the reports name, else
the command line that any job may run.

This module decides by the address of a CI job which system it is, and what to write there. The jobs
that `hwci init` prints (`hwci/ci/jobs`) have the same lines.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

from hwci.contract.explanations import CiLines
from hwci.contract.vocabulary import CiSystem, Gap

_PAGES = (
    (CiSystem.GITHUB, re.compile(r"/actions/runs/\d")),
    (CiSystem.GITLAB, re.compile(r"/-/(jobs|pipelines)/\d")),
    (CiSystem.AZURE, re.compile(r"/_build/")),
    (CiSystem.BUILDKITE, re.compile(r"^//[^/]*buildkite[^/]*/[^/]+/[^/]+/builds/\d")),
    (CiSystem.CIRCLECI, re.compile(r"^//[^/]*circleci[^/]*/")),
    (CiSystem.JENKINS, re.compile(r"/job/.+/\d+/?$")),
)
"""How the page of a job is addressed. The host may be one's own, but of Buildkite and CircleCI it
tells the system.
"""


def system_of(address: str) -> CiSystem | None:
    """Return the CI system on which the page of a job is; None if its address does not tell."""
    parts = urlsplit(address)
    page = f"//{parts.netloc}{parts.path}"
    return next((system for system, pattern in _PAGES if pattern.search(page)), None)


def lines_of(gap: Gap, addresses: Iterable[str]) -> list[CiLines]:
    """Return what fills a gap in each CI system that these pages of jobs are of; where none is
    known, or the gap is not filled in CI's own file, the one text for all.
    """
    job, texts = _LINES[gap]
    systems = dict.fromkeys(filter(None, map(system_of, addresses)))
    found = [
        CiLines(ci=system, where=f"In {_FILES[system]}, in {job}", lines=texts[system])
        for system in systems
        if system in texts
    ]
    return found or [CiLines(ci=None, where=f"In {job}", lines=texts[None])]


_FILES = {
    CiSystem.GITHUB: "the file in .github/workflows",
    CiSystem.GITLAB: ".gitlab-ci.yml",
    CiSystem.BUILDKITE: ".buildkite/pipeline.yml",
    CiSystem.CIRCLECI: ".circleci/config.yml",
    CiSystem.AZURE: "azure-pipelines.yml",
    CiSystem.JENKINS: "the Jenkinsfile",
}
_UNSHALLOW = "git fetch --unshallow || true"
_APPLY = "hwci suite-config apply"
_CLONE = {
    CiSystem.GITHUB: """\
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0""",
    CiSystem.GITLAB: """\
  variables:
    GIT_DEPTH: "0\"""",
    CiSystem.BUILDKITE: f"""\
    command:
      - {_UNSHALLOW}""",
    CiSystem.CIRCLECI: f"""\
      - checkout
      - run: {_UNSHALLOW}""",
    CiSystem.AZURE: """\
      - checkout: self
        fetchDepth: 0""",
    CiSystem.JENKINS: f"""\
// Only if the job has "Shallow clone" among its clone behaviours: take that away, or name here the
// credential that it clones with (of an SSH key: gitSshPrivateKey).
withCredentials([gitUsernamePassword(credentialsId: 'git')]) {{
    sh '{_UNSHALLOW}'
}}""",
    None: _UNSHALLOW,
}
"""The whole history. Jenkins gives a shell none of the credentials that it clones with."""
_FIND_BASE = {
    **_CLONE,
    CiSystem.GITHUB: f"""\
    permissions:
      contents: read
      actions: read # to find the run before this one
    env:
      GITHUB_TOKEN: ${{{{ github.token }}}}
    steps:
{_CLONE[CiSystem.GITHUB]}""",
    CiSystem.GITLAB: f"""\
  # GITLAB_TOKEN, a masked variable with the scope read_api, finds the job before this one
{_CLONE[CiSystem.GITLAB]}""",
    CiSystem.BUILDKITE: f"""\
    secrets: # of the cluster: a token with the scope read_builds finds the build before this one
      BUILDKITE_API_TOKEN: HWCI_BUILDKITE_TOKEN
{_CLONE[CiSystem.BUILDKITE]}""",
    CiSystem.AZURE: f"""\
{_CLONE[CiSystem.AZURE]}
      # in the step that runs hwci:
        env:
          SYSTEM_ACCESSTOKEN: $(System.AccessToken) # to find the builds before this one""",
}
"""The whole history, and what lets a job find the run whose commit is the base of its changes."""
_APPLIED = {
    CiSystem.GITHUB: f"      - run: {_APPLY}",
    CiSystem.GITLAB: f"    - {_APPLY}",
    CiSystem.BUILDKITE: f"      - {_APPLY}",
    CiSystem.CIRCLECI: f"      - run: {_APPLY}",
    CiSystem.AZURE: f"""\
      - script: {_APPLY}
        env:
          HWCI_CI_KEY: $(HWCI_CI_KEY)""",
    CiSystem.JENKINS: f"sh '{_APPLY}'",
    None: _APPLY,
}
_VERDICT = """\
[[verdict]]
message = "…" # a regular expression that matches the message of the failure
verdict = "device" # or "infra\""""

_Texts = Mapping[CiSystem | None, str]


class _Filling(NamedTuple):
    """What fills a gap: in which job, and the text of each system."""

    job: str
    texts: _Texts


_LINES: Mapping[Gap, _Filling] = MappingProxyType(
    {
        Gap.NO_VERDICT: _Filling("hwci.toml", {None: _VERDICT}),
        Gap.NO_CONFIGURATION: _Filling("the job that runs hwci merge-announce, below it", _APPLIED),
        Gap.NO_CHANGES: _Filling("the job that tests", _FIND_BASE),
        Gap.CUT_LISTS: _Filling("the job that tests", _CLONE),
        Gap.UNCONNECTED_FIX: _Filling("each job that tests, also after a failure", _FIND_BASE),
    }
)
