# SPDX-License-Identifier: Apache-2.0
"""One's own account: its password and its sign-ins (contract, "Auth")."""

from hwci.server.http.addresses import address_of
from hwci.server.http.route import Call, OwnLimit, Route, Who
from hwci.wire.base import ListPage
from hwci.wire.own_account import PasswordChange, PasswordReset, SessionAnswer, SessionsEnded
from hwci.wire.queries import PageQuery


async def change_password(call: Call) -> SessionsEnded:
    """Change the password."""
    body, person = call.body(PasswordChange), call.person
    account, address = person.user.email_key, address_of(call.request)
    # Who has stolen an access token must not find the password out here; and a session is a device
    # that signed in before, which guesses from elsewhere do not hold up.
    device = str(person.claims.session_id)
    async with call.services.rate_limits.guessing(account, address, device):
        return await call.services.own_account.change_password(person, body)


async def reset_password(call: Call) -> None:
    """Set a new password by a reset link."""
    await call.services.own_account.reset_password(call.body(PasswordReset))


async def sessions(call: Call) -> ListPage[SessionAnswer]:
    """List sign-ins."""
    return await call.services.own_account.sessions(call.person, call.query(PageQuery))


async def end_session(call: Call) -> None:
    """End a sign-in."""
    await call.services.own_account.end_session(call.person, call.path_id("sessionId"))


async def end_others(call: Call) -> SessionsEnded:
    """End all other sign-ins."""
    return await call.services.own_account.end_others(call.person)


ROUTES = (
    Route(
        "POST",
        "/api/auth/password",
        Who.USER,
        change_password,
        "Change my password; all my other sessions end",
        body=PasswordChange,
        own_limit=OwnLimit.LOGIN,
        answer=SessionsEnded,
        also=(409,),
    ),
    Route(
        "POST",
        "/api/auth/reset",
        Who.ANYONE,
        reset_password,
        "Set a new password by a reset link, once; all sessions of its user end",
        body=PasswordReset,
        own_limit=OwnLimit.LOGIN,
        status=204,
        also=(403,),
    ),
    Route(
        "GET",
        "/api/auth/sessions",
        Who.USER,
        sessions,
        "List my sessions",
        query=PageQuery,
        answer=ListPage[SessionAnswer],
    ),
    Route(
        "DELETE",
        "/api/auth/sessions",
        Who.USER,
        end_others,
        "End all my sessions but this one, their access tokens too",
        answer=SessionsEnded,
    ),
    Route(
        "DELETE",
        "/api/auth/sessions/{sessionId}",
        Who.USER,
        end_session,
        "End one of my sessions, its access tokens too",
        status=204,
        also=(404,),
    ),
)
