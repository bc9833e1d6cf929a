# SPDX-License-Identifier: Apache-2.0
"""Keys of CI and of boxes: prefix `svc_` and 64 hexadecimal digits, kept only in hashed form (spec,
"Authentication", rules 3 and 4).

A key has 256 random bits, so one round of SHA-256 is enough: there is nothing to guess.
"""

import hashlib
import hmac
import re
import secrets

from hwci.wire import limits

_SHAPE = re.compile(rf"{limits.CI_KEY_PREFIX}[0-9a-f]{{{limits.CI_KEY_HEX_DIGITS}}}", re.ASCII)


def new_api_key() -> str:
    """Make a key."""
    return limits.CI_KEY_PREFIX + secrets.token_hex(limits.CI_KEY_HEX_DIGITS // 2)


def key_digest(key: str) -> bytes | None:
    """Give what is kept of a key; None when the text cannot be one."""
    return hashlib.sha256(key.encode()).digest() if _SHAPE.fullmatch(key) else None


def same_digest(found: bytes, presented: bytes) -> bool:
    """Compare two digests in a time that tells nothing."""
    return hmac.compare_digest(found, presented)
