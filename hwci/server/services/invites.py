# SPDX-License-Identifier: Apache-2.0
"""Invitations and the set-up token: who may join by a token (contract, "Auth", "Organizations").

This module decides what a token is good for, and how long. It does not know the policy of
registration, nor how a person who joins signs in.
"""

from datetime import datetime, timedelta

from hwci.server.clock import Clock
from hwci.server.errors import ForbiddenError
from hwci.server.security.tokens import new_token, token_digest
from hwci.server.services.access import may_give
from hwci.server.services.audit import entry_of
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Invite, Membership, User

SET_UP_LIFETIME = timedelta(hours=24)

_UNUSABLE = "The invitation is unknown, was used or has expired; ask for a new one"
_ANOTHERS = "The invitation is for another e-mail; register with the one that was invited"
_INVITER_GONE = "Who invited you may not give this role any more; ask an owner for a new invitation"
_SET_UP_OVER = "The set-up token works only while there is no user; ask for an invitation"


def usable_invite(reader: Reader, token: str, email_key: str, now: datetime) -> Invite:
    """Give the invitation of a token that this e-mail may use now. Raises `ForbiddenError`."""
    invite = reader.invite(token_digest(token))
    if invite is None or invite.used_at is not None or invite.expires_at <= now:
        raise ForbiddenError(_UNUSABLE)
    if invite.org_id is None:
        if reader.any_user():
            raise ForbiddenError(_SET_UP_OVER)
    elif invite.email_key != email_key:
        raise ForbiddenError(_ANOTHERS)
    elif not still_stands(reader, invite):
        raise ForbiddenError(_INVITER_GONE)
    return invite


def still_stands(reader: Reader, invite: Invite) -> bool:
    """Say whether who sent an invitation may still give what it promises: what was taken from them
    must not come back by somebody whom they invited before.
    """
    if invite.org_id is None or invite.role is None or invite.inviter_id is None:
        return False
    inviter = reader.membership(invite.org_id, invite.inviter_id)
    return inviter is not None and may_give(inviter.role, invite.role)


def join(writer: Writer, invite: Invite, user: User, now: datetime) -> Membership | None:
    """Use an invitation up, which this user may use, and give what they are by it; None: the
    set-up token, which is of no organization. Who is a member already stays what they are.

    Raises:
        ForbiddenError: it cannot be used any more.
    """
    if not writer.use_invite(invite.digest, now):
        raise ForbiddenError(_UNUSABLE)
    if invite.org_id is None or invite.role is None:
        return None
    if writer.membership(invite.org_id, user.id) is None:
        writer.add_membership(invite.org_id, user.id, invite.role, now)
        entry = entry_of(
            user, now, "member.added", user.id, email=user.email, role=invite.role, invited=True
        )
        writer.add_audit(invite.org_id, entry)
    return writer.membership(invite.org_id, user.id)


async def new_set_up_token(storage: Storage, clock: Clock) -> str | None:
    """Make the token that registers the first user, in place of an earlier one; None once there is
    a user.
    """
    if await storage.read(lambda reader: reader.any_user(), short=True):
        return None
    token, now = new_token(), clock()
    invite = Invite(token_digest(token), None, None, None, None, now, now + SET_UP_LIFETIME)

    def work(writer: Writer) -> str | None:
        if writer.any_user():
            return None
        writer.add_invite(invite)
        return token

    return await storage.write(work)
