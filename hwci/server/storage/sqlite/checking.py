# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from constants of this room
"""Looks for damage: briefly after an unclean stop, and thoroughly on request.

This module decides what counts as damage and what can be recomputed. A whole check works in a
temporary copy: it changes nothing, delays no request, and needs as much room again beside the
database. What follows from what it finds is decided in `condition.py`.
"""

import logging
import sqlite3
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from threading import Event
from uuid import UUID

from hwci.engine.history import FailingRun, Scope
from hwci.engine.periods import Period
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import groups_at
from hwci.server.errors import DamagedError, StorageError
from hwci.server.storage.records import NOBODY, Checked
from hwci.server.storage.sql.history.questions import SqlHistory
from hwci.server.storage.sql.records import KEPT
from hwci.server.storage.sql.reports import digests, ingest, report_rows
from hwci.server.storage.sql.reports.derive import FIRST_OF_FAILURE
from hwci.server.storage.sqlite.condition import FAULTS, Condition, storage_error
from hwci.server.storage.sqlite.connections import (
    Connection,
    known_version,
    open_reader,
    open_writer,
)
from hwci.server.storage.sqlite.copying import STEPS_PER_LOOK, STOPPED, scratch_copy
from hwci.server.storage.sqlite.locking import check_header, read_header
from hwci.server.storage.sqlite.page_sums import PageSums

LOG = logging.getLogger("hwci.server")

LOOK_SECONDS = 30.0
"""How long a server checks the database when it starts, before it is ready."""
SLICE_SECONDS = 0.25
"""How often an open database compares a slice of its pages with their sums: 4 MiB a second."""
LOG_SECONDS = 60.0
"""How often it compares its log with the sums in that."""
_MOST = 20  # listed of one kind
_EVER = Period(datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))

# Ranks count by their order alone.
_IN_ORDER = (
    "row_number() OVER (PARTITION BY org_id, repo_key, branch ORDER BY rank)"
    " = row_number() OVER (PARTITION BY org_id, repo_key, branch"
    " ORDER BY started_at, way, position, sha)"
)
_AT_PLACE = (
    "{0}.{2} = (SELECT p.rank FROM product q CROSS JOIN place p ON p.org_id = q.org_id"
    " AND p.repo_key = q.repo_key AND p.sha = {0}.{1} AND p.branch = {0}.branch"
    " WHERE q.id = {0}.product_id)"
)
DERIVED = {
    "mention": ("repo_key, sha, branch, started_at, way, position, report_id", "tested"),
    "place": ("repo_key, sha, branch", f"started_at, way, position, {_IN_ORDER}"),
    "run_changes": (
        "repo_key, workflow, branch, sha, run_id",
        "started_at, run_attempt, box_key, changes_id",
    ),
    "changes_commit": ("repo_key, sha, changes_id", "org_id"),
    "failure": (
        "id",
        (
            f"product_id, test, box_key, branch, sha, items, {', '.join(FIRST_OF_FAILURE)},"
            f" last_started_at, passed, reviewed, {_AT_PLACE.format('failure', 'sha', 'rank')}"
        ),
    ),
    "episode": (
        "product_id, box_key, branch, test, first_sha, flake",
        (
            f"last_sha, commits, fix_sha, first_id, {', '.join(FailingRun._fields)}, reviewed,"
            f" {_AT_PLACE.format('episode', 'first_sha', 'first_rank')},"
            f" {_AT_PLACE.format('episode', 'last_sha', 'last_rank')},"
            f" fix_sha = '' OR {_AT_PLACE.format('episode', 'fix_sha', 'fix_rank')}"
        ),
    ),
    "day_run": ("product_id, day, box_key, template_id", "reports, runs, infra"),
    "day_result": ("product_id, day", "results, flakes"),
    "announcement": ("repo_key, suite, sha", "checks"),
    "report": ("id", "tests, inflated(fails), carried, ci_run_id, record_id"),
    "item": ("report_id, test", "product_id, started_at, counted, failure_id"),
}
"""Tables with derived rows or columns: the key of a row, and what is derived."""

_ORGANIZATIONS = " UNION ".join(
    f"SELECT org_id FROM {table}" for table in (*KEPT, *DERIVED, "changes", "template", "test")
)

Stopped = Callable[[], bool]


