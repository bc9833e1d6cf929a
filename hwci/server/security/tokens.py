# SPDX-License-Identifier: Apache-2.0
"""Access tokens (signed, 15 minutes) and refresh tokens (random, 7 days, kept as a digest).

A token says who signed in and in which session (spec, "Authentication"); whether the session still
stands, and what its user may do, is read from storage.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from hwci.server.errors import UnauthenticatedError
from hwci.server.security.signing import Signer
from hwci.wire import limits

_KIND = "at+jwt"
_CLAIMS = ("sub", "sid")
_ENDED = "The access token is not valid or has ended; sign in again"


@dataclass(frozen=True, slots=True)
class Claims:
    """What an access token says. `ends_at` is its own end, None of one that is still to be made."""

    user_id: UUID
    session_id: UUID
    ends_at: datetime | None = None


class AccessTokens:
    """Issues and reads access tokens."""

    def __init__(self, signer: Signer) -> None:
        self._signer = signer

    def issue(self, claims: Claims) -> str:
        """Issue a token that lives 15 minutes."""
        said = {"sub": str(claims.user_id), "sid": str(claims.session_id)}
        return self._signer.sign(_KIND, said, limits.ACCESS_TOKEN_LIFETIME)

    def read(self, token: str) -> Claims:
        """Read a token. Raises `UnauthenticatedError` when it is not ours, or has ended."""
        said = self._signer.read(_KIND, token, _CLAIMS)
        if said is None:
            raise UnauthenticatedError(_ENDED)
        try:
            ends_at = datetime.fromtimestamp(said["exp"], UTC)
            return Claims(UUID(said["sub"]), UUID(said["sid"]), ends_at)
        except (ValueError, TypeError, AttributeError, OverflowError) as fault:
            raise UnauthenticatedError(_ENDED) from fault


def new_token() -> str:
    """Make a secret of 256 random bits: a refresh token, an invitation, an install token."""
    return secrets.token_urlsafe(32)


def token_digest(token: str) -> bytes:
    """Give what is kept of such a secret; there is nothing to guess, so one round is enough."""
    return hashlib.sha256(token.encode()).digest()


def same_token(presented: object, meant: str) -> bool:
    """Compare what was sent with the secret that was meant, in a time that tells nothing."""
    return isinstance(presented, str) and hmac.compare_digest(
        presented.encode("utf-8", "surrogatepass"), meant.encode()
    )
