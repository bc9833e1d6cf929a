# SPDX-License-Identifier: Apache-2.0
"""Secrets of others that this server has to use again, such as the address and the secret of a
webhook: encrypted in the database with a key that is made of the key that signs, so that a copy of
the database alone opens none (ADR 0026).

This module decides how they are encrypted. It does not know what they are.
"""

import secrets
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from hwci.server.security.signing import Signer

_PURPOSE = b"hwci seal 1"
_NONCE_BYTES = 12


class Opened(NamedTuple):
    """A secret. `aged`: it was sealed with a former key, and has to be sealed again."""

    value: bytes
    aged: bool


class Seals:
    """Seals and opens secrets with the present keys of a signer."""

    def __init__(self, signer: Signer) -> None:
        self._signer = signer

    def seal(self, owner: bytes, value: bytes) -> bytes:
        """Return a secret, sealed. It opens for this owner only: a copy in another row does not."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + _cipher(self._signer.keys.present).encrypt(nonce, value, owner)

    def open(self, owner: bytes, sealed: bytes) -> Opened | None:
        """Return a secret; None if none of the keys has sealed it for this owner."""
        present, former = self._signer.keys
        nonce, content = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        for key in (present, *(key.value for key in former)):
            try:
                value = _cipher(key).decrypt(nonce, content, owner)
            except (InvalidTag, ValueError):
                continue
            return Opened(value, aged=key != present)
        return None


def _cipher(key: bytes) -> AESGCM:
    return AESGCM(HKDF(SHA256(), length=32, salt=None, info=_PURPOSE).derive(key))
