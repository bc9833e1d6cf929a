# SPDX-License-Identifier: Apache-2.0
"""Events on the wire: server-sent events and WebSocket frames (contract, "Runs and streams")."""

from aiohttp import web

from hwci.server.http.route import Call
from hwci.wire.runs import StreamQuery


async def server_sent_events(call: Call, query: StreamQuery) -> web.StreamResponse:
    """Follow runs as server-sent events."""
    raise NotImplementedError


async def web_socket(call: Call, query: StreamQuery) -> web.StreamResponse:
    """Follow runs over a WebSocket."""
    raise NotImplementedError