def look_over(path: Path, sums: PageSums, condition: Condition, stopped: Stopped) -> None:
    """Look for damage of the file's pages, and after an unclean stop of its structure, up to a time
    limit, and note the result in its condition.
    """
    end = time.monotonic() + LOOK_SECONDS

    def late() -> bool:
        return stopped() or time.monotonic() > end

    try:
        for damage in sums.damage(late):
            condition.damaged(damage)
            break
        if condition.unclean and (structure := _damaged_structure(path, late)):
            condition.damaged(structure)
    except FAULTS as fault:
        if not _is_interrupt(fault):
            condition.take_fault(fault)
    if stopped():
        return
    if late():
        LOG.warning(
            "The database %s was not looked over to its end in %s seconds, and is served; "
            "run `hwci admin check`",
            path,
            int(LOOK_SECONDS),
        )
    condition.checked()


def _damaged_structure(path: Path, late: Stopped) -> str | None:
    with closing(open_reader(path)) as reader:
        reader.raw.set_progress_handler(late, STEPS_PER_LOOK)
        structure = reader.row("PRAGMA quick_check(1)")
    return None if structure == ("ok",) else str(structure and structure[0])


def watch(sums: PageSums, condition: Condition, closing: Event) -> None:
    """Compare the pages of an open file with their sums, slice by slice and again and again, and
    its log each minute, until it is closed.
    """
    first, log_at = 1, time.monotonic() + LOG_SECONDS
    while not closing.wait(SLICE_SECONDS):
        try:
            damaged, first = sums.compare(first or 1)
            if time.monotonic() > log_at:
                log_at = time.monotonic() + LOG_SECONDS
                damaged = [*damaged, *sums.damage_in_log()]
        except OSError as fault:
            damaged = [f"it cannot be read: {fault.strerror}"]
        for damage in damaged:
            condition.damaged(damage)
            return


def check(path: Path, stopped: Stopped, sums: PageSums | None = None) -> Checked:
    """Look for damage in all that the file at `path` holds; nothing in it is changed. `sums`: its
    page sums, of an open one.

    Raises:
        StorageError: it is not a database of hwci, no copy can be made, or it was stopped.
    """
    if sums is not None:
        lost, pages = sums.damage_in_log(), list(sums.damage(stopped))
    else:
        check_header(path, known_version())
        with closing(PageSums(path)) as closed:
            lost, pages = closed.lacking(), list(closed.damage(stopped))
    checked = _checked(path, scratch_copy(path, stopped), stopped)
    return replace(checked, damage=(*lost, *checked.damage, *pages)[:_MOST])


def check_copy(copy: Path) -> Checked:
    """Look for damage in a copy of a database of another kind; it is changed. Raises as `check`."""
    return _checked(copy, nullcontext(copy), lambda: False)


def _checked(path: Path, copied: AbstractContextManager[Path], stopped: Stopped) -> Checked:
    faults = _Found()
    try:
        with copied as copy:
            _look_at_structure(copy, stopped, faults)
            with closing(_writer_of(copy, path)) as writer, closing(open_reader(copy)) as reader:
                ingest.derive_waiting(writer)
                for connection in (writer, reader):
                    connection.raw.set_progress_handler(stopped, STEPS_PER_LOOK)
                    connection.raw.create_function("inflated", 1, inflated)
                _look_at_contents(writer, reader, faults)
    except DamagedError as fault:
        faults.damage.append(fault.cause)
    except FAULTS as fault:
        if _is_interrupt(fault):
            raise StorageError(*STOPPED) from fault
        error = storage_error(fault, path)
        if not isinstance(error, DamagedError):
            raise error from fault
        faults.damage.append(error.cause)
    return Checked(faults.reports, tuple(faults.damage), tuple(faults.stale))


def damage_of_sent(path: Path) -> Sequence[str]:
    """Return which reports, announcements, configurations and reviews of a file that no process
    writes are not as they were sent. A database that lacks steps is not read.
    """
    header = read_header(path)
    if header is None or header.user_version < known_version():
        return ()
    faults = _Found()
    try:
        with closing(open_reader(path, "immutable=1")) as reader:
            for (org,) in reader.rows(_ORGANIZATIONS):
                _look_at_sent(reader, org, faults)
    except FAULTS:
        faults.damage.append("a value in it cannot be read")
    return faults.damage


@dataclass(slots=True)
class _Found:
    """What a check has found so far."""

    reports: int = 0
    damage: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)


