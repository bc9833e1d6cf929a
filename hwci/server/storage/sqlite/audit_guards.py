# SPDX-License-Identifier: Apache-2.0
"""What guards the entries of the audit log in the database: links, and triggers that refuse to
change or remove an entry.

A program that may write the file may also drop these guards: they stop mistakes, and the chain
shows tampering.
"""

import logging
import sqlite3

from hwci.server.storage.audit_chain import Tip, link_of
from hwci.server.storage.sql.accounts.audit import ROW, written_row

LOG = logging.getLogger("hwci.server")

# A row that replaces another is not a deletion to a trigger, hence the third.
GUARDS = tuple(
    f"CREATE TRIGGER {name} BEFORE {deed} ON audit_entry{when}"
    " BEGIN SELECT RAISE(ABORT, 'the audit log is only ever appended to'); END"
    for name, deed, when in (
        ("audit_entry_stays", "UPDATE", ""),
        ("audit_entry_is_kept", "DELETE", ""),
        (
            "audit_entry_follows",
            "INSERT",
            " WHEN NEW.number <= (SELECT coalesce(max(number), 0) FROM audit_entry)",
        ),
    )
)


def link_old_rows(raw: sqlite3.Connection) -> None:
    """Set the links of entries from before there was a chain."""
    before = Tip()
    for number, *values in raw.execute(f"{ROW} FROM audit_entry ORDER BY number").fetchall():
        before = Tip(number, link_of(before, number, written_row(values)))
        raw.execute("UPDATE audit_entry SET link = ? WHERE number = ?", (before.link, number))


def restore_guards(raw: sqlite3.Connection) -> None:
    """Restore the guards that somebody removed or changed."""
    statement = "SELECT sql, name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?"
    found = dict(raw.execute(statement, ("audit_entry",)).fetchall())
    if found.keys() == set(GUARDS):
        return
    LOG.warning("The guards of the audit log are not as they were: hwci admin audit verify")
    for name in found.values():
        quoted = name.replace('"', '""')
        raw.execute(f'DROP TRIGGER "{quoted}"')
    add_guards(raw)


def add_guards(raw: sqlite3.Connection) -> None:
    """Refuse from now on to change or remove an entry."""
    for guard in GUARDS:
        raw.execute(guard)
