# SPDX-License-Identifier: Apache-2.0
"""Events on the wire: server-sent events and WebSocket frames (contract, "Runs and streams").

This module decides how events are framed, how a stream resumes, and that it closes a connection
whose client does not read. `services/runs/streams.py` decides who may follow, and for how long.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from socket import SO_SNDBUF, SOL_SOCKET

from aiohttp import WSCloseCode, WSMsgType, hdrs, web

from hwci.server.errors import HwciServerError, StoppingError, UnauthenticatedError
from hwci.server.http import refusals
from hwci.server.http.addresses import address_of
from hwci.server.http.bodies.reading import read_model
from hwci.server.http.call import Call
from hwci.server.http.refusals import InvalidRequestError
from hwci.server.http.responses import request_id
from hwci.server.services.access import MEMBERS, Member, Viewer
from hwci.server.services.runs.event_buffer import StreamEvent
from hwci.server.services.runs.streams import Stream, Subscription
from hwci.server.storage.records import ReaderKey
from hwci.wire import limits
from hwci.wire.errors import Issue
from hwci.wire.runs import StreamQuery, StreamSignIn

LOG = logging.getLogger("hwci.server")

DRAIN_SECONDS = 8.0
"""A client that has not read within this time what was sent is cut off."""
SIGN_IN_SECONDS = 5.0
"""The first frame of a WebSocket that came without a header of credentials comes within this."""
PING_SECONDS = 30.0
"""A WebSocket is pinged this often; one that does not answer is closed."""
GOODBYE_SECONDS = 2.0
COME_BACK_MILLISECONDS = 2_000
BUFFER_BYTES = 64 * 1024
"""The buffer here and the system's, each: more would hide a reader that stopped."""

LAST_EVENT_ID = "Last-Event-ID"
EVENT_ID = f"[0-9]{{1,{limits.EVENT_ID_DIGITS}}}"
_NUMBER = re.compile(EVENT_ID, re.ASCII)
_SILENCE = b":\n\n"
_CLOSING = b": closing\n\n"

_REFUSED = 4_000
"""A WebSocket is closed with this and the status that a request would have been refused with."""
_REASON_BYTES = 123
_FIRST_FRAME = 'The first frame should be {"type": "auth", "token": …}, or the handshake signed'


async def server_sent_events(call: Call, viewer: Viewer, query: StreamQuery) -> web.StreamResponse:
    """Follow runs as server-sent events."""
    request = call.request
    after = _last_event_id(request)
    subscription = Subscription(query.run_id, after, _connected(request), address_of(request))
    async with call.services.streams.following(viewer, subscription) as stream:
        response = web.StreamResponse(headers={"X-Accel-Buffering": "no"})
        response.content_type = "text/event-stream"
        if request.method == hdrs.METH_HEAD:
            return response
        await response.prepare(request)
        call.begun = response
        _limit_buffers(request)
        with suppress(ConnectionError):
            await _send_events(request, response, stream)
    return response


async def web_socket(call: Call, query: StreamQuery) -> web.StreamResponse:
    """Follow runs over a WebSocket."""
    request = call.request
    ws = web.WebSocketResponse(
        heartbeat=PING_SECONDS,
        timeout=GOODBYE_SECONDS,
        max_msg_size=limits.STREAM_FRAME_BYTES,
        compress=False,
    )
    _require_handshake(request, ws)
    after = _last_event_id(request)
    async with AsyncExitStack() as held:

        async def follow(viewer: Viewer, after: int | None) -> Stream:
            subscription = Subscription(
                query.run_id, after, _connected(request), address_of(request)
            )
            return await held.enter_async_context(
                call.services.streams.following(viewer, subscription)
            )

        by = call.caller
        stream = await follow(by, after) if isinstance(by, Member | ReaderKey) else None
        await ws.prepare(request)
        call.begun = ws
        _limit_buffers(request)
        with suppress(ConnectionError):
            try:
                await _send_frames(request, ws, stream or await follow(*await _sign_in(call, ws)))
            except HwciServerError as error:
                await _close(request, ws, error)
    return ws


# Server-sent events


async def _send_events(request: web.Request, response: web.StreamResponse, stream: Stream) -> None:
    """Send until the stream ends. A block without data only names the event to go on after."""
    greeting = f": following\nretry: {COME_BACK_MILLISECONDS}\nid: {stream.place}\n\n"
    await _taken(request, response.write(greeting.encode()), DRAIN_SECONDS)
    last = b""
    try:
        while True:
            events = await stream.next()
            block = b"".join(map(_block, events)) or _SILENCE
            await _taken(request, response.write(block), DRAIN_SECONDS)
    except StoppingError:
        last = _CLOSING
    except HwciServerError as error:
        # The answer has begun. A client that comes back gets the reason.
        LOG.debug("request %s: the stream ends: %s", request_id(request), error)
    await _taken(request, response.write_eof(last), GOODBYE_SECONDS)


