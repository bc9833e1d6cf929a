# SPDX-License-Identifier: Apache-2.0
"""Connections: every answer on them has the spec's shape, also those that the web framework gives
before or beside any handler (malformed HTTP, a fault of ours); and who sends or takes too slowly is
cut (contract, "Everywhere").

Leaving: a request is taken once its head is here, and is answered; each answer closes its
connection. A connection that waits for a request when the server leaves is kept for
`GRACE_SECONDS`, for what is under way to it, and is closed then. What is not answered within
`LEAVE_SECONDS`, because its body never comes or its handler does not end, is cut.
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

from hwci.server.http.responses import request_id, stamp, status_answer

LOG = logging.getLogger("hwci.server")

LINE_BYTES = 8_190
HEADER_BYTES = 8_192
"""The two differ so that a refusal can tell which of them was passed."""

HEAD_SECONDS = 15.0
"""So long may a connection wait for its first byte, and the head of a request for its end."""
STUCK_SECONDS = 60.0
"""Who takes not one byte of an answer for so long has gone."""

LISTEN_SECONDS = 1.0
"""Who closes their side, as every program does that is ended, is waited for so long by a read."""

GRACE_SECONDS = 0.5
LEAVE_SECONDS = 6.5

Handle = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Gone = Callable[[], None]
"""Told when a connection has ended."""

_TOO_MANY_HEADERS = "Too many headers received"  # the framework has no class for it


class SpecProtocol(web.RequestHandler):
    """A connection whose errors are spec-shaped too, and which does not wait for ever."""

    __slots__ = (
        "_answered",
        "_arriving",
        "_begun",
        "_deaf",
        "_ended",
        "_gone",
        "_head_due",
        "_late",
        "_leave",
        "_leave_due",
        "_server",
        "_taken_due",
    )

    def __init__(
        self,
        server: "SpecServer",
        gone: Gone,
        **settings: Any,  # noqa: ANN401 - the framework's
    ) -> None:
        super().__init__(server, **settings)
        self._server = server
        self._gone = gone
        self._arriving = EMPTY_PAYLOAD  # the body of the last request that has come
        self._begun = False  # the head of a request has begun to arrive
        self._deaf = False  # nothing more is read
        self._ended = False  # the caller will send no more
        self._late = False  # a head did not arrive in time
        self._answered = False
        self._leave: Callable[[], object] | None = None
        self._leave_due: asyncio.TimerHandle | None = None
        self._head_due: asyncio.TimerHandle | None = None
        self._taken_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first byte, not for long. Who never asked is given no answer."""
        super().connection_made(transport)
        self._head_due = self._loop.call_later(HEAD_SECONDS, self.force_close)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Forget what was due, and tell the server once nothing runs for this connection."""
        self._head_is_due(None)
        self._stop_watching()
        if self._leave is not None:
            self._leave()
        task = self._task_handler
        super().connection_lost(exc)
        self._gone()
        if task is None:
            self._server.note_gone()
        else:
            task.add_done_callback(self._server.note_gone)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and see to it that a head that begins comes to its end."""
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

    def eof_received(self) -> bool:  # type: ignore[override] # the framework's says None: close
        """Stay for a caller who has said all and still listens, where there is an answer to give.

        TLS has no half that stays open.
        """
        self._ended = True
        self._expect_leaving()
        working = self._waiter is None and self._request_count > 0 and not self._answered
        asked = bool(self._messages) or working
        streaming = (
            self._current_request is not None and self._current_request.writer.output_size > 0
        )
        whole = self._arriving.is_eof() and not self._upgraded
        return asked and whole and not streaming and self.ssl_context is None

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Say when an answer is the last: the caller has ended, or the server leaves."""
        if (self._ended or self._server.leaving) and not self._messages:
            resp.force_close()
        finished = await super().finish_response(request, resp, start_time)
        if self._messages:  # an upgrade that was refused may have had requests behind it
            self._arriving = self._messages[-1][1]
        # From here to the next request the framework looks as if it worked on one.
        self._answered = not self._messages
        return finished

    def hear_no_more(self) -> None:
        """Read nothing more. The caller has a moment to take the answer, which is the last."""
        self._deaf = True
        if self.transport is not None:
            self.transport.pause_reading()

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Go on reading, unless nothing more is read."""
        if not self._deaf:
            super().resume_reading(resume_parser)

    def pause_writing(self) -> None:
        """More is to be sent than the caller takes: watch whether they take any."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Watch no longer."""
        self._stop_watching()
        super().resume_writing()

    def leave(self) -> None:
        """Close, unless a request is being answered, its body arrives, or it waits to be read."""
        waits = self._waiter is not None and not self._waiter.done()
        if waits and self.transport is not None and not _unread(self.transport):
            if self.transport.can_write_eof():
                self.transport.write_eof()  # now: who hears it at once sends nothing more
            self.force_close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what no handler did: malformed or late HTTP, else a 500 that leaks nothing."""
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
        """Call `leave` if the caller leaves meanwhile. Who has only said all may still listen: they
        have `LISTEN_SECONDS` more.
        """
        self._leave = leave
        if self.transport is None:
            leave()
        elif self._ended:
            self._expect_leaving()
        try:
            yield
        finally:
            self._leave = None
            if self._leave_due is not None:
                self._leave_due.cancel()

    def _expect_leaving(self) -> None:
        if self._leave is not None:
            self._leave_due = self._loop.call_later(LISTEN_SECONDS, self._leave)

    def _head_is_due(self, seconds: float | None) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
        self._head_due = (
            None if seconds is None else self._loop.call_later(seconds, self._refuse_late_head)
        )

    def _refuse_late_head(self) -> None:
        """Answer 408 in its turn, as the framework answers a malformed head."""
        self._late = True
        told = web_protocol._ErrInfo  # noqa: SLF001 - `require_hardened` looked that it is there
        late = told(HTTPStatus.REQUEST_TIMEOUT, TimeoutError(), "its head is late")
        self._messages.append((late, EMPTY_PAYLOAD))
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _watch(self, before: int | None = None) -> None:
        if self.transport is None:
            return
        left = self.transport.get_write_buffer_size()
        if before is not None and left >= before:
            self.transport.abort()
        else:
            self._taken_due = self._loop.call_later(STUCK_SECONDS, self._watch, left)

    def _stop_watching(self) -> None:
        if self._taken_due is not None:
            self._taken_due.cancel()
            self._taken_due = None


class SpecServer(web.Server):
    """Makes such connections, and sees them out. The framework's own forgets all its settings at
    one unknown keyword; this one does not.
    """

    def __init__(self, handle: Handle, **settings: Any) -> None:  # noqa: ANN401 - the framework's
        super().__init__(handle, **settings)
        self.leaving = False
        self._empty = asyncio.Event()

    def __call__(self, gone: Gone = lambda: None) -> SpecProtocol:
        """Make the handler of a new connection."""
        return SpecProtocol(self, gone, loop=self._loop, **self._kwargs)

    def note_gone(self, _: object = None) -> None:
        """Nothing runs any more for a connection."""
        if self.leaving and not self._connections:
            self._empty.set()

    async def leave(self) -> None:
        """Return when every request that was taken is answered, or it has taken too long."""
        self.note_gone()
        await self._emptied(GRACE_SECONDS)
        for connection in self.connections:
            assert isinstance(connection, SpecProtocol)
            connection.leave()
        await self._emptied(LEAVE_SECONDS)

    async def _emptied(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._empty.wait()


def _unread(transport: asyncio.Transport) -> bool:
    """Return whether something has come that was not read yet."""
    look = select.poll()
    look.register(transport.get_extra_info("socket"), select.POLLIN)
    return bool(look.poll(0))


def _status_of(status: int, exc: BaseException | None, message: str | None) -> int:
    """Give the status of what no handler answered; the framework knows 400 and 500 alone."""
    if isinstance(exc, LineTooLong):
        return 414 if exc.args[1] == LINE_BYTES else 431
    if message == _TOO_MANY_HEADERS:
        return 431
    return status if status in {400, 408} else 500
