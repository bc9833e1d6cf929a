# SPDX-License-Identifier: Apache-2.0
"""One's own account: changing or resetting its password, listing and ending its sign-ins (contract,
"Auth"). How often a password may be tried is decided in `rate_limits.py`, who gets a reset link in
`operator.py`.
"""

from datetime import datetime
from uuid import UUID

from hwci.contract.shape import ListPage
from hwci.server.clock import Clock
from hwci.server.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    UnfitError,
    WrongPasswordError,
)
from hwci.server.security.passwords import Passwords
from hwci.server.security.tokens import token_digest
from hwci.server.services.access import Person, signed_in
from hwci.server.services.audit import entry_of, record_everywhere
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import OpenSession, User
from hwci.wire import accounts as wire
from hwci.wire import limits
from hwci.wire.accounts import guessed_first
from hwci.wire.queries import PageQuery

_NO_PASSWORD = (
    "This account has no password: you sign in through a provider. The operator of this server"
    " can give it one: hwci admin reset-password --email EMAIL"
)
_WRONG = "Should be the password that you have now"
_NO_LINK = (
    "The link is unknown, was used or has expired; ask the operator of this server for a new one"
)


class OwnAccount:
    """One's own account."""

    def __init__(self, storage: Storage, clock: Clock, passwords: Passwords) -> None:
        self._storage = storage
        self._clock = clock
        self._passwords = passwords

    async def change_password(
        self, person: Person, body: wire.PasswordChange
    ) -> wire.SessionsEnded:
        """Change the password, and end every other sign-in of the person.

        Raises:
            UnfitError: the new password is the e-mail.
            ConflictError: the account has no password.
            WrongPasswordError: the current password is wrong.
            UnauthenticatedError: this sign-in has ended meanwhile.
        """
        user = person.user
        _require_fit(body.new_password, user)
        if user.password_hash is None:
            raise ConflictError(_NO_PASSWORD)
        if not await self._passwords.matches(body.current_password, user.password_hash):
            raise WrongPasswordError("currentPassword", _WRONG)
        hashed, now = await self._passwords.hash(body.new_password), self._clock()

        def work(writer: Writer) -> wire.SessionsEnded:
            # Hashing takes time: of two changes at once only one succeeds.
            if signed_in(writer, person.claims).password_hash != user.password_hash:
                raise WrongPasswordError("currentPassword", _WRONG)
            writer.set_password(user.id, hashed)
            ended = writer.end_sessions(user.id, now, but=person.claims.session_id)
            _record(writer, user, now, "password.changed", ended)
            return wire.SessionsEnded(ended=ended)

        return await self._storage.write(work, person=user.id)

    async def reset_password(self, body: wire.PasswordReset) -> None:
        """Set the password of the user whose reset link this is, and end all their sign-ins.

        Raises:
            ForbiddenError: the link does not work.
            UnfitError: the new password is the e-mail.
        """
        digest, now = token_digest(body.reset_token), self._clock()
        # Checked before the password is hashed, which is costly, and again when it is written.
        user = await self._storage.read(lambda reader: _of_link(reader, digest, now), short=True)
        _require_fit(body.new_password, user)
        hashed = await self._passwords.hash(body.new_password)

        def work(writer: Writer) -> None:
            _of_link(writer, digest, now)
            writer.set_password(user.id, hashed)
            ended = writer.end_sessions(user.id, now)
            _record(writer, user, now, "password.reset", ended)

        await self._storage.write(work, person=user.id)

    async def sessions(self, person: Person, query: PageQuery) -> ListPage[wire.SessionAnswer]:
        """List the person's sign-ins that have not ended."""
        now = self._clock()

        def work(reader: Reader) -> ListPage[wire.SessionAnswer]:
            rows = reader.open_sessions(person.user.id, now, query.offset, query.limit)
            return query.page_of(rows, lambda row: _answer(row, person))

        return await self._storage.read(work)

    async def end_session(self, person: Person, session_id: UUID | None) -> None:
        """End one sign-in of the person, at once. Raises `NotFoundError`."""
        now = self._clock()

        def work(writer: Writer) -> None:
            session = None if session_id is None else writer.session(session_id)
            if session is None or session.user_id != person.user.id or session.ended_at is not None:
                raise NotFoundError("Session not found")
            writer.end_session(session.id, now)
            _record(writer, person.user, now, "session.ended", 1)

        await self._storage.write(work, person=person.user.id)

    async def end_others(self, person: Person) -> wire.SessionsEnded:
        """End every other sign-in of the person, at once."""
        now = self._clock()

        def work(writer: Writer) -> wire.SessionsEnded:
            ended = writer.end_sessions(person.user.id, now, but=person.claims.session_id)
            if ended:
                _record(writer, person.user, now, "session.ended", ended)
            return wire.SessionsEnded(ended=ended)

        return await self._storage.write(work, person=person.user.id)


def _require_fit(password: str, user: User) -> None:
    fault = guessed_first(password, user.email)
    if fault is not None:
        raise UnfitError("newPassword", fault)


def _of_link(reader: Reader, digest: bytes, now: datetime) -> User:
    user = reader.user_by_reset(digest, now)
    if user is None:
        raise ForbiddenError(_NO_LINK)
    return user


def _record(writer: Writer, user: User, now: datetime, action: str, ended: int) -> None:
    entry = entry_of(user, now, action, user.id, sessions=ended)
    record_everywhere(writer, user.id, entry)


def _answer(session: OpenSession, person: Person) -> wire.SessionAnswer:
    """Return a sign-in as its user sees it. Each use issues the next refresh token."""
    return wire.SessionAnswer(
        id=session.session.id,
        client=session.session.client,
        created_at=session.session.created_at,
        last_used_at=session.expires_at - limits.REFRESH_TOKEN_LIFETIME,
        current=session.session.id == person.claims.session_id,
    )
