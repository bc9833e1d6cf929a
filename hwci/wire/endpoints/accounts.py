# SPDX-License-Identifier: Apache-2.0
"""Sign-in, single sign-on, one's own account and sessions."""

from hwci.contract.shape import ListPage
from hwci.wire.accounts import (
    Login,
    Logout,
    Me,
    PasswordChange,
    PasswordReset,
    Refresh,
    Registration,
    SessionAnswer,
    SessionsEnded,
    SignedIn,
    TokenPair,
)
from hwci.wire.endpoint import Endpoint, OwnLimit, Who
from hwci.wire.queries import OwnOrganizationsQuery, PageQuery, Query
from hwci.wire.sso import (
    SsoCallbackQuery,
    SsoConfirmation,
    SsoExchange,
    SsoHandover,
    SsoInvitation,
    SsoLoginQuery,
    SsoProviders,
    SsoStart,
    SsoWaiting,
)

# fmt: off
REGISTER = Endpoint(
    "account.register", "POST", "/api/auth/register", Who.ANYONE,
    "Register, by the operator's policy, and sign in", body=Registration, answer=SignedIn,
    status=201, also=(403, 409), own_limit=OwnLimit.REGISTER, repeatable=False
)
LOGIN = Endpoint(
    "account.login", "POST", "/api/auth/login", Who.ANYONE, "Sign in with e-mail and password",
    body=Login, answer=SignedIn, also=(401, 403), own_limit=OwnLimit.LOGIN, repeatable=False
)
REFRESH = Endpoint(
    "account.refresh", "POST", "/api/auth/refresh", Who.ANYONE,
    "Exchange a refresh token for a new pair; used twice, all sessions of its user end",
    body=Refresh, answer=TokenPair, also=(401, 403), own_limit=OwnLimit.REFRESH, repeatable=False
)
LOGOUT = Endpoint(
    "account.logout", "POST", "/api/auth/logout", Who.ANYONE,
    "End a sign-in, its access tokens too", body=Logout, status=204, also=(403,)
)
ME = Endpoint(
    "account.me", "GET", "/api/auth/me", Who.USER, "Show the caller and their organizations",
    query=OwnOrganizationsQuery, answer=Me
)
CHANGE_PASSWORD = Endpoint(
    "account.change_password", "POST", "/api/auth/password", Who.USER,
    "Change my password; all my other sessions end", body=PasswordChange, answer=SessionsEnded,
    also=(409,), own_limit=OwnLimit.LOGIN, repeatable=False
)
RESET_PASSWORD = Endpoint(
    "account.reset_password", "POST", "/api/auth/reset", Who.ANYONE,
    "Set a new password by a reset link, once; all sessions of its user end", body=PasswordReset,
    status=204, also=(403,), own_limit=OwnLimit.LOGIN, repeatable=False
)
LIST_SESSIONS = Endpoint(
    "sessions.list", "GET", "/api/auth/sessions", Who.USER, "List my sessions", query=PageQuery,
    answer=ListPage[SessionAnswer]
)
END_OTHER_SESSIONS = Endpoint(
    "sessions.end_others", "DELETE", "/api/auth/sessions", Who.USER,
    "End all my sessions but this one, their access tokens too", answer=SessionsEnded
)
END_SESSION = Endpoint(
    "sessions.end", "DELETE", "/api/auth/sessions/{sessionId}", Who.USER,
    "End one of my sessions, its access tokens too", status=204, also=(404,)
)
SSO_PROVIDERS = Endpoint(
    "sso.providers", "GET", "/api/auth/sso", Who.ANYONE, "List the providers of single sign-on",
    query=Query, answer=SsoProviders
)
SSO_LOGIN = Endpoint(
    "sso.login", "GET", "/api/auth/sso/{provider}/login", Who.ANYONE,
    "Send the browser to a provider to sign in", query=SsoLoginQuery, status=302, also=(401, 404),
    called=False
)
SSO_LOGIN_INVITED = Endpoint(
    "sso.login_invited", "POST", "/api/auth/sso/{provider}/login", Who.ANYONE,
    "Begin to sign in at a provider with an invitation; return where the browser goes",
    body=SsoInvitation, answer=SsoStart, also=(401, 403, 404), own_limit=OwnLimit.REGISTER,
    called=False
)
SSO_CALLBACK = Endpoint(
    "sso.callback", "GET", "/api/auth/sso/{provider}/callback", Who.ANYONE,
    "Take the browser back from a provider, signed in", query=SsoCallbackQuery, status=302,
    also=(401, 403, 404), called=False
)
SSO_WAITING = Endpoint(
    "sso.waiting", "GET", "/api/auth/sso/command-line", Who.ANYONE,
    "Show which command line waits for the sign-in of this browser", query=Query, answer=SsoWaiting,
    also=(401,), called=False
)
SSO_CONFIRM = Endpoint(
    "sso.confirm", "POST", "/api/auth/sso/command-line", Who.ANYONE,
    "Say whether that command line gets the sign-in; return where the browser goes",
    body=SsoConfirmation, answer=SsoHandover, also=(401, 403), called=False
)
EXCHANGE_SSO_CODE = Endpoint(
    "sso.exchange", "POST", "/api/auth/sso/token", Who.ANYONE,
    "Exchange the code that a loopback address was given for a sign-in, once", body=SsoExchange,
    answer=SignedIn, also=(401, 403), repeatable=False
)
# fmt: on
