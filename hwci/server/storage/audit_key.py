# SPDX-License-Identifier: Apache-2.0
"""The key file of an audit log: where it is, how it is made, read, written and put aside.

What is sealed with the key is decided in `audit_chain.py`, and which log it fits in
`sql/accounts/audit.py`.
"""

import os
import re
import secrets
from itertools import chain, count
from pathlib import Path

from hwci.server.errors import SettingsError, StorageError
from hwci.server.private_file import require_private, wait_for_disk, write_private
from hwci.server.storage.audit_chain import AuditKey

NEW_KEY = "or go on under a new key: hwci admin audit new-key"
_BYTES = 32
_LINE = re.compile(rb"[!-~]{32,}")


def key_file(database: Path) -> Path:
    """Return where the key of an audit log is: beside the database file or its backup; of a
    database server, beside the file of the secret key.
    """
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
            f"{file} holds no key of an audit log",
            "put back the one of a backup; if there is none, move this file away and try again",
        )
    return AuditKey(line)


def make_key(database: Path) -> AuditKey:
    """Make a key for a log that has none. Raises `StorageError`."""
    key = AuditKey(secrets.token_hex(_BYTES).encode())
    write_key(database, key)
    return key


def write_key(database: Path, key: AuditKey) -> None:
    """Keep a key in a new file beside the one that it belongs to. If root makes it, it gets the
    owner of that. Raises `StorageError`.
    """
    file = key_file(database)
    try:
        write_private(file, f"{key.value.decode('ascii')}\n")
        if os.geteuid() == 0 and database.exists():
            owner = database.stat()
            os.chown(file, owner.st_uid, owner.st_gid)
    except OSError as fault:
        raise StorageError(
            f"Cannot write the key of the audit log, {file}: {fault.strerror}",
            "check that its folder can be written to, and that nothing stands there",
        ) from fault


def set_aside(database: Path, former: Path | None = None) -> None:
    """Keep the key of a log, if it has one, beside its former database or under a new name."""
    file = key_file(database)
    if file.exists():
        beside = [] if former is None else [key_file(former)]
        free = (file.with_name(f"{file.name}.former-{n}") for n in count(1))
        file.rename(next(name for name in chain(beside, free) if not name.exists()))
        wait_for_disk(file.parent)
