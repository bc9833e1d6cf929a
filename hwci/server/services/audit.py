# SPDX-License-Identifier: Apache-2.0
"""The audit log: its entries, and the log as owners and admins read it. Entries hold ids of people;
names and e-mails are looked up when the log is read.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from uuid import UUID, uuid4

from hwci.contract.people import Actor
from hwci.contract.shape import ListPage
from hwci.server.services.access import Member
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import NOBODY, AuditEntry, Box, User
from hwci.wire import accounts as wire
from hwci.wire import limits
from hwci.wire.base import read_id
from hwci.wire.queries import PageQuery

REMOVED = "someone who was removed"
_OF_A_PERSON = ("member.", "invite.", "user.", "password.reset_link")
"""What is done to a person, or to the invitation of one: the target is their id."""


class AuditLog:
    """Reads the log."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def listed(self, member: Member, query: PageQuery) -> ListPage[wire.AuditEntryAnswer]:
        """List the organization's entries."""

        def work(reader: Reader) -> ListPage[wire.AuditEntryAnswer]:
            rows = reader.audit_log(member.org_id, query.offset, query.limit)
            targets = {target for row in rows.items if (target := read_id(row.target))}
            people = reader.people(targets | {row.actor_id for row in rows.items})
            return query.page_of(rows, lambda row: _answer(row, people))

        return await self._storage.read(work, organization=member.org_id, person=member.id)


def entry_of(
    actor: User | Box, at: datetime, action: str, target: UUID, /, **details: object
) -> AuditEntry:
    """Return an entry. `details` hold JSON values, no secret, and no name of a person."""
    return AuditEntry(uuid4(), at, actor.id, action, str(target), details)


def record_everywhere(writer: Writer, user_id: UUID, entry: AuditEntry) -> None:
    """Add an entry about an account, which belongs to no organization, to each of its user's."""
    for membership in writer.memberships(user_id, 0, limits.INTEGER_MAX).items:
        writer.add_audit(membership.organization.id, entry)


def name_of(actor: User | Box) -> str:
    """Return the present name of an actor; of a person without one the e-mail."""
    return actor.name or actor.email if isinstance(actor, User) else actor.name


def _answer(entry: AuditEntry, people: Mapping[UUID, tuple[str, str]]) -> wire.AuditEntryAnswer:
    name, email = people.get(entry.actor_id, ("", REMOVED))
    if entry.actor_id == NOBODY:  # no user
        name = "operator"
    elif entry.action == "box.installed":  # by the box itself
        name = str(entry.details["name"])
    details = dict(entry.details)
    if entry.action.startswith(_OF_A_PERSON):
        # A target that is no id was written by another program: the chain tells.
        _, details["email"] = people.get(read_id(entry.target) or NOBODY, ("", REMOVED))
    actor = Actor(id=entry.actor_id, name=name or email)
    return wire.AuditEntryAnswer(**{**asdict(entry), "details": details}, actor=actor)