def _block(event: StreamEvent) -> bytes:
    """Return an event as a block. JSON has no line break."""
    return f"id: {event.number}\nevent: {event.type}\ndata: {event.data}\n\n".encode()


# WebSocket


def _require_handshake(request: web.Request, ws: web.WebSocketResponse) -> None:
    """Refuse all but a handshake, and one that offers protocols: a token could be among them."""
    if request.method != hdrs.METH_GET or not ws.can_prepare(request):
        raise _header_fault(hdrs.UPGRADE, "Should be websocket: this address takes nothing else")
    if hdrs.SEC_WEBSOCKET_PROTOCOL in request.headers:
        raise _header_fault(
            hdrs.SEC_WEBSOCKET_PROTOCOL, "Should not be sent: the server supports no subprotocol"
        )


async def _sign_in(call: Call, ws: web.WebSocketResponse) -> tuple[Viewer, int | None]:
    """Read the first frame: who follows, and after which event.

    Raises:
        UnauthenticatedError: no such frame in time, or its token does not work.
        NotFoundError: no such organization, or none of the user's.
        InvalidRequestError: the event's id is malformed.
    """
    try:
        async with asyncio.timeout(SIGN_IN_SECONDS):
            frame = await ws.receive()
    except TimeoutError as fault:
        raise UnauthenticatedError("The first frame did not come in time") from fault
    if frame.type is not WSMsgType.TEXT:
        raise UnauthenticatedError(_FIRST_FRAME)
    try:
        sign_in = read_model(frame.data.encode(), StreamSignIn)
    except InvalidRequestError as fault:
        raise UnauthenticatedError(_FIRST_FRAME) from fault
    access, token, org_id = call.services.access, sign_in.token, call.path_id("orgId")
    viewer: Viewer
    if token.startswith(limits.READER_KEY_PREFIX):
        viewer = await access.reader_key(token, org_id, metrics=False)
        call.services.keys.note_use(viewer)
    else:
        viewer = await access.member(token, org_id, MEMBERS, metrics=False)
    after = sign_in.last_event_id
    return viewer, None if after is None else _number(after, ("frame", "lastEventId"))


async def _send_frames(request: web.Request, ws: web.WebSocketResponse, stream: Stream) -> None:
    """Send until the stream ends or the reader leaves. What the reader sends is ignored."""
    leaving = asyncio.create_task(_left(ws))
    sending = asyncio.create_task(_send_all(request, ws, stream))
    both = (leaving, sending)
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in both:
            task.cancel()
        await asyncio.wait(both)
    if not sending.cancelled():
        sending.result()


async def _left(ws: web.WebSocketResponse) -> None:
    async for _ in ws:
        pass


async def _send_all(request: web.Request, ws: web.WebSocketResponse, stream: Stream) -> None:
    while stream.connected:  # after that there is nothing to wait for or to send
        for event in await stream.next():
            await _taken(request, ws.send_str(event.data), DRAIN_SECONDS)


async def _close(request: web.Request, ws: web.WebSocketResponse, error: HwciServerError) -> None:
    body = refusals.error_body(error)
    stops = isinstance(error, StoppingError)
    code = WSCloseCode.GOING_AWAY if stops else _REFUSED + body.status_code
    faults = [f"{issue.path[-1]}: {issue.message}" for issue in body.issues or ()]
    reason = (
        ("; ".join(faults) or body.message)
        .encode()[:_REASON_BYTES]
        .decode(errors="ignore")
        .encode()
    )
    await _taken(request, ws.close(code=code, message=reason), 2 * GOODBYE_SECONDS)


# Both


def _last_event_id(request: web.Request) -> int | None:
    """Return the event to go on after. Raises `InvalidRequestError`."""
    values = request.headers.getall(LAST_EVENT_ID, [])
    return _number(",".join(values), ("header", LAST_EVENT_ID)) if values else None


def _number(event_id: str, path: Sequence[str]) -> int:
    if _NUMBER.fullmatch(event_id) is None:
        message = "Should be the id of an event, as a stream gave it"
        raise InvalidRequestError([Issue(path=path, message=message)])
    return int(event_id)


def _header_fault(name: str, message: str) -> InvalidRequestError:
    return InvalidRequestError([Issue(path=["header", name], message=message)])


def _connected(request: web.Request) -> Callable[[], bool]:
    return lambda: request.transport is not None and not request.transport.is_closing()


def _limit_buffers(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.set_write_buffer_limits(BUFFER_BYTES)
        request.transport.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_SNDBUF, BUFFER_BYTES)


async def _taken(request: web.Request, sending: Awaitable[object], seconds: float) -> None:
    """Return when all is taken; cut off a slow reader. Raises `ConnectionError`: none is left."""
    try:
        async with asyncio.timeout(seconds):
            await sending
            await request.writer.drain()
    except TimeoutError as fault:
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionResetError("The reader does not read") from fault
