# SPDX-License-Identifier: Apache-2.0
"""Access tokens (signed, 15 minutes), refresh tokens (random, 7 days, kept as a digest), and device
tokens (signed, a year), by which an account recognizes a device; these give no access.

A token names the user and the session (spec, "Authentication"); whether the session still
stands, and what its user may do, is read from storage.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
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
    """The claims of an access token. `ends_at`: its end, None before it is issued."""

    user_id: UUID
    session_id: UUID
    ends_at: datetime | None = None


class AccessTokens:
    """Issues and reads access tokens, and those of devices."""

    def __init__(self, signer: Signer) -> None:
        self._signer = signer

    def issue(self, claims: Claims) -> str:
        """Return a new token that lives 15 minutes."""
        payload = {"sub": str(claims.user_id), "sid": str(claims.session_id)}
        return self._signer.sign(_KIND, payload, limits.ACCESS_TOKEN_LIFETIME)

    def read(self, token: str) -> Claims:
        """Return the claims of a token. Raises `UnauthenticatedError`: not ours, or ended."""
        claims = self._signer.read(_KIND, token, _CLAIMS)
        if claims is None:
            raise UnauthenticatedError(_ENDED)
        try:
            ends_at = datetime.fromtimestamp(claims["exp"], UTC)
            return Claims(UUID(claims["sub"]), UUID(claims["sid"]), ends_at)
        except (ValueError, TypeError, AttributeError, OverflowError) as fault:
            raise UnauthenticatedError(_ENDED) from fault

    def issue_device(self, email_key: str) -> str:
        """Return a token for a device that has signed in to an account."""
        claims = {"sub": _account(email_key), "device": secrets.token_urlsafe(16)}
        return self._signer.sign(_DEVICE_KIND, claims, limits.DEVICE_TOKEN_LIFETIME)

    def device(self, tokens: Iterable[str], email_key: str) -> str | None:
        """Return the device that a token names as signed in to this account; None if unknown."""
        # A device that signs in once a year must not be a stranger because a key was changed.
        read = partial(self._signer.read, _DEVICE_KIND, longer=limits.DEVICE_TOKEN_LIFETIME)
        payloads = (read(token, _DEVICE_CLAIMS) for token in tokens)
        account = _account(email_key)
        return next(
            (claims["device"] for claims in payloads if claims and claims["sub"] == account), None
        )


def _account(email_key: str) -> str:
    """Return the name of an account for a device token, so that its disk holds no e-mail."""
    return hashlib.sha256(email_key.encode()).hexdigest()


def new_token() -> str:
    """Return a secret of 256 random bits: a refresh token, an invitation, an install token."""
    return secrets.token_urlsafe(32)


def token_digest(token: str) -> bytes:
    """Return the digest of such a secret; it cannot be guessed, so one round is enough."""
    return hashlib.sha256(token.encode()).digest()


def same_token(presented: object, meant: str) -> bool:
    """Compare a presented secret with the right one in constant time."""
    return isinstance(presented, str) and hmac.compare_digest(
        presented.encode("utf-8", "surrogatepass"), meant.encode()
    )
