# SPDX-License-Identifier: Apache-2.0
"""ID tokens of the providers of single sign-on: read with the keys that a provider publishes.

It decides which signatures count (public keys only), and that a token is from this provider, for
this client and this sign-in, and valid now (OpenID Connect Core, 3.1.3.7).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import jwt

from hwci.server.errors import ProviderError
from hwci.server.security.tokens import same_token

_LEEWAY_SECONDS = 5
_RSA = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
# By type and curve of a key. Symmetric keys (HS256 and the like) are not accepted: providers
# publish their keys, so anybody could sign.
_ALGORITHMS: Mapping[tuple[object, object], frozenset[str]] = {
    ("RSA", None): _RSA,
    ("EC", "P-256"): frozenset({"ES256"}),
    ("EC", "P-384"): frozenset({"ES384"}),
    ("EC", "P-521"): frozenset({"ES512"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA"}),
}
_REQUIRED = ("iss", "sub", "aud", "exp", "iat", "nonce")
_READ = jwt.PyJWT({"enforce_minimum_key_length": True})


class UnknownKeyError(ProviderError):
    """None of the known keys of the provider signed this."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What an ID token must contain to be an answer to us."""

    issuer: str
    client_id: str
    nonce: str = field(repr=False)


Key = Mapping[str, Any]


def published_keys(document: bytes) -> Sequence[Key]:
    """Read a set of keys (RFC 7517), those that sign. Raises `ProviderError`."""
    try:
        keys = json.loads(document)["keys"]
        return [key for key in keys if key.get("use", "sig") == "sig" and _algorithms(key)]
    except (ValueError, LookupError, TypeError, AttributeError) as fault:
        raise ProviderError("its keys are not a JSON Web Key Set") from fault


def read_id_token(
    token: str, keys: Sequence[Key], expected: Expected, now: datetime
) -> Mapping[str, Any]:
    """Return the claims of an ID token.

    Raises:
        UnknownKeyError: none of the keys signed it; a newer one may have.
        ProviderError: it is not valid, or not an answer to us; the message names the claim.
    """
    try:
        header = jwt.get_unverified_header(token)
        algorithm = header["alg"]
        claims: Mapping[str, Any] = _READ.decode(
            token,
            jwt.PyJWK(dict(_signer(keys, algorithm, header.get("kid"))), algorithm),
            algorithms=[algorithm],
            audience=expected.client_id,
            issuer=expected.issuer,
            # Times are compared below, by the server's own clock.
            options={
                "require": list(_REQUIRED),
                "verify_exp": False,
                "verify_iat": False,
                "verify_nbf": False,
            },
        )
        _require_of_now(claims, now.timestamp())
    except (jwt.PyJWTError, ValueError, TypeError, LookupError) as fault:
        raise ProviderError(f"its ID token is not valid: {fault}") from fault
    _require_for_us(claims, expected)
    return claims


def _algorithms(key: Key) -> frozenset[str]:
    """Return the algorithms of a key; only the named one if the key names it."""
    fitting = _ALGORITHMS.get((key.get("kty"), key.get("crv")), frozenset())
    return fitting & {key["alg"]} if "alg" in key else fitting


def _signer(keys: Sequence[Key], algorithm: str, kid: str | None) -> Key:
    """Return the key that signed. A provider with a single key need not name it."""
    if not any(algorithm in kinds for kinds in _ALGORITHMS.values()):
        raise ProviderError(f"its ID token is signed with {algorithm!r}, which is not accepted")
    named = [key for key in keys if key.get("kid") == kid] if kid is not None else []
    if kid is None or (not named and len(keys) == 1 and "kid" not in keys[0]):
        named = list(keys) if len(keys) == 1 else []
    fitting = [key for key in named if algorithm in _algorithms(key)]
    if len(fitting) != 1:
        raise UnknownKeyError(f"none of its keys is {kid!r} for {algorithm}")
    return fitting[0]


def _require_of_now(claims: Mapping[str, Any], now: float) -> None:
    if not now < float(claims["exp"]) + _LEEWAY_SECONDS:  # written so that NaN has ended
        raise ValueError("it has expired (exp)")
    if any(now < float(claims.get(name, 0)) - _LEEWAY_SECONDS for name in ("iat", "nbf")):
        raise ValueError("it is not valid yet (iat, nbf)")


def _require_for_us(claims: Mapping[str, Any], expected: Expected) -> None:
    audience = claims["aud"]
    shared = not isinstance(audience, str) and len(audience) > 1
    if claims.get("azp", None if shared else expected.client_id) != expected.client_id:
        raise ProviderError("its ID token was made for another client (azp)")
    if not same_token(claims["nonce"], expected.nonce):
        raise ProviderError("its ID token answers another sign-in (nonce)")
