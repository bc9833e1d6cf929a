# SPDX-License-Identifier: Apache-2.0
"""Tokens that this service signs and reads back.

The only module that knows how they are signed (JWT, HS256). It decides issuer, audience, type and
end; the other claims are the caller's.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import jwt

from hwci.server.clock import Clock
from hwci.wire import limits

_ALGORITHM = "HS256"
_ISSUER = _AUDIENCE = "hwci"
_AHEAD_SECONDS = 600
"""The clock of another server with the same key may be ahead by this much (ADR 0007)."""
_OURS = ("iss", "aud", "iat", "exp")


@dataclass(frozen=True, slots=True)
class FormerKey:
    """A key that no longer signs. Its tokens are accepted until `until`, those that open nothing
    longer; None: without end.
    """

    value: bytes = field(repr=False)
    until: datetime | None = None

    def good(self, now: datetime, longer: timedelta = timedelta(0)) -> bool:
        """Return whether tokens of it are still accepted, if they are for so much longer."""
        return self.until is None or now < self.until + longer


class SigningKeys(NamedTuple):
    """The key that signs, and former ones."""

    present: bytes
    former: tuple[FormerKey, ...] = ()


class Signer:
    """Signs and reads tokens of several kinds; one kind is never taken for another."""

    def __init__(self, key: bytes, clock: Clock, former: tuple[FormerKey, ...] = ()) -> None:
        self._keys = SigningKeys(key, former)
        self._clock = clock

    @property
    def keys(self) -> SigningKeys:
        """The present keys, for what else rests on them."""
        return self._keys

    def change_keys(self, keys: SigningKeys) -> None:
        """Sign and read with other keys from now on."""
        self._keys = keys

    def sign(self, kind: str, claims: Mapping[str, str], lifetime: timedelta) -> str:
        """Return a token that lives for `lifetime`. `kind` is the `typ` of its header."""
        now = self._clock()
        payload = {
            "iss": _ISSUER,
            "aud": _AUDIENCE,
            "iat": int(now.timestamp()),
            "exp": int((now + lifetime).timestamp()),
            **claims,
        }
        return jwt.encode(payload, self._keys.present, _ALGORITHM, headers={"typ": kind})

    def read(
        self, kind: str, token: str, claims: Collection[str], longer: timedelta = timedelta(0)
    ) -> Mapping[str, Any] | None:
        """Return a token's payload; None if it is not ours, of this kind, whole and valid now.
        `longer`: for how much longer tokens of this kind are accepted of a former key.
        """
        if len(token) > limits.TOKEN_MAX:
            return None
        try:
            decoded = self._decode(token, [*_OURS, *claims], longer)
            payload: Mapping[str, Any] = decoded["payload"]
            now = self._clock().timestamp()
            live = float(payload["iat"]) - _AHEAD_SECONDS <= now < float(payload["exp"])
        except (jwt.PyJWTError, ValueError, TypeError, AttributeError, OverflowError):
            return None
        return payload if live and decoded["header"].get("typ") == kind else None

    def _decode(self, token: str, claims: Sequence[str], longer: timedelta) -> dict[str, Any]:
        now, (present, former) = self._clock(), self._keys
        for key in (key.value for key in former if key.good(now, longer)):
            try:
                return _decode(token, key, claims)
            except jwt.InvalidSignatureError:
                continue
        return _decode(token, present, claims)


def _decode(token: str, key: bytes, claims: Sequence[str]) -> dict[str, Any]:
    return jwt.decode_complete(
        token,
        key,
        algorithms=[_ALGORITHM],
        audience=_AUDIENCE,
        issuer=_ISSUER,
        # Times are compared by the caller, with the server's own clock.
        options={"require": list(claims), "verify_exp": False, "verify_iat": False},
    )
