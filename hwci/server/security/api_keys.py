# SPDX-License-Identifier: Apache-2.0
"""Keys of CI and of boxes (prefix `svc_`) and of readers (`rdr_`): 64 hexadecimal digits, kept only
in hashed form (spec, "Authentication", rules 3 and 4).

A key has 256 random bits, so one round of SHA-256 is enough: guessing is hopeless.
"""

import hashlib
import hmac
import re
import secrets

from hwci.wire import limits

_DIGITS = re.compile(rf"[0-9a-f]{{{limits.KEY_HEX_DIGITS}}}", re.ASCII)


def new_api_key(prefix: str = limits.CI_KEY_PREFIX) -> str:
    """Return a new key."""
    return prefix + secrets.token_hex(limits.KEY_HEX_DIGITS // 2)


def key_digest(key: str, prefix: str = limits.CI_KEY_PREFIX) -> bytes | None:
    """Return the digest of a key; None if the text cannot be a key of this prefix."""
    shaped = key.startswith(prefix) and _DIGITS.fullmatch(key, len(prefix))
    return hashlib.sha256(key.encode()).digest() if shaped else None


def same_digest(stored: bytes, presented: bytes) -> bool:
    """Compare two digests in constant time."""
    return hmac.compare_digest(stored, presented)
