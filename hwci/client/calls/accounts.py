# SPDX-License-Identifier: Apache-2.0
"""Accounts and sign-ins."""

from hwci.client._call import Call, Credential
from hwci.client.calls._writing import checked, written
from hwci.wire import accounts
from hwci.wire.base import HealthAnswer


def register(
    email: str,
    password: str,
    name: str | None = None,
    organization: str | None = None,
    invite_token: str | None = None,
) -> Call[accounts.SignedIn]:
    """Create a user, and with `organization` an organization that the user owns."""
    body = checked(
        accounts.Registration,
        "body",
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
        body=written(body),
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
        body=written(checked(accounts.Login, "body", email=email, password=password, **shown)),
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
        body=written(checked(accounts.Refresh, "body", refresh_token=refresh_token)),
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
        body=written(checked(accounts.Logout, "body", refresh_token=refresh_token)),
    )


def me() -> Call[accounts.Me]:
    """Ask who the caller is."""
    return Call("GET", "/api/auth/me", accounts.Me, 200)


def health() -> Call[HealthAnswer]:
    """Ask whether the process answers."""
    return Call("GET", "/healthz", HealthAnswer, 200, credential=Credential.NONE)
