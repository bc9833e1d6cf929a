# SPDX-License-Identifier: Apache-2.0
"""A call of an endpoint. This module decides what a handler is called with."""

from collections.abc import Awaitable, Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, get_type_hints
from uuid import UUID

from aiohttp import web
from pydantic import BaseModel

from hwci.server.http.addresses import address_of
from hwci.server.http.bodies.buffers import BodyBuffer
from hwci.server.http.headers import takes_gzip
from hwci.server.services.access import Member, Person, Viewer, rights_of
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.services.registry import Services
from hwci.server.storage.records import Box, CiKey, Key, User
from hwci.wire.base import read_id
from hwci.wire.endpoint import Endpoint
from hwci.wire.queries import Query

Answered = object
"""What a handler returns: what its endpoint answers, JSON already written, None for nothing, or an
answer that a module of this room has written or is still writing (cookies, redirects, streams).
"""
Handler = Callable[..., Awaitable[Answered]]
"""Each parameter is filled by its type: `Call`; who calls (`Member`, `Person`, `User`, `Viewer`,
`ReaderKey`, `CiKey`, `Box`); `UUID | None` for the ids of the path after the organization's; the
body; the query; `Tags`.
"""


def parameters_of(handler: Handler) -> tuple[Any, ...]:
    """Return the types that a handler takes, in order."""
    return tuple(kind for name, kind in get_type_hints(handler).items() if name != "return")


@dataclass(slots=True)
class Call:
    """A request, its endpoint, what the checks found, and the answer that has begun: a stream's.
    `handler`: that of the endpoint, bound to its service; `parameters`: the types that it takes.
    """

    request: web.Request
    endpoint: Endpoint
    handler: Handler
    parameters: tuple[Any, ...]
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
        if isinstance(self.caller, Member | Key | Box) and not self.endpoint.reads:
            return self.caller.org_id
        return None

    def path_id(self, name: str) -> UUID | None:
        """Return an id of the path; None if it is malformed, which is the id of nothing."""
        return read_id(self.request.match_info.get(name, ""))

    async def perform(self) -> Answered:
        """Call the handler with what it takes."""
        ids = (self.path_id(name) for name in self.request.match_info if name != "orgId")
        return await self.handler(*(self._argument(kind, ids) for kind in self.parameters))

    def _argument(self, kind: Any, ids: Iterator[UUID | None]) -> object:  # noqa: ANN401 - any annotation
        if kind is Call:
            return self
        if kind is Tags:
            assert isinstance(self.caller, Viewer)
            known = self.request.if_none_match or ()
            self.tags = Tags(
                self.request.rel_url.raw_path_qs,
                {tag.value for tag in known},
                self.services.shared_answers,
                (rights_of(self.caller), takes_gzip(self.request)),
            )
            return self.tags
        if kind == UUID | None:
            return next(ids)
        if kind is User:
            assert isinstance(self.caller, Person)
            return self.caller.user
        (argument,) = (
            part for part in (self.caller, self.body, self.query) if isinstance(part, kind)
        )
        return argument
