# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from constants of this room
"""What a bench remembers of its runs: which commit was tested last, which changes the first attempt
of a run reported (semantics, 5.1 and 6.6), which run id each job of a build has, and which tests it
reported under which identity: two jobs with the same number on the same box replace each other's
reports without notice (spec, "Run report"; semantics, 1.5).

A run counts while a report of it waits or once one was sent; what a server refused counts nowhere.
Reporting works without this memory. It holds hashes, first lines and paths, and is private to its
user.
"""

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import ValidationError

from hwci.said import short
from hwci.wire.base import write_time
from hwci.wire.reports import Changes, RunReport

RUNS_KEPT = 200
"""Runs of a series, the newest."""
CHANGES_KEPT = 20
"""Runs of a series of which the changes are kept, too: they may be large."""
SERIES_KEPT = 1_000
"""Series, those with the newest runs: each branch of each product is one."""
KNOWN_KEPT = 2_000
"""Identities of which the tests are remembered, the newest."""

JOBS_KEPT = 2_000
"""Jobs of which the run id is remembered, the newest."""

TABLES = (
    """CREATE TABLE IF NOT EXISTS runs (
        id INTEGER PRIMARY KEY, series TEXT NOT NULL, run_id INTEGER NOT NULL, sha TEXT NOT NULL,
        tested INTEGER, changes TEXT, UNIQUE (series, run_id, sha))""",
    """CREATE TABLE IF NOT EXISTS known (
        identity TEXT PRIMARY KEY, number INTEGER NOT NULL, tests TEXT NOT NULL,
        product TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS jobs (
        number INTEGER PRIMARY KEY, build TEXT NOT NULL, job TEXT NOT NULL,
        run_id INTEGER NOT NULL, UNIQUE (build, job))""",
)
"""`runs`: the runs of this bench, in their order; `tested` null: no report of it was sent yet.
`known`: what was sent under an identity. `jobs`: the run ids of jobs that share a number, in the
order in which they came.
"""
_OTHER = ("one of other tests", "one that started at {}", "one with other results")
"""What a report replaces if these of its facts differ: tests, start, and how the tests ended."""
_NO_TESTS = hashlib.sha256(b"[]").hexdigest()
"""The same run may be reported again without tests, as of another time."""
_COUNTS = "(runs.tested IS NOT NULL OR reports.number IS NOT NULL)"
_RUNS = "runs LEFT JOIN reports ON reports.run = runs.id AND reports.state = 'waiting'"


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode(errors="surrogatepass")).hexdigest()[:32]


class RunSeries(NamedTuple):
    """Runs that follow one another. Those of another product tested another firmware, though the
    bench and the workflow may be the same.
    """

    repo_key: str
    workflow: str
    branch: str
    suite: str

    @property
    def digest(self) -> str:
        """A branch may be called anything."""
        return _digest("\0".join(self))


class ReportedRun(NamedTuple):
    """A run that was reported. `hello_ok`: on one of its boxes, in one of its attempts."""

    run_id: int
    sha: str
    hello_ok: bool


class JobOfBuild(NamedTuple):
    """A job that reports as some boxes, in a build whose number is that of all its jobs. `own`: its
    run id where another job has that number.
    """

    repo_key: str
    boxes: Sequence[str]
    number: int
    name: str
    own: int

    @property
    def digests(self) -> list[tuple[str, str]]:
        """The build on each box, and the job: their names may be anything."""
        builds = ("\0".join((self.repo_key, box, str(self.number))) for box in self.boxes)
        return [(_digest(build), _digest(self.name)) for build in builds]


