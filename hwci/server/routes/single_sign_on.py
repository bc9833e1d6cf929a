# SPDX-License-Identifier: Apache-2.0
"""Single sign-on in a browser: to a provider and back (contract, "Auth"): redirects, and the cookie
that binds both ends. OpenID Connect, authorization code with PKCE. A sign-in of the command line
goes on from there to a page that asks its person.

This module decides where the ticket of a sign-in stands in a request, and that a person whose
sign-in is refused reads why on the sign-in page. What a ticket holds is decided in `services`.
"""

from collections.abc import Awaitable
from http import HTTPStatus
from urllib.parse import quote

from aiohttp import hdrs, web

from hwci.server.errors import ForbiddenError, NotFoundError, UnauthenticatedError
from hwci.server.http.call import Call
from hwci.server.http.cookies import Cookie, require_own_page, set_cookies, values_of
from hwci.server.http.headers import client_of
from hwci.server.http.responses import answer, takes_page
from hwci.wire import limits
from hwci.wire.accounts import SessionMode, SignedIn
from hwci.wire.sso import (
    SsoCallbackQuery,
    SsoConfirmation,
    SsoExchange,
    SsoHandover,
    SsoInvitation,
    SsoLoginQuery,
    SsoStart,
    SsoWaiting,
)

# Lax, as it is the provider's page that sends the browser back here.
_TICKET = Cookie("hwci_sso", "/api/auth/sso", "Lax")
# A cookie, because anyone can write an address with words of their own in it.
_REFUSAL = Cookie("hwci_refusal", "/sign-in", "Strict", readable=True)
_NOTICE = Cookie("hwci_notice", "/", "Strict", readable=True)
_WORDS_SECONDS = 60
_SIGN_IN_PAGE = "/sign-in?sso=refused"


async def login(call: Call, query: SsoLoginQuery) -> web.StreamResponse:
    """Send the browser to a provider."""
    return await _or_explain(call, _begin(call, query))


async def login_invited(call: Call, body: SsoInvitation) -> SsoStart | web.StreamResponse:
    """Tell a page of ours where the browser goes to sign in with an invitation. Its token is in no
    address, which logs and histories keep.
    """
    require_own_page(call, SessionMode.COOKIE)
    begun = await call.services.sso.begin_invited(_provider(call), body)
    return _with_ticket(call, answer(call.endpoint, SsoStart(url=begun.url)), begun.ticket)


async def callback(call: Call, query: SsoCallbackQuery) -> web.StreamResponse:
    """Take the browser back from a provider."""
    return await _or_explain(call, _finish(call, query))


async def waiting(call: Call) -> SsoWaiting:
    """Show who waits for the sign-in of this browser."""
    return await call.services.handover.waiting(_ticket(call))


async def confirm(call: Call, body: SsoConfirmation) -> SsoHandover | web.StreamResponse:
    """Take a person's answer, once: whether the command line that waits gets their sign-in."""
    require_own_page(call, SessionMode.COOKIE)
    response = answer(call.endpoint, call.services.handover.answered(_ticket(call), body))
    _TICKET.put(call.request, response, "", 0)
    return response


async def exchange(call: Call, body: SsoExchange) -> SignedIn:
    """Hand the sign-in over from the browser to the command line."""
    return await call.services.handover.exchange(body, client_of(call.request))


async def _or_explain(call: Call, step: Awaitable[web.StreamResponse]) -> web.StreamResponse:
    """Take a step; show a browser its refusal on the sign-in page, raise it to other programs."""
    try:
        return await step
    except (ForbiddenError, NotFoundError, UnauthenticatedError) as refusal:
        if not takes_page(call.request):
            raise
        response = _redirect(_SIGN_IN_PAGE)
        # Quoted whole: else the cookie would be put in quotes, which scripts would read with it.
        words = quote(str(refusal), safe="")
        _REFUSAL.put(call.request, response, words, _WORDS_SECONDS)
        return response


async def _begin(call: Call, query: SsoLoginQuery) -> web.StreamResponse:
    begun = await call.services.sso.begin(_provider(call), query)
    return _redirect_with(call, begun.ticket, begun.url)


async def _finish(call: Call, query: SsoCallbackQuery) -> web.StreamResponse:
    client = client_of(call.request)
    arrived = await call.services.sso.finish(_provider(call), _ticket(call), query, client)
    response = _redirect_with(call, arrived.ticket, arrived.url)
    if arrived.refresh_token is not None:
        set_cookies(call.request, response, arrived.refresh_token, arrived.device_token)
    if arrived.notice is not None:
        _NOTICE.put(call.request, response, quote(arrived.notice, safe=""), _WORDS_SECONDS)
    return response


def _provider(call: Call) -> str:
    return call.request.match_info["provider"]


def _ticket(call: Call) -> str:
    return (values_of(call.request, _TICKET) or [""])[-1]


def _redirect_with(call: Call, ticket: str, url: str) -> web.StreamResponse:
    """Send the browser on with its next ticket; an empty one deletes the cookie."""
    return _with_ticket(call, _redirect(url), ticket)


def _with_ticket(call: Call, response: web.StreamResponse, ticket: str) -> web.StreamResponse:
    lifetime = int(limits.SSO_LIFETIME.total_seconds()) if ticket else 0
    _TICKET.put(call.request, response, ticket, lifetime)
    return response


def _redirect(url: str) -> web.Response:
    return web.Response(status=HTTPStatus.FOUND, headers={hdrs.LOCATION: url})
