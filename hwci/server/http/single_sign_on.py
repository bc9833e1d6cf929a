# SPDX-License-Identifier: Apache-2.0
"""The browser's way to a provider and back: redirects, and the cookie that binds both ends.

It decides where the ticket of a sign-in stands in a request. What a ticket says is the service's.
"""

from http import HTTPStatus

from aiohttp import hdrs, web

from hwci.server.http.addresses import scheme_of
from hwci.server.http.cookies import Cookie, set_refresh_cookie
from hwci.server.http.route import Call
from hwci.server.services.sso import TICKET_LIFETIME
from hwci.wire.sso import SsoCallbackQuery, SsoLoginQuery

# Lax, as it is the provider's page that sends the browser back here.
_TICKET = Cookie("hwci_sso", "/api/auth/sso", "Lax")


async def begin(call: Call, query: SsoLoginQuery) -> web.StreamResponse:
    """Redirect to the provider."""
    begun = await call.services.sso.begin(_provider(call), _origin(call), query)
    response = _redirect(begun.url)
    _TICKET.put(call.request, response, begun.ticket, int(TICKET_LIFETIME.total_seconds()))
    return response


async def finish(call: Call, query: SsoCallbackQuery) -> web.StreamResponse:
    """Sign the browser, or the command line, in."""
    ticket = call.request.cookies.get(_TICKET.name_for(call.request), "")
    arrived = await call.services.sso.finish(_provider(call), _origin(call), ticket, query)
    response = _redirect(arrived.url)
    _TICKET.put(call.request, response, "", 0)
    if arrived.refresh_token is not None:
        set_refresh_cookie(call, response, arrived.refresh_token)
    return response


def _provider(call: Call) -> str:
    return call.request.match_info["provider"]


def _origin(call: Call) -> str:
    """Give the address that the browser knows us by, when the operator does not name one."""
    return f"{scheme_of(call.request)}://{call.request.host}"


def _redirect(url: str) -> web.Response:
    return web.Response(status=HTTPStatus.FOUND, headers={hdrs.LOCATION: url})
