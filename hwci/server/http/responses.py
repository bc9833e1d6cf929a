# SPDX-License-Identifier: Apache-2.0
"""Answers: JSON, the request's id, and the headers that every answer has."""

import gzip
import re
from collections.abc import Mapping
from http import HTTPStatus
from uuid import uuid4

from aiohttp import hdrs, web
from multidict import CIMultiDict

from hwci.server import errors
from hwci.server.http import refusals
from hwci.server.http.addresses import scheme_of
from hwci.server.http.headers import GZIP
from hwci.wire import limits
from hwci.wire.codec import as_json
from hwci.wire.endpoint import Endpoint
from hwci.wire.errors import ErrorBody

REQUEST_ID = "x-request-id"
ID_PATTERN = f"[A-Za-z0-9._-]{{1,{limits.REQUEST_ID_MAX}}}"
_ID = re.compile(ID_PATTERN, re.ASCII)
_KEY = web.RequestKey("request_id", str)
RETRY_AFTER_SECONDS = "5"
_GZIP_LEVEL = 6
PEOPLE_USE_TLS = web.RequestKey("people_use_tls", bool)
"""Set on a request if the address that people use begins with https."""

# What a browser may do with our answers. Only a page sets its own policy of what it may load.
_ALWAYS = {
    "Server": "hwci",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_POLICY = "Content-Security-Policy"
_NOTHING_TO_SHOW = "default-src 'none'; frame-ancestors 'none'"
_ONE_YEAR = "max-age=31536000"

# The sender may still be sending the body, so the next request could not be found.
_CLOSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}


def request_id(request: web.BaseRequest) -> str:
    """Return the request's id: the caller's if it is well formed, else a new one."""
    if _KEY not in request:
        own = request.headers.get(REQUEST_ID, "")
        request[_KEY] = own if _ID.fullmatch(own) else str(uuid4())
    return request[_KEY]


def over_tls(request: web.BaseRequest) -> bool:
    """Return whether people reach the service over TLS, its own or a proxy's."""
    return PEOPLE_USE_TLS in request or scheme_of(request) == "https"


def takes_page(request: web.BaseRequest) -> bool:
    """Return whether the caller shows pages to people: programs do not ask for HTML."""
    return "text/html" in request.headers.get("Accept", "")


def stamp(request: web.BaseRequest, headers: CIMultiDict[str]) -> None:
    """Set the headers of every answer."""
    headers[REQUEST_ID] = request_id(request)
    headers.update(_ALWAYS)
    headers.setdefault(_POLICY, _NOTHING_TO_SHOW)
    if request.rel_url.path.startswith("/api/"):
        headers["Cache-Control"] = "no-store"
    if over_tls(request):
        headers["Strict-Transport-Security"] = _ONE_YEAR


async def stamp_response(request: web.Request, response: web.StreamResponse) -> None:
    """Stamp what is about to be sent (`on_response_prepare`)."""
    stamp(request, response.headers)


def answer(endpoint: Endpoint, body: object) -> web.StreamResponse:
    """Return the answer of an endpoint as a response; None has no body."""
    if isinstance(body, web.StreamResponse):
        return body
    if body is None:
        return web.Response(status=endpoint.status)
    data = _written(endpoint, body)
    return web.Response(body=data, status=endpoint.status, content_type=endpoint.media)


def json_answer(data: bytes, status: int) -> web.Response:
    """Return JSON as a response."""
    return web.Response(body=data, status=status, content_type="application/json")


def _written(endpoint: Endpoint, body: object) -> bytes:
    """Return the answer of an endpoint as bytes, which it may be already."""
    if isinstance(body, bytes):
        return body
    assert endpoint.answer is not None
    return as_json(endpoint.answer, body)


def metrics_bytes(endpoint: Endpoint, body: object, *, compressed: bool) -> bytes:
    """Return an answer of metrics as bytes, compressed if the caller reads that.

    Metrics hold no secret that the length of a compressed answer could reveal to somebody who chose
    some of its names. Answers with tokens or keys are never compressed.
    """
    data = _written(endpoint, body)
    return gzip.compress(data, _GZIP_LEVEL, mtime=0) if compressed else data


def metrics_answer(
    endpoint: Endpoint, data: bytes, *, compressed: bool, tag: str | None = None
) -> web.Response:
    """Return the bytes of an answer of metrics as a response, with its tag."""
    headers: dict[str, str] = {hdrs.VARY: hdrs.ACCEPT_ENCODING}
    if tag is not None:
        headers[hdrs.ETAG] = _weak(tag)
    if compressed:
        headers[hdrs.CONTENT_ENCODING] = GZIP
    return web.Response(
        body=data, status=endpoint.status, headers=headers, content_type="application/json"
    )


def not_modified(tag: str) -> web.Response:
    """Return the answer to who has the answer of this tag already."""
    headers = {hdrs.VARY: hdrs.ACCEPT_ENCODING, hdrs.ETAG: _weak(tag)}
    return web.Response(status=HTTPStatus.NOT_MODIFIED, headers=headers)


def _weak(tag: str) -> str:
    """Return a tag of the same answer in other bytes: compressed or not."""
    return f'W/"{tag}"'


def error_answer(error: errors.HwciServerError) -> web.Response:
    """Return the answer to one of our errors."""
    headers = {}
    if isinstance(error, errors.RateLimitedError):
        headers["Retry-After"] = str(error.retry_after)
    elif refusals.status_of(error) == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = RETRY_AFTER_SECONDS
    return _write_error(refusals.error_body(error), headers)


def status_answer(status: int, headers: Mapping[str, str] | None = None) -> web.Response:
    """Return the answer to what the web framework refused."""
    return _write_error(refusals.status_body(status), headers or {})


def _write_error(body: ErrorBody, headers: Mapping[str, str]) -> web.Response:
    response = web.Response(
        body=body.model_dump_json(exclude_none=True).encode(),
        status=body.status_code,
        reason=body.error,
        headers=headers,
        content_type="application/json",
    )
    if body.status_code in _CLOSING:
        response.force_close()
    return response
