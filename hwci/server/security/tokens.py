# SPDX-License-Identifier: Apache-2.0
"""Access tokens (signed, 15 minutes), refresh tokens (random, 7 days, kept as a digest), and device
tokens (signed, a year), by which a device that signed in to an account is known again.

A token says who signed in and in which session (spec, "Authentication"); whether the session still
stands, and what its user may do, is read from storage. A device token opens nothing.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from hwci.server.errors import UnauthenticatedError
from hwci.server.security.signing import Signer
from hwci.wire import limits

_KIND = "at+jwt"
_CLAIMS = ("sub", "sid")
_DEVICE_KIND = "device+jwt"
_DEVICE_CLAIMS = ("sub", "device")
_ENDED = "The access token is not valid or has ended; sign in again"


@dataclass(frozen=True, slots=True)
class Claims:
    """What an access token says. `ends_at` is its own end, None of one that is still to be made."""

    user_id: UUID
    session_id: UUID
    ends_at: datetime | None = None


class AccessTokens:
    """Issues and reads access tokens, and those of devices."""

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

    def issue_device(self, email_key: str) -> str:
        """Return a token for a device that has signed in to an account."""
        said = {"sub": _account(email_key), "device": secrets.token_urlsafe(16)}
        return self._signer.sign(_DEVICE_KIND, said, limits.DEVICE_TOKEN_LIFETIME)

    def device(self, tokens: Iterable[str], email_key: str) -> str | None:
        """Return the name of a device that has signed in to this account, None if none of the
        tokens says so.
        """
        found = (self._signer.read(_DEVICE_KIND, token, _DEVICE_CLAIMS) for token in tokens)
        account = _account(email_key)
        return next((said["device"] for said in found if said and said["sub"] == account), None)


def _account(email_key: str) -> str:
    """Return the name of an account in the token of a device: no e-mail lies on its disk."""
    return hashlib.sha256(email_key.encode()).hexdigest()


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
