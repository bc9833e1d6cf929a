# SPDX-License-Identifier: Apache-2.0
"""The one place that names a database driver: from a location to a `Storage`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import UUID

from hwci.server.errors import StorageError
from hwci.server.storage.location import MEMORY, Location
from hwci.server.storage.memory.store import MemoryStorage
from hwci.server.storage.ports import Storage
from hwci.server.storage.records import AuditEntry, Checked
from hwci.server.storage.sqlite.audit_key import key_file, put_back_key, read_audit_key, restart
from hwci.server.storage.sqlite.checking import check, damage_of_sent
from hwci.server.storage.sqlite.condition import Condition, note_damage
from hwci.server.storage.sqlite.connections import driver_doubt, known_version, steps_after
from hwci.server.storage.sqlite.copying import put_back
from hwci.server.storage.sqlite.locking import check_header, database_lock, refuse_second_names
from hwci.server.storage.sqlite.store import SqliteStorage

__all__ = [
    "check_storage",
    "driver_doubt",
    "missing_steps",
    "open_storage",
    "read_audit_key",
    "restart_audit_log",
    "restore_storage",
]


def open_storage(where: str | Path) -> Storage:
    """Open a database: a file, made when it is not there, or `memory:` for one that is not kept.

    Raises:
        StorageLockedError: another process, usually a running server, holds the file.
        StorageError: it cannot be used, with the reason in one line; the file is untouched.
    """
    location = Location(str(where))
    return MemoryStorage() if location.written == MEMORY else SqliteStorage(_file(location))


def missing_steps(where: str | Path) -> Sequence[str]:
    """Return the migrations that a database file lacks. It changes nothing.

    Raises:
        StorageError: the file is not ours, or newer.
    """
    return steps_after(_file(Location(str(where))))


def check_storage(where: str | Path) -> Checked:
    """Look for damage in a database file that no process has open, and note it for the next one.

    Raises:
        StorageLockedError: another process, usually a running server, holds the file.
        StorageError: it is not a database of ours, or cannot be copied.
    """
    path = _file(Location(str(where)))
    refuse_second_names(path)
    with database_lock(path) as note:
        found = check(path, lambda: False)
        note_damage(note, found.damage)
        return found


def restore_storage(where: str | Path, copy: Path) -> Path | None:
    """Put a backup in the place of a database; return the new name of the former file.

    Raises:
        StorageLockedError: another process, usually a running server, holds the file.
        StorageError: the backup cannot take its place; everything is left as it was.
    """
    path = _file(Location(str(where)))
    with database_lock(path) as note:
        arriving = read_audit_key(
            key_file(copy)
        )  # an unusable one is refused before anything moves
        kept = put_back(path, copy, damage_of_sent)
        put_back_key(path, kept, arriving)
        note_damage(note, ())
        return kept


def restart_audit_log(where: str | Path, entry_for: Callable[[UUID], AuditEntry]) -> int | None:
    """Continue the audit log of a database under a new key; `entry_for` makes the
    entry about it for an organization. Return the number of the first row; None if the present key
    fits.

    Raises:
        StorageLockedError: another process, usually a running server, holds the file.
        StorageError: it cannot be used.
    """
    path = _file(Location(str(where)))
    check_header(path, known_version())
    with database_lock(path) as note:
        Condition(path, note)  # a damaged one is refused
        return restart(path, entry_for)


def _file(location: Location) -> Path:
    if location.file is None:
        kind = location.written.split(":", 1)[0]
        raise StorageError(f"This hwci cannot open a database of kind {kind}", "name a file")
    return location.file
