# SPDX-License-Identifier: Apache-2.0
"""A route as data, and a call of it: what the router, the checks, the handlers and the OpenAPI
document are made from.

This module decides which errors follow from what a route says of itself. A handler takes a `Call`
and knows the web framework no further.
"""

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar
from uuid import UUID

from aiohttp import web
from pydantic import BaseModel

from hwci.server.http.addresses import address_of
from hwci.server.http.large_bodies import Room
from hwci.server.http.query import path_id
from hwci.server.services.access import Member, Person
from hwci.server.services.registry import Services
from hwci.server.storage.records import Box, CiKey, User
from hwci.wire import limits
from hwci.wire.queries import Query

BodyModel = TypeVar("BodyModel", bound=BaseModel)
QueryModel = TypeVar("QueryModel", bound=Query)
Answered = BaseModel | bytes | web.StreamResponse | None
"""What a handler gives: a model, JSON as it stands, nothing, or (cookies, redirects, streams) an
answer that a module of this room has written or is still writing.
"""
Handler = Callable[["Call"], Awaitable[Answered]]
LIMITED = "/api/"
"""Requests to what stands under it count against the limits; static files and health do not."""


class Who(Enum):
    """Who may call a route. Members and admins: of the organization in the path."""

    ANYONE = "anyone"
    USER = "user"
    MEMBER = "member"
    FOLLOWER = "member, signed in by the header or by the first frame"
    ADMIN = "owner or admin"
    CI_KEY = "CI key"
    BOX = "box key"

    @property
    def challenge(self) -> str:
        """Give the value of `WWW-Authenticate` for a 401."""
        return 'ApiKey realm="hwci"' if self in {Who.CI_KEY, Who.BOX} else 'Bearer realm="hwci"'


class OwnLimit(Enum):
    """The routes that have a stricter limit of their own on top of the global one (spec, "Limits"),
    with its default per minute.
    """

    LOGIN = 10
    REGISTER = 5
    REFRESH = 30


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the route table. `metrics`: only while CI Metrics is enabled. `media`: the content
    type of an answer that is no JSON, `text/event-stream` or none at all. `long`: its answer may be
    so long that it is written in a thread; those with `metrics` always are. `reads`: it
    keeps nothing, although it is a POST.
    """

    method: str
    path: str
    who: Who
    handler: Handler
    summary: str
    body: type[BaseModel] | None = None
    query: type[Query] | None = None
    answer: type[BaseModel] | None = None
    status: int = 200
    metrics: bool = False
    body_bytes: int = limits.BODY_BYTES
    also: tuple[int, ...] = ()
    own_limit: OwnLimit | None = None
    media: str = "application/json"
    long: bool = False
    reads: bool = False

    @property
    def may_stop(self) -> bool:
        """Whether it only reads for somebody, so that it ends when they leave."""
        asks = self.method == "GET" and self.who in {Who.USER, Who.MEMBER, Who.ADMIN}
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
    def errors(self) -> tuple[int, ...]:
        """Give every status of an error that this route may answer, beside 500 and 503."""
        of_caller = {
            Who.ANYONE: set[int](),
            Who.USER: {401},
            Who.MEMBER: {401, 404},
            Who.FOLLOWER: {401, 404, 403},
            Who.ADMIN: {401, 404, 403},
            Who.CI_KEY: {401, 403},
            Who.BOX: {401},
        }[self.who]
        of_limit = {429} if self.limited else set[int]()
        of_feature = {403} if self.metrics else set[int]()
        of_body = {400, 408, 413, 415} if self.body else set[int]()
        of_query = {400} if self.query else set[int]()
        return tuple(sorted(of_caller | of_limit | of_feature | of_body | of_query | {*self.also}))


@dataclass(slots=True)
class Call:
    """A request, its route, and what the checks found. Asking for what was not checked is a bug."""

    request: web.Request
    route: Route
    services: Services
    room: Room
    caller: Person | Member | CiKey | Box | None = None
    parsed_body: BaseModel | None = field(default=None, repr=False)
    parsed_query: Query | None = None

    @property
    def person(self) -> Person:
        """The signed-in user, and the session that they are in."""
        assert isinstance(self.caller, Person)
        return self.caller

    @property
    def user(self) -> User:
        """The signed-in user."""
        return self.person.user

    @property
    def member(self) -> Member:
        """The signed-in user as a member of the organization in the path."""
        assert isinstance(self.caller, Member)
        return self.caller

    @property
    def key(self) -> CiKey:
        """The CI key that was presented."""
        assert isinstance(self.caller, CiKey)
        return self.caller

    @property
    def box(self) -> Box:
        """The box whose key was presented."""
        assert isinstance(self.caller, Box)
        return self.caller

    @property
    def payer(self) -> tuple[Hashable, Hashable]:
        """Whose the room for the body is: an organization and its key, or who is in place of it."""
        if isinstance(self.caller, CiKey | Box):
            return self.caller.org_id, self.caller.id
        if isinstance(self.caller, Member):
            return self.caller.org_id, self.caller.user.id
        who = self.caller.user.id if self.caller else address_of(self.request)
        return who, who

    def body(self, model: type[BodyModel]) -> BodyModel:
        """Give the body, which the route says is such a model."""
        assert isinstance(self.parsed_body, model)
        return self.parsed_body

    def query(self, model: type[QueryModel]) -> QueryModel:
        """Give the query, which the route says is such a model."""
        assert isinstance(self.parsed_query, model)
        return self.parsed_query

    def path_id(self, name: str) -> UUID | None:
        """Give an id of the path; None: malformed, the id of nothing."""
        return path_id(self.request, name)
