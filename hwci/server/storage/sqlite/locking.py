# SPDX-License-Identifier: Apache-2.0
"""Who may open a database file: one process at a time, and only a file of hwci that is not newer.

This module decides before anything is opened, from the file's own header and an exclusive lock on
`<file>.lock`. It writes nothing into a file that it refuses. The lock ends with the process, so a
crash leaves no lock; the note in the lock file is for the next process (`condition.py`).
"""

import fcntl
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from hwci.server.errors import StorageError, StorageLockedError
from hwci.server.storage.sqlite.schema import APPLICATION_ID

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_NOTE_BYTES = 1000

FORMER = ".before-restore-"
"""Suffix, before a number, of a database that a backup has replaced."""


class Header(NamedTuple):
    """The header of a database file: the number of its last step, and its application id."""

    user_version: int
    application_id: int


def read_header(path: Path) -> Header | None:
    """Read a file's header without opening it as a database; None if the file is missing or empty.

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
    """Refuse a foreign database, and one that a newer program has changed.

    Raises:
        StorageError: the file is not ours to open.
    """
    header = read_header(path)
    if header is None:
        return
    if header.application_id != APPLICATION_ID:
        raise StorageError(
            f"{path} is a database of another program, or of hwci before 1.0",
            "name another file, it was left as it is; what hwci before 1.0 kept, that version"
            " exports with hwci admin export",
        )
    refuse_newer(path, header.user_version, known_version)


def refuse_newer(path: Path, version: int, known_version: int) -> None:
    """Refuse a database that has had more steps than this program knows.

    Raises:
        StorageError: it has.
    """
    if version > known_version:
        raise StorageError(
            f"The database {path} was made by a newer hwci (schema {version}, this program knows "
            f"{known_version})",
            "upgrade hwci, the file was left as it is",
        )


class LockNote:
    """What the process that holds a database notes in the lock file for the next one."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self) -> str:
        """Return the note; empty after a clean stop."""
        return os.pread(self._descriptor, _NOTE_BYTES, 0).decode(errors="replace")

    def write(self, text: str) -> None:
        """Write the note. A full disk does not take it, but then the log beside the file shows the
        stop.
        """
        with suppress(OSError):
            written = os.pwrite(self._descriptor, text.encode()[:_NOTE_BYTES], 0)
            os.ftruncate(self._descriptor, written)
            os.fsync(self._descriptor)


def refuse_second_names(path: Path) -> None:
    """Refuse a file with a second name: a process that opens that one would hold another lock.

    Names that a restore gave it are allowed: an interrupted restore leaves one.

    Raises:
        StorageError: it has.
    """
    try:
        status = path.stat()
        formers = path.parent.glob(f"{glob.escape(path.name)}{FORMER}*")
        ours = sum(os.path.samestat(status, former.stat()) for former in formers)
    except OSError:  # it is missing, or `read_header` has raised already
        return
    if status.st_nlink > 1 + ours:
        raise StorageError(
            f"{path} has a second name (a hard link), and who opens that has another lock",
            f"find and remove it: find / -xdev -samefile {path}",
        )


@contextmanager
def database_lock(path: Path) -> Iterator[LockNote]:
    """Lock a database file for this process; yield the note of the process before.

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
        yield LockNote(descriptor)
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
