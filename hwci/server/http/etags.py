# SPDX-License-Identifier: Apache-2.0
"""Answers that the caller has already: `ETag` and `If-None-Match` (RFC 9110, 8.8.3 and 13.1.2).

Tags are weak: the same figures may be compressed or not. What an answer rests on is decided by the
service that gives it.
"""

from hashlib import sha256
from http import HTTPStatus

from aiohttp import hdrs, web


def tag_of(request: web.Request, state: str) -> str:
    """Return the tag of the answer to a question, as long as the state is this."""
    asked = f"{request.rel_url.raw_path_qs}\n{state}"
    return sha256(asked.encode()).hexdigest()[:32]


def is_known(request: web.Request, tag: str) -> bool:
    """Return whether the caller says that it has the answer of this tag."""
    return any(one.value == tag for one in request.if_none_match or ())


def not_modified(tag: str) -> web.Response:
    """Return the answer that has no body, as the caller has it."""
    return tagged(web.Response(status=HTTPStatus.NOT_MODIFIED), tag)


def tagged(response: web.Response, tag: str) -> web.Response:
    """Put its tag on an answer."""
    response.headers[hdrs.ETAG] = f'W/"{tag}"'
    response.headers[hdrs.VARY] = hdrs.ACCEPT_ENCODING
    return response
