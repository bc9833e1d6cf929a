# SPDX-License-Identifier: Apache-2.0
"""Registration, signing in and out (contract, "Auth").

This module decides who may register and what a sign-in is. How passwords and tokens are made is
decided in `security`. Rotation of refresh tokens and single sign-on will stand beside it.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from hwci.server.clock import Clock
from hwci.server.errors import ForbiddenError, UnauthenticatedError
from hwci.server.security.passwords import Passwords
from hwci.server.security.tokens import AccessTokens, Claims, new_refresh_token, refresh_digest
from hwci.server.services.organizations import found_organization, own_organization
from hwci.server.settings import Registration
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Membership, Session, User
from hwci.wire import accounts as wire
from hwci.wire import limits

REFUSALS = {
    Registration.INVITE: "Registration needs an invitation; ask an owner of your organization",
    Registration.CLOSED: "Registration is closed; ask the operator of this service for an account",
}


def email_key(email: str) -> str:
    """Fold an e-mail: two that differ in case are one account."""
    return email.strip().casefold()


@dataclass(frozen=True, slots=True)
class _Started:
    user: User
    session: Session
    refresh_token: str
    membership: Membership | None


class Accounts:
    """People and their sign-ins."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        passwords: Passwords,
        tokens: AccessTokens,
        policy: Registration,
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._passwords = passwords
        self._tokens = tokens
        self._policy = policy

    async def register(self, body: wire.Registration) -> wire.SignedIn:
        """Create a user, and an organization of their own when they name one, and sign them in.

        Raises:
            ForbiddenError: the operator's policy does not allow it.
            ClashError: the e-mail is taken.
        """
        if self._policy in REFUSALS:
            raise ForbiddenError(REFUSALS[self._policy])
        now = self._clock()
        user = new_user(body.email, body.name, await self._passwords.hash(body.password), now)

        def work(writer: Writer) -> _Started:
            writer.add_user(user)
            if body.organization is not None:
                found_organization(writer, body.organization, user.id, now)
            return _start(writer, user, now)

        return self._signed_in(await self._storage.write(work))

    async def login(self, body: wire.Login) -> wire.SignedIn:
        """Sign a user in. Raises `UnauthenticatedError`, one for a wrong e-mail or password."""
        key = email_key(body.email)
        user = await self._storage.read(lambda reader: reader.user_by_email(key), short=True)
        kept = None if user is None else user.password_hash
        matches = await self._passwords.matches(body.password, kept)
        if user is None or not matches:
            raise UnauthenticatedError("Invalid e-mail or password")
        now = self._clock()
        return self._signed_in(await self._storage.write(lambda writer: _start(writer, user, now)))

    async def logout(self, body: wire.Logout) -> None:
        """End the sign-in of a refresh token; its access tokens end with it.

        Anyone may ask: a token that ends nothing must not cost a write.
        """
        digest, now = refresh_digest(body.refresh_token), self._clock()
        session = await self._storage.read(
            lambda reader: reader.session_by_refresh(digest), short=True
        )
        if session is not None and session.ended_at is None:
            await self._storage.write(lambda writer: writer.end_session(digest, now))

    async def me(self, user: User) -> wire.Me:
        """Say who the caller is, and in which organizations."""

        def work(reader: Reader) -> wire.Me:
            found = reader.memberships(user.id, 0, limits.INTEGER_MAX)
            return wire.Me(
                user=user_answer(user),
                organizations=[own_organization(item) for item in found.items],
            )

        return await self._storage.read(work)

    def _signed_in(self, started: _Started) -> wire.SignedIn:
        found = started.membership
        return wire.SignedIn(
            user=user_answer(started.user),
            organization=None
            if found is None
            else wire.OrganizationRole(
                id=found.organization.id, name=found.organization.name, role=found.role
            ),
            access_token=self._tokens.issue(Claims(started.user.id, started.session.id)),
            refresh_token=started.refresh_token,
            expires_in=int(limits.ACCESS_TOKEN_LIFETIME.total_seconds()),
        )


def new_user(email: str, name: str | None, password_hash: str, now: datetime) -> User:
    """Make a user's record."""
    return User(uuid4(), email, email_key(email), name or "", password_hash, now)


def user_answer(user: User) -> wire.UserAnswer:
    """Give a user as others may see them."""
    return wire.UserAnswer(id=user.id, email=user.email, name=user.name)


def _start(writer: Writer, user: User, now: datetime) -> _Started:
    token = new_refresh_token()
    session = Session(
        uuid4(), user.id, refresh_digest(token), now, now + limits.REFRESH_TOKEN_LIFETIME
    )
    writer.add_session(session)
    newest = writer.memberships(user.id, 0, 1).items
    return _Started(user, session, token, newest[0] if newest else None)
