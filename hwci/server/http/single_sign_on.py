# SPDX-License-Identifier: Apache-2.0
"""The browser's way to a provider and back: redirects, and the cookie that binds both ends.

It decides where the ticket of a sign-in stands in a request, and that a person whose sign-in is
refused reads why on the sign-in page. What a ticket says is the service's.
"""

from collections.abc import Awaitable
from http import HTTPStatus
from urllib.parse import quote

from aiohttp import hdrs, web

from hwci.server.errors import ForbiddenError, NotFoundError, UnauthenticatedError
from hwci.server.http.clients import client_of
from hwci.server.http.cookies import Cookie, set_device_cookie, set_refresh_cookie
from hwci.server.http.responses import takes_page
from hwci.server.http.route import Call
from hwci.server.services.sso import TICKET_LIFETIME
from hwci.wire.sso import SsoCallbackQuery, SsoLoginQuery

# Lax, as it is the provider's page that sends the browser back here.
_TICKET = Cookie("hwci_sso", "/api/auth/sso", "Lax")
# Words in an address would be anybody's to write.
_REFUSAL = Cookie("hwci_refusal", "/sign-in", "Strict", readable=True)
_REFUSAL_SECONDS = 60
_SIGN_IN_PAGE = "/sign-in?sso=refused"


async def in_words(call: Call, step: Awaitable[web.StreamResponse]) -> web.StreamResponse:
    """Take a step; a browser that shows a page to a person is sent to one that says a refusal.

    Raises what the step raises, for everybody else.
    """
    try:
        return await step
    except (ForbiddenError, NotFoundError, UnauthenticatedError) as refusal:
        if not takes_page(call.request):
            raise
        response = _redirect(_SIGN_IN_PAGE)
        # What is left as it is would have the cookie put in quotes, which scripts read with it.
        words = quote(str(refusal), safe="")
        _REFUSAL.put(call.request, response, words, _REFUSAL_SECONDS)
        return response


async def begin(call: Call, query: SsoLoginQuery) -> web.StreamResponse:
    """Redirect to the provider."""
    begun = await call.services.sso.begin(_provider(call), query)
    response = _redirect(begun.url)
    lifetime = int(TICKET_LIFETIME.total_seconds()) if begun.ticket else 0
    _TICKET.put(call.request, response, begun.ticket, lifetime)
    return response


async def finish(call: Call, query: SsoCallbackQuery) -> web.StreamResponse:
    """Sign the browser, or the command line, in."""
    ticket = call.request.cookies.get(_TICKET.name_for(call.request), "")
    client = client_of(call.request)
    arrived = await call.services.sso.finish(_provider(call), ticket, query, client)
    response = _redirect(arrived.url)
    _TICKET.put(call.request, response, "", 0)
    if arrived.refresh_token is not None:
        set_refresh_cookie(call, response, arrived.refresh_token)
    if arrived.device_token is not None:
        set_device_cookie(call, response, arrived.device_token)
    return response


def _provider(call: Call) -> str:
    return call.request.match_info["provider"]


def _redirect(url: str) -> web.Response:
    return web.Response(status=HTTPStatus.FOUND, headers={hdrs.LOCATION: url})
