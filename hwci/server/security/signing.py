# SPDX-License-Identifier: Apache-2.0
"""Tokens that this service signs and reads again: only ours, only now, only for their purpose.

The only module that knows how they are signed (JWT, HS256). It decides issuer, audience, type and
end; what a kind of token says is decided by who signs it.
"""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

import jwt

from hwci.server.clock import Clock

_ALGORITHM = "HS256"
_ISSUER = _AUDIENCE = "hwci"
_SIZE_MAX = 4_096
_OURS = ("iss", "aud", "iat", "exp")


class Signer:
    """Signs and reads tokens of several kinds; one kind is never taken for another."""

    def __init__(self, key: bytes, clock: Clock) -> None:
        self._key = key
        self._clock = clock

    def sign(self, kind: str, claims: Mapping[str, str], lifetime: timedelta) -> str:
        """Sign a token that lives for `lifetime`. `kind` stands in its header as `typ`."""
        now = self._clock()
        payload = {
            "iss": _ISSUER,
            "aud": _AUDIENCE,
            "iat": int(now.timestamp()),
            "exp": int((now + lifetime).timestamp()),
            **claims,
        }
        return jwt.encode(payload, self._key, _ALGORITHM, headers={"typ": kind})

    def read(self, kind: str, token: str, claims: Collection[str]) -> Mapping[str, Any] | None:
        """Give what a token says; None when it is not ours, of another kind, lacks one of `claims`,
        or has ended.
        """
        if len(token) > _SIZE_MAX:
            return None
        try:
            found = jwt.decode_complete(
                token,
                self._key,
                algorithms=[_ALGORITHM],
                audience=_AUDIENCE,
                issuer=_ISSUER,
                # Times are compared below, with the server's own clock and without leeway.
                options={
                    "require": [*_OURS, *claims],
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
            payload: Mapping[str, Any] = found["payload"]
            live = self._clock().timestamp() < float(payload["exp"])
        except (jwt.PyJWTError, ValueError, TypeError, AttributeError):
            return None
        return payload if live and found["header"].get("typ") == kind else None
