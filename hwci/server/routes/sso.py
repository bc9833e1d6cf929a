# SPDX-License-Identifier: Apache-2.0
"""Single sign-on (contract, "Auth"): OpenID Connect, authorization code with PKCE."""

from aiohttp import web

from hwci.server.http.clients import client_of
from hwci.server.http.route import Call, Route, Who
from hwci.server.http.single_sign_on import begin, finish, in_words
from hwci.wire.accounts import SignedIn
from hwci.wire.sso import SsoCallbackQuery, SsoExchange, SsoLoginQuery, SsoProviders


async def providers(call: Call) -> SsoProviders:
    """List providers."""
    return call.services.sso.providers()


async def login(call: Call) -> web.StreamResponse:
    """Send the browser to a provider."""
    return await in_words(call, begin(call, call.query(SsoLoginQuery)))


async def callback(call: Call) -> web.StreamResponse:
    """Take the browser back from a provider."""
    return await in_words(call, finish(call, call.query(SsoCallbackQuery)))


async def exchange(call: Call) -> SignedIn:
    """Give the command line the sign-in that the browser made."""
    return await call.services.sso.exchange(call.body(SsoExchange), client_of(call.request))


ROUTES = (
    Route(
        "GET",
        "/api/auth/sso",
        Who.ANYONE,
        providers,
        "List the providers of single sign-on",
        answer=SsoProviders,
    ),
    Route(
        "GET",
        "/api/auth/sso/{provider}/login",
        Who.ANYONE,
        login,
        "Send the browser to a provider to sign in",
        query=SsoLoginQuery,
        status=302,
        also=(401, 404),
    ),
    Route(
        "GET",
        "/api/auth/sso/{provider}/callback",
        Who.ANYONE,
        callback,
        "Take the browser back from a provider, signed in",
        query=SsoCallbackQuery,
        status=302,
        also=(401, 403, 404),
    ),
    Route(
        "POST",
        "/api/auth/sso/token",
        Who.ANYONE,
        exchange,
        "Exchange the code that a loopback address was given for a sign-in, once",
        body=SsoExchange,
        answer=SignedIn,
        also=(401, 403),
    ),
)
