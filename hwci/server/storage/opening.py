# SPDX-License-Identifier: Apache-2.0
"""The one place that names a database driver: from what the operator wrote to a `Storage`."""

from contextlib import AbstractContextManager
from pathlib import Path

from hwci.server.errors import StorageError
from hwci.server.storage.memory import MemoryStorage
from hwci.server.storage.ports import Storage
from hwci.server.storage.sqlite.locking import database_lock
from hwci.server.storage.sqlite.store import SqliteStorage

MEMORY = "memory:"


def open_storage(url: str | Path) -> Storage:
    """Open a database: a file, made when it is not there, or `memory:` for one that is not kept.

    Raises:
        StorageLockedError: another process, usually a running server, holds the file.
        StorageError: it cannot be used; the message says why in one line, the file is untouched.
    """
    if str(url) == MEMORY:
        return MemoryStorage()
    return SqliteStorage(_file(url))


def hold_database(url: str | Path) -> AbstractContextManager[None]:
    """Hold a database file without opening it, to tell whether a server has it.

    Raises (on entering):
        StorageLockedError: one has; ask it over its socket.
    """
    return database_lock(_file(url))


def _file(url: str | Path) -> Path:
    if isinstance(url, str) and "://" in url:
        raise StorageError(
            f"This hwci cannot open a database of kind {url.split(':', 1)[0]}; name a file"
        )
    return Path(url)
