# SPDX-License-Identifier: Apache-2.0
"""Accounts: sign-in, single sign-on as far as a program takes part in it, password and sessions."""

from hwci.client._call import Call, Credential
from hwci.client.calls._writing import Id, body_of, listing, segment
from hwci.wire import accounts, limits, sso
from hwci.wire.accounts import SignedIn
from hwci.wire.base import HealthAnswer, ListPage


def register(
    email: str,
    password: str,
    name: str | None = None,
    organization: str | None = None,
    invite_token: str | None = None,
) -> Call[accounts.SignedIn]:
    """Create a user, and with `organization` an organization that the user owns."""
    body = body_of(
        accounts.Registration,
        email=email,
        password=password,
        name=name,
        organization=organization,
        invite_token=invite_token,
    )
    return Call(
        "POST",
        "/api/auth/register",
        accounts.SignedIn,
        201,
        credential=Credential.NONE,
        body=body,
        repeatable=False,
    )


def login(email: str, password: str, *, device_token: str | None = None) -> Call[accounts.SignedIn]:
    """Obtain an access token.

    Args:
        email: of the account.
        password: its password.
        device_token: what an earlier sign-in to this account answered on this device. Others who
            guess the password do not hold up a device that shows it. Servers before this one
            refuse it, and never gave one.
    """
    shown = {} if device_token is None else {"device_token": device_token}
    return Call(
        "POST",
        "/api/auth/login",
        accounts.SignedIn,
        200,
        credential=Credential.NONE,
        body=body_of(accounts.Login, email=email, password=password, **shown),
        repeatable=False,
    )


def refresh(refresh_token: str) -> Call[accounts.TokenPair]:
    """Exchange a refresh token for a new pair; the server takes each token once.

    Not repeatable: a second use of the token would end every session of the user.
    """
    return Call(
        "POST",
        "/api/auth/refresh",
        accounts.TokenPair,
        200,
        credential=Credential.NONE,
        body=body_of(accounts.Refresh, refresh_token=refresh_token),
        repeatable=False,
    )


def logout(refresh_token: str) -> Call[None]:
    """End the session of a refresh token."""
    return Call(
        "POST",
        "/api/auth/logout",
        None,
        204,
        credential=Credential.NONE,
        body=body_of(accounts.Logout, refresh_token=refresh_token),
    )


def me() -> Call[accounts.Me]:
    """Ask who the caller is."""
    return Call("GET", "/api/auth/me", accounts.Me, 200)


def health() -> Call[HealthAnswer]:
    """Ask whether the process answers."""
    return Call("GET", "/healthz", HealthAnswer, 200, credential=Credential.NONE)


_SESSIONS = "/api/auth/sessions"


def change_password(current_password: str, new_password: str) -> Call[accounts.SessionsEnded]:
    """Change the caller's password; all other sessions of the caller end.

    Not repeatable: once it is changed, the current password is another.
    """
    body = body_of(
        accounts.PasswordChange,
        current_password=current_password,
        new_password=new_password,
    )
    return Call(
        "POST",
        "/api/auth/password",
        accounts.SessionsEnded,
        200,
        body=body,
        repeatable=False,
    )


def reset_password(reset_token: str, new_password: str) -> Call[None]:
    """Set a new password by a reset link of the operator; it works once."""
    body = body_of(accounts.PasswordReset, reset_token=reset_token, new_password=new_password)
    return Call(
        "POST",
        "/api/auth/reset",
        None,
        204,
        credential=Credential.NONE,
        body=body,
        repeatable=False,
    )


def list_sessions(
    page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.SessionAnswer]]:
    """List the caller's sessions, newest first."""
    return listing(_SESSIONS, ListPage[accounts.SessionAnswer], page, limit)


def end_session(session_id: Id) -> Call[None]:
    """End one of the caller's sessions, at once."""
    return Call("DELETE", f"{_SESSIONS}/{segment(session_id)}", None, 204)


def end_other_sessions() -> Call[accounts.SessionsEnded]:
    """End all sessions of the caller but this one, at once."""
    return Call("DELETE", _SESSIONS, accounts.SessionsEnded, 200)


def sso_providers() -> Call[sso.SsoProviders]:
    """List the providers of single sign-on."""
    return Call("GET", "/api/auth/sso", sso.SsoProviders, 200, credential=Credential.NONE)


def exchange_sso_code(code: str, verifier: str) -> Call[SignedIn]:
    """Exchange the code that a loopback address was given for a sign-in, once."""
    return Call(
        "POST",
        "/api/auth/sso/token",
        SignedIn,
        200,
        credential=Credential.NONE,
        body=body_of(sso.SsoExchange, code=code, verifier=verifier),
        repeatable=False,
    )
