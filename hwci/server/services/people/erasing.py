# SPDX-License-Identifier: Apache-2.0
"""A person who is erased (contract, "The audit log"): the account goes, with all that is theirs
alone; what they decided and wrote for an organization stays, in the name of nobody. The audit log
has their id, and verifies as before.
"""

from dataclasses import dataclass
from functools import partial

from hwci.contract.people import Actor
from hwci.contract.vocabulary import Role
from hwci.server.errors import ConflictError
from hwci.server.services.audit import REMOVED, name_of
from hwci.server.services.people.sessions import email_key
from hwci.server.services.webhooks.events import renamed
from hwci.server.storage.ports import Writer
from hwci.server.storage.records import User
from hwci.wire import limits


@dataclass(frozen=True, slots=True)
class Stayed:
    """How much of a person's stays under another name: reviews, and notes of boxes."""

    reviews: int
    notes: int


def erase(writer: Writer, user: User) -> Stayed:
    """Erase a person. Raises `ConflictError`: they are the only owner of an organization."""
    memberships = writer.memberships(user.id, 0, limits.INTEGER_MAX).items
    alone = [
        membership.organization.name
        for membership in memberships
        if membership.role is Role.OWNER and writer.owners(membership.organization.id) == 1
    ]
    if alone:
        raise ConflictError(
            f"{user.email} is the only owner of {', '.join(sorted(alone))}; make another one first:"
            " hwci admin add-owner ORG --email EMAIL"
        )
    for membership in memberships:
        writer.remove_membership(membership.organization.id, user.id)
    reviews = notes = 0
    # Also what was set apart from their account, and where they are no member any more.
    apart = [former for former in writer.users_apart() if email_key(former.email) == user.email_key]
    for account in (user, *apart):
        nobody = Actor(account.id, REMOVED)
        change = partial(renamed, before=name_of(account), after=REMOVED)
        for org_id in writer.organization_ids():
            reviews += writer.rename_reviewer(org_id, nobody)
            notes += writer.rename_noter(org_id, nobody)
            writer.rename_rule_maker(org_id, nobody)
            writer.change_deliveries(org_id, change)
        writer.erase_user(account)
    return Stayed(reviews, notes)
