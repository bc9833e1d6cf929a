# SPDX-License-Identifier: Apache-2.0
"""Connections: every answer has the spec's shape, also those that the web framework gives beside
handlers; a caller who sends or reads too slowly is cut off (contract, "Everywhere").

When the server stops, a request whose head has arrived is answered, and each answer closes its
connection. A connection without a request is closed after `GRACE_SECONDS`. What is not answered
within `LEAVE_SECONDS` is cut off.
"""

import asyncio
import logging
import select
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import Any

from aiohttp import web, web_protocol
from aiohttp.http_exceptions import LineTooLong
from aiohttp.streams import EMPTY_PAYLOAD

from hwci.server.http.connections.unread import PIECE_BYTES, Pieces, Unread, UnreadAnswers
from hwci.server.http.responses import request_id, stamp, status_answer

LOG = logging.getLogger("hwci.server")

LINE_BYTES = 8_190
"""The address of a request, with its query."""
HEADER_BYTES = 8_192
"""A header: its name and its value. The two differ so that a refusal can say which was passed."""
HEADERS_MAX = 128
"""Headers of a request."""
IDLE_SECONDS = 75.0
"""A kept connection without a request is closed after this."""

HEAD_SECONDS = 15.0
"""Limit for the first byte of a connection, and for the whole head of a request."""

LISTEN_SECONDS = 1.0
"""A read goes on for this long after its caller closed their side, as a killed program does."""

GRACE_SECONDS = 0.5
LEAVE_SECONDS = 6.5
LOOK_SECONDS = 0.02

Handle = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Gone = Callable[[], None]
"""Called when a connection has ended."""

_TOO_MANY_HEADERS = "Too many headers received"  # the framework has no class for it


