# SPDX-License-Identifier: Apache-2.0
"""Which accounts of the version before are proved, and which lose the password that somebody else
may have chosen (ADR 0111).
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any
from uuid import UUID

import pytest

from hwci.server.storage.postgresql import schema
from hwci.server.storage.sqlite.migrations import take_steps
from tests.support.databases import Server, connect, only_where_wanted

ORG, MADE, LATER = UUID(int=1).bytes, 1_000, 2_000
BY_OPERATOR, INVITED, JOINED_LATER, PREPARED, BY_PROVIDER = people = [
    UUID(int=number).bytes for number in range(2, 7)
]
WITHOUT_PASSWORD = {BY_PROVIDER}
JOINED = {INVITED: MADE, JOINED_LATER: LATER, PREPARED: MADE, BY_PROVIDER: LATER}
LINKED = {PREPARED, BY_PROVIDER, BY_OPERATOR}
Run = Callable[[str, Sequence[object]], object]


def fill(run: Run) -> None:
    """Write what the version before had: rows of people, who each are signed in."""
    run("INSERT INTO organization VALUES (?, 'Acme', 0, ?)", (ORG, MADE))
    for number, user in enumerate(people):
        password = "" if user in WITHOUT_PASSWORD else "hash"
        run(
            'INSERT INTO "user" (id, email, email_key, name, password_hash, created_at)'
            " VALUES (?, ?, ?, '', ?, ?)",
            (user, f"{number}@x", f"{number}@x", password, MADE),
        )
        run("INSERT INTO session (id, user_id, created_at) VALUES (?, ?, ?)", (user, user, LATER))
        if user in LINKED:
            run("INSERT INTO identity VALUES ('acme', ?, ?, ?)", (str(number), user, LATER))
        if user in JOINED:
            run(
                "INSERT INTO audit_entry"
                " (number, org_id, id, at, actor_id, actor_name, action, target, details)"
                " VALUES (?, ?, ?, ?, ?, '', 'member.added', ?, '{}')",
                (number + 1, ORG, user, JOINED[user], user, str(UUID(bytes=user))),
            )


def check(rows: Sequence[Sequence[Any]]) -> None:
    """Check proved, password and end of the sign-in of each person."""
    assert [tuple(row) for row in rows] == [
        (1, "hash", None),
        (0, "hash", None),
        (1, "hash", None),
        (1, "", LATER),
        (1, "", None),
    ]


LOOK = (
    'SELECT u.proved, u.password_hash, s.ended_at FROM "user" u'
    " JOIN session s ON s.user_id = u.id ORDER BY u.email"
)


def test_in_a_file() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        take_steps(database, before="0030_proved_accounts")
        fill(database.execute)
        take_steps(database)
        check(database.execute(LOOK).fetchall())


@only_where_wanted
def test_on_postgresql(postgresql: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    known = schema.steps()
    earlier = {name: step for name, step in known.items() if name < "0017_proved_accounts"}
    with postgresql.database("template0") as location, closing(connect(location)) as connection:
        monkeypatch.setattr(schema, "steps", lambda: earlier)
        schema.migrate(connection)
        connection.command("BEGIN")
        fill(connection.execute)
        connection.command("COMMIT")
        monkeypatch.undo()
        schema.migrate(connection)
        check(connection.rows(LOOK))
