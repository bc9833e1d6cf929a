# SPDX-License-Identifier: Apache-2.0
"""Access tokens (signed, 15 minutes) and refresh tokens (random, 7 days, kept as a digest).

The only module that knows PyJWT (spec, "Authentication"). A token says who signed in and in which
session; whether the session still stands, and what its user may do, is read from storage.
"""

import hashlib
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import jwt

from hwci.server.clock import Clock
from hwci.server.errors import SettingsError, UnauthenticatedError
from hwci.wire import limits

KEY_BYTES_MIN = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_ALGORITHM = "HS256"
_TYPE = "at+jwt"
_ISSUER = _AUDIENCE = "hwci"
_SIZE_MAX = 4_096
_ENDED = "The access token is not valid or has ended; sign in again"


@dataclass(frozen=True, slots=True)
class Claims:
    """What an access token says."""

    user_id: UUID
    session_id: UUID


class AccessTokens:
    """Signs and reads access tokens."""

    def __init__(self, key: bytes, clock: Clock) -> None:
        self._key = key
        self._clock = clock

    def issue(self, claims: Claims) -> str:
        """Sign a token that lives 15 minutes."""
        now = self._clock()
        payload = {
            "iss": _ISSUER,
            "aud": _AUDIENCE,
            "sub": str(claims.user_id),
            "sid": str(claims.session_id),
            "iat": int(now.timestamp()),
            "exp": int((now + limits.ACCESS_TOKEN_LIFETIME).timestamp()),
        }
        return jwt.encode(payload, self._key, _ALGORITHM, headers={"typ": _TYPE})

    def read(self, token: str) -> Claims:
        """Read a token. Raises `UnauthenticatedError` when it is not ours, or has ended."""
        if len(token) > _SIZE_MAX:
            raise UnauthenticatedError(_ENDED)
        try:
            found = jwt.decode_complete(
                token,
                self._key,
                algorithms=[_ALGORITHM],
                audience=_AUDIENCE,
                issuer=_ISSUER,
                # Times are compared below, with the server's own clock and without leeway.
                options={
                    "require": ["exp", "iat", "sub", "sid", "iss", "aud"],
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
            payload, kind = found["payload"], found["header"].get("typ")
            live = self._clock().timestamp() < float(payload["exp"])
            claims = Claims(UUID(payload["sub"]), UUID(payload["sid"]))
        except (jwt.PyJWTError, ValueError, TypeError, AttributeError) as fault:
            raise UnauthenticatedError(_ENDED) from fault
        if kind != _TYPE or not live:
            raise UnauthenticatedError(_ENDED)
        return claims


def new_refresh_token() -> str:
    """Make a refresh token of 256 random bits."""
    return secrets.token_urlsafe(32)


def refresh_digest(token: str) -> bytes:
    """Give what is kept of a refresh token."""
    return hashlib.sha256(token.encode()).digest()


def signing_key(path: Path | None) -> bytes:
    """Read the key that signs access tokens, made at the first start; None: one for this process.

    Raises:
        SettingsError: the file cannot be read or written, others than its owner may read it, or it
            holds too short a key.
    """
    if path is None:
        return secrets.token_bytes(KEY_BYTES_MIN)
    try:
        key = _kept_key(path) if path.exists() else _new_key(path)
    except OSError as fault:
        raise SettingsError(f"The secret key file cannot be used: {fault}") from fault
    if len(key.strip()) < KEY_BYTES_MIN:
        raise SettingsError(
            f"The secret key in {path} is shorter than {KEY_BYTES_MIN} bytes; "
            "put more random bytes there, or remove the file to have one made"
        )
    return key


def _kept_key(path: Path) -> bytes:
    if path.stat().st_mode & _OTHERS:
        raise SettingsError(
            f"Others than its owner may use the secret key in {path}; run: chmod 600 {path}"
        )
    return path.read_bytes()


def _new_key(path: Path) -> bytes:
    """Make a key file that its owner alone can read, from its first moment on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    key = secrets.token_hex(KEY_BYTES_MIN).encode()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(key)
    return key
