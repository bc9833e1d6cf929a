# SPDX-License-Identifier: Apache-2.0
"""The one comment of hwci in a pull request, and the status of a commit: how they are found again,
updated in place, and kept single where two jobs comment at once.

A comment is hwci's if it begins with its marker and the token's own user wrote it: anybody can
write the marker. The oldest one stays, and who sees younger ones deletes them. A job whose commit
is no longer the head of the pull request, as of a pipeline that runs again, replaces none of
another commit.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any

from hwci.ci.forges.forge import Comment, Forge, Place, Status
from hwci.ci.job import Job
from hwci.ci.systems.api import ApiError, Row, at_path, call, listed, number_of, pages

TRIES = 4
"""Of one request that the forge could not answer now."""
WAIT_S = 1.0
"""Before the second try, twice as long before each that follows, where the forge does not say."""
ALL_S = 60.0
"""For all requests of a comment: none is begun later, nor waited for beyond."""

Call = Callable[[str, str, Mapping[str, str], object], Any]


@dataclass(frozen=True)
class Requests:
    """Requests to a forge with the headers of a token, tried again where the forge asks for it, or
    fails by itself.
    """

    headers: Mapping[str, str]
    call: Call = call
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    @cached_property
    def _end(self) -> float:
        return self.clock() + ALL_S

    def __call__(self, method: str, address: str, body: Mapping[str, object] | None = None) -> Any:  # noqa: ANN401 - as JSON
        """Return the answer of a request.

        Raises:
            ApiError: the forge refuses, or gives no answer in time.
        """
        for tries in range(TRIES):
            if self.clock() >= self._end:
                raise ApiError(f"{ALL_S:.0f} seconds were not enough")
            try:
                return self.call(method, address, self.headers, body)
            except ApiError as fault:
                wait_s = fault.wait_s if fault.wait_s is not None else WAIT_S * 2**tries
                last = tries == TRIES - 1 or self.clock() + wait_s >= self._end
                if last or not _passes(fault):
                    raise
                self.sleep(wait_s)
        raise AssertionError("the last try returns or raises")

    def get_json(self, address: str, _: Mapping[str, str]) -> Any:  # noqa: ANN401 - as JSON
        """Return the JSON document at an address, with the headers of the token."""
        return self("GET", address)


def _passes(fault: ApiError) -> bool:
    """Return whether a later request may be answered. GitHub limits rates by 403, too."""
    status = fault.status
    if status is None:
        return False
    return (
        status >= HTTPStatus.INTERNAL_SERVER_ERROR
        or status == HTTPStatus.TOO_MANY_REQUESTS
        or fault.wait_s is not None
    )


@dataclass(frozen=True)
class _Comments:
    """The comments of a pull request, as the user of a token sees them. `head`: what the job tests
    of it.
    """

    head: str
    forge: Forge
    place: Place
    own_user: object
    request: Requests

    def put(self, comment: Comment) -> bool:
        """Return whether it is there; else that of another commit stays."""
        own, created = self._own(comment), None
        if not own:
            created = at_path(self.request("POST", self.place.all, {"body": comment.text}), "id")
            own = self._own(comment)  # another job may have found none at the same time
        for row in own[1:]:
            self._delete(row)
        for row in own[:1]:
            if not self._may_replace(row, comment):
                return False
            if row.get("id") != created:
                self._update(row, comment.text)
        return True

    def _may_replace(self, row: Row, comment: Comment) -> bool:
        if str(row.get("body")).split("\n", 1)[0].strip() == comment.text.split("\n", 1)[0]:
            return True  # of the same commit
        pull = self.request("GET", self.place.pull)
        return str(at_path(pull, *self.forge.head)).startswith(self.head)

    def _own(self, comment: Comment) -> list[Row]:
        """Return the own comments with its marker, the oldest first."""
        own = (row for row in self._all() if str(row.get("body")).startswith(comment.marker))
        mine = (row for row in own if at_path(row, self.forge.author, "id") == self.own_user)
        return sorted(mine, key=lambda row: number_of(row, "id"))

    def _all(self) -> Iterable[Row]:
        address = self.place.all
        if self.forge.pages is None:
            return listed(self.request("GET", address), address)
        return pages(self.request.get_json, address, {}, {}, most=self.forge.pages)

    def _update(self, row: Row, text: str) -> None:
        if str(row.get("body")).strip() != text.strip():
            self.request(self.forge.update, self._address(row), {"body": text})

    def _delete(self, row: Row) -> None:
        """Delete a comment, if another job did not."""
        try:
            self.request("DELETE", self._address(row))
        except ApiError as fault:
            if fault.status != HTTPStatus.NOT_FOUND:
                raise

    def _address(self, row: Row) -> str:
        return f"{self.place.each}/{number_of(row, 'id')}"


def put_comment(forge: Forge, job: Job, pull: int, comment: Comment, request: Requests) -> bool:
    """Make the one comment with this marker hold this text, and return whether it does: not if the
    commit of the job is no longer the head, and it is of another commit.

    Raises:
        ApiError: the forge refuses, or gives no answer.
    """
    place = forge.place(job, pull)
    own_user = forge.own_user(job.environ, request)
    if own_user is None:
        raise ApiError(f"{forge.title} does not tell whose the token is")
    return _Comments(forge.head_of_job(job), forge, place, own_user, request).put(comment)


def set_status(forge: Forge, job: Job, status: Status, request: Requests) -> None:
    """Set the status of the commit of a job.

    Raises:
        ApiError: the forge refuses, or gives no answer.
    """
    address, body = forge.status(status, job)
    request("POST", address, body)