@dataclass(frozen=True, slots=True)
class PastRuns:
    """The runs of a series that this bench knew at one moment, oldest first. A further attempt of a
    run, or one on another box, stays in the place of the first.
    """

    series: RunSeries | None = None
    runs: Sequence[ReportedRun] = ()
    changes: Mapping[tuple[int, str], str] = field(default_factory=dict, repr=False)

    def last_tested(self, run_id: int) -> str | None:
        """Return the commit of the last run before this one that tested."""
        ids = [run.run_id for run in self.runs]
        earlier = self.runs[: ids.index(run_id)] if run_id in ids else self.runs
        return next((run.sha for run in reversed(earlier) if run.hello_ok), None)

    def reported(self, run_id: int) -> ReportedRun | None:
        """Return what this bench reported of a run, in an earlier attempt or of another box."""
        return next((run for run in self.runs if run.run_id == run_id), None)

    def was_tested(self, sha: str) -> bool:
        """Return whether a run on a commit is known that reached the hardware."""
        return any(run.hello_ok for run in self.runs if run.sha == sha)

    def was_lost(self, sha: str) -> bool:
        """Return whether runs on a commit are known, of which none reached the hardware."""
        return any(run.sha == sha for run in self.runs) and not self.was_tested(sha)

    def first_attempt(self, run_id: int, sha: str) -> Changes | None:
        """Return the changes that the first attempt of a run reported."""
        try:
            return Changes.model_validate_json(self.changes.get((run_id, sha), ""))
        except ValidationError:
            return None

    def first_changes(self, sha: str) -> Changes | None:
        """Return the changes that the first run on a commit reported."""
        attempts = (self.first_attempt(run.run_id, sha) for run in self.runs if run.sha == sha)
        return next((changes for changes in attempts if changes is not None), None)


class Recalled(NamedTuple):
    """What this bench knows for a job. `run_id`: that of the job; None if no job was named."""

    past: PastRuns
    run_id: int | None


class RunFacts(NamedTuple):
    """What is remembered of a report of a run. `series`: a hash. `tests`: a hash of their ids, and
    after blanks when they started and a hash of how they ended. `changes`: JSON.
    """

    series: str
    run_id: int
    sha: str
    tested: bool
    changes: str | None
    tests: str
    product: str


def facts_of(report: RunReport) -> RunFacts:
    """Return what is remembered of a report. A part has a number of its own."""
    product = report.suite or report.workflow
    ids = json.dumps(sorted(item.id for item in report.tests)).encode()
    ends = json.dumps(sorted((item.id, item.outcome, item.attempts) for item in report.tests))
    started = f" {write_time(report.started_at)} {_digest(ends)}"
    return RunFacts(
        RunSeries(report.repo_key, report.workflow, report.branch, product).digest,
        report.part_of.run_id if report.part_of else report.run_id,
        report.sha.lower(),
        report.hello_ok and bool(report.tests),
        report.changes.model_dump_json(exclude_unset=True) if report.changes else None,
        hashlib.sha256(ids).hexdigest() + started,
        product,
    )


def begin(db: sqlite3.Connection, facts: RunFacts) -> int:
    """Insert a run in the order of its series, and return its id. The changes of its first
    report stay.
    """
    run = (facts.series, facts.run_id, facts.sha)
    new = db.execute("INSERT OR IGNORE INTO runs (series, run_id, sha) VALUES (?, ?, ?)", run)
    [row] = db.execute(
        f"SELECT id, max({_COUNTS}) AS counts, changes FROM {_RUNS} "
        "WHERE series = ? AND runs.run_id = ? AND runs.sha = ?",
        run,
    )
    if facts.changes is not None and (row["changes"] is None or not row["counts"]):
        db.execute("UPDATE runs SET changes = ? WHERE id = ?", (facts.changes, row["id"]))
        _forget_changes(db, facts.series)
    if new.rowcount:
        _forget_runs(db, facts.series)
    return int(row["id"])


def settle(db: sqlite3.Connection, run: int, *, tested: bool) -> None:
    """Remember of a run that a report of it was sent."""
    db.execute(
        "UPDATE runs SET tested = max(coalesce(tested, 0), ?) WHERE id = ?", (bool(tested), run)
    )


def know(db: sqlite3.Connection, identity: str, number: int, tests: str, product: str) -> None:
    """Remember which tests were sent under an identity."""
    db.execute("REPLACE INTO known VALUES (?, ?, ?, ?)", (identity, number, tests, product))
    db.execute(
        "DELETE FROM known WHERE number <= "
        "(SELECT number FROM known ORDER BY number DESC LIMIT 1 OFFSET ?)",
        (KNOWN_KEPT,),
    )


def recall(
    db: sqlite3.Connection, series: RunSeries | None, job: JobOfBuild | None, *, claim: bool
) -> Recalled:
    """Read what is known of a series, and the run id of a job. `claim`: that is remembered."""
    run_id = None if job is None else run_id_of(db, job)
    if claim and job is not None:
        rows = [(*digests, run_id) for digests in job.digests]
        db.executemany("INSERT OR IGNORE INTO jobs (build, job, run_id) VALUES (?, ?, ?)", rows)
        db.execute(
            "DELETE FROM jobs WHERE number <= (SELECT max(number) FROM jobs) - ?", (JOBS_KEPT,)
        )
    return Recalled(PastRuns() if series is None else past_runs(db, series), run_id)


