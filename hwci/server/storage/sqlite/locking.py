# SPDX-License-Identifier: Apache-2.0
"""Who may open a database file: one process at a time, and only a file of ours, not newer than us.

This module decides before anything is opened, from the file's own header and an exclusive lock on
`<file>.lock`. It writes nothing into a file that it refuses. The lock ends with the process, so a
crash leaves none behind.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hwci.server.errors import StorageError, StorageLockedError
from hwci.server.storage.sqlite.migrations import APPLICATION_ID

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100


class Header(NamedTuple):
    """Of a database file: how many migrations it has had, and whose it is."""

    user_version: int
    application_id: int


def read_header(path: Path) -> Header | None:
    """Read a file's header without opening it as a database; None when there is nothing yet.

    Raises:
        StorageError: the file cannot be read, or is not an SQLite database.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(
            f"Cannot read the database {path}: {error.strerror}",
            "check the path and its permissions",
        ) from error
    if not head:
        return None
    if len(head) < _HEADER_BYTES or not head.startswith(_MAGIC):
        raise StorageError(f"{path} is not a database", "name another file, it was left as it is")
    return Header(int.from_bytes(head[60:64]), int.from_bytes(head[68:72]))


def check_header(path: Path, known_version: int) -> None:
    """Refuse a foreign database, and one that a newer program has migrated.

    Raises:
        StorageError: the file is not ours to open.
    """
    header = read_header(path)
    if header is None:
        return
    if header.application_id != APPLICATION_ID:
        raise StorageError(
            f"{path} is a database of another program", "name another file, it was left as it is"
        )
    refuse_newer(path, header.user_version, known_version)


def refuse_newer(path: Path, version: int, known_version: int) -> None:
    """Refuse a database that has had more migrations than this program knows.

    Raises:
        StorageError: it has.
    """
    if version > known_version:
        raise StorageError(
            f"The database {path} was made by a newer hwci (schema {version}, this program knows "
            f"{known_version})",
            "upgrade hwci, the file was left as it is",
        )


@contextmanager
def database_lock(path: Path) -> Iterator[None]:
    """Hold a database file for this process alone.

    Raises:
        StorageLockedError: another process, usually a running server, holds it.
        StorageError: the lock file cannot be made.
    """
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageError(
            f"Cannot lock the database {path}: {error.strerror}",
            "check that its folder exists and is writable",
        ) from error
    try:
        _take(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StorageLockedError(
            f"The database {path} is in use by another process, most likely a running server",
            "stop that one first, then try again",
        ) from error
