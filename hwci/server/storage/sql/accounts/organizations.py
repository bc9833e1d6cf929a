# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Deleted organizations: when all of one goes, and in which order. The audit log alone stays, as
its chain runs through all organizations. And how long organizations keep what they were sent.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from hwci.server.storage.records import Counting, KeepDays, Kept
from hwci.server.storage.sql.codec import to_micros, to_micros_or_none, uuid_of
from hwci.server.storage.sql.columns import columns_of
from hwci.server.storage.sql.rows import Rows, upsert

TABLES: Mapping[str, str] = {
    "membership": "user_id",
    "history_version": "org_id",
    "webhook": "id",
    "ongoing": "webhook_id, event, name",
    "delivery": "number",
    "ci_key": "id",
    "reader_key": "id",
    "job_key": "id",
    "ci_trust": "id",
    "invite": "digest",
    "usage": "org_id",
    "keeping": "kind",
    "box": "id",
    "box_note": "id",
    "known_failure": "id",
    "live_run": "id",
    "live_test": "run_id, name",
    "event": "number",
    "underived": "org_id",
    "episode": "number",
    "failure": "id",
    "walk_commit": "repo_key, last_sha, fix_sha, sha",
    "day_run": "product_id, day, box_key, template_id",
    "day_result": "product_id, day",
    "changes_commit": "repo_key, sha, changes_id",
    "run_changes": "repo_key, workflow, branch, sha, run_id",
    "mention": "repo_key, sha, branch, started_at, way, position, report_id",
    "place": "repo_key, sha, branch",
    "review": "failure_id",
    "item": "report_id, test",
    "report": "id",
    "replaced": "number",
    "announcement": "number",
    "suite_config": "repo_key, suite",
    "changes": "id",
    "template": "id",
    "test": "product_id, number",
    "product": "id",
}
"""What a row of each is found by within its organization, in the order in which they are emptied:
nobody undoes what began, as the members go first; then what the service would go on working with.
"""


_COUNTING = columns_of(Counting)


def _drop(table: str, key: str) -> str:
    return (
        f"DELETE FROM {table} WHERE org_id = ? AND ({key}) IN"
        f" (SELECT {key} FROM {table} WHERE org_id = ? LIMIT ?)"
    )


class OrganizationRows(Rows):
    """Organizations that are deleted, and the days for which they keep something."""

    def set_keep_days(self, org_id: UUID, days: KeepDays) -> None:
        self._connection.execute(
            "UPDATE organization SET keep_reports_days = ?, keep_messages_days = ?,"
            " keep_logs_days = ? WHERE id = ?",
            (days.reports, days.messages, days.logs, org_id.bytes),
        )

    def counting(self, org_id: UUID) -> Mapping[Kept, Counting]:
        rows = self._connection.rows(
            f"SELECT k.kind, {_COUNTING.of('k')} FROM keeping k WHERE k.org_id = ?", (org_id.bytes,)
        )
        return {Kept(kind): _COUNTING.read(counting) for kind, *counting in rows}

    def set_counting(self, org_id: UUID, kind: Kept, counting: Counting | None) -> None:
        if counting is None:
            self._connection.execute(
                "DELETE FROM keeping WHERE org_id = ? AND kind = ?", (org_id.bytes, kind)
            )
            return
        self._connection.execute(
            upsert("keeping", ("org_id", "kind", *_COUNTING.names), "org_id, kind"),
            (org_id.bytes, kind, *_COUNTING.row(counting)),
        )

    def organizations_to_erase(self, now: datetime) -> Sequence[UUID]:
        rows = self._connection.rows(
            "SELECT id FROM organization WHERE erase_at <= ? ORDER BY erase_at", (to_micros(now),)
        )
        return [uuid_of(org_id) for (org_id,) in rows]

    def set_erase_at(self, org_id: UUID, at: datetime | None) -> None:
        self._connection.execute(
            "UPDATE organization SET erase_at = ? WHERE id = ?",
            (to_micros_or_none(at), org_id.bytes),
        )

    def drop_organization(self, org_id: UUID, most: int) -> bool:
        left = most
        for table, key in TABLES.items():
            values = (org_id.bytes, org_id.bytes, left)
            left -= self._connection.execute(_drop(table, key), values).rowcount
            if left <= 0:
                return False
        self._connection.execute("DELETE FROM organization WHERE id = ?", (org_id.bytes,))
        return True
