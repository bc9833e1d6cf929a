# SPDX-License-Identifier: Apache-2.0
"""The audit log: its entries, and the log as owners and admins read it."""

from dataclasses import asdict
from datetime import datetime
from uuid import UUID, uuid4

from hwci.contract.people import Actor
from hwci.contract.shape import ListPage
from hwci.server.services.access import Member
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import AuditEntry, Box, User
from hwci.wire import accounts as wire
from hwci.wire import limits
from hwci.wire.queries import PageQuery


class AuditLog:
    """Reads the log."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def listed(self, member: Member, query: PageQuery) -> ListPage[wire.AuditEntryAnswer]:
        """List the organization's entries."""

        def work(reader: Reader) -> ListPage[wire.AuditEntryAnswer]:
            rows = reader.audit_log(member.org_id, query.offset, query.limit)
            return query.page_of(rows, _answer)

        return await self._storage.read(work, organization=member.org_id, person=member.id)


def entry_of(
    actor: User | Box, at: datetime, action: str, target: UUID, /, **details: object
) -> AuditEntry:
    """Return an entry. `details` hold JSON values, and no secret."""
    return AuditEntry(uuid4(), at, actor.id, name_of(actor), action, str(target), details)


def record_everywhere(writer: Writer, user_id: UUID, entry: AuditEntry) -> None:
    """Add an entry about an account, which belongs to no organization, to each of its user's."""
    for membership in writer.memberships(user_id, 0, limits.INTEGER_MAX).items:
        writer.add_audit(membership.organization.id, entry)


def name_of(actor: User | Box) -> str:
    """Return the present name of an actor; of a person without one the e-mail."""
    return actor.name or actor.email if isinstance(actor, User) else actor.name


def _answer(entry: AuditEntry) -> wire.AuditEntryAnswer:
    actor = Actor(id=entry.actor_id, name=entry.actor_name)
    return wire.AuditEntryAnswer(**asdict(entry), actor=actor)
