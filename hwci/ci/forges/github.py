# SPDX-License-Identifier: Apache-2.0
"""GitHub, and GitHub Enterprise Server: comments of issues, which those of a pull request are, and
statuses of commits. The token that GitHub gives a job may not ask the REST API who it is, so
GraphQL is asked.
"""

from collections.abc import Mapping
from urllib.parse import quote

from hwci.ci.forges.forge import TOKEN, Forge, Place, Request, Status
from hwci.ci.job import Job
from hwci.ci.systems.api import Row, at_path


def _place(job: Job, pull: int) -> Place:
    repository = _repository(job)
    return Place(
        f"{repository}/pulls/{pull}",
        f"{repository}/issues/{pull}/comments",
        f"{repository}/issues/comments",
    )


def _status(status: Status, job: Job) -> tuple[str, Row]:
    return f"{_repository(job)}/statuses/{quote(job.value('sha'))}", {
        "state": status.state,
        "context": status.name,
        "description": status.description,
        "target_url": status.address,
    }


def _repository(job: Job) -> str:
    api, repository = job.environ["GITHUB_API_URL"], job.environ["GITHUB_REPOSITORY"]
    return f"{api.rstrip('/')}/repos/{quote(repository)}"


def _own_user(environ: Mapping[str, str], request: Request) -> object:
    query = {"query": "{ viewer { databaseId } }"}
    answer = request("POST", environ["GITHUB_GRAPHQL_URL"], query)
    return at_path(answer, "data", "viewer", "databaseId")


FORGE = Forge(
    title="GitHub",
    is_here=lambda environ: bool(environ.get("GITHUB_ACTIONS")),
    tokens=(TOKEN, "GH_TOKEN", "GITHUB_TOKEN"),
    rights="`permissions:` with `pull-requests: write` and `statuses: write`; in a run for a pull"
    " request of a fork it can only read",
    needs=("GITHUB_API_URL", "GITHUB_GRAPHQL_URL", "GITHUB_REPOSITORY"),
    header=lambda token: {"Authorization": f"Bearer {token}"},
    place=_place,
    own_user=_own_user,
    status=_status,
)
