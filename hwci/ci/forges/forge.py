# SPDX-License-Identifier: Apache-2.0
"""What a forge is to hwci: where the comments of a pull request and the statuses of a commit are,
and what they are called there. A description is data; how one comment is kept is decided in
`hwci.ci.forges.comments`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from hwci.ci.job import Job
from hwci.ci.systems.api import Row

TOKEN = "HWCI_FORGE_TOKEN"
"""The variable of a token for any forge, before the one that the forge gives its jobs."""
DESCRIPTION_MAX = 140
"""Characters of a status at GitHub; the others take more."""


class Request(Protocol):
    """Makes a request to a forge, in the name of the job's token; raises `ApiError`."""

    def __call__(self, method: str, address: str, body: Mapping[str, object] | None = None) -> Any:  # noqa: ANN401 - as JSON
        """Return the answer."""


@dataclass(frozen=True, slots=True)
class Comment:
    """`text`: its first line begins with `marker`, by which it is found again, and ends with its
    commit.
    """

    marker: str
    text: str


class State(StrEnum):
    """How a status of a commit stands, in the word of GitHub and Gitea."""

    SUCCESS = "success"
    FAILURE = "failure"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Status:
    """What a forge shows beside a commit. `address`: the page that tells more."""

    name: str
    state: State
    description: str
    address: str


@dataclass(frozen=True, slots=True)
class Place:
    """The addresses of a pull request and of its comments: `all` of them, and below `each` every
    one by its id.
    """

    pull: str
    all: str
    each: str


@dataclass(frozen=True, slots=True)
class Forge:
    """A forge. `tokens`: variables, the first that is set counts; `rights`: what a token may have
    to be allowed; `needs`: other variables that its jobs have. `place`: of a job and the number
    of its pull request; `status`: the address that takes one of the job's commit, and the body.
    `update`: the method that changes a comment; `author`: where a comment has its user; `own_user`:
    the id of the token's. `head`: where a pull request has its commit; `head_of_job`: that which
    the job tests, alone or merged. `pages`: how many of a hundred comments are looked through, None
    if the forge lists all at once.
    """

    title: str
    is_here: Callable[[Mapping[str, str]], bool]
    tokens: tuple[str, ...]
    rights: str
    needs: tuple[str, ...]
    header: Callable[[str], Mapping[str, str]]
    place: Callable[[Job, int], Place]
    own_user: Callable[[Mapping[str, str], Request], object]
    status: Callable[[Status, Job], tuple[str, Row]]
    update: str = "PATCH"
    author: str = "user"
    head: tuple[str, ...] = ("head", "sha")
    head_of_job: Callable[[Job], str] = lambda job: job.value("sha")
    pages: int | None = 30

    def token(self, environ: Mapping[str, str]) -> str | None:
        """Return the token of a job; None if it has none."""
        return next(filter(None, (environ.get(name, "").strip() for name in self.tokens)), None)
