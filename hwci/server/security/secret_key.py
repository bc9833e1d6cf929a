# SPDX-License-Identifier: Apache-2.0
"""The file of the key that tokens are signed with. This module decides who may read it, and how a
key comes into it.
"""

import os
import secrets
import stat
from pathlib import Path

from hwci.server.errors import SettingsError

KEY_BYTES_MIN = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


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
