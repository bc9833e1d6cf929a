# SPDX-License-Identifier: Apache-2.0
"""Invitations to an organization ("Membership takes the person's consent": contract,
"Organizations").

This module decides who may send, withdraw, accept or decline one, in the transaction that does it,
and what its token, or the set-up token, is good for and how long. `accounts.py` has the policy of
registration.
"""

from datetime import datetime
from uuid import UUID, uuid4

from hwci.contract.shape import ListPage
from hwci.server.clock import Clock
from hwci.server.errors import ConflictError, ForbiddenError, NotFoundError
from hwci.server.security.api_keys import same_digest
from hwci.server.security.tokens import new_token, token_digest
from hwci.server.services import Service
from hwci.server.services.access import ADMINS, Member, may_give, require_may_give, role_now
from hwci.server.services.audit import entry_of
from hwci.server.services.people.organizations import organization_answer
from hwci.server.services.people.sessions import email_key
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import NOBODY, Invite, KeepDays, Membership, Offer, User
from hwci.wire import accounts as wire
from hwci.wire import limits
from hwci.wire.accounts import OrganizationAnswer, UserAnswer
from hwci.wire.queries import PageQuery

_UNUSABLE = "The invitation is unknown, was used or withdrawn, or has expired; ask for a new one"
_ANOTHERS = "The invitation is for another e-mail; register with the one that was invited"
_INVITER_GONE = "Who invited you may not give this role any more; ask an owner for a new invitation"
_SET_UP_OVER = "The set-up token works only while there is no user; ask for an invitation"
_MEMBER_ALREADY = "A member with this email already exists; change their role instead"
_NOT_OPEN = (
    "Invitation not found: it was accepted, declined or withdrawn, has expired, or is for another"
    " e-mail; ask for a new one"
)
_TOKEN_NEEDED = (
    "This needs the token of the invitation, as nothing else shows that its e-mail is yours; ask"
    " who invited you for the link"
)
_OTHER_TOKEN = "The token is of another invitation; use the link that was sent for this one"


