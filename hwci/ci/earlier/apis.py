# SPDX-License-Identifier: Apache-2.0
"""Which runs of this workflow and branch came before, and what came of this job in each, as the API
of the CI system tells.

This module decides which system is asked, with which token, and how often. A CI system knows how a
job ended, not whether it reached the hardware: what failed may have failed before it came to a
bench. Who knows better is asked in `hwci.ci.reporting.base`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from hwci.ci.earlier import azure, buildkite, github, gitlab
from hwci.ci.earlier.runs import EarlierRun
from hwci.ci.fields import BY_NAME
from hwci.ci.job import Job
from hwci.ci.systems.api import GetJson, with_request_limit

REQUESTS = 15
"""Of one search: lists, this run, and a dozen of those before it, each looked into."""


@dataclass(frozen=True, slots=True)
class Api:
    """The API of a CI system. `tokens`, `needs`: by variables; any of the first, each of the
    others. `runs` gives the newest first; it raises ApiError. `lists_pushes`: these are the builds
    of a whole pipeline, each push to its branch among them, and no variable tells what was before.
    """

    title: str
    tokens: tuple[str, ...]
    needs: tuple[str, ...]
    runs: Callable[[Job, str, GetJson], Iterator[EarlierRun]]
    lists_pushes: bool = False

    def lacks(self, job: Job) -> tuple[str, ...]:
        """Give the variables that are to be set before it can be asked for the runs of a job."""
        told = job.environ
        token = () if any(map(told.get, self.tokens)) else self.tokens[:1]
        branch = () if job.value("branch") else (BY_NAME["branch"].variable,)
        return (*token, *(name for name in self.needs if not told.get(name)), *branch)


APIS: Mapping[str, Api] = {
    "github": Api(  # runs of the workflow; jobs of this run and of those before it
        "GitHub's API",
        ("GITHUB_TOKEN", "GH_TOKEN"),
        ("GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_WORKFLOW_REF", "GITHUB_RUN_ID"),
        github.runs,
    ),
    "gitlab": Api(  # pipelines of the branch or merge request; jobs of those before this one
        "GitLab's API",
        ("GITLAB_TOKEN",),  # a job's own token may not list pipelines
        ("CI_API_V4_URL", "CI_PROJECT_ID", "CI_PIPELINE_ID", "CI_JOB_NAME"),
        gitlab.runs,
    ),
    "buildkite": Api(  # builds of the pipeline, in which their jobs stand
        "Buildkite's API",
        ("BUILDKITE_API_TOKEN",),
        ("BUILDKITE_ORGANIZATION_SLUG", "BUILDKITE_PIPELINE_SLUG", "BUILDKITE_BUILD_NUMBER"),
        buildkite.runs,
        lists_pushes=True,
    ),
    "azure": Api(  # builds of the pipeline; timelines of this one and of those before it
        "Azure's API",
        ("SYSTEM_ACCESSTOKEN",),
        (
            "SYSTEM_COLLECTIONURI",
            "SYSTEM_TEAMPROJECT",
            "SYSTEM_DEFINITIONID",
            "BUILD_BUILDID",
            "BUILD_SOURCEBRANCH",
        ),
        azure.runs,
        lists_pushes=True,
    ),
}
"""By the name of the system. The others have no such API, or nothing to ask it with."""


def asked_for(job: Job, get_json: GetJson) -> tuple[str, Iterator[EarlierRun]] | None:
    """Give who can be asked for earlier runs of a job, and these; None: nobody."""
    api = APIS.get(job.system or "")
    if api is None or api.lacks(job):
        return None
    token = next(filter(None, map(job.environ.get, api.tokens)))
    return api.title, api.runs(job, token, with_request_limit(get_json, REQUESTS))
