# SPDX-License-Identifier: Apache-2.0
"""A route as data, and a call of it: the router, checks, handlers and OpenAPI are made from them.

This module decides which errors a route may answer, and what a handler is called with.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, TypeGuard, get_args, get_type_hints
from uuid import UUID

from aiohttp import web
from pydantic import BaseModel

from hwci.server.http.addresses import address_of
from hwci.server.http.bodies.buffers import BodyBuffer
from hwci.server.services.access import Member, Person, Viewer
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.services.registry import Services
from hwci.server.storage.records import Box, CiKey, Key, User
from hwci.wire import limits
from hwci.wire.base import read_id
from hwci.wire.queries import Query

Answered = BaseModel | bytes | web.StreamResponse | None
"""What a handler returns: a model, JSON already written, nothing, or an answer that a module of
this room has written or is still writing (cookies, redirects, streams).
"""
Handler = Callable[..., Awaitable[Answered]]
"""Each parameter is filled by its type: `Call`; who calls (`Member`, `Person`, `User`, `Viewer`,
`ReaderKey`, `CiKey`, `Box`); `UUID | None` for the ids of the path after the organization's; the
body; the query; `Tags`.
"""
LIMITED = ("/api/", "/dist/")
"""Requests to what stands under these count against the limits; static files and health do not."""


class Who(Enum):
    """Who may call a route. Members and admins: of the organization in the path."""

    ANYONE = "anyone"
    USER = "user"
    MEMBER = "member"
    READER = "member or reader key"
    FOLLOWER = "member or reader key, by the header or by the first frame"
    ADMIN = "owner or admin"
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


class OwnLimit(Enum):
    """Routes with a stricter limit beside the global one (spec, "Limits"); default a minute."""

    LOGIN = 10
    REGISTER = 5
    REFRESH = 30


@dataclass(frozen=True)
class Route:
    """One row of the route table. `handler`: a method of a service, or a function; the models that
    it takes and returns are the route's body, query and answer.

    `metrics`: only while CI Metrics is enabled. `media`: the content type of an answer that is not
    JSON, `text/event-stream` or none at all. `reads`: a POST that keeps nothing. `bodiless`:
    the body may be left out.
    A route whose handler takes `Tags` has an `ETag` in its answers, and answers 304.
    """

    method: str
    path: str
    who: Who
    handler: Handler
    summary: str
    status: int = 200
    metrics: bool = False
    body_bytes: int = limits.BODY_BYTES
    also: tuple[int, ...] = ()
    own_limit: OwnLimit | None = None
    media: str = "application/json"
    reads: bool = False
    bodiless: bool = False

    @cached_property
    def parameters(self) -> tuple[Any, ...]:
        """The types that the handler takes, in order."""
        return tuple(kind for name, kind in self._hints.items() if name != "return")

    @cached_property
    def body(self) -> type[BaseModel] | None:
        """The model of the body; None if there is no body."""
        models = (kind for kind in self.parameters if _is_model(kind))
        return next((kind for kind in models if not issubclass(kind, Query)), None)

    @cached_property
    def query(self) -> type[Query] | None:
        """The model of the query; that of a read without parameters is empty."""
        models = (kind for kind in self.parameters if _is_model(kind))
        none = Query if self.method == "GET" and self.limited else None
        return next((kind for kind in models if issubclass(kind, Query)), none)

    @cached_property
    def answer(self) -> type[BaseModel] | None:
        """The model of the answer; None if it has no body, or one that is not JSON."""
        returned = self._hints["return"]
        return next(filter(_is_model, get_args(returned) or (returned,)), None)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.handler)

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
        """The bodies that CI sends may come compressed."""
        return self.who is Who.CI_KEY

    @property
    def tagged(self) -> bool:
        """Whether a caller that has the answer already gets 304."""
        return Tags in self.parameters

    @property
    def errors(self) -> tuple[int, ...]:
        """Every status of an error that this route may answer, beside 500 and 503."""
        of_caller = {
            Who.ANYONE: set[int](),
            Who.USER: {401},
            Who.MEMBER: {401, 404},
            Who.READER: {401, 404, 403},
            Who.FOLLOWER: {401, 404, 403},
            Who.ADMIN: {401, 404, 403},
            Who.READER_KEY: {401},
            Who.CI_KEY: {401, 403},
            Who.BOX: {401},
        }[self.who]
        of_limit = {429} if self.limited else set[int]()
        of_feature = {403} if self.metrics else set[int]()
        of_body = {400, 408, 413, 415} if self.body else set[int]()
        of_query = {400} if self.query else set[int]()
        return tuple(sorted(of_caller | of_limit | of_feature | of_body | of_query | {*self.also}))


def _is_model(kind: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


@dataclass(slots=True)
class Call:
    """A request, its route, what the checks found, and the answer that has begun: a stream's.
    `handler`: the route's, bound to its service.
    """

    request: web.Request
    route: Route
    handler: Handler
    services: Services
    buffer: BodyBuffer
    caller: Person | Viewer | CiKey | Box | None = None
    body: BaseModel | None = field(default=None, repr=False)
    query: Query | None = None
    tags: Tags | None = None
    begun: web.StreamResponse | None = None

    @property
    def payer(self) -> tuple[Hashable, Hashable]:
        """Who bodies and answers count for: organization and key or user; else the user or address,
        twice.
        """
        if isinstance(self.caller, Member | Key | Box):
            return self.caller.org_id, self.caller.id
        who = self.caller.user.id if self.caller else address_of(self.request)
        return who, who

    @property
    def organization(self) -> UUID | None:
        """The organization that the call's body is kept for; None if it is none's, or not kept."""
        if isinstance(self.caller, Member | Key | Box) and not self.route.reads:
            return self.caller.org_id
        return None

    def path_id(self, name: str) -> UUID | None:
        """Return an id of the path; None if it is malformed, which is the id of nothing."""
        return read_id(self.request.match_info.get(name, ""))

    async def perform(self) -> Answered:
        """Call the route's handler with what it takes."""
        ids = (self.path_id(name) for name in self.request.match_info if name != "orgId")
        return await self.handler(*(self._argument(kind, ids) for kind in self.route.parameters))

    def _argument(self, kind: Any, ids: Iterator[UUID | None]) -> object:  # noqa: ANN401 - any annotation
        if kind is Call:
            return self
        if kind is Tags:
            known = self.request.if_none_match or ()
            self.tags = Tags(self.request.rel_url.raw_path_qs, {one.value for one in known})
            return self.tags
        if kind == UUID | None:
            return next(ids)
        if kind is User:
            assert isinstance(self.caller, Person)
            return self.caller.user
        (found,) = (one for one in (self.caller, self.body, self.query) if isinstance(one, kind))
        return found
