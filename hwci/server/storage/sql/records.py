# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""What CI and people sent: kept by the identities of semantics 1.5, of which the latest counts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.known_failures import KnownFailure
from hwci.contract.people import Actor
from hwci.contract.runs.merges import Merge
from hwci.engine.facts import Facts, Product, Report, StoredReview, SuiteConfig
from hwci.engine.history import EVERYTHING, Episode, Listing, Scope
from hwci.engine.rules.merges import count_checks
from hwci.server.errors import ClashError
from hwci.server.storage.records import Decided, Kept, SentKind
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.accounts.boxes import REPORTED_NAMES
from hwci.server.storage.sql.connection import Connection
from hwci.server.storage.sql.history.changes import REVIEW
from hwci.server.storage.sql.history.decisions import EpisodeAnswers
from hwci.server.storage.sql.history.known_failures import RULE, RULES
from hwci.server.storage.sql.history.periods import ANNOUNCEMENT
from hwci.server.storage.sql.history.questions import SqlHistory
from hwci.server.storage.sql.reports import aged, digests, ingest, replaced, report_rows
from hwci.server.storage.sql.rows import Rows, insert, upsert

KEPT = {
    "announcement": ("org_id", *ANNOUNCEMENT.names),
    "suite_config": ("org_id", "repo_key", "suite", "body", "updated_at"),
    "replaced": replaced.COLUMNS,
    "review": ("org_id", "failure_id", "number", *REVIEW.names),
}
"""What was sent, beside reports: tables, and the columns that a row's digest is made over."""

_ADD_ANNOUNCEMENT = insert(
    "announcement", (*KEPT["announcement"], "digest", "arrived_at", "checks")
)
_PUT_CONFIG = upsert(
    "suite_config", (*KEPT["suite_config"], "digest", "version"), "org_id, repo_key, suite"
)
_PUT_REVIEW = upsert("review", (*KEPT["review"], "digest"), "org_id, failure_id")
_ANNOUNCEMENT = f"SELECT {ANNOUNCEMENT.of('a')}, a.arrived_at FROM announcement a"
_SAME_ANNOUNCEMENT = """
FROM announcement a WHERE a.org_id = ? AND a.repo_key = ? AND a.suite = ? AND a.sha = ?
"""
_SAME_REPORT = """
FROM report
WHERE org_id = ? AND repo_key = ? AND run_id IN (?, ?) AND run_attempt = ? AND box_key = ?
  AND (run_id = ? OR coalesce(parts, 1) < ? AND arrived_at > ?)
"""
_CREATED_BOXES = "SELECT name FROM box WHERE org_id = ?"
_LIVE_BOXES = "SELECT DISTINCT box_key FROM live_run WHERE org_id = ?"
_CONFIG = "SELECT repo_key, suite, body, updated_at FROM suite_config"


