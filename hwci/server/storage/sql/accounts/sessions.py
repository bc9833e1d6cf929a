# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Sign-ins: sessions and their refresh tokens, which arrive here as digests.

This module decides no policy, only that a token is used up in one statement.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from hwci.engine.history import Listing
from hwci.server.storage.records import OpenSession, RefreshToken, Session, SignedIn
from hwci.server.storage.sql.accounts.users import OF_MEMBERSHIP, USER
from hwci.server.storage.sql.codec import to_micros
from hwci.server.storage.sql.columns import columns_of
from hwci.server.storage.sql.rows import Rows, insert

_SESSION = columns_of(Session)
_OPEN_SESSION = columns_of(OpenSession)
_SIGNED_IN = columns_of(SignedIn, user=USER)
_TOKEN = columns_of(RefreshToken)

# Of an open session exactly one token is unused: each renewal uses one up and adds the next.
_SELECT_OPEN = f"""
SELECT {_SESSION.of("s")}, t.expires_at
FROM session s
JOIN refresh_token t ON t.session_id = s.id AND t.used_at IS NULL
WHERE s.user_id = ? AND s.ended_at IS NULL AND t.expires_at > ?
ORDER BY s.created_at DESC, s.rowid DESC
"""
_SELECT_SIGNED_IN = f"""
SELECT {_SESSION.of("s")}, {USER.of("u")}, {OF_MEMBERSHIP}
FROM session s
JOIN user u ON u.id = s.user_id
LEFT JOIN membership m ON m.org_id = ? AND m.user_id = u.id
LEFT JOIN organization o ON o.id = m.org_id
WHERE s.id = ?
"""

_NO_SESSION = b""


class SessionRows(Rows):
    """Sign-ins."""

    def session(self, session_id: UUID) -> Session | None:
        statement = f"SELECT {_SESSION.of('s')} FROM session s WHERE s.id = ?"
        return self._first(_SESSION.read, statement, session_id.bytes)

    def signed_in(self, session_id: UUID, org_id: UUID | None) -> SignedIn | None:
        org = None if org_id is None else org_id.bytes
        return self._first(_SIGNED_IN.read, _SELECT_SIGNED_IN, org, session_id.bytes)

    def open_sessions(
        self, user_id: UUID, now: datetime, offset: int, limit: int
    ) -> Listing[OpenSession]:
        values = (user_id.bytes, to_micros(now))
        return self._slice(_OPEN_SESSION.read, _SELECT_OPEN, values, offset, limit)

    def refresh_token(self, digest: bytes) -> RefreshToken | None:
        statement = f"SELECT {_TOKEN.of('t')} FROM refresh_token t WHERE t.digest = ?"
        return self._first(_TOKEN.read, statement, digest)

    def add_session(self, session: Session) -> None:
        self._connection.execute(insert("session", _SESSION.names), _SESSION.row(session))

    def end_session(self, session_id: UUID, at: datetime) -> None:
        self._connection.execute(
            "UPDATE session SET ended_at = ? WHERE id = ? AND ended_at IS NULL",
            (to_micros(at), session_id.bytes),
        )

    def end_sessions(self, user_id: UUID, at: datetime, but: UUID | None = None) -> int:
        ended = self._connection.execute(
            "UPDATE session SET ended_at = ? WHERE user_id = ? AND ended_at IS NULL AND id <> ?",
            (to_micros(at), user_id.bytes, but.bytes if but else _NO_SESSION),
        )
        return ended.rowcount

    def add_refresh_token(self, token: RefreshToken) -> None:
        self._connection.execute(insert("refresh_token", _TOKEN.names), _TOKEN.row(token))

    def use_refresh_token(self, digest: bytes, at: datetime) -> bool:
        # In one statement: what was read before may have changed.
        used = self._connection.execute(
            "UPDATE refresh_token SET used_at = ?1"
            " WHERE digest = ?2 AND used_at IS NULL AND expires_at > ?1 AND EXISTS"
            " (SELECT 1 FROM session WHERE id = refresh_token.session_id AND ended_at IS NULL)",
            (to_micros(at), digest),
        )
        return used.rowcount == 1

    def expire_tokens(self, user_id: UUID) -> None:
        self._connection.execute(
            "UPDATE refresh_token SET expires_at = 0 WHERE user_id = ?", (user_id.bytes,)
        )

    def drop_refresh_tokens(self, before: datetime, most: int) -> int:
        expired = self._connection.rows(
            "DELETE FROM refresh_token WHERE digest IN"
            " (SELECT digest FROM refresh_token WHERE expires_at <= ? LIMIT ?)"
            " RETURNING session_id",
            (to_micros(before), most),
        )
        self._drop_sessions_without_token(expired)
        return len(expired)

    def _drop_sessions_without_token(self, sessions: Sequence[tuple[Any, ...]]) -> None:
        self._connection.execute_many(
            "DELETE FROM session WHERE id = ?1"
            " AND NOT EXISTS (SELECT 1 FROM refresh_token WHERE session_id = ?1)",
            set(sessions),
        )
