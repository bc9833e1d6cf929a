# SPDX-License-Identifier: Apache-2.0
"""Rate limits of requests: too many are refused (429) before route, key and body are looked at
(contract, "Everywhere": the order of checks), and so is who does not read what was answered (503).
The limits are decided in `services/rate_limits.py` and `connections/unread.py`.
"""

import logging
from collections.abc import Collection, Sequence

from aiohttp import web

from hwci.server.errors import HwciServerError, LimiterError
from hwci.server.http.addresses import address_of, note_origin
from hwci.server.http.call import Call
from hwci.server.http.connections.connection import unread_by
from hwci.server.http.connections.runner import Around, Handle
from hwci.server.http.responses import error_answer, request_id, stamp
from hwci.server.services.rate_limits import RateLimits
from hwci.server.settings import Network
from hwci.wire.endpoint import LIMITED

LOG = logging.getLogger("hwci.server")


def limit_requests(
    limits: RateLimits, trusted: Sequence[Network], own: Collection[tuple[str, str]]
) -> Around:
    """Return what applies the limit on all of the API around the handling of a request. `own`:
    methods and paths with a stricter limit, which count where that one is applied.
    """

    def around(handle: Handle) -> Handle:
        async def limited(request: web.BaseRequest) -> web.StreamResponse:
            note_origin(request, trusted)
            address = address_of(request)
            try:
                unread_by(request).count_for(address, address)
                if request.rel_url.path.startswith(LIMITED):
                    apart = (request.method, request.rel_url.path) in own
                    await (limits.require_room if apart else limits.take)(address)
            except HwciServerError as error:
                return _refusal(error, request)
            return await handle(request)

        return limited

    return around


async def take_own_limit(call: Call) -> None:
    """Count a call against the route's own limit (429), if it has one."""
    own = call.endpoint.own_limit
    if own is not None:
        address = address_of(call.request)
        await call.services.rate_limits.take_own(own.name.lower(), own.value, address)


def _refusal(error: HwciServerError, request: web.BaseRequest) -> web.Response:
    if isinstance(error, LimiterError):
        log_uncounted(error, request)
    response = error_answer(error)
    stamp(request, response.headers)  # nothing else stamps an answer before there is a route
    return response


def log_uncounted(error: LimiterError, request: web.BaseRequest) -> None:
    """Log why requests cannot be counted. The caller does not see it."""
    LOG.error("request %s: %s (%s)", request_id(request), error, error.__cause__)
