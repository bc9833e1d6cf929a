# SPDX-License-Identifier: Apache-2.0
"""Who belongs to an organization, and who is invited (contract, "Organizations").

This module decides who may change whom: "only an owner makes or unmakes owners; the last owner
stays". What is decided is read and written in one transaction, the caller's own role too: of two
who unmake each other, one comes too late.
"""

from uuid import UUID

from hwci.engine.vocabulary import Role
from hwci.server.clock import Clock
from hwci.server.errors import ClashError, ConflictError, ForbiddenError, NotFoundError
from hwci.server.security.tokens import new_token, token_digest
from hwci.server.services.access import ADMINS, Member, may_give, role_now
from hwci.server.services.accounts import email_key
from hwci.server.services.audit import entry_of
from hwci.server.services.sessions import user_answer
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Invite, OrganizationMember
from hwci.wire import limits
from hwci.wire import members as wire
from hwci.wire.base import ListPage
from hwci.wire.outgoing import Paging, list_page
from hwci.wire.queries import PageQuery

_OWNERS_ONLY = "Only an owner makes or unmakes owners; you are {}"
_LAST_OWNER = "An organization keeps at least one owner; make another member owner first"
_NO_ACCOUNT = "There is no account with this e-mail; invite it: hwci members invite"
_NO_MEMBER = "Member not found"


class Members:
    """What owners and admins do with members, and what every member may see."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def listed(self, member: Member, query: PageQuery) -> ListPage[wire.MemberAnswer]:
        """List the organization's members."""

        def work(reader: Reader) -> ListPage[wire.MemberAnswer]:
            found = reader.members(member.org_id, query.offset, query.limit)
            items = [_answer(item) for item in found.items]
            return list_page(items, found.total, Paging(query.page, query.limit))

        return await self._storage.read(work)

    async def add(self, member: Member, body: wire.NewMember) -> wire.MemberAnswer:
        """Make someone who has an account a member.

        Raises:
            ForbiddenError: only an owner makes owners.
            NotFoundError: there is no such account.
            ClashError: the account is a member already.
        """
        now = self._clock()

        def work(writer: Writer) -> wire.MemberAnswer:
            _allow(role_now(writer, member, ADMINS), body.role)
            user = writer.user_by_email(email_key(body.email))
            if user is None:
                raise NotFoundError(_NO_ACCOUNT)
            if writer.membership(member.org_id, user.id) is not None:
                raise ClashError("email")
            writer.add_membership(member.org_id, user.id, body.role, now)
            entry = entry_of(
                member.user, now, "member.added", user.id, email=user.email, role=body.role
            )
            writer.add_audit(member.org_id, entry)
            return _answer(OrganizationMember(user, body.role, now))

        return await self._storage.write(work)

    async def change(
        self, member: Member, user_id: UUID | None, body: wire.RoleChange
    ) -> wire.MemberAnswer:
        """Change a member's role, at once.

        Raises:
            ForbiddenError: only an owner makes or unmakes owners.
            NotFoundError: there is no such member.
            ConflictError: it is the last owner.
        """
        now = self._clock()

        def work(writer: Writer) -> wire.MemberAnswer:
            own = role_now(writer, member, ADMINS)
            _allow(own, body.role)
            found = _member(writer, member.org_id, user_id)
            _allow(own, found.role)
            if found.role is not body.role:
                _keep_an_owner(writer, member.org_id, found.role)
                writer.set_role(member.org_id, found.user.id, body.role)
                entry = entry_of(
                    member.user,
                    now,
                    "member.role",
                    found.user.id,
                    email=found.user.email,
                    roleBefore=found.role,
                    roleAfter=body.role,
                )
                writer.add_audit(member.org_id, entry)
            return _answer(OrganizationMember(found.user, body.role, found.joined_at))

        return await self._storage.write(work)

    async def remove(self, member: Member, user_id: UUID | None) -> None:
        """Remove a member, at once. Raises as `change`."""
        now = self._clock()

        def work(writer: Writer) -> None:
            own = role_now(writer, member, ADMINS)
            found = _member(writer, member.org_id, user_id)
            _allow(own, found.role)
            _keep_an_owner(writer, member.org_id, found.role)
            writer.remove_membership(member.org_id, found.user.id)
            user = found.user
            entry = entry_of(
                member.user, now, "member.removed", user.id, email=user.email, role=found.role
            )
            writer.add_audit(member.org_id, entry)

        await self._storage.write(work)

    async def invite(self, member: Member, body: wire.NewInvite) -> wire.InviteAnswer:
        """Invite someone who has no account. This answer is the only one that ever holds the token.

        Raises:
            ForbiddenError: only an owner invites owners.
            ClashError: the e-mail has an account, which can be added.
        """
        now, token, key = self._clock(), new_token(), email_key(body.email)
        expires_at = now + limits.INVITE_LIFETIME
        invite = Invite(
            token_digest(token), member.org_id, key, body.role, member.user.id, now, expires_at
        )

        def work(writer: Writer) -> None:
            _allow(role_now(writer, member, ADMINS), body.role)
            if writer.user_by_email(key) is not None:
                raise ClashError("email")
            writer.add_invite(invite)
            entry = entry_of(
                member.user,
                now,
                "invite.created",
                member.org_id,
                email=body.email,
                role=body.role,
            )
            writer.add_audit(member.org_id, entry)

        await self._storage.write(work)
        return wire.InviteAnswer(
            org_id=member.org_id,
            email=body.email,
            role=body.role,
            invite_token=token,
            expires_at=expires_at,
        )


def _allow(own: Role, touched: Role) -> None:
    if not may_give(own, touched):
        raise ForbiddenError(_OWNERS_ONLY.format(own))


def _member(reader: Reader, org_id: UUID, user_id: UUID | None) -> OrganizationMember:
    user = None if user_id is None else reader.user(user_id)
    found = None if user is None else reader.membership(org_id, user.id)
    if user is None or found is None:
        raise NotFoundError(_NO_MEMBER)
    return OrganizationMember(user, found.role, found.joined_at)


def _keep_an_owner(reader: Reader, org_id: UUID, leaving: Role) -> None:
    if leaving is Role.OWNER and reader.owners(org_id) == 1:
        raise ConflictError(_LAST_OWNER)


def _answer(member: OrganizationMember) -> wire.MemberAnswer:
    return wire.MemberAnswer(
        user=user_answer(member.user), role=member.role, joined_at=member.joined_at
    )
