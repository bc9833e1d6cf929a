# SPDX-License-Identifier: Apache-2.0
"""Registration, signing in and out, renewal of a sign-in, and who I am. A browser may ask for its
refresh token in a cookie (contract, "Auth").
"""

from hwci.server.errors import UnauthenticatedError
from hwci.server.http.addresses import address_of
from hwci.server.http.clients import client_of
from hwci.server.http.cookies import (
    device_tokens,
    forgotten,
    held_token,
    held_tokens,
    kept,
    refused,
    require_own_page,
)
from hwci.server.http.route import Answered, Call, OwnLimit, Route, Who
from hwci.server.services.accounts import email_key
from hwci.wire.accounts import (
    Login,
    Logout,
    Me,
    Refresh,
    Registration,
    SessionMode,
    SignedIn,
    TokenPair,
)


async def register(call: Call) -> Answered:
    """Create an account and sign in."""
    body = call.body(Registration)
    require_own_page(call, body.session)
    return kept(
        call, await call.services.accounts.register(body, client_of(call.request)), body.session
    )


async def login(call: Call) -> Answered:
    """Sign in."""
    body = call.body(Login)
    require_own_page(call, body.session)
    account, address = email_key(body.email), address_of(call.request)
    device = call.services.accounts.device(device_tokens(call, body), account)
    async with call.services.rate_limits.guessing(account, address, device):
        signed_in = await call.services.accounts.login(body, client_of(call.request))
    return kept(call, signed_in, body.session)


async def refresh(call: Call) -> Answered:
    """Renew a sign-in."""
    body = call.body(Refresh)
    try:
        pair = await call.services.accounts.refresh(held_token(call, body))
    except UnauthenticatedError as error:
        if body.session is SessionMode.TOKEN:
            raise
        return refused(call, error)
    return kept(call, pair, body.session)


async def logout(call: Call) -> Answered:
    """Sign out. Who has no cookie is signed out already."""
    body = call.body(Logout)
    for token in held_tokens(call, body):
        await call.services.accounts.logout(token)
    return None if body.session is SessionMode.TOKEN else forgotten(call)


async def me(call: Call) -> Me:
    """Say who the caller is."""
    return await call.services.accounts.me(call.user)


ROUTES = (
    Route(
        "POST",
        "/api/auth/register",
        Who.ANYONE,
        register,
        "Register, by the operator's policy, and sign in",
        body=Registration,
        own_limit=OwnLimit.REGISTER,
        answer=SignedIn,
        status=201,
        also=(403, 409),
    ),
    Route(
        "POST",
        "/api/auth/login",
        Who.ANYONE,
        login,
        "Sign in with e-mail and password",
        body=Login,
        own_limit=OwnLimit.LOGIN,
        answer=SignedIn,
        also=(401, 403),
    ),
    Route(
        "POST",
        "/api/auth/refresh",
        Who.ANYONE,
        refresh,
        "Exchange a refresh token for a new pair; used twice, all sessions of its user end",
        body=Refresh,
        own_limit=OwnLimit.REFRESH,
        answer=TokenPair,
        also=(401, 403),
    ),
    Route(
        "POST",
        "/api/auth/logout",
        Who.ANYONE,
        logout,
        "End a sign-in, its access tokens too",
        body=Logout,
        status=204,
        also=(403,),
    ),
    Route("GET", "/api/auth/me", Who.USER, me, "Who am I, and where?", answer=Me),
)
