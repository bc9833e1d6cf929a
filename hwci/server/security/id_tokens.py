# SPDX-License-Identifier: Apache-2.0
"""Tokens that others sign: ID tokens of the providers of single sign-on, and those of CI jobs, each
read with the keys that its issuer publishes.

It decides which signatures count (public keys only), and that a token is from this issuer and valid
now: an ID token for this client and this sign-in (OpenID Connect Core, 3.1.3.7), that of a job for
this server alone. What the claims of a job mean is decided in `services/jobs/issuers.py`.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import jwt

from hwci.server.errors import ProviderError, UnauthenticatedError
from hwci.server.security.tokens import same_token
from hwci.wire import limits

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
_OF_JOBS = frozenset({"RS256", "ES256"})
_REQUIRED_OF_JOBS = ("iss", "aud", "exp", "iat")
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
        claims = _signed(token, keys, _REQUIRED, expected.issuer, expected.client_id)
        _require_of_now(claims, now.timestamp())
    except (jwt.PyJWTError, ValueError, TypeError, LookupError) as fault:
        raise ProviderError(f"its ID token is not valid: {fault}") from fault
    _require_for_us(claims, expected)
    return claims


def issuer_of_job(token: str) -> str:
    """Return who signed the token of a job, as it says itself, if the algorithm is one of ours.
    Raises `UnauthenticatedError`.
    """
    try:
        algorithm = jwt.get_unverified_header(token)["alg"]
        issuer = jwt.decode_complete(token, options={"verify_signature": False})["payload"]["iss"]
    except (jwt.PyJWTError, ValueError, TypeError, LookupError) as fault:
        raise UnauthenticatedError(f"The job's token is no JSON Web Token: {fault}") from fault
    if algorithm not in _OF_JOBS:
        accepted = " and ".join(sorted(_OF_JOBS))
        raise UnauthenticatedError(
            f"The job's token is signed with {algorithm!r}; only {accepted} are accepted"
        )
    return str(issuer)


def read_job_token(
    token: str, keys: Sequence[Key], issuer: str, audience: str, now: datetime
) -> Mapping[str, Any]:
    """Return the claims of the token of a CI job. `audience`: the address of this server, which has
    to be the only one that the token is for.

    Raises:
        UnknownKeyError: none of the keys signed it; a newer one may have.
        UnauthenticatedError: it is not valid, or not for this server.
    """
    try:
        claims = _signed(token, keys, _REQUIRED_OF_JOBS, issuer)
        _require_of_now(claims, now.timestamp())
        if not now.timestamp() < float(claims["iat"]) + limits.JOB_TOKEN_AGE.total_seconds():
            raise ValueError("it is more than a day old (iat)")
    except jwt.InvalidSignatureError as fault:
        raise UnknownKeyError("none of its keys made this signature") from fault
    except (jwt.PyJWTError, ValueError, TypeError, LookupError) as fault:
        raise UnauthenticatedError(f"The job's token is not valid: {fault}") from fault
    meant = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    if [str(address).rstrip("/").lower() for address in meant] != [audience.lower()]:
        raise UnauthenticatedError(
            f"The job's token is for the audience {claims['aud']!r}; this server takes {audience!r}"
        )
    return claims


def _signed(
    token: str,
    keys: Sequence[Key],
    required: Collection[str],
    issuer: str,
    audience: str | None = None,
) -> Mapping[str, Any]:
    """Return the claims of a token that one of the keys signed. Raises as PyJWT, and
    `UnknownKeyError`.
    """
    header = jwt.get_unverified_header(token)
    algorithm = header["alg"]
    claims: Mapping[str, Any] = _READ.decode(
        token,
        jwt.PyJWK(dict(_signer(keys, algorithm, header.get("kid"))), algorithm),
        algorithms=[algorithm],
        audience=audience,
        issuer=issuer,
        # Times are compared elsewhere, by the server's own clock.
        options={
            "require": list(required),
            "verify_aud": audience is not None,
            "verify_exp": False,
            "verify_iat": False,
            "verify_nbf": False,
        },
    )
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
