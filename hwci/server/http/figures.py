# SPDX-License-Identifier: Apache-2.0
"""Figures for Prometheus, if the operator wants them (contract, "Everywhere": `/metrics`).

Counted are requests by route, method and status, their time, and open streams. A label holds a
route of the table, never the requested address, of which a caller could make any number. Malformed
HTTP has no route and is not counted.
"""

from time import perf_counter

from aiohttp import web
from aiohttp.typedefs import Handler

from hwci.server.http.connections.runner import AROUND, Handle

PATH = "/metrics"
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_ROUTE = web.RequestKey("route", str)
_STREAM = web.RequestKey("stream", bool)


class Figures:
    """The figures of one server."""

    def __init__(self) -> None:
        import prometheus_client as prometheus  # noqa: PLC0415 - few servers are asked for them

        self._write = prometheus.generate_latest
        self._type = prometheus.CONTENT_TYPE_LATEST
        self._all = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=self._all)
        self._requests = prometheus.Counter(
            "hwci_http_requests", "Answers", ("method", "route", "status"), registry=self._all
        )
        self._seconds = prometheus.Histogram(
            "hwci_http_request_seconds",
            "Seconds until the answer, without streams",
            ("method", "route"),
            registry=self._all,
        )
        self._streams = prometheus.Gauge(
            "hwci_streams_open", "Streams that are open", registry=self._all
        )

    def watch(self, app: web.Application) -> None:
        """Count what an application does, and serve the figures."""
        inner = app[AROUND]
        app[AROUND] = lambda handle: self._around(inner(handle))
        app.middlewares.append(_note_route)
        app.on_response_prepare.append(self._note_stream)
        app.router.add_get(PATH, self._show)

    async def _show(self, _: web.Request) -> web.StreamResponse:
        headers = {"Content-Type": self._type}
        return web.Response(body=self._write(self._all), headers=headers)

    async def _note_stream(self, request: web.Request, response: web.StreamResponse) -> None:
        is_socket = isinstance(response, web.WebSocketResponse)
        if _STREAM not in request and (is_socket or response.content_type == "text/event-stream"):
            self._streams.inc()
            request[_STREAM] = True

    def _around(self, handle: Handle) -> Handle:
        async def watched(request: web.BaseRequest) -> web.StreamResponse:
            start, status = perf_counter(), 500
            try:
                response = await handle(request)
                status = response.status
                return response
            finally:
                self._count(request, status, perf_counter() - start)

        return watched

    def _count(self, request: web.BaseRequest, status: int, seconds: float) -> None:
        method = request.method if request.method in _METHODS else "other"
        route = request.get(_ROUTE, "none")  # refused by the rate limit, or not found
        self._requests.labels(method, route, str(status)).inc()
        if request.setdefault(_STREAM, False):
            self._streams.dec()
        else:
            self._seconds.labels(method, route).observe(seconds)


@web.middleware
async def _note_route(request: web.Request, handler: Handler) -> web.StreamResponse:
    resource = request.match_info.route.resource
    if resource is not None:
        request[_ROUTE] = resource.canonical
    return await handler(request)