class RecordRows(Rows):
    """Announcements, reports, configurations, reviews and known failures. `decided`: what was
    decided about the histories that this transaction gave.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.decided: list[Decided] = []

    def history(self, org_id: UUID) -> RecordedRuns:
        return SqlHistory(self._connection, org_id, partial(self._decided, org_id))

    def _decided(self, org_id: UUID) -> Decided:
        """Return where a history notes what is decided about it. The version is read now: when that
        is noted, there may be no time.
        """
        self.decided.append(Decided(org_id, self.version(org_id)))
        return self.decided[-1]

    def undecided(self, org_id: UUID, most: int) -> Sequence[Episode]:
        return EpisodeAnswers(self._connection, org_id).undecided(most)

    def states(self) -> Mapping[UUID, bytes]:
        rows = self._connection.rows("SELECT org_id, state FROM history_version")
        return {codec.uuid_of(org_id): state for org_id, state in rows}

    def share(self, part: float) -> AbstractContextManager[None]:
        return self._connection.share(part)

    def version(self, org_id: UUID) -> int:
        return self._count(
            "SELECT coalesce(max(version), 0) FROM history_version WHERE org_id = ?", org_id.bytes
        )

    def state(self, org_id: UUID) -> bytes | None:
        rows = self._connection.rows(
            "SELECT state FROM history_version WHERE org_id = ?", (org_id.bytes,)
        )
        return next((state for (state,) in rows), None)

    def _changed(self, org_id: UUID) -> None:
        """Raise the version of the history after a write that may change its answers."""
        self._connection.execute(
            "INSERT INTO history_version (org_id, version, state) VALUES (?, 1, ?)"
            " ON CONFLICT (org_id) DO UPDATE SET version = history_version.version + 1,"
            " state = excluded.state",
            (org_id.bytes, uuid4().bytes),
        )

    def facts(self, org_id: UUID) -> Facts:
        rows = self._connection.rows(f"{_CONFIG} WHERE org_id = ?", (org_id.bytes,))
        configs = [config for config, _ in map(_config, rows)]
        return Facts(
            announcements=tuple(announcement for announcement, _ in self.announcements(org_id)),
            reports=report_rows.load_all(self._connection, org_id.bytes),
            configs={Product(config.repo_key, config.suite): config for config in configs},
            reviews={review.key: review for review in self.history(org_id).reviews().values()},
        )

    def repositories(self, org_id: UUID) -> Iterator[tuple[str, str | None]]:
        for table in ("product", "suite_config", "live_run", "announcement"):
            statement = f"SELECT DISTINCT repo_key, suite FROM {table} WHERE org_id = ?"
            for repo_key, suite in self._connection.rows(statement, (org_id.bytes,)):
                yield repo_key, suite or None

    def box_names(self, org_id: UUID) -> Iterator[str]:
        org = org_id.bytes
        for statement in (_CREATED_BOXES, _LIVE_BOXES):
            yield from (name for (name,) in self._connection.rows(statement, (org,)))
        yield from (name for (name,) in self._connection.rows(REPORTED_NAMES, (org, org)))

    def configs(
        self, org_id: UUID, offset: int, limit: int, scope: Scope = EVERYTHING
    ) -> Listing[tuple[SuiteConfig, datetime]]:
        scoped = {"repo_key": scope.repo_key, "suite": scope.suite}
        names = {column: name for column, name in scoped.items() if name is not None}
        named = "".join(f" AND {column} = ?" for column in names)
        statement = f"{_CONFIG} WHERE org_id = ?{named} ORDER BY updated_at DESC, repo_key, suite"
        return self._slice(_config, statement, (org_id.bytes, *names.values()), offset, limit)

    def reports(self, org_id: UUID) -> Iterator[tuple[Report, datetime]]:
        return report_rows.load_each(self._connection, org_id.bytes)

    def announcements(self, org_id: UUID) -> Iterator[tuple[Merge, datetime]]:
        statement = f"{_ANNOUNCEMENT} WHERE a.org_id = ? ORDER BY a.number"
        for *row, at in self._connection.each(statement, (org_id.bytes,)):
            yield ANNOUNCEMENT.read(row), codec.from_micros(at)

    def holds(self, org_id: UUID, sent: Report | Merge, arrived_at: datetime | None) -> bool:
        identity: tuple[object, ...]
        if isinstance(sent, Report):
            part = 1 if sent.part_of is None else sent.part_of.part
            at = codec.to_micros_or_none(arrived_at) or 0
            identity = (sent.repo_key, sent.run_id, sent.ci_run_id, sent.run_attempt, sent.box_key)
            identity += (sent.run_id, part, at)
            same = _SAME_REPORT
        else:
            identity = (sent.repo_key, sent.suite or "", sent.sha)
            same = _SAME_ANNOUNCEMENT
        return self._connection.row(f"SELECT 1 {same}", (org_id.bytes, *identity)) is not None

    def announce(self, org_id: UUID, announcement: Merge, at: datetime) -> None:
        row = (org_id.bytes, *ANNOUNCEMENT.row(announcement))
        runs = self.history(org_id).sighted_runs(announcement.repo_key, [announcement.sha])
        checks = count_checks(announcement, runs.get(announcement.sha, ()))
        inserted = self._connection.execute(
            f"{_ADD_ANNOUNCEMENT} ON CONFLICT DO NOTHING",
            (*row, digests.of_values(*row), codec.to_micros(at), checks),
        )
        if inserted.rowcount:
            self._changed(org_id)
            return
        identity = (org_id.bytes, announcement.repo_key, announcement.suite or "", announcement.sha)
        statement = f"SELECT {ANNOUNCEMENT.of('a')} {_SAME_ANNOUNCEMENT}"
        if self._first(ANNOUNCEMENT.read, statement, *identity) != announcement:
            replaced.keep(self._connection, org_id.bytes, announcement, at, at)

    def put_report(self, org_id: UUID, report: Report, at: datetime) -> None:
        ingest.put_report(self._connection, org_id.bytes, report, at)
        self._changed(org_id)

    def replaced(self, org_id: UUID, before: datetime) -> Mapping[SentKind, int]:
        return replaced.counts(self._connection, org_id.bytes, before)

    def keep_decisions(self, decided: Decided) -> bool:
        is_present = self.version(decided.org_id) == decided.version
        if is_present:
            EpisodeAnswers(self._connection, decided.org_id).keep(decided.values())
        return is_present

    def drop_replaced(self, org_id: UUID, before: datetime) -> None:
        replaced.drop(self._connection, org_id.bytes, before)

    def drop_aged(self, org_id: UUID, kind: Kept, before: datetime, most: int) -> int:
        count = aged.drop(self._connection, org_id.bytes, kind, codec.to_micros(before), most)
        if count:
            self._changed(org_id)
        return count

    def rebuild(self, org_id: UUID) -> None:
        ingest.rederive(self._connection, org_id.bytes)
        self._changed(org_id)

    def put_config(self, org_id: UUID, config: SuiteConfig, at: datetime) -> None:
        key = (org_id.bytes, config.repo_key, config.suite)
        statement = f"{_CONFIG} WHERE org_id = ? AND repo_key = ? AND suite = ?"
        former = self._first(_config, statement, *key)
        if former is not None:
            former_config, arrived_at = former
            if former_config != config:
                replaced.keep(self._connection, org_id.bytes, former_config, arrived_at, at)
        self._changed(org_id)
        row = (*key, codec.config_json(config), codec.to_micros(at))
        values = (*row, digests.of_values(*row), self.version(org_id))
        self._connection.execute(_PUT_CONFIG, values)

    def put_review(self, org_id: UUID, failure_id: UUID, review: StoredReview) -> None:
        last = self._count(
            "SELECT coalesce(max(number), 0) FROM review WHERE org_id = ?", org_id.bytes
        )
        row = (org_id.bytes, failure_id.bytes, last + 1, *REVIEW.row(review))
        with ingest.settling_review(self._connection, org_id.bytes, failure_id.bytes):
            self._connection.execute(_PUT_REVIEW, (*row, digests.of_values(*row)))
        self._changed(org_id)

    def rename_reviewer(self, org_id: UUID, by: Actor) -> int:
        columns = ", ".join(KEPT["review"])
        rows = self._connection.rows(
            f"SELECT {columns} FROM review WHERE org_id = ? AND by_id = ?",
            (org_id.bytes, str(by.id)),
        )
        for row in rows:
            renamed = {**dict(zip(KEPT["review"], row, strict=True)), "by_name": by.name}
            self._connection.execute(
                "UPDATE review SET by_name = ?, digest = ? WHERE org_id = ? AND failure_id = ?",
                (by.name, digests.of_values(*renamed.values()), *row[:2]),
            )
        if rows:
            self._changed(org_id)
        return len(rows)

    def drop_reviews(self, org_id: UUID, failure_ids: Sequence[UUID]) -> None:
        org = org_id.bytes
        for failure in failure_ids:
            with ingest.settling_review(self._connection, org, failure.bytes):
                self._connection.execute(
                    "DELETE FROM review WHERE org_id = ? AND failure_id = ?", (org, failure.bytes)
                )
        self._changed(org_id)

    def add_known_failure(self, org_id: UUID, rule: KnownFailure) -> None:
        added = self._connection.execute(
            f"{insert('known_failure', ('org_id', *RULE.names))} ON CONFLICT (org_id, id)"
            " DO NOTHING",
            (org_id.bytes, *RULE.row(rule)),
        )
        if not added.rowcount:
            raise ClashError("rule")
        self._changed(org_id)

    def rename_rule_maker(self, org_id: UUID, by: Actor) -> None:
        renamed = self._connection.execute(
            "UPDATE known_failure SET by_name = ? WHERE org_id = ? AND by_id = ?",
            (by.name, org_id.bytes, by.id.bytes),
        )
        if renamed.rowcount:
            self._changed(org_id)

    def remove_known_failure(self, org_id: UUID, rule_id: UUID) -> KnownFailure | None:
        key = (org_id.bytes, rule_id.bytes)
        rule = self._first(RULE.read, f"{RULES} AND k.id = ?", *key)
        self._connection.execute("DELETE FROM known_failure WHERE org_id = ? AND id = ?", key)
        if rule is not None:
            self._changed(org_id)
        return rule


def _config(row: tuple[Any, ...]) -> tuple[SuiteConfig, datetime]:
    repo_key, suite, body, updated_at = row
    return codec.config_of(repo_key, suite, body), codec.from_micros(updated_at)
