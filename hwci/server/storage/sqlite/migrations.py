# SPDX-License-Identifier: Apache-2.0
"""The schema of the SQLite file, as the steps that make it; sqlite-utils applies and records them.

This module decides tables and indexes and knows no rule. A step that was released is never edited:
a change is a new step. `tests/server/storage/schema.sql` shows what all steps together give.

Every table of a tenant, and every index that finds its rows, begins with `org_id`. Times are
microseconds since 1970 in UTC. Three kinds of tables stand here: accounts; what CI and people sent,
kept whole (and apart, in `replaced`, what something later took the place of); and what is derived
from it (`mention`, `place`, `run_changes`, `changes_commit`, `failure`, `episode`, `day_run`,
`day_item`), which `derive.py` maintains and can recompute; `reports.py` does so for the few derived
columns that stand beside facts for an index. A period is counted from its whole days, and at its
two ends by index from `report` and `item`, exact to the microsecond.

Records refer to each other by number without foreign keys: `ingest.py` alone writes them, and each
key would cost an index of its own.
"""

from uuid import UUID

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from hwci.engine.facts import run_record_id
from hwci.server.storage.sqlite.account_tables import ACCOUNTS, READER_KEYS, SESSIONS
from hwci.server.storage.sqlite.audit_tables import AUDIT_CHAIN, GUARDS, link_old_rows
from hwci.server.storage.sqlite.derived_tables import DAYS, DECISIONS, EPISODES, REVIEWED
from hwci.server.storage.sqlite.platform_tables import (
    FEWER_INDEXES,
    INVITATIONS,
    KEPT_LIVE_RUNS,
    PLATFORM,
    REPLACED,
    RETENTION,
    RUN_FILTERS,
)

APPLICATION_ID = 0x68776369  # "hwci"

MIGRATIONS = Migrations("hwci")

# `history_version` numbers the state of everything below: what was read of one number stays true.
# `suite` of an announcement is '' when omitted: to a unique index no NULL equals another.
# A test's `number` counts within its product, so that a set of tests is a small bit mask.
# `item` has a row only for an item that is not a pass at the first attempt without verdict.
# Derived in `report`: `ci_run_id`, `tests` (how many), `fails` (the mask of failing tests) and
# `carried` (whether it speaks for its changes); in `item`: `product_id`, `started_at` and `counted`
# (the report's product, start and `hello_ok`) and `failure_id`.
_RECORDS = """
CREATE TABLE history_version (
  org_id BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE announcement (
  number INTEGER PRIMARY KEY,
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  sha TEXT NOT NULL,
  branch TEXT NOT NULL,
  merged_at INTEGER NOT NULL,
  UNIQUE (org_id, repo_key, suite, sha)
) STRICT;
CREATE INDEX announcement_time ON announcement (org_id, merged_at);

CREATE TABLE suite_config (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  body TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, repo_key, suite)
) STRICT;

CREATE TABLE review (
  org_id BLOB NOT NULL,
  failure_id BLOB NOT NULL,
  number INTEGER NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  test_id TEXT NOT NULL,
  box_key TEXT NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  action TEXT NOT NULL,
  by_id TEXT NOT NULL,
  by_name TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (org_id, failure_id)
) STRICT;

CREATE TABLE product (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  suite TEXT NOT NULL,
  UNIQUE (org_id, repo_key, suite)
) STRICT;

CREATE TABLE test (
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (org_id, product_id, number),
  UNIQUE (org_id, product_id, name)
) STRICT;

CREATE TABLE template (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  digest BLOB NOT NULL,
  tests BLOB NOT NULL,
  UNIQUE (org_id, product_id, digest)
) STRICT;

CREATE TABLE changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  digest BLOB NOT NULL,
  base_sha TEXT,
  truncated INTEGER NOT NULL,
  body BLOB NOT NULL,
  UNIQUE (org_id, repo_key, digest)
) STRICT;
CREATE INDEX changes_base ON changes (org_id, repo_key, base_sha);

CREATE TABLE report (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  run_id INTEGER NOT NULL,
  run_attempt INTEGER NOT NULL,
  box_key TEXT NOT NULL,
  product_id INTEGER NOT NULL,
  workflow TEXT NOT NULL,
  trigger TEXT NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  conclusion TEXT NOT NULL,
  hello_ok INTEGER NOT NULL,
  template_id INTEGER NOT NULL,
  tests INTEGER NOT NULL,
  fails BLOB,
  durations BLOB NOT NULL,
  covers BLOB,
  changes_id INTEGER,
  carried INTEGER NOT NULL,
  part_run_id INTEGER,
  part INTEGER,
  parts INTEGER,
  ci_run_id INTEGER NOT NULL,
  UNIQUE (org_id, repo_key, run_id, run_attempt, box_key)
) STRICT;
CREATE INDEX report_commit ON report (org_id, product_id, box_key, sha, hello_ok);
CREATE INDEX report_sha ON report (org_id, repo_key, sha, hello_ok, product_id, box_key);
CREATE INDEX report_run
  ON report (org_id, repo_key, workflow, branch, sha, started_at, run_id, run_attempt, box_key);
CREATE INDEX report_time
  ON report (org_id, product_id, started_at, hello_ok, part, box_key, template_id);
CREATE INDEX report_changes ON report (org_id, changes_id) WHERE changes_id IS NOT NULL;
CREATE INDEX report_part
  ON report (org_id, repo_key, part_run_id, run_attempt, box_key) WHERE part_run_id IS NOT NULL;

CREATE TABLE item (
  org_id BLOB NOT NULL,
  report_id INTEGER NOT NULL,
  test INTEGER NOT NULL,
  outcome INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  verdict INTEGER NOT NULL,
  product_id INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  counted INTEGER NOT NULL,
  failure_id BLOB,
  PRIMARY KEY (org_id, report_id, test)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_time
  ON item (org_id, product_id, started_at, test, outcome, attempts)
  WHERE counted = 1 AND (outcome = 1 OR attempts > 1);
CREATE INDEX item_failing
  ON item (org_id, product_id, started_at, failure_id) WHERE failure_id IS NOT NULL;
CREATE INDEX item_failure ON item (org_id, failure_id) WHERE failure_id IS NOT NULL;
"""

