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
from hwci.server.storage.sql.accounts.users import OF_USER, membership_of, user_of
from hwci.server.storage.sql.codec import (
    from_micros,
    from_micros_or_none,
    to_micros,
    to_micros_or_none,
)
from hwci.server.storage.sql.rows import Rows

_SESSION = "SELECT id, user_id, created_at, ended_at, client FROM session"
# Of an open session exactly one token is unused: each renewal uses one up and adds the next.
_OPEN_SESSION = (
    "SELECT s.id, s.user_id, s.created_at, s.ended_at, s.client, t.expires_at FROM session s"
    " JOIN refresh_token t ON t.session_id = s.id AND t.used_at IS NULL"
    " WHERE s.user_id = ? AND s.ended_at IS NULL AND t.expires_at > ?"
    " ORDER BY s.created_at DESC, s.rowid DESC"
)
_SIGNED_IN = (
    "SELECT s.id, s.user_id, s.created_at, s.ended_at, s.client,"
    f" {', '.join(f'u.{column}' for column in OF_USER)},"
    " o.id, o.name, o.ci_metrics_enabled, o.created_at, m.role, m.joined_at"
    " FROM session s JOIN user u ON u.id = s.user_id"
    " LEFT JOIN membership m ON m.org_id = ? AND m.user_id = u.id"
    " LEFT JOIN organization o ON o.id = m.org_id WHERE s.id = ?"
)
_OF_SESSION = 5
_OF_USER = _OF_SESSION + len(OF_USER)
"""Where the columns of a session end in it, and those of a user."""
_REFRESH_TOKEN = "SELECT digest, session_id, user_id, expires_at, used_at FROM refresh_token"

_NO_SESSION = b""


class SessionRows(Rows):
    """Sign-ins."""

    def session(self, session_id: UUID) -> Session | None:
        return self._one(_session, f"{_SESSION} WHERE id = ?", session_id.bytes)

    def signed_in(self, session_id: UUID, org_id: UUID | None) -> SignedIn | None:
        org = None if org_id is None else org_id.bytes
        return self._one(_signed_in, _SIGNED_IN, org, session_id.bytes)

    def open_sessions(
        self, user_id: UUID, now: datetime, offset: int, limit: int
    ) -> Listing[OpenSession]:
        values = (user_id.bytes, to_micros(now))
        return self._slice(_open_session, _OPEN_SESSION, values, offset, limit)

    def refresh_token(self, digest: bytes) -> RefreshToken | None:
        return self._one(_refresh_token, f"{_REFRESH_TOKEN} WHERE digest = ?", digest)

    def add_session(self, session: Session) -> None:
        self._connection.execute(
            "INSERT INTO session (id, user_id, created_at, ended_at, client)"
            " VALUES (?, ?, ?, ?, ?)",
            (
                session.id.bytes,
                session.user_id.bytes,
                to_micros(session.created_at),
                to_micros_or_none(session.ended_at),
                session.client,
            ),
        )

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
        self._connection.execute(
            "INSERT INTO refresh_token (digest, session_id, user_id, expires_at, used_at)"
            " VALUES (?, ?, ?, ?, ?)",
            (
                token.digest,
                token.session_id.bytes,
                token.user_id.bytes,
                to_micros(token.expires_at),
                to_micros_or_none(token.used_at),
            ),
        )

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


def _session(row: tuple[Any, ...]) -> Session:
    session_id, user_id, created_at, ended_at, client = row
    return Session(
        UUID(bytes=session_id),
        UUID(bytes=user_id),
        from_micros(created_at),
        client,
        from_micros_or_none(ended_at),
    )


def _signed_in(row: tuple[Any, ...]) -> SignedIn:
    of_membership = row[_OF_USER:]
    return SignedIn(
        _session(row[:_OF_SESSION]),
        user_of(row[_OF_SESSION:_OF_USER]),
        None if of_membership[0] is None else membership_of(of_membership),
    )


def _open_session(row: tuple[Any, ...]) -> OpenSession:
    return OpenSession(_session(row[:-1]), from_micros(row[-1]))


def _refresh_token(row: tuple[Any, ...]) -> RefreshToken:
    digest, session_id, user_id, expires_at, used_at = row
    return RefreshToken(
        digest,
        UUID(bytes=session_id),
        UUID(bytes=user_id),
        from_micros(expires_at),
        from_micros_or_none(used_at),
    )