class Invitations(Service):
    """Invitations, for senders and recipients. `most`: the operator's bounds of days."""

    def __init__(self, storage: Storage, clock: Clock, most: KeepDays) -> None:
        super().__init__(storage, clock)
        self._most = most

    async def invite(self, member: Member, body: wire.NewInvite) -> wire.InviteAnswer:
        """Invite an e-mail, in place of an earlier invitation. Only this answer ever holds the
        token; it is the same whether or not there is such an account.

        Raises:
            ForbiddenError: only an owner invites owners, or takes their invitation back.
            ConflictError: the e-mail is of a member.
        """
        now, token, key = self._clock(), new_token(), email_key(body.email)
        offer = Offer(member.org_id, key, body.role, member.user.id)
        expires_at = now + limits.INVITE_LIFETIME

        def work(writer: Writer) -> None:
            own = role_now(writer, member, ADMINS)
            require_may_give(own, body.role)
            user = writer.user_by_email(key)
            # Without an account the same is read, so that the time reveals nothing either.
            if writer.membership(member.org_id, NOBODY if user is None else user.id) is not None:
                raise ConflictError(_MEMBER_ALREADY)
            earlier = writer.open_invite(member.org_id, key, now)
            if earlier is not None and earlier.offer is not None:
                require_may_give(own, earlier.offer.role)
            writer.withdraw_invites(member.org_id, key, now)
            invite = Invite(uuid4(), token_digest(token), offer, now, expires_at)
            writer.add_invite(invite)
            _audit(writer, member.user, now, "invite.created", invite)

        await self._storage.write(work, organization=member.org_id)
        return wire.InviteAnswer(
            org_id=member.org_id,
            email=body.email,
            role=body.role,
            invite_token=token,
            expires_at=expires_at,
        )

    async def sent(self, member: Member, query: PageQuery) -> ListPage[wire.SentInvite]:
        """List the organization's open invitations."""
        now = self._clock()

        def work(reader: Reader) -> ListPage[wire.SentInvite]:
            rows = reader.invites_of(member.org_id, now, query.offset, query.limit)
            return query.page_of(rows, lambda row: _sent(reader, row))

        return await self._storage.read(work)

    async def withdraw(self, member: Member, invite_id: UUID | None) -> None:
        """End an open invitation of the organization.

        Raises:
            ForbiddenError: only an owner ends the invitation of an owner.
            NotFoundError: the organization has no such open invitation.
        """
        now = self._clock()

        def work(writer: Writer) -> None:
            own = role_now(writer, member, ADMINS)
            invite, offer = _open(writer, invite_id, now)
            if offer.org_id != member.org_id:
                raise NotFoundError(_NOT_OPEN)
            require_may_give(own, offer.role)
            writer.withdraw_invites(offer.org_id, offer.email_key, now)
            _audit(writer, member.user, now, "invite.withdrawn", invite)

        await self._storage.write(work, organization=member.org_id)

    async def received(self, user: User, query: PageQuery) -> ListPage[wire.ReceivedInvite]:
        """List the open invitations of the user's e-mail."""
        now = self._clock()

        def work(reader: Reader) -> ListPage[wire.ReceivedInvite]:
            rows = reader.open_invites(user.email_key, now, query.offset, query.limit)
            needs_token = not _verified(reader, user)
            return query.page_of(rows, lambda row: _received(reader, row, needs_token))

        return await self._storage.read(work)

    async def accept(
        self, user: User, invite_id: UUID | None, body: wire.Acceptance
    ) -> OrganizationAnswer:
        """Make the user a member of the organization that invited their e-mail.

        Raises:
            NotFoundError: no such invitation is open for this e-mail.
            ForbiddenError: nothing proves that the e-mail is the user's, or the inviter may not
                give the role any more.
        """
        now = self._clock()
        org_id = await self._inviting(user, invite_id, now)

        def work(writer: Writer) -> OrganizationAnswer:
            invite, offer = _own(writer, user, invite_id, now)
            _require_proof(writer, user, invite, body.invite_token)
            require_standing(writer, offer)
            joined = join(writer, invite, user, now)
            assert joined is not None, "the set-up token is for no e-mail"
            return organization_answer(joined, self._most)

        return await self._storage.write(work, organization=org_id)

    async def decline(self, user: User, invite_id: UUID | None) -> None:
        """End an invitation of the user's e-mail. Raises `NotFoundError` as `accept`."""
        now = self._clock()
        org_id = await self._inviting(user, invite_id, now)

        def work(writer: Writer) -> None:
            invite, offer = _own(writer, user, invite_id, now)
            writer.withdraw_invites(offer.org_id, offer.email_key, now)
            _audit(writer, user, now, "invite.declined", invite)

        await self._storage.write(work, organization=org_id)

    async def _inviting(self, user: User, invite_id: UUID | None, now: datetime) -> UUID:
        """Return the organization of an invitation. Raises `NotFoundError` as `accept`."""
        _, offer = await self._storage.read(
            lambda reader: _own(reader, user, invite_id, now), short=True
        )
        return offer.org_id


def _open(reader: Reader, invite_id: UUID | None, now: datetime) -> tuple[Invite, Offer]:
    invite = None if invite_id is None else reader.invite_by_id(invite_id)
    if invite is None or invite.offer is None:
        raise NotFoundError(_NOT_OPEN)
    if invite.used_at is not None or invite.expires_at <= now:
        raise NotFoundError(_NOT_OPEN)
    return invite, invite.offer


def _own(reader: Reader, user: User, invite_id: UUID | None, now: datetime) -> tuple[Invite, Offer]:
    invite, offer = _open(reader, invite_id, now)
    if offer.email_key != user.email_key:
        raise NotFoundError(_NOT_OPEN)
    return invite, offer


def _require_proof(reader: Reader, user: User, invite: Invite, token: str | None) -> None:
    """Raise `ForbiddenError` unless the invitation's token or a provider proves the e-mail."""
    if token is None and not _verified(reader, user):
        raise ForbiddenError(_TOKEN_NEEDED)
    if token is not None and not same_digest(token_digest(token), invite.digest):
        raise ForbiddenError(_OTHER_TOKEN)


def _verified(reader: Reader, user: User) -> bool:
    """Return whether a provider has verified the e-mail of everybody who signs in to this account.
    Anyone may have registered it with a password before its owner came through a provider, or by an
    invitation through a provider that does not say whose it is.
    """
    return user.proved and user.password_hash is None and reader.has_identity(user.id)


def _audit(writer: Writer, actor: User, now: datetime, action: str, invite: Invite) -> None:
    offer = _offer(invite)
    entry = entry_of(actor, now, action, invite.id, role=offer.role)
    writer.add_audit(offer.org_id, entry)


