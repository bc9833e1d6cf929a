# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method
"""Sign-ins in memory."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hwci.engine.history import Listing
from hwci.server.storage.memory.lists import newest, slice_of
from hwci.server.storage.memory.state import State
from hwci.server.storage.records import OpenSession, RefreshToken, Session


class MemorySessions:
    """Sign-ins of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def session(self, session_id: UUID) -> Session | None:
        return self._state.sessions.get(session_id)

    def open_sessions(
        self, user_id: UUID, now: datetime, offset: int, limit: int
    ) -> Listing[OpenSession]:
        found = [
            OpenSession(session, token.expires_at)
            for session in self._state.sessions.values()
            for token in self._state.refresh_tokens.values()
            if (session.user_id, session.ended_at) == (user_id, None)
            and (token.session_id, token.used_at) == (session.id, None)
            and token.expires_at > now
        ]
        return slice_of(newest(found, lambda one: one.session.created_at), offset, limit)

    def refresh_token(self, digest: bytes) -> RefreshToken | None:
        return self._state.refresh_tokens.get(digest)

    def add_session(self, session: Session) -> None:
        self._state.sessions[session.id] = session

    def end_session(self, session_id: UUID, at: datetime) -> None:
        session = self._state.sessions.get(session_id)
        if session is not None and session.ended_at is None:
            self._state.sessions[session_id] = replace(session, ended_at=at)

    def end_sessions(self, user_id: UUID, at: datetime, but: UUID | None = None) -> int:
        live = [
            session.id
            for session in self._state.sessions.values()
            if session.user_id == user_id and session.ended_at is None and session.id != but
        ]
        for session_id in live:
            self.end_session(session_id, at)
        return len(live)

    def add_refresh_token(self, token: RefreshToken) -> None:
        self._state.refresh_tokens[token.digest] = token

    def use_refresh_token(self, digest: bytes, at: datetime) -> bool:
        token = self.refresh_token(digest)
        if token is None or token.used_at is not None or token.expires_at <= at:
            return False
        session = self.session(token.session_id)
        if session is None or session.ended_at is not None:
            return False
        self._state.refresh_tokens[digest] = replace(token, used_at=at)
        return True

    def drop_expired(self, user_id: UUID, expired_at: datetime) -> None:
        for token in list(self._state.refresh_tokens.values()):
            if token.user_id == user_id and token.expires_at <= expired_at:
                del self._state.refresh_tokens[token.digest]
                self._drop_session_without_token(token.session_id)

    def drop_refresh_tokens(self, before: datetime, most: int) -> int:
        expired = [t for t in self._state.refresh_tokens.values() if t.expires_at <= before][:most]
        for token in expired:
            del self._state.refresh_tokens[token.digest]
            self._drop_session_without_token(token.session_id)
        return len(expired)

    def _drop_session_without_token(self, session_id: UUID) -> None:
        tokens = self._state.refresh_tokens.values()
        if all(token.session_id != session_id for token in tokens):
            del self._state.sessions[session_id]
