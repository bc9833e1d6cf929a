# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Trusts, and keys of the jobs that signed in."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from hwci.engine.history import Listing
from hwci.server.storage.records import JobKey, Organization, Trust
from hwci.server.storage.sql.accounts.users import ORGANIZATION
from hwci.server.storage.sql.codec import to_micros
from hwci.server.storage.sql.columns import columns_of
from hwci.server.storage.sql.rows import Rows, insert, upsert

_TRUST = columns_of(Trust)
_KEY = columns_of(JobKey)

_SELECT_TRUST = f"SELECT {_TRUST.of('t')} FROM ci_trust t"
_KEY_WITH_ORGANIZATION = f"""
SELECT {ORGANIZATION.of("o")}, {_KEY.of("k")}
FROM job_key k
CROSS JOIN ci_trust t ON t.org_id = k.org_id AND t.id = k.trust_id
CROSS JOIN organization o ON o.id = k.org_id
WHERE k.digest = ?
"""


class TrustRows(Rows):
    """Trusts and keys of jobs."""

    def trusts(self, org_id: UUID, offset: int, limit: int) -> Listing[Trust]:
        statement = f"{_SELECT_TRUST} WHERE t.org_id = ? ORDER BY t.created_at DESC, t.rowid DESC"
        return self._slice(_TRUST.read, statement, (org_id.bytes,), offset, limit)

    def trusts_in(self, org_id: UUID, issuer: str) -> Sequence[Trust]:
        statement = f"{_SELECT_TRUST} WHERE t.org_id = ? AND t.issuer = ? ORDER BY t.rowid"
        return [
            _TRUST.read(row) for row in self._connection.rows(statement, (org_id.bytes, issuer))
        ]

    def is_trusted(self, issuer: str) -> bool:
        statement = "SELECT 1 FROM ci_trust t WHERE t.issuer = ? LIMIT 1"
        return self._connection.row(statement, (issuer,)) is not None

    def job_key(self, digest: bytes) -> tuple[JobKey, Organization] | None:
        row = self._connection.row(_KEY_WITH_ORGANIZATION, (digest,))
        if row is None:
            return None
        columns = iter(row)
        organization = ORGANIZATION.read(columns)
        return _KEY.read(columns), organization

    def put_trust(self, trust: Trust) -> None:
        self._connection.execute(upsert("ci_trust", _TRUST.names, "org_id, id"), _TRUST.row(trust))

    def remove_trust(self, org_id: UUID, trust_id: UUID) -> Trust | None:
        key = (org_id.bytes, trust_id.bytes)
        statement = f"{_SELECT_TRUST} WHERE t.org_id = ? AND t.id = ?"
        trust = self._first(_TRUST.read, statement, *key)
        self._connection.execute("DELETE FROM ci_trust WHERE org_id = ? AND id = ?", key)
        return trust

    def add_job_key(self, key: JobKey) -> bool:
        statement = f"{insert('job_key', _KEY.names)} ON CONFLICT (token) DO NOTHING"
        return self._connection.execute(statement, _KEY.row(key)).rowcount == 1

    def drop_job_keys(self, before: datetime, most: int) -> int:
        old = self._connection.rows(
            "SELECT k.org_id, k.id FROM job_key k WHERE k.kept_until < ? LIMIT ?",
            (to_micros(before), most),
        )
        self._connection.execute_many("DELETE FROM job_key WHERE org_id = ? AND id = ?", old)
        return len(old)