# A failure's place and the place of its next pass stand in its own row: groups and labels are then
# read without a join. No next pass: `next_pass` '' and a `next_at` beyond all times.
_DERIVED = """
CREATE TABLE changes_commit (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  sha TEXT NOT NULL,
  changes_id INTEGER NOT NULL,
  PRIMARY KEY (org_id, repo_key, sha, changes_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_changes (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  workflow TEXT NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  run_id INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  run_attempt INTEGER NOT NULL,
  box_key TEXT NOT NULL,
  changes_id INTEGER NOT NULL,
  PRIMARY KEY (org_id, repo_key, workflow, branch, sha, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_changes_list ON run_changes (org_id, changes_id);

CREATE TABLE mention (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  sha TEXT NOT NULL,
  branch TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  way INTEGER NOT NULL,
  position INTEGER NOT NULL,
  report_id INTEGER NOT NULL,
  tested INTEGER NOT NULL,
  PRIMARY KEY (org_id, repo_key, sha, branch, started_at, way, position, report_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE place (
  org_id BLOB NOT NULL,
  repo_key TEXT NOT NULL,
  sha TEXT NOT NULL,
  branch TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  way INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (org_id, repo_key, sha, branch)
) STRICT, WITHOUT ROWID;
CREATE INDEX place_order ON place (org_id, repo_key, branch, started_at, way, position, sha);

CREATE TABLE failure (
  org_id BLOB NOT NULL,
  id BLOB NOT NULL,
  product_id INTEGER NOT NULL,
  test INTEGER NOT NULL,
  box_key TEXT NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  items INTEGER NOT NULL,
  first_started_at INTEGER NOT NULL,
  first_run_id INTEGER NOT NULL,
  first_run_attempt INTEGER NOT NULL,
  first_workflow TEXT NOT NULL,
  first_verdict INTEGER NOT NULL,
  first_ci_run_id INTEGER NOT NULL,
  last_started_at INTEGER NOT NULL,
  place_at INTEGER NOT NULL,
  place_way INTEGER NOT NULL,
  place_position INTEGER NOT NULL,
  passed INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  next_way INTEGER NOT NULL,
  next_position INTEGER NOT NULL,
  next_pass TEXT NOT NULL,
  UNIQUE (org_id, id)
) STRICT;
CREATE INDEX failure_at ON failure (org_id, product_id, box_key, sha, branch);
CREATE INDEX failure_fix
  ON failure (org_id, product_id, box_key, branch, test, next_at, next_way, next_position,
              next_pass);
CREATE INDEX failure_next
  ON failure (org_id, product_id, box_key, next_pass) WHERE next_pass <> '';
"""


@MIGRATIONS(name="0001_core")
def core(database: Database) -> None:
    """Make the first schema."""
    _execute(database, ACCOUNTS + _RECORDS + _DERIVED)


