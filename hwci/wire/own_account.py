# SPDX-License-Identifier: Apache-2.0
"""One's own account on the wire: password and sign-ins (contract, "Auth")."""

from uuid import UUID

from hwci.wire.accounts import HeldToken, OldPassword, Password
from hwci.wire.base import Answer, Body, Time


class PasswordChange(Body):
    """Body of `POST /api/auth/password`."""

    current_password: OldPassword
    new_password: Password


class PasswordReset(Body):
    """Body of `POST /api/auth/reset`."""

    reset_token: HeldToken
    new_password: Password


class SessionAnswer(Answer):
    """A sign-in. `client`: the kind of program that began it, null where that is not known.
    `last_used_at`: when it was last renewed. `current`: it is the caller's own.
    """

    id: UUID
    client: str | None
    created_at: Time
    last_used_at: Time
    current: bool


class SessionsEnded(Answer):
    """How many other sign-ins of the caller ended."""

    ended: int
