# SPDX-License-Identifier: Apache-2.0
"""CI keys: created once, listed without their value, revoked for good (spec, "CI key")."""

from uuid import UUID, uuid4

from hwci.server.errors import NotFoundError
from hwci.server.security.api_keys import key_digest, new_api_key
from hwci.server.services import Service
from hwci.server.services.access import ADMINS, Member, role_now
from hwci.server.services.audit import entry_of
from hwci.server.storage.ports import Reader, Writer
from hwci.server.storage.records import CiKey
from hwci.wire import accounts as wire
from hwci.wire.base import ListPage
from hwci.wire.queries import PageQuery


class CiKeys(Service):
    """CI keys, for owners and admins, and for members."""

    async def create(self, member: Member, body: wire.NewCiKey) -> wire.CreatedCiKey:
        """Create a key. Only this answer ever holds its value."""
        value = new_api_key()
        digest = key_digest(value)
        assert digest is not None
        key = CiKey(uuid4(), member.org_id, body.name, digest, self._clock())

        def work(writer: Writer) -> None:
            role_now(writer, member, ADMINS)
            writer.add_ci_key(key)
            entry = entry_of(member.user, key.created_at, "ci_key.created", key.id, name=key.name)
            writer.add_audit(member.org_id, entry)

        await self._storage.write(work)
        return wire.CreatedCiKey(id=key.id, name=key.name, api_key=value, created_at=key.created_at)

    async def listed(self, member: Member, query: PageQuery) -> ListPage[wire.CiKeyAnswer]:
        """List the organization's keys."""

        def work(reader: Reader) -> ListPage[wire.CiKeyAnswer]:
            rows = reader.ci_keys(member.org_id, query.offset, query.limit)
            return query.page_of(rows, wire.CiKeyAnswer.model_validate)

        return await self._storage.read(work, organization=member.org_id)

    async def revoke(self, member: Member, key_id: UUID | None) -> None:
        """Revoke a key at once; a second time changes nothing. Raises `NotFoundError`."""
        now = self._clock()

        def work(writer: Writer) -> None:
            role_now(writer, member, ADMINS)
            key = None if key_id is None else writer.revoke_ci_key(member.org_id, key_id, now)
            if key is None:
                raise NotFoundError("CI key not found")
            if key.revoked_at == now:  # an earlier revocation keeps its time, and its entry
                entry = entry_of(member.user, now, "ci_key.revoked", key.id, name=key.name)
                writer.add_audit(member.org_id, entry)

        await self._storage.write(work)
