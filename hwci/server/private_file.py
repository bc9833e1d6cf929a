# SPDX-License-Identifier: Apache-2.0
"""Files that hold a secret of the server: who may read one, and how it is written to the disk."""

import os
import stat
from pathlib import Path

from hwci.server.errors import SettingsError


def require_private(path: Path, what: str) -> None:
    """Refuse a file that others may read. A mounted file belongs to root, and its group may read
    it.

    Raises:
        SettingsError: others than its owner may read it; `what` names its content.
        OSError: it cannot be examined.
    """
    status = path.stat()
    mounted = status.st_uid == 0 and os.geteuid() != 0
    others = stat.S_IRWXO | (stat.S_IWGRP | stat.S_IXGRP if mounted else stat.S_IRWXG)
    if status.st_mode & others:
        raise SettingsError(
            f"Others than its owner may use the {what} in {path}", f"run: chmod 600 {path}"
        )


def write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner can read, and wait for the disk. Raises `OSError`."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    wait_for_disk(path.parent)


def wait_for_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
