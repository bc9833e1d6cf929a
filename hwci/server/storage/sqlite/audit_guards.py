# SPDX-License-Identifier: Apache-2.0
"""What guards the entries of the audit log in the database: triggers of `schema.sql` that refuse to
change or remove an entry.
"""

import logging
import sqlite3

LOG = logging.getLogger("hwci.server")

_GUARDS = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit_entry'"


def restore_guards(raw: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Restore the guards that somebody removed or changed to those of a new database."""
    present, guards = (dict(database.execute(_GUARDS).fetchall()) for database in (raw, new))
    if present == guards:
        return
    LOG.warning("The guards of the audit log are not as they were: hwci admin audit verify")
    for name in present:
        quoted = name.replace('"', '""')
        raw.execute(f'DROP TRIGGER "{quoted}"')
    for guard in guards.values():
        raw.execute(guard)
