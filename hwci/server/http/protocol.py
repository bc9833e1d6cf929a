# SPDX-License-Identifier: Apache-2.0
"""Every answer has the spec's shape, also those that the web framework gives before or beside any
handler: malformed HTTP, no such route, an expectation, a fault of ours.

The framework's own server forgets all its settings at one unknown keyword; this one does not, and
`require_hardened` refuses to start without the parser that malformed requests are refused by.
"""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from aiohttp import hdrs, web
from aiohttp.http import HttpRequestParser
from aiohttp.http_parser import HttpRequestParserPy

from hwci.server.http.access_log import RequestLog
from hwci.server.http.responses import request_id, stamp, status_answer

LOG = logging.getLogger("hwci.server")

# Inflation is ours (`body.py`); a body that nobody reads is waited for briefly.
HARDENING: dict[str, Any] = {
    "auto_decompress": False,
    "keepalive_timeout": 75.0,
    "lingering_time": 2.0,
    "max_line_size": 8_190,
    "max_field_size": 8_190,
    "max_headers": 128,
}
DRAIN_SECONDS = 10.0

Handle = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Around = Callable[[Handle], Handle]
AROUND: web.AppKey[Around] = web.AppKey("around")
"""What an application does around all handling, before there is a route: its rate limits."""


class SpecProtocol(web.RequestHandler):
    """A connection whose errors are spec-shaped too."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what no handler did: 400 for malformed HTTP, else a 500 that leaks nothing."""
        if status == HTTPStatus.BAD_REQUEST:
            LOG.debug("request %s is not valid HTTP: %s", request_id(request), message)
        else:
            status = 500
            LOG.error("request %s failed", request_id(request), exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("The answer has begun; only closing the connection is left")
        response = status_answer(status)
        stamp(request, response.headers)
        response.force_close()
        return response


class SpecServer(web.Server):
    """Makes such connections, with all their settings or not at all."""

    def __call__(self) -> web.RequestHandler:
        """Make the handler of a new connection."""
        return SpecProtocol(self, loop=self._loop, **self._kwargs)


class SpecRunner(web.AppRunner):
    """Runs an application on such a server."""

    def __init__(self, app: web.Application) -> None:
        super().__init__(
            app, access_log_class=RequestLog, shutdown_timeout=DRAIN_SECONDS, **HARDENING
        )

    async def _make_server(self) -> web.Server:
        plain = await super()._make_server()
        handle = _spec_shaped(plain.request_handler)
        around = self.app.get(AROUND)
        server = SpecServer(
            around(handle) if around else handle,
            request_factory=plain.request_factory,
            access_log_class=RequestLog,
            **HARDENING,
        )
        server()  # an unknown setting fails here, before the first connection
        return server


def require_hardened() -> None:
    """Refuse to serve with the parser that is written in Python: it is lenient where C is not."""
    if HttpRequestParser is HttpRequestParserPy:
        raise RuntimeError(
            "aiohttp runs without its C parser; install a wheel of aiohttp for this Python"
        )


def _spec_shaped(handle: Handle) -> Handle:
    """Put the framework's own refusals (404, 405, 417) into the spec's shape."""

    async def shaped(request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await handle(request)
        except web.HTTPException as refusal:
            allow = refusal.headers.get(hdrs.ALLOW)
            return status_answer(refusal.status, {hdrs.ALLOW: allow} if allow else None)

    return shaped
