# SPDX-License-Identifier: Apache-2.0
"""The runner of an application, and its settings (contract, "Everywhere").

`require_hardened` refuses to start without the strict parser, or without a private part of the
framework that `connection.py` uses, which decides how a connection behaves and a server stops.
"""

import sys
from collections.abc import Callable, Mapping
from ssl import SSLContext
from types import FunctionType, ModuleType
from typing import Any

from aiohttp import __version__ as version
from aiohttp import hdrs, web, web_protocol
from aiohttp.http import HttpRequestParser
from aiohttp.http_parser import HttpRequestParserPy

from hwci.server.http.connections import connection
from hwci.server.http.connections.access_log import RequestLog
from hwci.server.http.connections.listener import Listener, Places, bound
from hwci.server.http.responses import PEOPLE_USE_TLS, status_answer

# `body.py` inflates; the framework waits only briefly for a body that is not read.
HARDENING: dict[str, Any] = {
    "auto_decompress": False,
    "keepalive_timeout": connection.IDLE_SECONDS,
    "lingering_time": 2.0,
    "max_line_size": connection.LINE_BYTES,
    "max_field_size": connection.HEADER_BYTES,
    "max_headers": connection.HEADERS_MAX,
}
PRIVATE: Mapping[type | ModuleType, tuple[str, ...]] = {
    web.RequestHandler: ("_current_request", "_messages", "_request_count", "_upgraded", "_waiter"),
    web_protocol: ("_ErrInfo",),
    web.FileResponse: ("_sendfile",),
}
"""Private names of the framework that we use, which it may change (docs/adr/0008)."""
CUT_SECONDS = 0.5
"""Seconds for a handler to end once its connection is cut, and again once it is cancelled."""

Handle = connection.Handle
Around = Callable[[Handle], Handle]
AROUND: web.AppKey[Around] = web.AppKey("around")
"""What an application wraps around all handling, before routing: its rate limits."""
LEAVING: web.AppKey[Callable[[], None]] = web.AppKey("leaving")
"""What an application does first when its server stops: it reports that it is not ready."""


class SpecRunner(web.AppRunner):
    """Runs an application on a `SpecServer`. `https`: people reach it by an https address."""

    def __init__(self, app: web.Application, *, https: bool = False) -> None:
        super().__init__(
            app, access_log_class=RequestLog, shutdown_timeout=CUT_SECONDS, **HARDENING
        )
        self._https = https
        self._listener: Listener | None = None
        self._connections: connection.SpecServer | None = None

    @property
    def server(self) -> connection.SpecServer | None:
        """What makes the connections; the framework's own server makes none."""
        return self._connections

    async def setup(self) -> None:
        """Start the application."""
        await super().setup()
        plain = super().server
        assert plain is not None
        around = self.app.get(AROUND, lambda handle: handle)
        self._connections = connection.SpecServer(
            self._noted(around(_spec_shaped(plain.request_handler))),
            plain.request_factory,
            access_log_class=RequestLog,
            **HARDENING,
        )
        self._connections()  # an unknown setting fails here, before the first connection

    @property
    def addresses(self) -> list[Any]:
        """The addresses that it listens at."""
        sockets = self._listener.sockets if self._listener else ()
        return [*(socket.getsockname() for socket in sockets), *super().addresses]

    async def listen(
        self, host: str, port: int, places: Places | None = None, tls: SSLContext | None = None
    ) -> str:
        """Listen at an address, and return its URL; port 0 takes a free one. Raises `OSError`."""
        assert self.server is not None
        sockets = await bound(host, port)
        self._listener = Listener(sockets, self.server, places or Places(sys.maxsize), tls)
        host, port = sockets[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        return f"{'https' if tls else 'http'}://{shown}:{port}"

    def begin_to_leave(self) -> None:
        """Make each answer its connection's last; new connections are still taken."""
        assert self.server is not None
        self.server.leaving = True
        self.app.get(LEAVING, lambda: None)()

    async def cleanup(self) -> None:
        """Stop: listen no longer, end the streams, answer what was taken, cut off the rest."""
        if self.server is not None:
            self.begin_to_leave()
            if self._listener is not None:
                await self._listener.close()
            for site in self.sites:
                await site.stop()
            await super().shutdown()
            await self.server.leave()
            self.server.pre_shutdown()
            await self.server.shutdown(CUT_SECONDS)
        await super().cleanup()

    async def shutdown(self) -> None:
        """Do nothing: `cleanup` has shut the application down before it waited for connections."""

    def _noted(self, handle: Handle) -> Handle:
        async def noted(request: web.BaseRequest) -> web.StreamResponse:
            request[PEOPLE_USE_TLS] = True
            return await handle(request)

        return noted if self._https else handle


def require_hardened() -> None:
    """Refuse the parser that is written in Python, which is lenient where the one in C is not, and
    a framework without the private names that we use. Raises `RuntimeError`.
    """
    if HttpRequestParser is HttpRequestParserPy:
        raise RuntimeError(
            "aiohttp runs without its C parser; install a wheel of aiohttp for this Python"
        )
    missing = [
        f"{kind.__name__}.{name}"
        for kind, names in PRIVATE.items()
        for name in names
        if name not in _names_of(kind)
    ]
    if missing:
        raise RuntimeError(
            f"aiohttp {version} lacks {', '.join(missing)}, which hwci needs to cut off slow"
            " callers and to answer open requests at a stop; install a version of aiohttp that"
            " pyproject.toml allows"
        )


def _names_of(kind: type | ModuleType) -> set[str]:
    """Return the attributes of a class or module, and those that `__init__` sets."""
    slots_alone = isinstance(kind, type) and kind.__dictoffset__ == 0
    init = None if slots_alone else vars(kind).get("__init__")
    return {*dir(kind), *(init.__code__.co_names if isinstance(init, FunctionType) else ())}


def _spec_shaped(handle: Handle) -> Handle:
    """Put the framework's own refusals (404, 405, 417) into the spec's shape."""

    async def shaped(request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await handle(request)
        except web.HTTPException as refusal:
            allow = refusal.headers.get(hdrs.ALLOW)
            return status_answer(refusal.status, {hdrs.ALLOW: allow} if allow else None)

    return shaped
