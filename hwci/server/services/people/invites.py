# SPDX-License-Identifier: Apache-2.0
"""Invitations and the set-up token: what a token is good for, and how long (contract, "Auth",
"Organizations"). The policy of registration is decided in `accounts.py`.
"""

from datetime import datetime, timedelta
from uuid import uuid4

from hwci.server.clock import Clock
from hwci.server.errors import ForbiddenError
from hwci.server.security.tokens import new_token, token_digest
from hwci.server.services.access import may_give
from hwci.server.services.audit import entry_of
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Invite, Membership, Offer, User

SET_UP_LIFETIME = timedelta(hours=24)

_UNUSABLE = "The invitation is unknown, was used or withdrawn, or has expired; ask for a new one"
_ANOTHERS = "The invitation is for another e-mail; register with the one that was invited"
_INVITER_GONE = "Who invited you may not give this role any more; ask an owner for a new invitation"
_SET_UP_OVER = "The set-up token works only while there is no user; ask for an invitation"


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
    them must not come back by somebody whom they invited before.
    """
    inviter = reader.membership(offer.org_id, offer.inviter_id)
    user = reader.user(offer.inviter_id)
    let_in = user is not None and user.disabled_at is None
    return let_in and inviter is not None and may_give(inviter.role, offer.role)


def join(writer: Writer, invite: Invite, user: User, now: datetime) -> Membership | None:
    """Use up an invitation and return the membership; None for the set-up token, which is of no
    organization. A member keeps their role, and their other invitations to the organization are
    withdrawn, so that nobody who is removed later can come back by one.

    Raises:
        ForbiddenError: it was used meanwhile.
    """
    if not writer.use_invite(invite.digest, now):
        raise ForbiddenError(_UNUSABLE)
    offer = invite.offer
    if offer is None:
        return None
    writer.withdraw_invites(offer.org_id, user.email_key)
    if writer.membership(offer.org_id, user.id) is None:
        writer.add_membership(offer.org_id, user.id, offer.role, now)
        entry = entry_of(
            user, now, "member.added", user.id, email=user.email, role=offer.role, invited=True
        )
        writer.add_audit(offer.org_id, entry)
    return writer.membership(offer.org_id, user.id)


async def new_set_up_token(storage: Storage, clock: Clock) -> str | None:
    """Return a new token that registers the first user, in place of an earlier one; None if there
    is a user.
    """
    if await storage.read(lambda reader: reader.any_user(), short=True):
        return None
    token, now = new_token(), clock()
    invite = Invite(uuid4(), token_digest(token), None, now, now + SET_UP_LIFETIME)

    def work(writer: Writer) -> str | None:
        if writer.any_user():
            return None
        writer.add_invite(invite)
        return token

    return await storage.write(work)
