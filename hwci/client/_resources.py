# SPDX-License-Identifier: Apache-2.0
"""`client.failures.list(days=30)`: each endpoint as a method of its resource, and lists that go on
to the last page.

This module decides what a method asks, and of which organization: that of the client. It sends
nothing itself.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import cache
from typing import Any, Generic, NamedTuple, Protocol, TypeGuard, TypeVar
from uuid import UUID

from hwci.client._call import Call, Id
from hwci.client._functions import function_of
from hwci.client._protocol import next_page
from hwci.client.errors import OrganizationError, ServerAddressError
from hwci.contract.shape import ListPage
from hwci.wire.base import read_id
from hwci.wire.codec import item_of
from hwci.wire.endpoint import Endpoint
from hwci.wire.endpoints import named

Item = TypeVar("Item")
FOLLOW = "runs.follow"
ORG_ID = "orgId"


class Surroundings(NamedTuple):
    """Where a client goes: its own arguments, or the environment where it is given no address. A
    key of the environment is sent to the address of the environment only.
    """

    url: str
    reader_key: str | None
    org_id: Id | None

    @classmethod
    def of(cls, url: str | None, reader_key: str | None, org_id: Id | None) -> "Surroundings":
        """Raises `ServerAddressError`: there is no address."""
        if url is not None:
            return cls(url, reader_key, org_id)
        env = os.environ
        if not env.get("HWCI_URL"):
            raise ServerAddressError("", "no url is given, and HWCI_URL is not set")
        own = reader_key or env.get("HWCI_READER_KEY") or None
        return cls(env["HWCI_URL"], own, org_id or env.get("HWCI_ORG") or None)


@cache
def _endpoints() -> dict[str, Endpoint]:
    """Return what resources have, by name."""
    return {
        endpoint.name: endpoint
        for endpoint in named().values()
        if endpoint.called or endpoint.name == FOLLOW
    }


class Resource:
    """The endpoints of one subject. `ask`: what a client does with one, and what it was given."""

    def __init__(self, name: str, ask: Callable[..., Any]) -> None:
        self._name = name
        self._ask = ask

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("_"):
            raise AttributeError(method)
        endpoint = _endpoints().get(f"{self._name}.{method}")
        if endpoint is None:
            raise AttributeError(f"{self._name} has no method {method!r}")

        def perform(*arguments: Any, **fields: Any) -> Any:  # noqa: ANN401 - resources.pyi has the types
            return self._ask(endpoint, *arguments, **fields)

        perform.__name__, perform.__doc__ = method, endpoint.summary
        return perform

    def __dir__(self) -> list[str]:
        begin = f"{self._name}."
        return [name.removeprefix(begin) for name in _endpoints() if name.startswith(begin)]


def resource(name: str, ask: Callable[..., Any]) -> Resource:
    """Return a resource of a client. Raises `AttributeError`: there is none of this name."""
    if not any(known.startswith(f"{name}.") for known in _endpoints()):
        raise AttributeError(f"A client has no attribute {name!r}")
    return Resource(name, ask)


def needs_organization(endpoint: Endpoint) -> bool:
    """Return whether its path begins with an organization."""
    return ORG_ID in endpoint.ids


def call_in(endpoint: Endpoint, org_id: Id | None, *arguments: Any, **fields: Any) -> Call[Any]:
    """Return the call of an endpoint, in an organization where it is of one."""
    ids = () if org_id is None else (org_id,)
    return function_of(endpoint, endpoint.name, hidden=len(ids))(*ids, *arguments, **fields)


def is_list(endpoint: Endpoint) -> bool:
    """Return whether it answers with a page of a list."""
    return endpoint.answer is not None and item_of(endpoint.answer) is not None


class Named(Protocol):
    """An organization as the server answers it."""

    @property
    def id(self) -> UUID: ...
    @property
    def name(self) -> str: ...


def is_id(org_id: Id | None) -> TypeGuard[Id]:
    """Return whether it is an id, and not the name of an organization or none."""
    return isinstance(org_id, UUID) or (org_id is not None and read_id(org_id) is not None)


def chosen(name: Id | None, organizations: Sequence[Named]) -> UUID:
    """Return which of one's organizations is meant, by its name or as the only one. Raises
    `OrganizationError`: that is not clear.
    """
    fitting = [
        organization.id for organization in organizations if name in {None, organization.name}
    ]
    if len(fitting) == 1:
        return fitting[0]
    raise OrganizationError(
        ", ".join(f"{organization.name} ({organization.id})" for organization in organizations)
        or "none"
    )


class Listing(Generic[Item]):
    """A list: its first page, and all items in a loop, page after page."""

    def __init__(
        self, send: Callable[[Call[ListPage[Item]]], ListPage[Item]], call: Call[ListPage[Item]]
    ) -> None:
        self._send = send
        self._call = call
        self.page: ListPage[Item] = send(call)

    @property
    def items(self) -> tuple[Item, ...]:
        """The items of the first page."""
        return self.page.items

    @property
    def total(self) -> int:
        """How many items there are."""
        return self.page.total

    def __iter__(self) -> Iterator[Item]:
        page, call = self.page, self._call
        yield from page.items
        while (following := next_page(call, page)) is not None:
            page, call = self._send(following), following
            yield from page.items


class AsyncListing(Generic[Item]):
    """A list: its first page, and all items in an asynchronous loop, page after page."""

    def __init__(
        self,
        send: Callable[[Call[ListPage[Item]]], Awaitable[ListPage[Item]]],
        call: Call[ListPage[Item]],
        page: ListPage[Item],
    ) -> None:
        self._send = send
        self._call = call
        self.page = page

    @property
    def items(self) -> tuple[Item, ...]:
        """The items of the first page."""
        return self.page.items

    @property
    def total(self) -> int:
        """How many items there are."""
        return self.page.total

    async def __aiter__(self) -> AsyncIterator[Item]:
        page, call = self.page, self._call
        for item in page.items:
            yield item
        while (following := next_page(call, page)) is not None:
            page, call = await self._send(following), following
            for item in page.items:
                yield item
