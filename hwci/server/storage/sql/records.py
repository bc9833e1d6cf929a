# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""What CI and people sent: kept after the identities of semantics 1.5."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from hwci.analysis.outcomes import RecordedRuns
from hwci.engine.facts import Announcement, Facts, Product, Report, Review, SuiteConfig
from hwci.engine.history import EVERYTHING, Decision, Episode, Listing, Scope
from hwci.engine.rules.merges import count_checks
from hwci.server.storage.records import SentKind
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.accounts.boxes import REPORTED_NAMES
from hwci.server.storage.sql.history.decisions import EpisodeAnswers
from hwci.server.storage.sql.history.periods import announcement_of
from hwci.server.storage.sql.history.questions import SqlHistory
from hwci.server.storage.sql.reports import digests, ingest, replaced, report_rows
from hwci.server.storage.sql.rows import Rows, upsert

KEPT = {
    "announcement": "org_id, repo_key, suite, sha, branch, merged_at, ci_url",
    "suite_config": "org_id, repo_key, suite, body, updated_at",
    "replaced": replaced.COLUMNS,
    "review": "org_id, failure_id, number, repo_key, suite, test_id, box_key, branch, sha, action,"
    " by_id, by_name, at, note, issue",
}
"""What was sent, beside reports: tables, and the columns that a row's digest is made over."""

_ANNOUNCEMENT = "SELECT repo_key, suite, sha, branch, merged_at, ci_url FROM announcement"
_CREATED_BOXES = "SELECT name FROM box WHERE org_id = ?"
_LIVE_BOXES = "SELECT DISTINCT box_key FROM live_run WHERE org_id = ?"
_CONFIG = "SELECT repo_key, suite, body, updated_at FROM suite_config"


