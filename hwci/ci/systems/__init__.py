# SPDX-License-Identifier: Apache-2.0
"""The CI systems that hwci knows, each described in a module of its own."""

from collections.abc import Mapping

from hwci.ci.job import Job
from hwci.ci.systems.azure import AZURE
from hwci.ci.systems.buildkite import BUILDKITE
from hwci.ci.systems.circleci import CIRCLECI
from hwci.ci.systems.earlier import EarlierRunsApi
from hwci.ci.systems.github import GITHUB
from hwci.ci.systems.gitlab import GITLAB
from hwci.ci.systems.jenkins import JENKINS
from hwci.ci.systems.system import System

SYSTEMS = (GITHUB, GITLAB, BUILDKITE, CIRCLECI, AZURE, JENKINS)
"""Jenkins last: its variable may stand in the environment of a whole machine."""


def detected(environ: Mapping[str, str]) -> System | None:
    """Return the system whose job this is."""
    return next((system for system in SYSTEMS if system.is_here(environ)), None)


def api_of(job: Job) -> EarlierRunsApi | None:
    """Return the API that lists earlier runs of a job, None if its system has none, or lists those
    of another repository.
    """
    if job.is_elsewhere:
        return None
    return next((system.api for system in SYSTEMS if system.name == job.system), None)
