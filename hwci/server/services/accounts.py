# SPDX-License-Identifier: Apache-2.0
"""Registration, signing in and out, renewal of a sign-in (contract, "Auth").

This module decides who may register, what a sign-in is, and what the use of a refresh token does.
How passwords and tokens are made is decided in `security`. Single sign-on will stand beside it.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from hwci.server.clock import Clock
from hwci.server.errors import ForbiddenError, UnauthenticatedError
from hwci.server.security.passwords import Passwords
from hwci.server.security.tokens import AccessTokens, Claims, new_token, token_digest
from hwci.server.services.organizations import found_organization, own_organization
from hwci.server.settings import Registration
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Membership, RefreshToken, Session, User
from hwci.wire import accounts as wire
from hwci.wire import limits

REFUSALS = {
    Registration.INVITE: "Registration needs an invitation; ask an owner of your organization",
    Registration.CLOSED: "Registration is closed; ask the operator of this service for an account",
}

_EXPIRES_IN = int(limits.ACCESS_TOKEN_LIFETIME.total_seconds())
_NO_REFRESH = "The refresh token is unknown, has ended or was used before; sign in again"


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

    async def refresh(self, body: wire.Refresh) -> wire.TokenPair:
        """Exchange a refresh token for a new pair.

        Anyone may ask: a token that opens and ends nothing must not cost a write.

        Raises:
            UnauthenticatedError: the token opens nothing. If that is because it was used before,
                every session of its user has ended: this is committed by then.
        """
        digest, now = token_digest(body.refresh_token or ""), self._clock()
        held = await self._storage.read(lambda reader: reader.refresh_token(digest), short=True)
        if held is None or held.expires_at <= now:
            raise UnauthenticatedError(_NO_REFRESH)
        token = await self._storage.write(lambda writer: _rotate(writer, held, now))
        if token is None:
            raise UnauthenticatedError(_NO_REFRESH)
        return wire.TokenPair(
            access_token=self._tokens.issue(Claims(held.user_id, held.session_id)),
            refresh_token=token,
            expires_in=_EXPIRES_IN,
        )

    async def logout(self, body: wire.Logout) -> None:
        """End the sign-in of a refresh token; its access tokens end with it.

        Anyone may ask: a token that ends nothing must not cost a write.
        """
        digest, now = token_digest(body.refresh_token or ""), self._clock()

        def find(reader: Reader) -> Session | None:
            held = reader.refresh_token(digest)
            return None if held is None else reader.session(held.session_id)

        session = await self._storage.read(find, short=True)
        if session is not None and session.ended_at is None:
            await self._storage.write(lambda writer: writer.end_session(session.id, now))

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
            expires_in=_EXPIRES_IN,
        )


def new_user(email: str, name: str | None, password_hash: str, now: datetime) -> User:
    """Make a user's record."""
    return User(uuid4(), email, email_key(email), name or "", password_hash, now)


def user_answer(user: User) -> wire.UserAnswer:
    """Give a user as others may see them."""
    return wire.UserAnswer(id=user.id, email=user.email, name=user.name)


def _start(writer: Writer, user: User, now: datetime) -> _Started:
    session = Session(uuid4(), user.id, now)
    writer.add_session(session)
    token = _hand_out(writer, user.id, session.id, now)
    newest = writer.memberships(user.id, 0, 1).items
    return _Started(user, session, token, newest[0] if newest else None)


def _hand_out(writer: Writer, user_id: UUID, session_id: UUID, now: datetime) -> str:
    """Make the next refresh token of a session. Expired ones need not be known any longer."""
    token = new_token()
    expires_at = now + limits.REFRESH_TOKEN_LIFETIME
    writer.drop_expired(user_id, now)
    writer.add_refresh_token(RefreshToken(token_digest(token), session_id, user_id, expires_at))
    return token


def _rotate(writer: Writer, held: RefreshToken, now: datetime) -> str | None:
    """Use a token up and give the next one, or None: "if one refresh token is used twice, all
    sessions of that user are revoked" (spec, "Authentication").

    Nothing is raised here, as that would undo the revocation.
    """
    if writer.use_refresh_token(held.digest, now):
        return _hand_out(writer, held.user_id, held.session_id, now)
    found = writer.refresh_token(held.digest)
    if found is not None and found.used_at is not None:
        writer.end_sessions(held.user_id, now)
    return None
