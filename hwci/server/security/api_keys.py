# SPDX-License-Identifier: Apache-2.0
"""Keys of CI and of boxes: prefix `svc_` and 64 hexadecimal digits, kept only in hashed form (spec,
"Authentication", rules 3 and 4).

A key has 256 random bits, so one round of SHA-256 is enough: guessing is hopeless.
"""

import hashlib
import hmac
import re
import secrets

from hwci.wire import limits

_SHAPE = re.compile(rf"{limits.CI_KEY_PREFIX}[0-9a-f]{{{limits.CI_KEY_HEX_DIGITS}}}", re.ASCII)


def new_api_key() -> str:
    """Return a new key."""
    return limits.CI_KEY_PREFIX + secrets.token_hex(limits.CI_KEY_HEX_DIGITS // 2)


def key_digest(key: str) -> bytes | None:
    """Return the digest of a key; None if the text cannot be a key."""
    return hashlib.sha256(key.encode()).digest() if _SHAPE.fullmatch(key) else None


def same_digest(found: bytes, presented: bytes) -> bool:
    """Compare two digests in constant time."""
    return hmac.compare_digest(found, presented)
