# SPDX-License-Identifier: Apache-2.0
"""Figures for Prometheus (contract, "Everywhere": `/metrics`)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import aiohttp
import pytest
from aiohttp import web
from prometheus_client.parser import text_string_to_metric_families

from hwci.server.app import serving
from hwci.server.http.connections.runner import AROUND
from hwci.server.http.figures import Figures
from hwci.server.settings import Settings
from tests.support.asking import Reply, ask
from tests.support.spec_client import SpecClient

Figure = Callable[..., float | None]
REQUESTS = "hwci_http_requests_total"


def read(body: bytes) -> Figure:
    """Return what looks a figure up by its name and labels."""
    samples = [
        sample
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    ]

    def figure(name: str, **labels: str) -> float | None:
        found = [one.value for one in samples if (one.name, one.labels) == (name, labels)]
        return found[0] if found else None

    return figure


@asynccontextmanager
async def watched(**settings: Any) -> AsyncIterator[Callable[..., Awaitable[Reply]]]:
    own = Settings(database="memory:", port=0, prometheus=True, **settings)
    async with serving(own) as server:

        async def send(path: str, method: str = "GET") -> Reply:
            return await asyncio.to_thread(ask, server.url, method, path)

        yield send


async def test_every_answer_counts_by_route_method_and_status() -> None:
    async with watched(rate_limit="5/hour") as send:
        for _ in range(2):
            await send(f"/api/orgs/{uuid4()}/products")
        await send("/api/nothing", "DELETE")
        await send("/api/auth/me", "POST")
        await send("/api/openapi.json")
        await send("/api/openapi.json")
        reply = await send("/metrics")

    assert reply.headers["content-type"].startswith("text/plain; version=")
    figure = read(reply.body)
    products = {"method": "GET", "route": "/api/orgs/{orgId}/products"}
    assert figure(REQUESTS, **products, status="401") == 2
    assert figure("hwci_http_request_seconds_count", **products) == 2
    assert figure(REQUESTS, method="DELETE", route="none", status="404") == 1
    assert figure(REQUESTS, method="POST", route="none", status="405") == 1
    assert figure(REQUESTS, method="GET", route="/api/openapi.json", status="200") == 1
    assert figure(REQUESTS, method="GET", route="none", status="429") == 1
    assert figure("hwci_streams_open") == 0


async def test_no_caller_can_add_figures_without_end() -> None:
    async with watched(rate_limit="off") as send:

        async def size() -> int:
            return len((await send("/metrics")).body.splitlines())

        for method in ("PROPFIND", "MKCOL"):
            await send("/api/nothing", method)
        await size()
        before = await size()
        for method in ("LOCK", "SEARCH", "PROPFIND"):
            await send(f"/api/{uuid4()}?{uuid4()}", method)
            await send(f"/api/{uuid4()}", method)
        assert await size() == before


async def test_a_failure_of_ours_counts_where_it_happened(
    spec_client: SpecClient, caplog: pytest.LogCaptureFixture
) -> None:
    client = await spec_client(alone(broken))
    assert (await client.get("/x")).status == 500
    figure = read(await (await client.get("/metrics")).read())
    assert figure(REQUESTS, method="GET", route="/x", status="500") == 1
    assert "broken" in caplog.text


@pytest.mark.parametrize("kind", ["socket", "events"])
async def test_streams_are_counted_while_they_are_open(spec_client: SpecClient, kind: str) -> None:
    app = alone(socket if kind == "socket" else events)
    client = await spec_client(app)
    opened = [
        await (client.ws_connect("/x") if kind == "socket" else client.get("/x")) for _ in range(3)
    ]
    figure = read(await (await client.get("/metrics")).read())
    assert figure("hwci_streams_open") == 3
    app[STOP].set()
    for one in opened:
        await (one.receive() if isinstance(one, Socket) else one.read())
    figure = read(await (await client.get("/metrics")).read())
    assert figure("hwci_streams_open") == 0
    assert figure("hwci_http_request_seconds_count", method="GET", route="/x") is None


Socket = aiohttp.ClientWebSocketResponse
STOP = web.AppKey("stop", asyncio.Event)


async def broken(_: web.Request) -> web.StreamResponse:
    raise LookupError("broken")


async def socket(request: web.Request) -> web.StreamResponse:
    answer = web.WebSocketResponse()
    await answer.prepare(request)
    await request.app[STOP].wait()
    await answer.close()
    return answer


async def events(request: web.Request) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await answer.prepare(request)
    await request.app[STOP].wait()
    await answer.write_eof()
    return answer


def alone(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.Application:
    """Return an application of one route, with figures."""
    app = web.Application()
    app[AROUND] = lambda handle: handle
    app[STOP] = asyncio.Event()
    app.router.add_get("/x", handler)
    Figures().watch(app)
    return app


async def test_figures_stand_there_only_when_asked_for() -> None:
    async with serving(Settings(database="memory:", port=0)) as server:
        assert (await asyncio.to_thread(ask, server.url, "GET", "/metrics")).status == 404
