# SPDX-License-Identifier: Apache-2.0
"""Registration, signing in and out, renewal of a sign-in, and who I am."""

from hwci.server.http.route import Call, OwnLimit, Route, Who
from hwci.wire.accounts import Login, Logout, Me, Refresh, Registration, SignedIn, TokenPair


async def register(call: Call) -> SignedIn:
    """Create an account and sign in."""
    return await call.services.accounts.register(call.body(Registration))


async def login(call: Call) -> SignedIn:
    """Sign in."""
    return await call.services.accounts.login(call.body(Login))


async def refresh(call: Call) -> TokenPair:
    """Renew a sign-in."""
    return await call.services.accounts.refresh(call.body(Refresh))


async def logout(call: Call) -> None:
    """Sign out."""
    await call.services.accounts.logout(call.body(Logout))


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
        also=(401,),
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
        also=(401,),
    ),
    Route(
        "POST",
        "/api/auth/logout",
        Who.ANYONE,
        logout,
        "End a sign-in, its access tokens too",
        body=Logout,
        status=204,
    ),
    Route("GET", "/api/auth/me", Who.USER, me, "Who am I, and where?", answer=Me),
)
