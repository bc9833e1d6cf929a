# SPDX-License-Identifier: Apache-2.0
"""Registration, signing in and out, renewal of a sign-in, and change of a password. A browser may
ask for its refresh token in a cookie (contract, "Auth").
"""

from aiohttp import web

from hwci.server.errors import UnauthenticatedError
from hwci.server.http.addresses import address_of
from hwci.server.http.call import Call
from hwci.server.http.cookies import (
    device_tokens,
    held_token,
    held_tokens,
    refused_cookie,
    require_own_page,
    signed_out,
    with_cookies,
)
from hwci.server.http.headers import client_of
from hwci.server.services.access import Person
from hwci.server.services.people.sessions import email_key
from hwci.wire.accounts import (
    Login,
    Logout,
    PasswordChange,
    Refresh,
    Registration,
    SessionMode,
    SessionsEnded,
    SignedIn,
    TokenPair,
)


async def register(call: Call, body: Registration) -> SignedIn | web.StreamResponse:
    """Create an account and sign in."""
    require_own_page(call, body.session)
    signed_in = await call.services.accounts.register(body, client_of(call.request))
    return with_cookies(call, signed_in, body.session)


async def login(call: Call, body: Login) -> SignedIn | web.StreamResponse:
    """Sign in."""
    require_own_page(call, body.session)
    account, address = email_key(body.email), address_of(call.request)
    device = call.services.accounts.device(device_tokens(call, body), account)
    async with call.services.rate_limits.guessing(account, address, device):
        signed_in = await call.services.accounts.login(body, client_of(call.request))
    return with_cookies(call, signed_in, body.session)


async def refresh(call: Call, body: Refresh) -> TokenPair | web.StreamResponse:
    """Renew a sign-in."""
    try:
        pair = await call.services.accounts.refresh(held_token(call, body))
    except UnauthenticatedError as error:
        if body.session is SessionMode.TOKEN:
            raise
        return refused_cookie(call, error)
    return with_cookies(call, pair, body.session)


async def logout(call: Call, body: Logout) -> web.StreamResponse | None:
    """Sign out. A caller without a cookie is signed out already."""
    for token in held_tokens(call, body):
        await call.services.accounts.logout(token)
    return None if body.session is SessionMode.TOKEN else signed_out(call)


async def change_password(call: Call, person: Person, body: PasswordChange) -> SessionsEnded:
    """Change the password."""
    account, address = person.user.email_key, address_of(call.request)
    # A stolen access token must not serve to find the password; and a session is a device that
    # signed in before, which guesses from elsewhere do not hold up.
    device = str(person.claims.session_id)
    async with call.services.rate_limits.guessing(account, address, device):
        return await call.services.own_account.change_password(person, body)