class RecordRows(Rows):
    """Announcements, reports, configurations and reviews."""

    def history(self, org_id: UUID) -> RecordedRuns:
        return SqlHistory(self._connection, org_id)

    def share(self, of: float) -> AbstractContextManager[None]:
        return self._connection.share(of)

    def version(self, org_id: UUID) -> int:
        row = self._connection.row(
            "SELECT version FROM history_version WHERE org_id = ?", (org_id.bytes,)
        )
        return 0 if row is None else int(row[0])

    def state(self, org_id: UUID) -> bytes | None:
        row = self._connection.row(
            "SELECT state FROM history_version WHERE org_id = ?", (org_id.bytes,)
        )
        return None if row is None else row[0]

    def _changed(self, org_id: UUID) -> None:
        """Raise the version of the history after a write that may change its answers."""
        self._connection.execute(
            "INSERT INTO history_version (org_id, version, state) VALUES (?, 1, ?)"
            " ON CONFLICT (org_id) DO UPDATE SET version = history_version.version + 1,"
            " state = excluded.state",
            (org_id.bytes, uuid4().bytes),
        )

    def facts(self, org_id: UUID) -> Facts:
        org = (org_id.bytes,)
        found = self._connection.rows
        announced = found(f"{_ANNOUNCEMENT} WHERE org_id = ? ORDER BY number", org)
        configs = [_config(row)[0] for row in found(f"{_CONFIG} WHERE org_id = ?", org)]
        return Facts(
            announcements=tuple(announcement_of(row) for row in announced),
            reports=report_rows.load_all(self._connection, org_id.bytes),
            configs={Product(config.repo_key, config.suite): config for config in configs},
            reviews={review.key: review for review in self.history(org_id).reviews().values()},
        )

    def repositories(self, org_id: UUID) -> Iterator[tuple[str, str | None]]:
        for table in ("product", "suite_config", "live_run", "announcement"):
            found = f"SELECT DISTINCT repo_key, suite FROM {table} WHERE org_id = ?"
            for repo_key, suite in self._connection.rows(found, (org_id.bytes,)):
                yield repo_key, suite or None

    def box_names(self, org_id: UUID) -> Iterator[str]:
        org = org_id.bytes
        for statement in (_CREATED_BOXES, _LIVE_BOXES):
            yield from (name for (name,) in self._connection.rows(statement, (org,)))
        yield from (name for (name,) in self._connection.rows(REPORTED_NAMES, (org, org)))

    def configs(
        self, org_id: UUID, offset: int, limit: int, scope: Scope = EVERYTHING
    ) -> Listing[tuple[SuiteConfig, datetime]]:
        given = {"repo_key": scope.repo_key, "suite": scope.suite}
        asked = {column: name for column, name in given.items() if name is not None}
        of = "".join(f" AND {column} = ?" for column in asked)
        statement = f"{_CONFIG} WHERE org_id = ?{of} ORDER BY updated_at DESC, repo_key, suite"
        return self._slice(_config, statement, (org_id.bytes, *asked.values()), offset, limit)

    def reports(self, org_id: UUID) -> Iterator[tuple[Report, datetime]]:
        return report_rows.load_each(self._connection, org_id.bytes)

    def announcements(self, org_id: UUID) -> Iterator[tuple[Announcement, datetime]]:
        columns = _ANNOUNCEMENT.replace(" FROM", ", arrived_at FROM")
        statement = f"{columns} WHERE org_id = ? ORDER BY number"
        for *row, at in self._connection.each(statement, (org_id.bytes,)):
            yield announcement_of(row), codec.from_micros(at)

    def holds(self, org_id: UUID, sent: Report | Announcement, arrived_at: datetime | None) -> bool:
        identity: tuple[object, ...]
        if isinstance(sent, Report):
            part = 1 if sent.part_of is None else sent.part_of.part
            at = codec.to_micros_or_none(arrived_at) or 0
            identity = (sent.repo_key, sent.run_id, sent.ci_run_id, sent.run_attempt, sent.box_key)
            identity += (sent.run_id, part, at)
            of = "report WHERE org_id = ? AND repo_key = ? AND run_id IN (?, ?) AND run_attempt = ?"
            of += " AND box_key = ? AND (run_id = ? OR coalesce(parts, 1) < ? AND arrived_at > ?)"
        else:
            identity = (sent.repo_key, sent.suite or "", sent.sha)
            of = "announcement WHERE org_id = ? AND repo_key = ? AND suite = ? AND sha = ?"
        return self._connection.row(f"SELECT 1 FROM {of}", (org_id.bytes, *identity)) is not None

    def announce(self, org_id: UUID, announcement: Announcement, at: datetime) -> None:
        row = (
            org_id.bytes,
            announcement.repo_key,
            announcement.suite or "",
            announcement.sha,
            announcement.branch,
            codec.to_micros(announcement.merged_at),
            announcement.ci_url,
        )
        runs = self.history(org_id).sighted_runs(announcement.repo_key, announcement.sha)
        checks = count_checks(announcement, runs)
        inserted = self._connection.execute(
            f"INSERT INTO announcement ({KEPT['announcement']}, digest, arrived_at, checks)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (*row, digests.of_values(*row), codec.to_micros(at), checks),
        )
        if inserted.rowcount:
            self._changed(org_id)
            return
        first = self._connection.row(
            f"{_ANNOUNCEMENT} WHERE org_id = ? AND repo_key = ? AND suite = ? AND sha = ?", row[:4]
        )
        assert first is not None
        if announcement_of(first) != announcement:
            replaced.keep(self._connection, org_id.bytes, announcement, at, at)

    def put_report(self, org_id: UUID, report: Report, at: datetime) -> None:
        ingest.put_report(self._connection, org_id.bytes, report, at)
        self._changed(org_id)

    def replaced(self, org_id: UUID, before: datetime) -> Mapping[SentKind, int]:
        return replaced.counts(self._connection, org_id.bytes, before)

    def keep_decisions(
        self, org_id: UUID, version: int, decided: Sequence[tuple[Episode, Decision]]
    ) -> None:
        if self.version(org_id) == version:
            EpisodeAnswers(self._connection, org_id).keep(decided)

    def drop_replaced(self, org_id: UUID, before: datetime) -> None:
        replaced.drop(self._connection, org_id.bytes, before)

    def rebuild(self, org_id: UUID) -> None:
        ingest.rederive(self._connection, org_id.bytes)
        self._changed(org_id)

    def put_config(self, org_id: UUID, config: SuiteConfig, at: datetime) -> None:
        row = (
            org_id.bytes,
            config.repo_key,
            config.suite,
            codec.config_json(config),
            codec.to_micros(at),
        )
        former = self._connection.row(
            f"{_CONFIG} WHERE org_id = ? AND repo_key = ? AND suite = ?", row[:3]
        )
        if former is not None and (earlier := _config(former))[0] != config:
            replaced.keep(self._connection, org_id.bytes, *earlier, at)
        self._changed(org_id)
        self._connection.execute(
            upsert(
                "suite_config", [*_digested("suite_config"), "version"], "org_id, repo_key, suite"
            ),
            (*row, digests.of_values(*row), self.version(org_id)),
        )

    def put_review(self, org_id: UUID, failure_id: UUID, review: Review) -> None:
        last = self._connection.row(
            "SELECT coalesce(max(number), 0) FROM review WHERE org_id = ?", (org_id.bytes,)
        )
        assert last is not None
        row = (
            org_id.bytes,
            failure_id.bytes,
            last[0] + 1,
            *review.key.lane,
            review.key.sha,
            review.action,
            review.by_id,
            review.by_name,
            codec.to_micros(review.at),
            review.note,
            review.issue,
        )
        statement = upsert("review", _digested("review"), "org_id, failure_id")
        with ingest.settling_review(self._connection, org_id.bytes, failure_id.bytes):
            self._connection.execute(statement, (*row, digests.of_values(*row)))
        self._changed(org_id)

    def drop_reviews(self, org_id: UUID, failure_ids: Sequence[UUID]) -> None:
        org = org_id.bytes
        for one in failure_ids:
            with ingest.settling_review(self._connection, org, one.bytes):
                self._connection.execute(
                    "DELETE FROM review WHERE org_id = ? AND failure_id = ?", (org, one.bytes)
                )
        self._changed(org_id)


def _digested(table: str) -> list[str]:
    """Return the columns of a table of `KEPT` with that of its digest."""
    return [*KEPT[table].split(", "), "digest"]


def _config(row: tuple[Any, ...]) -> tuple[SuiteConfig, datetime]:
    repo_key, suite, body, updated_at = row
    return codec.config_of(repo_key, suite, body), codec.from_micros(updated_at)
