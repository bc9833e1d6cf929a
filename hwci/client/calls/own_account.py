# SPDX-License-Identifier: Apache-2.0
"""One's own account: its password and its sign-ins."""

from hwci.client._call import Call, Credential
from hwci.client.calls._writing import Id, checked, listing, segment, written
from hwci.wire import accounts, limits
from hwci.wire.base import ListPage

_SESSIONS = "/api/auth/sessions"


def change_password(current_password: str, new_password: str) -> Call[accounts.SessionsEnded]:
    """Change the caller's password; all other sessions of the caller end.

    Not repeatable: once it is changed, the current password is another.
    """
    body = checked(
        accounts.PasswordChange,
        "body",
        current_password=current_password,
        new_password=new_password,
    )
    return Call(
        "POST",
        "/api/auth/password",
        accounts.SessionsEnded,
        200,
        body=written(body),
        repeatable=False,
    )


def reset_password(reset_token: str, new_password: str) -> Call[None]:
    """Set a new password by a reset link of the operator; it works once."""
    body = checked(
        accounts.PasswordReset, "body", reset_token=reset_token, new_password=new_password
    )
    return Call(
        "POST",
        "/api/auth/reset",
        None,
        204,
        credential=Credential.NONE,
        body=written(body),
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