def _writer_of(copy: Path, path: Path) -> Connection:
    """Open a copy, which brings it to the present schema."""
    try:
        return open_writer(copy)
    except StorageError as fault:
        raise DamagedError(f"The tables of {path} are not those of this hwci") from fault


def _look_at_structure(copy: Path, stopped: Stopped, faults: _Found) -> None:
    with closing(sqlite3.connect(copy, isolation_level=None)) as probe:
        probe.set_progress_handler(stopped, STEPS_PER_LOOK)
        for (line,) in probe.execute(f"PRAGMA integrity_check({_MOST})"):
            if line != "ok":
                faults.damage.extend(line.splitlines())
        for table, row, other, _ in probe.execute("PRAGMA foreign_key_check"):
            faults.damage.append(f"Row {row} of table {table} belongs to no {other}")


def _look_at_contents(writer: Connection, reader: Connection, faults: _Found) -> None:
    """Check each organization; what is derived only if what was sent is whole."""
    for (org,) in reader.rows(_ORGANIZATIONS):
        before = len(faults.damage)
        _look_at_sent(reader, org, faults)
        if len(faults.damage) == before:
            _compare(writer, reader, org, faults)
    del faults.damage[_MOST:]


def _look_at_sent(reader: Connection, org: bytes, faults: _Found) -> None:
    for verdict in report_rows.verdicts(reader, org):
        faults.reports += 1
        if verdict is not None:
            faults.damage.append(verdict.cause)
    for table, columns in KEPT.items():
        _look_at_rows(reader, org, table, columns, faults)


def _look_at_rows(
    reader: Connection, org: bytes, table: str, columns: Sequence[str], faults: _Found
) -> None:
    listed = ", ".join(columns)
    rows = reader.execute(
        f"SELECT digest, repo_key, {listed} FROM {table} WHERE org_id = ?", (org,)
    )
    for digest, repo_key, *row in rows:
        if digest != digests.of_values(*row):
            faults.damage.append(f"A row of table {table} ({repo_key}) is not what was sent")


def _compare(writer: Connection, reader: Connection, org: bytes, faults: _Found) -> None:
    """Recompute what is derived, compare it with what is stored, and keep that."""
    stale: list[str] = []
    writer.execute("BEGIN IMMEDIATE")
    reader.execute("BEGIN")
    try:
        ingest.rederive(writer, org)
        for table, (key, columns) in DERIVED.items():
            statement = f"SELECT {columns}, {key} FROM {table} WHERE org_id = ? ORDER BY {key}"
            pairs = zip_longest(*(c.execute(statement, (org,)) for c in (reader, writer)))
            if any(stored != computed for stored, computed in pairs):
                stale.append(f"{table} of organization {_shown(org)}")
        if not stale and _has_wrong_decision(reader, org):
            stale.append(f"episode of organization {_shown(org)}")
    finally:
        writer.roll_back()
        reader.leave_snapshot()
    faults.stale.extend(stale)


def _has_wrong_decision(reader: Connection, org: bytes) -> bool:
    """Decide each episode again whose decision is kept, and look for the commits that it rests on.
    The rows that this reads are as they should be.
    """
    history = SqlHistory(reader, UUID(bytes=org), dict)
    classifier = Classifier(history)
    statement = "SELECT repo_key, last_sha, fix_sha, sha FROM walk_commit WHERE org_id = ?"
    walks = set(reader.rows(statement, (org,)))
    episodes = [
        episode for episode in history.episodes(Scope(), _EVER) if episode.decision is not None
    ]
    for episode, group in zip(episodes, groups_at(history, episodes), strict=True):
        decided = classifier.decide(group)
        walk = (episode.key.lane.repo_key, episode.last_sha, episode.fix)
        if episode.decision is None or episode.decision[:2] != decided[:2]:
            return True
        if not {(*walk, sha) for sha in decided.rests_on} <= walks:
            return True
    return False


def inflated(packed: bytes | None) -> bytes | None:
    """Decompress a value: another zlib may compress the same to other bytes."""
    try:
        return None if packed is None else zlib.decompress(packed)
    except zlib.error:
        return b""


def _shown(org: bytes) -> str:
    return str(UUID(bytes=org)) if len(org) == len(NOBODY.bytes) else org.hex()


def _is_interrupt(fault: Exception) -> bool:
    return getattr(fault, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