class SpecProtocol(web.RequestHandler):
    """A connection whose errors have the spec's shape too, and which does not wait forever."""

    __slots__ = (
        "_answered",
        "_arriving",
        "_begun",
        "_deaf",
        "_ended_at",
        "_gone",
        "_head_due",
        "_late",
        "_leave",
        "_leave_due",
        "_server",
        "unread",
    )

    def __init__(
        self,
        server: "SpecServer",
        gone: Gone,
        **settings: Any,
    ) -> None:
        super().__init__(server, **settings)
        self._server = server
        self._gone = gone
        self._arriving = EMPTY_PAYLOAD  # the body of the last request that has come
        self._begun = False  # the head of a request has begun to arrive
        self._deaf = False  # nothing more is read
        self._ended_at: float | None = None  # the caller has closed their side
        self._late = False  # a head did not arrive in time
        self._answered = False
        self._leave: Callable[[], object] | None = None
        self._leave_due: asyncio.TimerHandle | None = None
        self._head_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Set a deadline for the first byte. A caller who never sent one gets no answer."""
        super().connection_made(transport)
        assert isinstance(transport, asyncio.Transport)
        self.unread = Unread(self._server.unread, transport)
        self._head_due = self._server.loop.call_later(HEAD_SECONDS, self.force_close)

    def connection_lost(self, _: BaseException | None) -> None:
        """Cancel the deadlines, and free the connection's place and what waits to be sent.

        The error stays here: the framework would raise it where the answer waits, and it would
        hold that answer in a cycle of references, which Python frees much later.
        """
        self._head_is_due(None)
        self.unread.end()
        if self._leave is not None:
            self._leave()
        super().connection_lost(None)
        self._gone()

    def data_received(self, data: bytes) -> None:
        """Take bytes, and set a deadline for a head that begins."""
        if self._late:
            return
        between, count = self._arriving.is_eof(), self._request_count
        super().data_received(data)
        self._answered = self._answered and not self._messages
        if self._request_count > count:
            self._arriving = self._messages[-1][1]
            self._begun = False
            self._head_is_due(None)
        elif data and between and not self._begun and not self._upgraded:
            self._begun = True
            self._head_is_due(HEAD_SECONDS)

    def eof_received(self) -> bool:  # type: ignore[override] # the framework returns None: close
        """Stay open for a caller who closed their side and waits; TLS cannot be half open."""
        self._ended_at = self._server.loop.time()
        self._expect_leaving(self._ended_at)
        working = self._waiter is None and self._request_count > 0 and not self._answered
        busy = bool(self._messages) or working
        streaming = (
            self._current_request is not None and self._current_request.writer.output_size > 0
        )
        whole = self._arriving.is_eof() and not self._upgraded
        return busy and whole and not streaming and self.ssl_context is None

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send a long answer in pieces. Close after the last: the caller closed their side, or the
        server stops.
        """
        if (self._ended_at is not None or self._server.leaving) and not self._messages:
            resp.force_close()
        if isinstance(resp, web.Response) and isinstance(resp.body, bytes):
            self.unread.answer = len(resp.body)
            if len(resp.body) > PIECE_BYTES:
                resp.body = Pieces(resp.body)
        try:
            finished = await super().finish_response(request, resp, start_time)
        finally:
            self.unread.answer = 0
        if self._messages:  # an upgrade that was refused may have had requests behind it
            self._arriving = self._messages[-1][1]
        # From here to the next request the framework looks as if it worked on one.
        self._answered = not self._messages
        return finished

    def stop_reading(self) -> None:
        """Read nothing more. The caller has a moment to take the answer, which is the last."""
        self._deaf = True
        if self.transport is not None:
            self.transport.pause_reading()

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Resume reading, unless it was stopped for good."""
        if not self._deaf:
            super().resume_reading(resume_parser)

    def pause_writing(self) -> None:
        """Count what waits to be taken."""
        super().pause_writing()
        self.unread.begin()

    def resume_writing(self) -> None:
        """Count it no longer."""
        self.unread.end()
        super().resume_writing()

    def leave(self) -> None:
        """Close, unless a request is being answered, arrives, or waits to be read."""
        waits = self._waiter is not None and not self._waiter.done()
        if waits and self.transport is not None and not _has_more(self.transport):
            if self.transport.can_write_eof():
                self.transport.write_eof()  # now, so that the caller sends nothing more
            self.force_close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer malformed or late HTTP, which reaches no handler; else a bare 500."""
        status = _status_of(status, exc, message)
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            LOG.error("request %s failed", request_id(request), exc_info=exc)
        else:
            # The kind alone: the parser's own words quote the line, and a credential in it.
            kind = type(exc).__name__
            LOG.debug("request %s is refused with %d: %s", request_id(request), status, kind)
        if request.writer.output_size > 0:
            raise ConnectionError("The answer has begun; only closing the connection is left")
        response = status_answer(status)
        stamp(request, response.headers)
        response.force_close()
        return response

    @contextmanager
    def while_there(self, leave: Callable[[], object]) -> Iterator[None]:
        """Call `leave` if the caller leaves; `LISTEN_SECONDS` after only closing their side."""
        self._leave = leave
        if self.transport is None:
            leave()
        elif self._ended_at is not None:
            self._expect_leaving(self._ended_at)
        try:
            yield
        finally:
            self._leave = None
            if self._leave_due is not None:
                self._leave_due.cancel()

    def _expect_leaving(self, ended_at: float) -> None:
        if self._leave is not None:
            self._leave_due = self._server.loop.call_at(ended_at + LISTEN_SECONDS, self._leave)

    def _head_is_due(self, seconds: float | None) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
        self._head_due = None
        if seconds is not None:
            self._head_due = self._server.loop.call_later(seconds, self._refuse_late_head)

    def _refuse_late_head(self) -> None:
        """Answer 408 in its turn, as the framework answers a malformed head."""
        self._late = True
        fault = web_protocol._ErrInfo  # noqa: SLF001 - `require_hardened` has checked it
        late = fault(HTTPStatus.REQUEST_TIMEOUT, TimeoutError(), "its head is late")
        self._messages.append((late, EMPTY_PAYLOAD))
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class SpecServer(web.Server):
    """Makes such connections and ends them; fails at an unknown setting, unlike the framework's."""

    def __init__(
        self,
        handle: Handle,
        request_factory: Callable[..., web.BaseRequest] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(handle, request_factory=request_factory)
        self.leaving = False
        self.unread = UnreadAnswers()
        self.loop = asyncio.get_running_loop()
        self._settings = settings

    def __call__(self, gone: Gone = lambda: None) -> SpecProtocol:
        """Return the handler of a new connection."""
        return SpecProtocol(self, gone, loop=self.loop, **self._settings)

    async def leave(self) -> None:
        """Return when every request that was taken is answered, or the time for it is over."""
        await self._emptied(GRACE_SECONDS)
        for connection in self.connections:
            assert isinstance(connection, SpecProtocol)
            connection.leave()
        await self._emptied(LEAVE_SECONDS)

    async def _emptied(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.connections:  # noqa: ASYNC110 - the framework has no event for it
                    await asyncio.sleep(LOOK_SECONDS)


def unread_by(request: web.BaseRequest) -> Unread:
    """Return what waits on the connection of a request."""
    assert isinstance(request.protocol, SpecProtocol)
    return request.protocol.unread


def _has_more(transport: asyncio.Transport) -> bool:
    look = select.poll()
    look.register(transport.get_extra_info("socket"), select.POLLIN)
    return bool(look.poll(0))


def _status_of(status: int, exc: BaseException | None, message: str | None) -> int:
    """Return the status of an error outside handlers; the framework knows only 400 and 500."""
    if isinstance(exc, LineTooLong):
        return 414 if exc.args[1] == LINE_BYTES else 431
    if message == _TOO_MANY_HEADERS:
        return 431
    return status if status in {400, 408} else 500
