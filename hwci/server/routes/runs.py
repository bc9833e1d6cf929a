# SPDX-License-Identifier: Apache-2.0
"""Run records and the two streams of their events (contract, "Runs and streams")."""

from aiohttp import web

from hwci.server.http.route import Call, Route, Who
from hwci.server.http.streams import server_sent_events, web_socket
from hwci.wire.base import ListPage
from hwci.wire.runs import RunAnswer, RunDetail, RunsQuery, StreamQuery


async def listed(call: Call) -> ListPage[RunAnswer]:
    """List run records."""
    return await call.services.runs.listed(call.member, call.query(RunsQuery))


async def show(call: Call) -> RunDetail:
    """Show one run record."""
    return await call.services.runs.show(call.member, call.path_id("runId"))


async def stream(call: Call) -> web.StreamResponse:
    """Follow runs as server-sent events."""
    return await server_sent_events(call, call.query(StreamQuery))


async def socket(call: Call) -> web.StreamResponse:
    """Follow runs over a WebSocket."""
    return await web_socket(call, call.query(StreamQuery))


# The streams stand before `{runId}`: the router takes the first that fits.
ROUTES = (
    Route(
        "GET",
        "/api/orgs/{orgId}/runs",
        Who.MEMBER,
        listed,
        "List run records, latest start first",
        query=RunsQuery,
        answer=ListPage[RunAnswer],
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/runs/stream",
        Who.MEMBER,
        stream,
        "Follow runs as server-sent events; `Last-Event-ID` resumes",
        query=StreamQuery,
        media="text/event-stream",
        also=(409,),
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/runs/ws",
        Who.FOLLOWER,
        socket,
        "Follow runs over a WebSocket, signed in by header or by the first frame",
        query=StreamQuery,
        status=101,
        also=(409,),
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/runs/{runId}",
        Who.MEMBER,
        show,
        "Show one run record with all that was told of it",
        answer=RunDetail,
        long=True,
    ),
)
