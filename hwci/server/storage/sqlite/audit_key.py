# SPDX-License-Identifier: Apache-2.0
"""The key of the audit log of a database file: how it is put back with a backup, and how a log goes
on under a new one, only on request.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import UUID

from hwci.server.errors import StorageError
from hwci.server.storage.audit_chain import AuditKey
from hwci.server.storage.audit_key import key_file, set_aside, write_key
from hwci.server.storage.records import AuditEntry
from hwci.server.storage.sql.accounts.audit import restarted
from hwci.server.storage.sqlite.condition import storage_error
from hwci.server.storage.sqlite.connections import open_writer
from hwci.server.storage.sqlite.locking import read_header
from hwci.server.storage.sqlite.page_sums import PageSums


def put_back_key(database: Path, former: Path | None, arriving: AuditKey | None) -> None:
    """Put the key of a backup beside the database that was made of it. Without one the present key
    stays, which may be the log's.

    Raises:
        StorageError: it cannot be written.
    """
    file = key_file(database)
    held = file.read_bytes().strip() if file.exists() else None
    if arriving is None or held == arriving.value:
        return
    set_aside(database, former)
    write_key(database, arriving)


def refuse_lost(database: Path) -> None:
    """Refuse to make a database where there was one: the key of its audit log is still there. In an
    empty one anybody could register as the first user.

    Raises:
        StorageError: the file is missing or empty, and the key is there.
    """
    if read_header(database) is None and key_file(database).exists():
        raise StorageError(
            f"The database {database} was removed or emptied: the key of its audit log is there",
            "restore a backup with `hwci admin restore`, or move"
            f" {key_file(database).name} away to begin a new database",
        )


def restart(database: Path, entry_for: Callable[[UUID], AuditEntry]) -> int | None:
    """Continue under a new key if the present one does not fit, with an entry about it for each
    organization. Return the number of the first row; None if the present key fits. The lock of the
    database must be held.
    """
    try:
        with (
            closing(PageSums(database)) as sums,
            closing(open_writer(database, sums)) as connection,
        ):
            connection.execute("BEGIN IMMEDIATE")
            first = restarted(connection, database, entry_for)
            connection.commit()
            return first
    except sqlite3.Error as error:
        raise storage_error(error, database) from error
