# SPDX-License-Identifier: Apache-2.0
"""What serves, and with which settings (contract, "Everywhere").

`require_hardened` refuses to start without the parser that malformed requests are refused by, and
with a framework whose private parts are others than those used here and in `connection.py`. How a
single connection behaves, and what a server does that leaves, is decided in `connection.py`.
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

from hwci.server.http import connection
from hwci.server.http.access_log import RequestLog
from hwci.server.http.listener import Listener, bound
from hwci.server.http.places import Places
from hwci.server.http.responses import PEOPLE_USE_TLS, status_answer

# Inflation is ours (`body.py`); a body that nobody reads is waited for briefly.
HARDENING: dict[str, Any] = {
    "auto_decompress": False,
    "keepalive_timeout": 75.0,
    "lingering_time": 2.0,
    "max_line_size": connection.LINE_BYTES,
    "max_field_size": connection.HEADER_BYTES,
    "max_headers": 128,
}
PRIVATE: Mapping[type | ModuleType, tuple[str, ...]] = {
    web.RequestHandler: (
        "_current_request",
        "_loop",
        "_messages",
        "_request_count",
        "_task_handler",
        "_upgraded",
        "_waiter",
    ),
    web_protocol: ("_ErrInfo",),
    web.Server: ("_connections", "_kwargs", "_loop"),
    web.AppRunner: ("_make_server",),
}
"""Attributes that we read or replace and the framework promises nobody (docs/adr/0016)."""
CUT_SECONDS = 0.5
"""For a handler to end by itself once it is cut, and again to be cancelled."""

Handle = connection.Handle
Around = Callable[[Handle], Handle]
AROUND: web.AppKey[Around] = web.AppKey("around")
"""What an application does around all handling, before there is a route: its rate limits."""
LEAVING: web.AppKey[Callable[[], None]] = web.AppKey("leaving")
"""What an application does first when its server begins to leave: it says that it is not ready."""


class SpecRunner(web.AppRunner):
    """Runs an application on such a server. `https`: people reach it by an https address."""

    def __init__(self, app: web.Application, *, https: bool = False) -> None:
        super().__init__(
            app, access_log_class=RequestLog, shutdown_timeout=CUT_SECONDS, **HARDENING
        )
        self._https = https
        self._listener: Listener | None = None

    @property
    def addresses(self) -> list[Any]:
        """Where it listens."""
        sockets = self._listener.sockets if self._listener else ()
        return [*(one.getsockname() for one in sockets), *super().addresses]

    async def listen(
        self, host: str, port: int, places: Places | None = None, tls: SSLContext | None = None
    ) -> str:
        """Listen at an address, and return it for people; a port of 0 becomes one that is free.

        Raises:
            OSError: it is taken, or not ours.
        """
        assert isinstance(self.server, connection.SpecServer)
        sockets = await bound(host, port)
        self._listener = Listener(sockets, self.server, places or Places(sys.maxsize), tls)
        host, port = sockets[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        return f"{'https' if tls else 'http'}://{shown}:{port}"

    def begin_to_leave(self) -> None:
        """From now on each answer is its connection's last; new connections are still taken."""
        assert isinstance(self.server, connection.SpecServer)
        self.server.leaving = True
        self.app.get(LEAVING, lambda: None)()

    async def cleanup(self) -> None:
        """Leave: listen no longer, end the streams, answer what was taken, cut the rest."""
        if isinstance(self.server, connection.SpecServer):
            self.begin_to_leave()
            if self._listener is not None:
                await self._listener.close()
            for site in self.sites:
                await site.stop()
            await super().shutdown()
            await self.server.leave()
        await super().cleanup()

    async def shutdown(self) -> None:
        """The application was told before its connections were waited for."""

    async def _make_server(self) -> web.Server:
        plain = await super()._make_server()
        handle = _spec_shaped(plain.request_handler)
        around = self.app.get(AROUND)
        server = connection.SpecServer(
            self._noted(around(handle) if around else handle),
            request_factory=plain.request_factory,
            access_log_class=RequestLog,
            **HARDENING,
        )
        server()  # an unknown setting fails here, before the first connection
        return server

    def _noted(self, handle: Handle) -> Handle:
        async def noted(request: web.BaseRequest) -> web.StreamResponse:
            request[PEOPLE_USE_TLS] = True
            return await handle(request)

        return noted if self._https else handle


def require_hardened() -> None:
    """Refuse to serve with the parser that is written in Python: it is lenient where C is not."""
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
            f"aiohttp {version} lacks {', '.join(missing)}, by which slow callers are cut and a"
            " stop answers what was taken; install a version of aiohttp that pyproject.toml allows"
        )


def _names_of(kind: type | ModuleType) -> set[str]:
    """Give the attributes of a class or module, and those that instances get when they are made."""
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
