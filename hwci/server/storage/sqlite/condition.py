# SPDX-License-Identifier: Apache-2.0
"""Whether the database file can be used, and the note about that for the next process.

This module decides when nothing may be read or written: while the file is checked when the server
starts, and for good once damage was seen, since any number may be wrong. The note is in the lock
file, so a restart forgets no damage. It does not look at the file itself (`checking.py`).
"""

import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

from hwci.server.errors import DamagedError, NotReadyError, StorageBusyError, StorageError
from hwci.server.storage.sqlite.locking import LockNote

LOG = logging.getLogger("hwci.server")

ROOM_BYTES = 32 * 1024 * 1024
"""With less free space on the disk the server is not ready."""
FULL_SECONDS = 10.0
"""How long a write that found the disk full is remembered, even if the disk reports free
space, as with a quota.
"""

_OPEN = "open"
_DAMAGED = "damaged: "

_LOOKED_OVER = (
    "The service is checking its database, as it does when it starts; try again in a few seconds"
)
_NOT_SERVED = "The database of the service is damaged; its operator has to restore it"
_NO_ROOM = "The disk of the database is full; its operator has to make room"

FAULTS = (sqlite3.Error, UnicodeDecodeError, zlib.error)
"""What the driver raises, also for damaged content, which SQLite's messages quote."""

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_NO_ACCESS = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


def storage_error(error: Exception, path: Path) -> StorageError:
    """Return the error, in one line, for a fault of the driver."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StorageBusyError(f"The disk of the database {path} is full", "make room, then retry")
    if code in _BUSY:
        return StorageBusyError(f"The database {path} is busy", "try again in a moment")
    if code in _DAMAGE or not isinstance(error, sqlite3.Error) or "decode to UTF-8" in str(error):
        return DamagedError(f"The database {path} is damaged", "restore it from a backup")
    if code in _NO_ACCESS:
        return StorageError(
            f"The database {path} cannot be written",
            "check that this user may write the file, what stands beside it, and the folder",
        )
    return StorageError(f"The database {path} failed: {error}", "see the server's log")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the identity of the file at a path; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def note_damage(note: LockNote, damage: Sequence[str]) -> None:
    """Note for the next process what is damaged, or that nothing is."""
    note.write(f"{_DAMAGED}{damage[0]}" if damage else "")


class Condition:
    """The condition of a database file whose lock is held. `note`: its note in the lock file."""

    def __init__(self, path: Path, note: LockNote) -> None:
        self._path = path
        self._note = note
        self._refusal: str | None = None
        self._full_at: float | None = None
        noted = note.read()
        if noted.startswith(_DAMAGED):
            raise DamagedError(f"{path} was found damaged: {noted.removeprefix(_DAMAGED)}")
        self.unclean = bool(noted) or path.with_name(path.name + "-wal").exists()
        self._damaged = False

    def opened(self) -> None:
        """Note that the file is in use; only a clean stop removes the note."""
        self._file = _identity(self._path)
        self._note.write(_OPEN)

    def closed(self) -> None:
        """Note a clean stop of a file without known damage."""
        if not self.unclean and not self._damaged:
            self._note.write("")

    def require_usable(self) -> None:
        """Raises `NotReadyError`: nothing is read or written now."""
        if self._refusal is not None:
            raise NotReadyError(self._refusal)

    def require_there(self) -> None:
        """Raises `NotReadyError`: the file was removed or replaced; what it keeps is lost."""
        if _identity(self._path) != self._file:
            self.damaged("it was removed or replaced while the server used it")
            self.require_usable()

    def require_room(self) -> None:
        """Raises `NotReadyError`: the disk has no room for reports."""
        disk = os.statvfs(self._path.parent)
        full = self._full_at is not None and time.monotonic() - self._full_at < FULL_SECONDS
        if full or disk.f_bavail * disk.f_frsize < ROOM_BYTES:
            raise NotReadyError(_NO_ROOM)

    def refuse_until_checked(self) -> None:
        """Refuse reads and writes until the file is checked."""
        self._refusal = _LOOKED_OVER

    def checked(self) -> None:
        """Allow reads and writes: the file is whole, or could not be checked in time."""
        self.unclean = False
        if not self._damaged:
            self._refusal = None

    def note_room(self) -> None:
        """Note that a write found room."""
        self._full_at = None

    def take_fault(self, error: Exception) -> StorageError:
        """Return the error for a fault of a transaction, and note a full disk or damage."""
        fault = storage_error(error, self._path)
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            self._full_at = time.monotonic()
        if isinstance(fault, DamagedError):
            self.damaged(str(error))
        return fault

    def damaged(self, damage: str) -> None:
        """Refuse everything from now on, and log the damage once."""
        if self._damaged:
            return
        self._damaged, self._refusal = True, _NOT_SERVED
        line = " ".join(damage.split())
        note_damage(self._note, [line])
        LOG.critical(
            "The database %s is damaged: %s. Nothing is read or written any more; stop the server, "
            "run `hwci admin check`, then `hwci admin restore BACKUP`",
            self._path,
            line,
        )
