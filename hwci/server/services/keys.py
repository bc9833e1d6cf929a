# SPDX-License-Identifier: Apache-2.0
"""Keys of CI and of readers: created once, listed without their value, revoked for good (spec, "CI
key"; contract, "Organizations"). What a key opens is decided in `access.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID, uuid4

from hwci.contract.shape import ListPage
from hwci.engine.facts import Product
from hwci.server.clock import Clock
from hwci.server.errors import HwciServerError, NotFoundError
from hwci.server.security.api_keys import key_digest, new_api_key
from hwci.server.services import Service
from hwci.server.services.access import ADMINS, Member, role_now
from hwci.server.services.audit import entry_of
from hwci.server.storage.ports import AKey, Reader, Storage, Writer
from hwci.server.storage.records import NOBODY, CiKey, Key, ReaderKey, User
from hwci.wire import accounts as wire
from hwci.wire import limits
from hwci.wire.queries import PageQuery

Item = TypeVar("Item")

_NAMES: dict[type[Key], tuple[str, str]] = {
    CiKey: ("ci_key", "CI key"),
    ReaderKey: ("reader_key", "Reader key"),
}
"""What each kind is called in the audit log, and in messages."""


class Keys(Service):
    """Keys, for owners and admins, and for members."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        super().__init__(storage, clock)
        self._used: dict[UUID, tuple[Key, datetime]] = {}

    async def create_ci_key(self, member: Member, body: wire.NewCiKey) -> wire.CreatedCiKey:
        """Create a CI key. Only this answer ever holds its value."""
        value, digest = _new_value(limits.CI_KEY_PREFIX)
        key = CiKey(uuid4(), member.org_id, body.name, digest, self._clock())
        await self._create(member, key)
        return wire.CreatedCiKey(id=key.id, name=key.name, api_key=value, created_at=key.created_at)

    async def create_reader_key(
        self, member: Member, body: wire.NewReaderKey
    ) -> wire.CreatedReaderKey:
        """Create a reader key. Only this answer ever holds its value."""
        value, digest = _new_value(limits.READER_KEY_PREFIX)
        named = dict.fromkeys(
            Product(product.repo_key, product.suite) for product in body.products or ()
        )
        key = ReaderKey(
            uuid4(), member.org_id, body.name, digest, self._clock(), products=tuple(named)
        )
        await self._create(member, key, products=[list(product) for product in named])
        return wire.CreatedReaderKey(
            id=key.id,
            name=key.name,
            api_key=value,
            created_at=key.created_at,
            org_id=key.org_id,
            products=[wire.BoundProduct.model_validate(product) for product in named],
        )

    async def ci_keys(self, member: Member, query: PageQuery) -> ListPage[wire.CiKeyAnswer]:
        """List the organization's CI keys."""
        return await self._list(CiKey, member, query, wire.CiKeyAnswer.model_validate)

    async def reader_keys(self, member: Member, query: PageQuery) -> ListPage[wire.ReaderKeyAnswer]:
        """List the organization's reader keys."""
        return await self._list(ReaderKey, member, query, wire.ReaderKeyAnswer.model_validate)

    async def own_reader_key(self, key: ReaderKey) -> wire.OwnReaderKey:
        """Show a reader key what it reads."""
        organization = await self._storage.read(
            lambda reader: reader.organization(key.org_id), short=True
        )
        assert organization is not None, "the key of none was not let in"
        return wire.OwnReaderKey(
            name=key.name,
            organization=wire.KeyOrganization.model_validate(organization),
            products=[wire.BoundProduct.model_validate(product) for product in key.products],
        )

    async def revoke_ci_key(self, member: Member, key_id: UUID | None) -> None:
        """Revoke a key at once; a second time changes nothing. Raises `NotFoundError`."""
        await self._revoke(CiKey, member, key_id)

    async def revoke_reader_key(self, member: Member, key_id: UUID | None) -> None:
        """Revoke a key at once; a second time changes nothing. Raises `NotFoundError`."""
        await self._revoke(ReaderKey, member, key_id)

    def note_use(self, key: Key) -> None:
        """Note that a key is used. A sweep keeps it: nobody who reads waits for a write."""
        self._used[key.id] = key, self._clock()

    async def record_uses(self) -> None:
        """Keep the uses that were noted."""
        used, self._used = self._used, {}

        def work(writer: Writer) -> None:
            for key, at in used.values():
                writer.touch_key(key, at)

        if used:
            try:
                await self._storage.write(work, person=NOBODY)
            except HwciServerError:
                self._used = {**used, **self._used}
                raise

    async def _create(self, member: Member, key: Key, **details: object) -> None:
        action = f"{_NAMES[type(key)][0]}.created"

        def work(writer: Writer) -> None:
            role_now(writer, member, ADMINS)
            writer.add_key(key)
            entry = entry_of(member.user, key.created_at, action, key.id, name=key.name, **details)
            writer.add_audit(member.org_id, entry)

        await self._storage.write(work, organization=member.org_id)

    async def _list(
        self, kind: type[AKey], member: Member, query: PageQuery, item_of: Callable[[AKey], Item]
    ) -> ListPage[Item]:
        def work(reader: Reader) -> ListPage[Item]:
            rows = reader.keys(kind, member.org_id, query.offset, query.limit)
            return query.page_of(rows, lambda key: item_of(self._as_used(key)))

        return await self._storage.read(work, organization=member.org_id, person=member.id)

    def _as_used(self, key: AKey) -> AKey:
        """Return a key with a use that was noted and not kept yet."""
        _, noted = self._used.get(key.id, (None, None))
        latest = max(filter(None, (key.last_used_at, noted)), default=None)
        return replace(key, last_used_at=latest)

    async def _revoke(self, kind: type[Key], member: Member, key_id: UUID | None) -> None:
        now = self._clock()

        def work(writer: Writer) -> None:
            role_now(writer, member, ADMINS)
            revoke(writer, kind, member.org_id, key_id, member.user, now)

        await self._storage.write(work, organization=member.org_id)


def made_by(reader: Reader, org_id: UUID, user: User) -> Sequence[tuple[type[Key], UUID]]:
    """Return the keys of an organization that a user made, revoked or not."""
    return [
        (kind, key_id)
        for kind, (in_log, _) in _NAMES.items()
        for key_id, maker in reader.last_actors(org_id, [f"{in_log}.created"]).items()
        if maker == user.id
    ]


def revoke(
    writer: Writer, kind: type[Key], org_id: UUID, key_id: UUID | None, by: User, now: datetime
) -> None:
    """Revoke a key. Raises `NotFoundError`."""
    in_log, in_words = _NAMES[kind]
    key = None if key_id is None else writer.revoke_key(kind, org_id, key_id, now)
    if key is None:
        raise NotFoundError(f"{in_words} not found")
    if key.revoked_at == now:  # an earlier revocation keeps its time, and its entry
        writer.add_audit(org_id, entry_of(by, now, f"{in_log}.revoked", key.id, name=key.name))


def _new_value(prefix: str) -> tuple[str, bytes]:
    value = new_api_key(prefix)
    digest = key_digest(value, prefix)
    assert digest is not None
    return value, digest
