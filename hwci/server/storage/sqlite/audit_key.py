# SPDX-License-Identifier: Apache-2.0
"""The key file of the audit log, beside the database: how it is made, read, copied and put back. A
log that has a key gets a new one only on request.

This module decides whether a key is the log's. What is sealed with it is decided in
`audit_chain.py`.
"""

import os
import re
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import chain, count
from pathlib import Path
from uuid import UUID

from hwci.server.errors import SettingsError, StorageError
from hwci.server.private_file import require_private, wait_for_disk, write_private
from hwci.server.storage.audit_chain import AuditKey
from hwci.server.storage.records import AuditEntry
from hwci.server.storage.sql.audit import NEW_KEY, append, fits, seal_head, tip_of
from hwci.server.storage.sqlite.condition import storage_error
from hwci.server.storage.sqlite.connections import Connection, open_writer
from hwci.server.storage.sqlite.locking import read_header

_BYTES = 32
_LINE = re.compile(rb"[!-~]{32,}")


def key_file(database: Path) -> Path:
    """Return where the key of a database's audit log is, or of a backup's."""
    return Path(f"{database}.audit-key")


def read_audit_key(file: Path) -> AuditKey | None:
    """Return the key in a file; None if the file is missing.

    Raises:
        SettingsError: the file cannot be read, others may read it, or it holds no key.
    """
    try:
        require_private(file, "key of the audit log")
        line = file.read_bytes().strip()
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise SettingsError(
            f"The key of the audit log cannot be read: {fault}", "make it readable to the server"
        ) from fault
    if not _LINE.fullmatch(line):
        raise SettingsError(
            f"{file} holds no key of an audit log", f"put back the one of a backup, {NEW_KEY}"
        )
    return AuditKey(line)


def make_key(database: Path) -> AuditKey:
    """Make a key for a log that has none. Raises `StorageError`."""
    key = AuditKey(secrets.token_hex(_BYTES).encode())
    write_key(database, key)
    return key


def write_key(database: Path, key: AuditKey) -> None:
    """Keep a key in a new file beside a database or a backup. If root makes it, it gets the owner
    of that file. Raises `StorageError`.
    """
    file = key_file(database)
    try:
        write_private(file, f"{key.value.decode('ascii')}\n")
        if os.geteuid() == 0:
            owner = database.stat()
            os.chown(file, owner.st_uid, owner.st_gid)
    except OSError as fault:
        raise StorageError(
            f"Cannot write the key of the audit log, {file}: {fault.strerror}",
            "check that its folder can be written to, and that nothing stands there",
        ) from fault


def put_back_key(database: Path, former: Path | None, arriving: AuditKey | None) -> None:
    """Put the key of a backup beside the database that was made of it. Without one the present key
    stays, which may be the log's; a log from before there were keys has none.

    Raises:
        StorageError: it cannot be written.
    """
    file = key_file(database)
    held = file.read_bytes().strip() if file.exists() else None
    if held == arriving.value if arriving is not None else _was_sealed(database):
        return
    set_aside(database, former)
    if arriving is not None:
        write_key(database, arriving)


def _was_sealed(database: Path) -> bool:
    """Return whether a closed database has a log with a seal."""
    uri = f"{database.absolute().as_uri()}?immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as raw:
        try:
            return (
                raw.execute("SELECT 1 FROM audit_head WHERE seal IS NOT NULL").fetchone()
                is not None
            )
        except sqlite3.DatabaseError:
            return False


def set_aside(database: Path, former: Path | None = None) -> None:
    """Keep the key of a log, if it has one, beside its former database or under a new name."""
    file = key_file(database)
    if file.exists():
        beside = [] if former is None else [key_file(former)]
        free = (file.with_name(f"{file.name}.former-{n}") for n in count(1))
        file.rename(next(name for name in chain(beside, free) if not name.exists()))
        wait_for_disk(file.parent)


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


def open_key(connection: Connection, database: Path) -> AuditKey | None:
    """Return the key of an open database's log, made for one that was never sealed; None if the
    one that it was sealed with is missing. Raises as `read_audit_key` and `write_key`.
    """
    key = read_audit_key(key_file(database))
    if connection.row("SELECT 1 FROM audit_head WHERE seal IS NULL") is None:
        return key
    if key is None:
        key = make_key(database)
    elif connection.row("SELECT 1 FROM organization") is not None:
        return key  # a log with a key had a seal: it was removed
    seal_head(connection, key)
    return key


def restart(database: Path, entry_for: Callable[[UUID], AuditEntry]) -> int | None:
    """Continue under a new key if the present one does not fit, with an entry about it for each
    organization. Return the number of the first row; None if the present key fits. The lock of the
    database must be held.
    """
    try:
        with closing(open_writer(database)) as connection:
            connection.audit_key = open_key(connection, database)
            return _restart(connection, entry_for)
    except sqlite3.Error as error:
        raise storage_error(error, database) from error


def _restart(connection: Connection, entry_for: Callable[[UUID], AuditEntry]) -> int | None:
    if fits(connection, connection.audit_key):
        return None
    set_aside(connection.path)
    key = connection.audit_key = make_key(connection.path)
    first = tip_of(connection).number + 1
    connection.execute("BEGIN IMMEDIATE")
    for (org,) in connection.rows("SELECT id FROM organization ORDER BY id"):
        append(connection, UUID(bytes=org), entry_for(UUID(bytes=org)))
    seal_head(connection, key)
    connection.execute("COMMIT")
    return first
