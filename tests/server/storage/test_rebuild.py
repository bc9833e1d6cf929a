# SPDX-License-Identifier: Apache-2.0
"""Whatever is derived can be rebuilt from the kept reports, and is then the same."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from hwci.server.storage.records import Kept
from hwci.server.storage.sql.transaction import Transaction
from hwci.server.storage.sqlite.checking import DERIVED
from hwci.server.storage.sqlite.connections import open_writer
from tests.server.storage.agreeing import MIXED, derived
from tests.server.storage.examples import NOON, OTHER
from tests.server.storage.histories import ORG, HistoryDraw
from tests.support.soak import rounds

WHOLE = DERIVED.keys() - MIXED
COLUMNS: dict[str, dict[str, int | None]] = {
    "announcement": {"checks": 7},
    "report": {"ci_run_id": 0, "tests": 77, "fails": None, "carried": 2},
    "item": {"product_id": 0, "started_at": 1, "counted": 2, "failure_id": None},
}


def put_next(writer: Transaction, draw: HistoryDraw, *organizations: UUID) -> None:
    """Keep the next report and an announcement, for each of these organizations."""
    report, announcement = draw.next_report(), draw.announcement()
    for org_id in organizations:
        writer.put_report(org_id, report, NOON)
        writer.announce(org_id, announcement, NOON)


def test_every_column_of_a_derived_table_but_ranks_is_compared(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "hwci.db")
    for table in WHOLE:
        whole, compared = (
            {name for name, *_ in connection.execute(f"SELECT {columns} FROM {table}").description}
            for columns in ("*", ", ".join(DERIVED[table]))
        )
        ranks = {"rank", "first_rank", "last_rank", "fix_rank"}
        decisions = {"decision", "decided_by"}  # kept only after somebody read them
        assert whole - compared <= {"org_id", "number", *ranks, *decisions}
    connection.close()


@pytest.mark.parametrize("seed", range(1000, 1000 + rounds(5, 30)))
def test_a_rebuild_after_any_history_changes_no_row(seed: int, tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "hwci.db")
    writer, draw = Transaction(connection), HistoryDraw(seed)
    connection.execute("BEGIN")
    for number in range(40):
        put_next(writer, draw, ORG, OTHER.id)
        kind, age = list(Kept)[number % 3], timedelta(hours=1 + number // 10)
        if number % 10 > 6:
            writer.drop_aged(ORG, kind, NOON + age, 4)
    before = derived(connection)
    assert all(before.values())
    writer.rebuild(ORG)
    assert derived(connection) == before
    connection.close()


def test_a_rebuild_mends_what_was_lost(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "hwci.db")
    writer, draw = Transaction(connection), HistoryDraw(1)
    connection.execute("BEGIN")
    for _ in range(40):
        put_next(writer, draw, ORG)
    before = derived(connection)
    for table in WHOLE:
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT INTO place SELECT ?, 'fw', 'f00', 'main', 1, 1, 1, 1", (ORG.bytes,))
    writer.rebuild(ORG)
    assert derived(connection) == before
    connection.close()


@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table, of in COLUMNS.items() for column in of]
)
def test_a_rebuild_mends_a_derived_column_beside_facts(
    table: str, column: str, tmp_path: Path
) -> None:
    connection = open_writer(tmp_path / "hwci.db")
    writer, draw = Transaction(connection), HistoryDraw(1)
    connection.execute("BEGIN")
    for _ in range(40):
        put_next(writer, draw, ORG)
    before, facts = derived(connection), writer.facts(ORG)
    connection.execute(f"UPDATE {table} SET {column} = ?", (COLUMNS[table][column],))
    assert derived(connection) != before
    writer.rebuild(ORG)
    assert derived(connection) == before
    assert writer.facts(ORG) == facts
    connection.close()
