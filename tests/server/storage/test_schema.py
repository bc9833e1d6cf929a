# SPDX-License-Identifier: Apache-2.0
"""A database that an older hwci made takes the steps that it lacks when it is opened, and is
refused by that hwci from then on.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from hwci.server.errors import StorageError
from hwci.server.storage.location import Location
from hwci.server.storage.opening import missing_steps, open_storage
from hwci.server.storage.ports import Writer
from hwci.server.storage.sql.reports import ingest
from hwci.server.storage.sql.transaction import Transaction
from hwci.server.storage.sqlite import connections, schema
from hwci.server.storage.sqlite.connections import Connection, open_writer
from tests.server.storage.agreeing import derived
from tests.server.storage.examples import ACME, NOON, OTHER
from tests.server.storage.histories import HistoryDraw
from tests.support.databases import ON_POSTGRESQL, query

STEP = "0002_later"
STATEMENTS = (
    "ALTER TABLE box_note ADD COLUMN later TEXT",
    "DELETE FROM failure",
    "INSERT INTO underived SELECT id FROM organization",
)
LAST = "  by_name TEXT NOT NULL,\n"
"""The last column of the table that the step changes."""


def take_step(tables: Database) -> None:
    for statement in STATEMENTS:
        tables.execute(statement)


def fail_in_the_middle(tables: Database) -> None:
    take_step(tables)
    tables.table("missing").transform(drop={"later"})


def learn_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this program one of a later version, until `monkeypatch.undo`."""
    before, table, after = schema.schema().partition("CREATE TABLE box_note (")
    later = before + table + after.replace(LAST, f"{LAST}  later TEXT,\n", 1)
    monkeypatch.setattr(schema, "STEPS", {STEP: take_step})
    monkeypatch.setattr(connections, "schema", lambda: later)
    if ON_POSTGRESQL:
        from hwci.server.storage.postgresql import schema as of_postgresql

        monkeypatch.setattr(of_postgresql, "STEPS", {STEP: "; ".join(STATEMENTS)})


def fill(writer: Writer) -> None:
    draw = HistoryDraw(7)
    for organization in (ACME, OTHER):
        writer.add_organization(organization)
        for _ in range(20):
            writer.put_report(organization.id, draw.next_report(), NOON)


async def test_a_step_is_taken_when_a_database_is_opened_and_then_an_older_hwci_refuses_it(
    new_database: Callable[[], Location], monkeypatch: pytest.MonkeyPatch
) -> None:
    location = new_database()
    storage = open_storage(location)
    await storage.write(fill)
    facts = await storage.read(lambda reader: reader.facts(ACME.id))
    await storage.close()
    failures = "SELECT org_id, id, items FROM failure ORDER BY org_id, id"
    before = query(location, failures)

    learn_step(monkeypatch)
    assert list(missing_steps(location.written)) == [STEP]
    later = open_storage(location)
    assert await later.read(lambda reader: reader.facts(ACME.id)) == facts
    await later.close()
    assert list(missing_steps(location.written)) == []
    assert query(location, "SELECT later FROM box_note") == []
    assert query(location, failures) == before != []

    monkeypatch.undo()
    with pytest.raises(StorageError, match="newer hwci"):
        open_storage(location)


async def test_the_step_that_an_empty_file_lacks_is_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "hwci.db"
    path.touch()
    assert list(missing_steps(path)) == ["0001_schema"]
    assert path.read_bytes() == b""

    await open_storage(path).close()

    assert list(missing_steps(path)) == []


def test_a_step_that_fails_leaves_a_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hwci.db"
    open_writer(path).close()
    before = path.read_bytes()
    learn_step(monkeypatch)
    monkeypatch.setattr(schema, "STEPS", {STEP: fail_in_the_middle})

    with pytest.raises(Exception, match="doesn't exist"):
        open_writer(path)

    monkeypatch.undo()
    open_writer(path).close()
    assert path.read_bytes() == before


NOT_DUE = """
import sys
from pathlib import Path
from hwci.server.storage.sqlite.connections import open_writer
for _ in range(2):
    open_writer(Path(sys.argv[1])).close()
print("sqlite_utils" in sys.modules)
"""


def test_a_server_that_lacks_no_step_does_not_hold_what_takes_one(tmp_path: Path) -> None:
    command = [sys.executable, "-c", NOT_DUE, str(tmp_path / "hwci.db")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert done.stdout == "False\n"


async def test_what_a_step_leaves_to_be_derived_goes_on_where_it_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rederive = tmp_path / "hwci.db", ingest.rederive

    def killed_at_the_second(connection: Connection, org: bytes) -> None:
        if connection.rows("SELECT 1 FROM underived") != [(1,), (1,)]:
            raise KeyboardInterrupt
        rederive(connection, org)

    with closing(open_writer(path)) as connection:
        connection.execute("BEGIN")
        fill(Transaction(connection))
        connection.execute("COMMIT")
        before = derived(connection)
        connection.execute("DELETE FROM failure")
        connection.execute("INSERT INTO underived SELECT id FROM organization")
        monkeypatch.setattr(ingest, "rederive", killed_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            ingest.derive_waiting(connection)
        monkeypatch.undo()
        connection.roll_back()
        assert derived(connection)["failure"] not in (Counter(), before["failure"])

    await open_storage(path).close()

    with closing(open_writer(path)) as connection:
        assert derived(connection) == before
