# SPDX-License-Identifier: Apache-2.0
"""The asynchronous shell, on aiohttp.

This module decides how bytes travel: kept connections, the proxy of the environment, no
redirects. What is sent and what an answer means is decided in `_protocol.py`.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from http import HTTPStatus
from itertools import count
from typing import Any, Self, TypeVar
from uuid import uuid4

import aiohttp
from yarl import URL

from hwci.client._address import on_the_way, parse_address, proxy_of
from hwci.client._call import Call, Credential, Id
from hwci.client._kept import KeptAnswers
from hwci.client._protocol import (
    ANSWER_BYTES_MAX,
    SILENCE_SECONDS,
    Credentials,
    NoAnswer,
    Request,
    Response,
    Token,
    build_request,
    log_try,
    lower_case,
    needs_token,
    next_page,
    refused_token,
    retry_delay,
)
from hwci.client._resources import (
    FOLLOW,
    AsyncListing,
    Named,
    Resource,
    Surroundings,
    call_in,
    chosen,
    is_id,
    is_list,
    needs_organization,
    resource,
)
from hwci.client.following import Follower
from hwci.client.resources import AsyncResources
from hwci.contract.runs.runs import RunEvent
from hwci.contract.shape import ListPage
from hwci.wire.endpoint import Endpoint

T = TypeVar("T")
Item = TypeVar("Item")

NOT_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
)


class AsyncFollowing:
    """Events of runs, as they come, with `async with` and `async for`. Inside `async with` it has
    begun when the block does: no event of the block's own time is missed.

    Raises:
        HwciError: see `hwci.client.errors`. `UnauthorizedError`: the token has ended and the client
            was given no other. `ConflictError`: the events to resume from are no longer kept; list
            the runs, then follow again.
    """

    def __init__(
        self,
        follower: Follower,
        dial: Callable[[Follower], Awaitable[aiohttp.ClientResponse | Response | NoAnswer]],
        retries: int,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._follower = follower
        self._dial = dial
        self._retries = retries
        self._sleep = sleep
        self._line: aiohttp.ClientResponse | None = None

    async def __aenter__(self) -> Self:
        while not self._follower.placed:
            await self._go_on()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> RunEvent:
        while not self._follower.events:
            await self._go_on()
        return self._follower.events.popleft()

    def close(self) -> None:
        """Close the connection."""
        if self._line is not None:
            self._line.close()
            self._line = None

    async def _go_on(self) -> None:
        try:
            if self._line is None:
                await self._begin()
            elif chunk := await _next_chunk(self._line):
                self._follower.take(chunk)
            else:
                self.close()
                await self._sleep(self._follower.pause_after_end(_chance()))
        except BaseException:
            self.close()
            raise

    async def _begin(self) -> None:
        outcome = await self._dial(self._follower)
        if isinstance(outcome, aiohttp.ClientResponse):
            self._line = outcome
            self._follower.begin(lower_case(outcome.headers))
        else:
            await self._sleep(self._follower.pause_after(outcome, self._retries, _chance()))


async def _next_chunk(line: aiohttp.ClientResponse) -> bytes:
    """Return what has come; nothing once the stream has ended or was cut."""
    try:
        return await line.content.readany()
    except (aiohttp.ClientError, OSError):
        return b""


class AsyncClient(AsyncResources):
    """Sends calls, also several at once, in one event loop. Its arguments are those of `Client`:
    `timeout` is in seconds of silence, `token` may be a function, or a `Session`, which works in a
    thread.
    """

    def __init__(  # noqa: PLR0913 - all but the address by name
        self,
        url: str | None = None,
        *,
        ci_key: str | Callable[[], str] | None = None,
        token: Token | None = None,
        box_key: str | None = None,
        reader_key: str | None = None,
        org_id: Id | None = None,
        timeout: float = 30,
        retries: int = 4,
    ) -> None:
        own = Surroundings.of(url, reader_key, org_id)
        self._server = parse_address(own.url)
        self.org_id = own.org_id
        """The organization that resources ask of, by id or name; None until one has asked."""
        self._proxy = proxy_of(self._server)
        self._tunnel = self._server.scheme == "https"
        credentials = Credentials(ci_key, token, box_key, own.reader_key)
        self._credentials = credentials.of_server(self._server)
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=timeout, sock_read=timeout)
        self._retries = retries
        self._answers = KeptAnswers()
        self._kept: aiohttp.ClientSession | None = None
        self._sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def __repr__(self) -> str:
        return f"AsyncClient({str(self._server)!r}, {self._credentials})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        if self._kept is not None:
            await self._kept.close()
            self._kept = None

    async def send(self, call: Call[T]) -> T:
        """Send a call and return its answer.

        Raises:
            HwciError: see `hwci.client.errors`.
        """
        request_id, earlier = uuid4().hex, self._answers.of(call)
        tag, needed = earlier and earlier.tag, call.credential
        request = build_request(call, await self._present(needed), request_id, tag)
        outcome = await self._outcome(call, request)
        if await self._renewed(request, outcome):
            request = build_request(call, await self._present(needed), request_id, tag)
            outcome = await self._outcome(call, request)
        return self._answers.conclude(call, outcome, earlier)

    async def _organization(self) -> Id:
        """Return the organization that resources ask of. Raises `OrganizationError`."""
        if not is_id(self.org_id):
            if self._credentials.reader_key is not None:
                own: Sequence[Named] = [(await self.reader_keys.own()).organization]
            else:
                own = [organization async for organization in await self.orgs.list()]
            self.org_id = chosen(self.org_id, own)
        return self.org_id

    def __getattr__(self, name: str) -> Resource:
        return resource(name, self._perform)

    async def _perform(self, endpoint: Endpoint, *arguments: Any, **fields: Any) -> object:
        org_id = await self._organization() if needs_organization(endpoint) else None
        if endpoint.name == FOLLOW:
            return self.follow(await self._organization(), *arguments, **fields)
        call = call_in(endpoint, org_id, *arguments, **fields)
        answer = await self.send(call)
        return AsyncListing(self.send, call, answer) if is_list(endpoint) else answer

    async def _present(self, needed: Credential) -> Credentials:
        """Return the credentials with the present token of a session, where that is needed."""
        credentials, session = self._credentials, self._credentials.renewable
        if session is None or not needs_token(needed, credentials):
            return credentials
        return replace(credentials, token=await asyncio.to_thread(session.token))

    async def _renewed(self, request: Request, outcome: object) -> bool:
        if refused_token(request, outcome) is None:
            return False
        return await asyncio.to_thread(self._credentials.renewed, request, outcome)

    async def _outcome(self, call: Call[T], request: Request) -> Response | NoAnswer:
        for tried in count():
            outcome = await self._try(request, fresh=not call.repeatable)
            log_try(request, outcome)
            delay = retry_delay(call, outcome, self._retries - tried, tried, _chance())
            if delay is None:
                break
            await self._sleep(delay)
        return outcome

    async def items(self, call: Call[ListPage[Item]]) -> AsyncIterator[Item]:
        """Return the items of a list, page after page from the call's own on."""
        following: Call[ListPage[Item]] | None = call
        while following is not None:
            page = await self.send(following)
            for item in page.items:
                yield item
            following = next_page(following, page)

    def follow(
        self, org_id: Id, run_id: Id | None = None, last_event_id: str | None = None
    ) -> AsyncFollowing:
        """Return the events of an organization's runs as they come, or of one run; `last_event_id`:
        first those after this event. Raises `InvalidCallError`: an id is malformed.
        """
        follower = Follower(org_id, run_id, last_event_id)
        return AsyncFollowing(follower, self._dial, self._retries, self._sleep)

    async def _dial(self, follower: Follower) -> aiohttp.ClientResponse | Response | NoAnswer:
        request_id, needed = uuid4().hex, Credential.READER
        request = follower.request(await self._present(needed), request_id)
        outcome = await self._begun(request)
        if await self._renewed(request, outcome):
            outcome = await self._begun(follower.request(await self._present(needed), request_id))
        return outcome

    async def _begun(self, request: Request) -> aiohttp.ClientResponse | Response | NoAnswer:
        patience = aiohttp.ClientTimeout(
            total=None, sock_connect=self._timeout.sock_connect, sock_read=SILENCE_SECONDS
        )
        try:
            answer = await self._ask(self._session(), request, patience)
            return answer if answer.status == HTTPStatus.OK else await _whole(answer)
        except (aiohttp.ClientError, OSError) as fault:
            return self._no_answer(fault)

    async def _try(self, request: Request, *, fresh: bool) -> Response | NoAnswer:
        try:
            if not fresh:
                return await _whole(await self._ask(self._session(), request, self._timeout))
            async with self._new_session() as session:
                return await _whole(await self._ask(session, request, self._timeout))
        except (aiohttp.ClientError, OSError) as fault:
            return self._no_answer(fault)

    async def _ask(
        self, session: aiohttp.ClientSession, request: Request, patience: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        # Taken as encoded: a path is sent as it was written, `..` and `%2F` included.
        url = URL(f"{self._server}{request.target}", encoded=True)
        signed = {} if self._proxy is None else self._proxy.headers
        return await session.request(
            request.method,
            url,
            # For a tunnel the proxy gets its credentials with CONNECT, and only then.
            headers=request.headers if self._tunnel else {**request.headers, **signed},
            data=request.body,
            proxy=None if self._proxy is None else self._proxy.address.origin,
            proxy_headers=signed if self._tunnel else None,
            allow_redirects=False,
            timeout=patience,
        )

    def _session(self) -> aiohttp.ClientSession:
        if self._kept is None:
            self._kept = self._new_session()
        return self._kept

    def _new_session(self) -> aiohttp.ClientSession:
        # No cookies: calls are signed with what the caller gave.
        return aiohttp.ClientSession(timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar())

    def _no_answer(self, fault: aiohttp.ClientError | OSError) -> NoAnswer:
        return NoAnswer(
            str(self._server),
            on_the_way(_reason(fault), self._proxy),
            sent=not isinstance(fault, NOT_SENT),
            timed_out=isinstance(fault, TimeoutError),
            # A certificate that is not trusted now will not be a second later.
            passing=not isinstance(fault, aiohttp.ClientConnectorCertificateError),
        )


async def _whole(answer: aiohttp.ClientResponse) -> Response:
    async with answer:
        return Response(answer.status, lower_case(answer.headers), await _bounded(answer))


async def _bounded(answer: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for piece in answer.content.iter_any():
        body += piece
        if len(body) > ANSWER_BYTES_MAX:
            raise aiohttp.ClientPayloadError(f"the answer has more than {ANSWER_BYTES_MAX} bytes")
    return bytes(body)


def _reason(fault: aiohttp.ClientError | OSError) -> str:
    # Its own message holds the proxy's address.
    if isinstance(fault, aiohttp.ClientHttpProxyError):
        return f"Tunnel connection failed: {fault.status} {fault.message}"
    # Its own message holds the head of an answer, as far as it came.
    if isinstance(fault, aiohttp.ServerDisconnectedError):
        return "Server disconnected"
    return str(fault) or type(fault).__name__


def _chance() -> float:
    return random.random()  # noqa: S311 - it spreads retries, it guards nothing
