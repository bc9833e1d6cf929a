# SPDX-License-Identifier: Apache-2.0
"""Accounts whose e-mail nobody proved to be their person's: whoever was invited, or found
registration open, may have registered the e-mail of somebody else.

This module decides what becomes of such an account when a provider has verified whose the e-mail
is, and what that person is told. They get an account of their own; `sso.py` decides when.
"""

import logging
from datetime import datetime

from hwci.contract.vocabulary import Role
from hwci.server.services import boxes, keys
from hwci.server.services.audit import entry_of
from hwci.server.services.jobs import trusts
from hwci.server.storage.ports import Reader, Writer
from hwci.server.storage.records import Membership, User
from hwci.wire import limits

LOG = logging.getLogger("hwci.server")


def is_unproved(user: User | None) -> bool:
    """Return whether an account is nobody's, once a provider verifies its e-mail."""
    return user is not None and not user.proved


def set_apart(writer: Writer, former: User, now: datetime) -> str:
    """Take an account's e-mail, password, sign-ins, memberships and keys from it; what it did stays
    in its name. Each of its organizations has that in its audit log. Return what the person whose
    e-mail it is will be told.
    """
    left = writer.memberships(former.id, 0, limits.INTEGER_MAX).items
    for membership in left:
        _leave(writer, former, membership, now)
    writer.set_apart(former.id, now)
    ended = writer.end_sessions(former.id, now)
    LOG.warning(
        "the account %s, whose e-mail nobody had proved, was set apart when a provider verified"
        " whose it is: %d sign-ins and %d memberships have ended",
        *(former.id, ended, len(left)),
    )
    organizations = "1 organization" if len(left) == 1 else f"{len(left)} organizations"
    return (
        "Your e-mail had an account here that nobody had proved to be yours. You have a new one:"
        " the password, the sign-ins and the keys of the former account have ended, and it has left"
        f" {organizations}. If you miss one, ask an owner or admin of it for an invitation, or the"
        " operator of this server"
    )


def _leave(writer: Writer, former: User, membership: Membership, now: datetime) -> None:
    org_id = membership.organization.id
    for kind, key_id in keys.made_by(writer, org_id, former):
        keys.revoke(writer, kind, org_id, key_id, former, now)
    trusts.remove_of(writer, org_id, former, now)
    boxes.end_keys_of(writer, org_id, former, now)
    writer.remove_membership(org_id, former.id)
    entry = entry_of(former, now, "member.unproved", former.id, role=membership.role)
    writer.add_audit(org_id, entry)
    _warn_without_owner(writer, membership)


def _warn_without_owner(reader: Reader, membership: Membership) -> None:
    org_id = membership.organization.id
    if membership.role is Role.OWNER and reader.owners(org_id) == 0:
        LOG.warning(
            "organization %s has no owner any more; if you know whose it is:"
            " hwci admin add-owner ORG --email EMAIL",
            org_id,
        )