def _sent(reader: Reader, invite: Invite) -> wire.SentInvite:
    offer = _offer(invite)
    return wire.SentInvite(
        id=invite.id,
        email=offer.email_key,
        role=offer.role,
        invited_by=_inviter(reader, offer),
        created_at=invite.created_at,
        expires_at=invite.expires_at,
    )


def _received(reader: Reader, invite: Invite, needs_token: bool) -> wire.ReceivedInvite:
    offer = _offer(invite)
    organization = reader.organization(offer.org_id)
    assert organization is not None, "the database holds the reference"
    return wire.ReceivedInvite(
        id=invite.id,
        organization=wire.InvitingOrganization.model_validate(organization),
        role=offer.role,
        invited_by=_inviter(reader, offer),
        created_at=invite.created_at,
        expires_at=invite.expires_at,
        needs_token=needs_token,
    )


def _offer(invite: Invite) -> Offer:
    assert invite.offer is not None, "the set-up token is in no list"
    return invite.offer


def _inviter(reader: Reader, offer: Offer) -> UserAnswer:
    inviter = reader.user(offer.inviter_id)
    assert inviter is not None, "the database holds the reference"
    return UserAnswer.model_validate(inviter)


def usable_invite(reader: Reader, token: str, email_key: str, now: datetime) -> Invite:
    """Return the invitation of a token, if this e-mail may use it now. Raises `ForbiddenError`."""
    invite = reader.invite(token_digest(token))
    if invite is None or invite.used_at is not None or invite.expires_at <= now:
        raise ForbiddenError(_UNUSABLE)
    if invite.offer is None:
        if reader.any_user():
            raise ForbiddenError(_SET_UP_OVER)
    elif invite.offer.email_key != email_key:
        raise ForbiddenError(_ANOTHERS)
    else:
        require_standing(reader, invite.offer)
    return invite


def require_standing(reader: Reader, offer: Offer) -> None:
    """Raise `ForbiddenError` unless the offer still stands."""
    if not still_stands(reader, offer):
        raise ForbiddenError(_INVITER_GONE)


def still_stands(reader: Reader, offer: Offer) -> bool:
    """Return whether who sent an invitation may still give what it promises: what was taken from
    them must not come back through an earlier invitation. Nobody joins a deleted organization.
    """
    inviter = reader.membership(offer.org_id, offer.inviter_id)
    user = reader.user(offer.inviter_id)
    let_in = user is not None and user.disabled_at is None
    if inviter is None or inviter.organization.erase_at is not None:
        return False
    return let_in and may_give(inviter.role, offer.role)


def any_stands(reader: Reader, email_key: str, now: datetime) -> bool:
    """Return whether an organization invites this e-mail, by an offer that still stands."""
    invites = reader.open_invites(email_key, now, 0, limits.INTEGER_MAX).items
    return any(still_stands(reader, _offer(invite)) for invite in invites)


def join(writer: Writer, invite: Invite, user: User, now: datetime) -> Membership | None:
    """Use up an invitation and return the membership; None for the set-up token, which is of no
    organization. A member keeps their role, and their other invitations to the organization are
    withdrawn, so that a member who is removed later cannot come back by one.

    Raises `ForbiddenError`: it was used meanwhile.
    """
    if not writer.use_invite(invite.digest, now):
        raise ForbiddenError(_UNUSABLE)
    offer = invite.offer
    if offer is None:
        return None
    writer.withdraw_invites(offer.org_id, user.email_key, now)
    if writer.membership(offer.org_id, user.id) is None:
        writer.add_membership(offer.org_id, user.id, offer.role, now)
        entry = entry_of(user, now, "member.added", user.id, role=offer.role, invited=True)
        writer.add_audit(offer.org_id, entry)
    return writer.membership(offer.org_id, user.id)


async def new_set_up_token(storage: Storage, clock: Clock) -> str | None:
    """Return a new token that registers the first user; None if there is a user."""
    if await storage.read(lambda reader: reader.any_user(), short=True):
        return None
    token, now = new_token(), clock()
    invite = Invite(uuid4(), token_digest(token), None, now, now + limits.SET_UP_LIFETIME)

    def work(writer: Writer) -> str | None:
        if writer.any_user():
            return None
        writer.add_invite(invite)
        return token

    return await storage.write(work)
