# SPDX-License-Identifier: Apache-2.0
"""Registration, signing in with a password, renewal and signing out (contract, "Auth").

This module decides who may register and who may sign in. What a sign-in is, and what the use of a
refresh token does, is decided in `sessions.py`.
"""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from uuid import uuid4

from hwci.server.clock import Clock
from hwci.server.errors import ForbiddenError, UnauthenticatedError
from hwci.server.security.passwords import Passwords
from hwci.server.security.tokens import AccessTokens, token_digest
from hwci.server.services.people.invitations import any_stands, join, usable_invite
from hwci.server.services.people.organizations import add_organization
from hwci.server.services.people.sessions import (
    Started,
    email_key,
    renewed,
    rotate,
    signed_in,
    start,
)
from hwci.server.settings import Registration
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Invite, Session, User
from hwci.wire import accounts as wire
from hwci.wire import limits
from hwci.wire.queries import OwnOrganizationsQuery, PageQuery

_REFUSALS = {
    Registration.INVITE: "Registration needs an invitation; ask an owner of your organization",
    Registration.CLOSED: "Registration is closed; ask the operator of this server for an account",
}

_NO_LOGIN = "Invalid e-mail or password"
_NO_REFRESH = "The refresh token is unknown, has expired or was used before; sign in again"


class Accounts:
    """Accounts and their sign-ins."""

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

    async def register(self, body: wire.Registration, client: str) -> wire.SignedIn:
        """Create a user and sign them in. They join the organization of an invitation, and create
        one of their own if they name it.

        Raises:
            ForbiddenError: the operator's policy or the invitation does not allow it.
            ClashError: the e-mail is taken.
        """
        # Checked before the password is hashed, which is costly, and again when it is written.
        now = self._clock()

        def admit(reader: Reader) -> Invite | None:
            return admitted(reader, self._policy, body.email, body.invite_token, now)

        usable = await self._storage.read(admit, short=True)
        org_id = None if usable is None or usable.offer is None else usable.offer.org_id
        hashed = await self._passwords.hash(body.password)
        # Whoever invites an e-mail sees the token: using it proves nothing. The operator sees the
        # set-up token.
        is_set_up = usable is not None and usable.offer is None
        user = new_user(body.email, body.name, hashed, now, proved=is_set_up)

        def work(writer: Writer) -> Started:
            invite = admit(writer)
            writer.add_user(user)
            founded = invited = None
            if body.organization is not None:
                founded = add_organization(writer, body.organization, user.id, now)
            if invite is not None:
                invited = join(writer, invite, user, now)
            return start(writer, user, now, client, invited or founded)

        started = await self._storage.write(work, organization=org_id, person=user.id)
        return signed_in(self._tokens, started)

    def device(self, tokens: Iterable[str], email_key: str) -> str | None:
        """Return the name of a device that has signed in to this account; None if unknown."""
        return self._tokens.device(tokens, email_key)

    async def login(self, body: wire.Login, client: str) -> wire.SignedIn:
        """Sign in. Raises the same `UnauthenticatedError` for wrong data and a disabled user."""
        key = email_key(body.email)
        user = await self._storage.read(lambda reader: reader.user_by_email(key), short=True)
        stored = None if user is None else user.password_hash
        matches = await self._passwords.matches(body.password, stored)
        if user is None or not matches or user.disabled_at is not None:
            raise UnauthenticatedError(_NO_LOGIN)
        now = self._clock()

        def work(writer: Writer) -> Started:
            # Hashing takes time: the password may have changed, or the user may be disabled.
            if writer.user(user.id) != user:
                raise UnauthenticatedError(_NO_LOGIN)
            return start(writer, user, now, client)

        return signed_in(self._tokens, await self._storage.write(work, person=user.id))

    async def refresh(self, refresh_token: str) -> wire.TokenPair:
        """Exchange a refresh token for a new pair.

        Anyone may ask: a token that has no effect must not cost a write.

        Raises:
            UnauthenticatedError: the token does not work. If it was used before, every session of
                its user has ended, which is committed by then.
        """
        digest, now = token_digest(refresh_token), self._clock()
        held = await self._storage.read(lambda reader: reader.refresh_token(digest), short=True)
        if held is None or held.expires_at <= now:
            raise UnauthenticatedError(_NO_REFRESH)
        token = await self._storage.write(
            lambda writer: rotate(writer, held, now), person=held.user_id
        )
        if token is None:
            raise UnauthenticatedError(_NO_REFRESH)
        return renewed(self._tokens, held, token)

    async def logout(self, refresh_token: str) -> None:
        """End the sign-in of a refresh token; its access tokens end with it.

        Anyone may ask: a token that has no effect must not cost a write.
        """
        digest, now = token_digest(refresh_token), self._clock()

        def find(reader: Reader) -> Session | None:
            held = reader.refresh_token(digest)
            return None if held is None else reader.session(held.session_id)

        session = await self._storage.read(find, short=True)
        if session is not None and session.ended_at is None:
            await self._storage.write(
                lambda writer: writer.end_session(session.id, now), person=session.user_id
            )

    async def me(self, user: User, query: OwnOrganizationsQuery) -> wire.Me:
        """Return the caller, their organizations, and the number of their open invitations."""
        now = self._clock()
        page = PageQuery(page=query.page, limit=limits.PAGE_LIMIT_MAX)

        def work(reader: Reader) -> wire.Me:
            memberships = reader.memberships(user.id, page.offset, page.limit)
            return wire.Me(
                user=wire.UserAnswer.model_validate(user),
                organizations=[
                    wire.OwnOrganization(**asdict(membership.organization), role=membership.role)
                    for membership in memberships.items
                ],
                total=memberships.total,
                page=query.page,
                invitations=reader.open_invites(user.email_key, now, 0, 0).total,
            )

        return await self._storage.read(work)


def new_user(
    email: str, name: str | None, password_hash: str | None, now: datetime, *, proved: bool
) -> User:
    """Return a new user; without a password they sign in through a provider only."""
    return User(uuid4(), email, email_key(email), name or "", password_hash, now, proved=proved)


def admitted(
    reader: Reader,
    policy: Registration,
    email: str,
    token: str | None,
    now: datetime,
    *,
    verified: bool = False,
) -> Invite | None:
    """Return the invitation that a person who may register uses, if any. Whoever's e-mail a
    provider `verified` needs no token of one: they accept or decline it later. Raises
    `ForbiddenError`.
    """
    key = email_key(email)
    invite = None if token is None else usable_invite(reader, token, key, now)
    is_set_up = invite is not None and invite.offer is None
    is_invited = invite is not None or (verified and any_stands(reader, key, now))
    closed = policy is Registration.CLOSED and not is_set_up
    if closed or (policy is Registration.INVITE and not is_invited):
        raise ForbiddenError(_REFUSALS[policy])
    return invite