@MIGRATIONS(name="0002_platform")
def platform(database: Database) -> None:
    """Add boxes, invitations, identities, live runs and events; name the run record of reports."""
    _execute(database, PLATFORM)
    rows = database.execute(
        "SELECT id, org_id, repo_key, ci_run_id, run_attempt, box_key FROM report"
    ).fetchall()
    for number, org, *identity in rows:
        database.execute(
            "UPDATE report SET record_id = ? WHERE id = ?",
            (run_record_id(UUID(bytes=org), *identity).bytes, number),
        )


@MIGRATIONS(name="0003_retention")
def retention(database: Database) -> None:
    """Add indexes by age for what is deleted when it is old."""
    _execute(database, RETENTION)


@MIGRATIONS(name="0004_run_filters")
def run_filters(database: Database) -> None:
    """Index runs by the columns that people filter by."""
    _execute(database, RUN_FILTERS)


@MIGRATIONS(name="0005_digests")
def add_digests(database: Database) -> None:
    """Add a digest to what CI and people sent. Earlier rows have none: NULL."""
    for table in ("announcement", "report", "suite_config", "review"):
        database.execute(f"ALTER TABLE {table} ADD COLUMN digest BLOB")


@MIGRATIONS(name="0006_invitations")
def invitations(database: Database) -> None:
    """Add an id to invitations, and find them by it and by their organization."""
    _execute(database, INVITATIONS)


@MIGRATIONS(name="0007_sessions")
def sessions(database: Database) -> None:
    """Add the program of a sign-in, disabled users, and reset links."""
    _execute(database, SESSIONS)


@MIGRATIONS(name="0008_audit_chain")
def chain_audit(database: Database) -> None:
    """Link the entries of the audit log, and refuse to change or remove one."""
    _execute(database, AUDIT_CHAIN)
    link_old_rows(database.conn)
    for guard in GUARDS:
        database.execute(guard)


@MIGRATIONS(name="0009_reader_keys")
def reader_keys(database: Database) -> None:
    """Add keys that read."""
    _execute(database, READER_KEYS)


@MIGRATIONS(name="0010_ci_url")
def add_ci_urls(database: Database) -> None:
    """Add the page of the CI job to what CI and boxes sent."""
    for table in ("announcement", "report", "live_run"):
        database.execute(f"ALTER TABLE {table} ADD COLUMN ci_url TEXT")


@MIGRATIONS(name="0011_review_notes")
def add_review_notes(database: Database) -> None:
    """Add what a reviewer writes about a failure."""
    for column in ("note", "issue"):
        database.execute(f"ALTER TABLE review ADD COLUMN {column} TEXT")


@MIGRATIONS(name="0012_messages")
def add_messages(database: Database) -> None:
    """Add the message of a failed test."""
    database.execute("ALTER TABLE item ADD COLUMN message TEXT")


@MIGRATIONS(name="0013_ci_run")
def add_ci_runs(database: Database) -> None:
    """Add the number that the CI shows for a run, and find runs by it."""
    for table in ("report", "live_run"):
        database.execute(f"ALTER TABLE {table} ADD COLUMN ci_run INTEGER")
    database.execute("CREATE INDEX report_ci_run ON report (org_id, coalesce(ci_run, ci_run_id))")


@MIGRATIONS(name="0014_removed_boxes")
def keep_live_runs(database: Database) -> None:
    """Keep live runs whose box is removed."""
    _execute(database, KEPT_LIVE_RUNS)


@MIGRATIONS(name="0015_episodes")
def episodes(database: Database) -> None:
    """Keep the order of commits as ranks, and failures that count as one as rows."""
    _execute(database, EPISODES)


@MIGRATIONS(name="0016_replaced")
def keep_replaced(database: Database) -> None:
    """Keep what something later takes the place of, and when reports and announcements came."""
    for table in ("announcement", "report"):
        database.execute(f"ALTER TABLE {table} ADD COLUMN arrived_at INTEGER")
    _execute(database, REPLACED)


def _execute(database: Database, statements: str) -> None:
    """Run statements one by one: a script would commit in between."""
    for statement in statements.split(";"):
        if statement.strip():
            database.execute(statement)


@MIGRATIONS(name="0017_decisions")
def keep_decisions(database: Database) -> None:
    """Keep what was decided about episodes, and what a table shows of them."""
    _execute(database, DECISIONS)


@MIGRATIONS(name="0018_days")
def sum_days(database: Database) -> None:
    """Keep sums over days."""
    _execute(database, DAYS)


@MIGRATIONS(name="0019_fewer_indexes")
def find_reports_by_fewer_indexes(database: Database) -> None:
    """Find the reports of a commit by one index."""
    _execute(database, FEWER_INDEXES)


@MIGRATIONS(name="0020_reviewed")
def mark_reviewed(database: Database) -> None:
    """Mark the failures that have a review."""
    _execute(database, REVIEWED)
