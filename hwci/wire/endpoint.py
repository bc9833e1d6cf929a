# SPDX-License-Identifier: Apache-2.0
"""What an endpoint is. It is stated once: the server serves it, the client calls it, OpenAPI and
the reference show it (spec, "Endpoints"; contract).

This module decides which errors an endpoint may answer. Which endpoints there are stands in
`hwci.wire.endpoints`, what answers them in `hwci.server.routes`.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.wire.queries import Query

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

LIMITED = ("/api/", "/dist/")
"""Requests to what stands under these count against the limits; static files and health do not."""


class Who(Enum):
    """Who may call an endpoint. Members and admins: of the organization in the path."""

    ANYONE = "anyone"
    USER = "user"
    MEMBER = "member"
    READER = "member or reader key"
    FOLLOWER = "member or reader key, by the header or by the first frame"
    ADMIN = "owner or admin"
    OWNER = "owner"
    READER_KEY = "reader key"
    CI_KEY = "CI key"
    BOX = "box key"

    @property
    def challenge(self) -> str:
        """The value of `WWW-Authenticate` for a 401."""
        person, key = 'Bearer realm="hwci"', 'ApiKey realm="hwci"'
        if self in {Who.READER, Who.FOLLOWER}:
            return f"{person}, {key}"
        return key if self in {Who.READER_KEY, Who.CI_KEY, Who.BOX} else person


_ERRORS_OF_CALLER: dict[Who, set[int]] = {
    Who.ANYONE: set(),
    Who.USER: {401},
    Who.MEMBER: {401, 404},
    Who.READER: {401, 404, 403},
    Who.FOLLOWER: {401, 404, 403},
    Who.ADMIN: {401, 404, 403},
    Who.OWNER: {401, 404, 403},
    Who.READER_KEY: {401},
    Who.CI_KEY: {401, 403},
    Who.BOX: {401},
}


class OwnLimit(Enum):
    """Endpoints with a stricter limit beside the global one (spec, "Limits"); default a minute."""

    LOGIN = 10
    REGISTER = 5
    REFRESH = 30
    JOB_KEY = 60


@dataclass(frozen=True, eq=False)
class Endpoint:
    """One endpoint. `name`: what it is in the typed client, `failures.list` for
    `client.failures.list(…)`. `body`, `query`, `answer`: their models, None where there is none.

    `also`: errors beside those that follow from the rest. `metrics`: only while CI Metrics is
    enabled. `deleted`: also while the organization is deleted and can come back. `media`: the
    content type of an answer that is not JSON, `text/event-stream` or none at all. `reads`: a POST
    that keeps nothing. `bodiless`: the body may be left out.
    `tagged`: answers have an `ETag`, and a caller that has one already gets 304.
    `whole_body`: a program passes the body as a whole, not field by field.
    `repeatable`: the request may be sent twice.
    `called`: `hwci.client.calls` has it; otherwise only browsers and other tools ask it, or, of a
    stream of events, `client.follow`.
    """

    name: str
    method: Method
    path: str
    who: Who
    summary: str
    body: type[BaseModel] | None = None
    query: "type[Query] | None" = None
    answer: type[Any] | None = None
    status: int = 200
    also: tuple[int, ...] = ()
    metrics: bool = False
    deleted: bool = False
    body_bytes: int = limits.BODY_BYTES
    own_limit: OwnLimit | None = None
    media: str = "application/json"
    reads: bool = False
    bodiless: bool = False
    tagged: bool = False
    whole_body: bool = False
    repeatable: bool = True
    called: bool = True

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The names in the path, in order."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def may_stop(self) -> bool:
        """Whether it only reads for a person, so that it stops when they leave."""
        asks = self.method == "GET" and self.who in {Who.USER, Who.MEMBER, Who.READER, Who.ADMIN}
        return asks or self.reads

    @property
    def limited(self) -> bool:
        """Whether requests to it count against the limits."""
        return self.path.startswith(LIMITED)

    @property
    def gzip(self) -> bool:
        """Whether bodies may come compressed: those that CI sends."""
        return self.who is Who.CI_KEY

    @property
    def errors(self) -> tuple[int, ...]:
        """Every status of an error that it may answer, beside 500 and 503."""
        of_limit = {429} if self.limited else set[int]()
        of_feature = {403} if self.metrics else set[int]()
        of_body = {400, 408, 413, 415} if self.body else set[int]()
        of_query = {400} if self.query else set[int]()
        of_caller = _ERRORS_OF_CALLER[self.who]
        return tuple(sorted({*of_caller, *of_limit, *of_feature, *of_body, *of_query, *self.also}))
