# SPDX-License-Identifier: Apache-2.0
"""The door: who asked too often is turned away (429) before there is a route, a key or a body
(contract, "Everywhere": the order of checks). How often is too often, `services/rate_limits.py`
decides.
"""

import logging
from collections.abc import Sequence

from aiohttp import web

from hwci.server.errors import HwciServerError, LimiterError
from hwci.server.http.addresses import address_of, note_origin
from hwci.server.http.protocol import Around, Handle
from hwci.server.http.responses import error_answer, request_id, stamp
from hwci.server.http.route import LIMITED, Call
from hwci.server.services.rate_limits import RateLimits
from hwci.server.settings import Network

LOG = logging.getLogger("hwci.server")


def door(limits: RateLimits, trusted: Sequence[Network]) -> Around:
    """Make what lets in the requests that are within the limit on all of the API."""

    def around(handle: Handle) -> Handle:
        async def let_in(request: web.BaseRequest) -> web.StreamResponse:
            note_origin(request, trusted)
            if request.rel_url.path.startswith(LIMITED):
                try:
                    await limits.take(address_of(request))
                except HwciServerError as error:
                    return _refusal(error, request)
            return await handle(request)

        return let_in

    return around


async def take_own_limit(call: Call) -> None:
    """Count against the route's own limit (429), if it has one."""
    own = call.route.own_limit
    if own is not None:
        address = address_of(call.request)
        await call.services.rate_limits.take_own(own.name.lower(), own.value, address)


def _refusal(error: HwciServerError, request: web.BaseRequest) -> web.Response:
    if isinstance(error, LimiterError):
        log_silence(error, request)
    response = error_answer(error)
    stamp(request, response.headers)  # who has no route yet is stamped by nobody else
    return response


def log_silence(error: LimiterError, request: web.BaseRequest) -> None:
    """Tell the operator why limits cannot be counted, which no caller is told."""
    LOG.error("request %s: %s (%s)", request_id(request), error, error.__cause__)