def first_run(db: sqlite3.Connection, run_id: int) -> tuple[str, str] | None:
    """Return the series and the commit of the first run that has a number, whatever its series."""
    row = db.execute(
        f"SELECT runs.series, runs.sha FROM {_RUNS} WHERE runs.run_id = ? AND {_COUNTS} "
        "ORDER BY runs.id LIMIT 1",
        (run_id,),
    ).fetchone()
    return None if row is None else (row["series"], row["sha"])


def run_id_of(db: sqlite3.Connection, job: JobOfBuild) -> int:
    """Return the run id of a job: the number of the build if it has that on each of its boxes, or
    no other job of the build came before on them; else its own.
    """
    for build, name in job.digests:
        known = dict(db.execute("SELECT job, run_id FROM jobs WHERE build = ?", (build,)))
        if known.get(name, job.own if known else job.number) != job.number:
            return job.own
    return job.number


def past_runs(db: sqlite3.Connection, series: RunSeries) -> PastRuns:
    """Read what is known of a series."""
    rows = db.execute(
        f"SELECT runs.run_id, runs.sha, changes, "
        f"max(coalesce(runs.tested, 0), coalesce(max(reports.tested), 0)) AS tested FROM {_RUNS} "
        f"WHERE series = ? AND {_COUNTS} GROUP BY id ORDER BY id",
        (series.digest,),
    ).fetchall()
    return PastRuns(
        series,
        tuple(ReportedRun(run_id, sha, bool(tested)) for run_id, sha, _, tested in rows),
        {(run_id, sha): changes for run_id, sha, changes, _ in rows if changes},
    )


def replaced(
    db: sqlite3.Connection, identity: str, facts: RunFacts, *, results: bool
) -> str | None:
    """Return what else a report would replace: other tests, another product, or the same tests of
    another time or commit; with `results`, also those that ended otherwise. None for nothing.
    """
    row = db.execute(
        "SELECT tests, product FROM (SELECT * FROM known WHERE identity = ?1 UNION ALL "
        "SELECT identity, number, tests, product FROM reports WHERE identity = ?1 "
        "AND state = 'waiting' AND tests IS NOT NULL) ORDER BY number DESC LIMIT 1",
        (identity,),
    ).fetchone()
    if row is None:
        return None
    if row["product"] != facts.product:
        return f"one of product {row['product']}"
    then, now = (text.split(" ") for text in (row["tests"], facts.tests))
    compared = 3 if results else 2 if then[0] != _NO_TESTS else 1
    for was, is_now, what in zip(then, now, _OTHER[:compared], strict=False):
        if was != is_now:
            return what.format(was)
    last = db.execute(
        "SELECT sha FROM runs WHERE series = ? AND run_id = ? ORDER BY id DESC LIMIT 1",
        (facts.series, facts.run_id),
    ).fetchone()
    return f"one of commit {short(last['sha'])}" if last and last["sha"] != facts.sha else None


def _forget_changes(db: sqlite3.Connection, series: str) -> None:
    db.execute(
        "UPDATE runs SET changes = NULL WHERE series = ?1 AND id <= (SELECT id FROM runs WHERE "
        "series = ?1 AND changes IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET ?2)",
        (series, CHANGES_KEPT),
    )


def _forget_runs(db: sqlite3.Connection, series: str) -> None:
    """Delete the oldest runs beyond the limit, but none with a stored report."""
    here = "id NOT IN (SELECT run FROM reports WHERE run IS NOT NULL)"
    db.execute(
        "DELETE FROM runs WHERE series = ?1 AND id <= (SELECT id FROM runs WHERE series = ?1 "
        f"ORDER BY id DESC LIMIT 1 OFFSET ?2) AND {here}",
        (series, RUNS_KEPT),
    )
    db.execute(
        "DELETE FROM runs WHERE series IN (SELECT series FROM runs GROUP BY series "
        f"ORDER BY max(id) DESC LIMIT -1 OFFSET ?) AND {here}",
        (SERIES_KEPT,),
    )
