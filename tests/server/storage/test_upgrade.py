# SPDX-License-Identifier: Apache-2.0
"""A file of the version before gets all that is derived when it is opened, from its reports."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from hwci.server.storage.opening import open_storage
from hwci.server.storage.sql.reports import ingest
from hwci.server.storage.sql.transaction import Transaction
from hwci.server.storage.sqlite.connections import Connection, open_writer
from hwci.server.storage.sqlite.migrations import STEPS, take_steps
from tests.server.storage.agreeing import derived
from tests.server.storage.examples import NOON, OTHER, REVIEW
from tests.server.storage.histories import ORG, HistoryDraw

STEP = "0015_episodes"
FACTS = ("product", "test", "template", "changes", "report", "item", "review")


def filled(path: Path) -> None:
    """Make a file with two organizations, each with a reviewed failure whose own commit passed."""
    connection = open_writer(path)
    writer, draw = Transaction(connection), HistoryDraw(7)
    connection.execute("BEGIN")
    for _ in range(40):
        report = replace(draw.next_report(), rerun_of=None)  # unknown to the version before
        writer.put_report(ORG, report, NOON)
        writer.put_report(OTHER.id, report, NOON)
    connection.execute("UPDATE report SET arrived_at = NULL")  # as is this
    passed = "SELECT org_id, min(id) FROM failure WHERE passed GROUP BY org_id"
    for org, failure in connection.rows(passed):
        writer.put_review(UUID(bytes=org), UUID(bytes=failure), REVIEW)
    assert len(connection.rows("SELECT 1 FROM episode WHERE flake")) == len((ORG, OTHER))
    connection.execute("COMMIT")
    connection.close()


def of_before(path: Path, now: Path) -> None:
    """Make a file as the version before would have kept what another file holds."""
    old = sqlite3.connect(path, isolation_level=None)
    take_steps(old, before=STEP)
    old.execute("ATTACH ? AS now", [str(now)])
    for table in FACTS:
        columns = ", ".join(row[1] for row in old.execute(f"PRAGMA table_info({table})"))
        old.execute(f"INSERT INTO main.[{table}] SELECT {columns} FROM now.[{table}]")
    old.execute("DETACH now")
    application = sqlite3.connect(now).execute("PRAGMA application_id").fetchone()[0]
    old.execute(f"PRAGMA application_id = {application}")
    old.execute(f"PRAGMA user_version = {STEPS.index(STEP)}")
    old.close()


async def opened(path: Path) -> dict[str, Counter[tuple[object, ...]]]:
    """Open a file as a server does, close it, and return what is derived."""
    await open_storage(path).close()
    with closing(open_writer(path)) as connection:
        return derived(connection)


async def test_a_file_of_the_version_before_is_derived_when_it_is_opened(tmp_path: Path) -> None:
    now, old = tmp_path / "now.db", tmp_path / "old.db"
    filled(now)
    of_before(old, now)

    assert await opened(old) == await opened(now)


async def test_an_upgrade_that_was_killed_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, old = tmp_path / "now.db", tmp_path / "old.db"
    filled(now)
    of_before(old, now)
    rederive = ingest.rederive

    def killed_at_the_second(connection: Connection, org: bytes) -> None:
        if connection.rows("SELECT 1 FROM episode"):
            raise KeyboardInterrupt
        rederive(connection, org)

    with monkeypatch.context() as patched, closing(open_writer(old)) as connection:
        patched.setattr(ingest, "rederive", killed_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            ingest.derive_waiting(connection)
    with closing(open_writer(old)) as connection:
        (done,) = connection.rows("SELECT DISTINCT org_id FROM episode")
        (waiting,) = connection.rows("SELECT org_id FROM underived")
        assert {*done, *waiting} == {ORG.bytes, OTHER.id.bytes}

    assert await opened(old) == await opened(now)
