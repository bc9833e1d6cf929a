# SPDX-License-Identifier: Apache-2.0
"""Who is calling, and what they may do (contract, "Everywhere": authentication → membership → role
or feature). It is decided for each request from what storage holds now: an ended session, a changed
role and a revoked key count at once.
"""

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from hwci.contract.vocabulary import Role
from hwci.engine.facts import Product
from hwci.server.clock import Clock
from hwci.server.errors import ForbiddenError, NotFoundError, UnauthenticatedError
from hwci.server.security.api_keys import key_digest, same_digest
from hwci.server.security.tokens import AccessTokens, Claims
from hwci.server.storage.ports import AKey, Reader, Storage
from hwci.server.storage.records import (
    Box,
    CiKey,
    Membership,
    Organization,
    ReaderKey,
    SignedIn,
    User,
)
from hwci.wire import limits

ADMINS = frozenset({Role.OWNER, Role.ADMIN})
"""Owners and admins create and revoke CI keys and review failures (spec, rule 5)."""
OWNERS = frozenset({Role.OWNER})
MEMBERS = frozenset(Role)


def may_give(own: Role, role: Role) -> bool:
    """Return whether a member with role `own` may give or take `role`: "only an owner
    makes or unmakes owners" (contract, "Organizations").
    """
    return own in ADMINS and (own is Role.OWNER or role is not Role.OWNER)


def require_may_give(own: Role, role: Role) -> None:
    """Raise `ForbiddenError` unless `may_give`."""
    if not may_give(own, role):
        raise ForbiddenError(f"Only an owner makes or unmakes owners; you are {own}")


_NO_KEY = "X-API-Key is not a CI key that works; create a new one"
_READS_ONLY = "X-API-Key is a reader key, which reads and reports nothing; report with a CI key"
_NO_READER_KEY = "X-API-Key is not a reader key that works; create a new one"
_NO_READER = (
    "X-API-Key holds another key than a reader key (rdr_…), and only these read; create one with"
    " hwci keys create --reader NAME"
)
_NAME_A_PRODUCT = (
    "This reader key reads some products only; name one of them with repoKey and suite"
    " (a stream: with the runId of one of its runs)"
)
_OTHER_PRODUCT = "This reader key does not read this product"
_NO_ORGANIZATION = "Organization not found"
_NO_BOX_KEY = "X-API-Key is not a box key that works; install the box again"


@dataclass(frozen=True, slots=True)
class Person:
    """A user, and the claims of their access token."""

    user: User
    claims: Claims


@dataclass(frozen=True, slots=True)
class Member:
    """A user in an organization, and the claims of their access token."""

    user: User
    membership: Membership
    claims: Claims

    @property
    def id(self) -> UUID:
        """The user's id."""
        return self.user.id

    @property
    def org_id(self) -> UUID:
        """The organization that the request is about."""
        return self.membership.organization.id


Viewer = Member | ReaderKey
"""Who may see what CI reported: a member, or the holder of a reader key."""


def is_bound(viewer: Viewer) -> bool:
    """Return whether a viewer may see some products only."""
    return isinstance(viewer, ReaderKey) and bool(viewer.products)


def may_see(viewer: Viewer, product: Product) -> bool:
    """Return whether a viewer may see a product: a reader key may be bound to others."""
    return isinstance(viewer, Member) or not viewer.products or product in viewer.products


def rights_of(viewer: Viewer) -> Hashable:
    """Return what viewers of an organization who see the same have in common."""
    return isinstance(viewer, Member) or frozenset(viewer.products)


def require_product(viewer: Viewer, repo_key: str | None, suite: str | None) -> None:
    """Raise `ForbiddenError` if the viewer may not see a product; without both names a request is
    about several.
    """
    if is_bound(viewer):
        if repo_key is None or suite is None:
            raise ForbiddenError(_NAME_A_PRODUCT)
        if not may_see(viewer, Product(repo_key, suite)):
            raise ForbiddenError(_OTHER_PRODUCT)


class Access:
    """Turns credentials into callers."""

    def __init__(self, storage: Storage, clock: Clock, tokens: AccessTokens) -> None:
        self._storage = storage
        self._clock = clock
        self._tokens = tokens

    async def person(self, token: str) -> Person:
        """Return the user of an access token. Raises `UnauthenticatedError`."""
        claims = self._tokens.read(token)
        person = await self._storage.look_up(lambda reader: _signed_in(reader, claims, None))
        return Person(person.user, claims)

    async def member(
        self,
        token: str,
        org_id: UUID | None,
        roles: Collection[Role],
        *,
        metrics: bool,
        deleted: bool = False,
    ) -> Member:
        """Return the user of an access token as a member of an organization.

        `org_id` None: a malformed id. `metrics`: CI Metrics must be enabled. `deleted`: it may be
        deleted.

        Raises:
            UnauthenticatedError: the token is not valid, or its session has ended.
            NotFoundError: no such organization, or the user is not a member: one answer for both.
                To a member also that it is deleted.
            ForbiddenError: the role does not allow it, or CI Metrics is off.
        """
        claims = self._tokens.read(token)

        def admit(reader: Reader) -> Member:
            person = _signed_in(reader, claims, org_id)
            membership = _require_member(person.membership, deleted=deleted)
            _require_role(membership.role, roles)
            if metrics:
                _require_metrics(membership.organization)
            return Member(person.user, membership, claims)

        return await self._storage.look_up(admit)

    async def check_viewer(self, viewer: Viewer) -> None:
        """Check that a viewer may go on: the key works; or the session has not ended, and they are
        still a member, in any role.

        Raises:
            UnauthenticatedError: the session has ended, or the key was revoked.
            NotFoundError: they are not a member any more.
        """

        def look(reader: Reader) -> None:
            if isinstance(viewer, ReaderKey):
                _live_reader_key(reader, viewer.digest)
            else:
                _require_member(_signed_in(reader, viewer.claims, viewer.org_id).membership)

        await self._storage.look_up(look)

    async def ci_key(self, presented: str) -> CiKey:
        """Return the CI key that was presented. Raises as `live_ci_key`.

        Text that cannot be a key is refused without asking storage.
        """
        if presented.startswith(limits.READER_KEY_PREFIX):
            raise UnauthenticatedError(_READS_ONLY)
        digest = key_digest(presented)
        if digest is None:
            raise UnauthenticatedError(_NO_KEY)
        now = self._clock()
        return await self._storage.look_up(lambda reader: live_ci_key(reader, digest, now))

    async def reader_key(self, presented: str, org_id: UUID | None, *, metrics: bool) -> ReaderKey:
        """Return the reader key that was presented, to read an organization.

        Raises:
            UnauthenticatedError: a wrong or revoked key.
            NotFoundError: it is another organization's: the same answer as for none.
            ForbiddenError: CI Metrics is off.
        """
        digest = _reader_digest(presented)

        def admit(reader: Reader) -> ReaderKey:
            key, organization = _live_reader_key(reader, digest)
            if key.org_id != org_id:
                raise NotFoundError(_NO_ORGANIZATION)
            if metrics:
                _require_metrics(organization)
            return key

        return await self._storage.look_up(admit)

    async def own_reader_key(self, presented: str) -> ReaderKey:
        """Return the reader key that was presented. Raises `UnauthenticatedError`."""
        digest = _reader_digest(presented)

        def find(reader: Reader) -> ReaderKey:
            return _live_reader_key(reader, digest)[0]

        return await self._storage.look_up(find)

    async def box(self, presented: str) -> Box:
        """Return the box whose key was presented. Raises as `live_box`."""
        digest = key_digest(presented)
        if digest is None:
            raise UnauthenticatedError(_NO_BOX_KEY)
        return await self._storage.look_up(lambda reader: live_box(reader, digest))


def role_now(
    reader: Reader, member: Member, roles: Collection[Role], *, deleted: bool = False
) -> Role:
    """Return the present role of a member, in the transaction that depends on it. `deleted`: the
    organization may be deleted.

    Raises:
        NotFoundError: they are no longer a member, or the organization is deleted.
        ForbiddenError: their role is none of `roles`.
    """
    membership = reader.membership(member.org_id, member.id)
    role = _require_member(membership, deleted=deleted).role
    _require_role(role, roles)
    return role


def live_box(reader: Reader, digest: bytes) -> Box:
    """Return the box of a key's digest. Raises `UnauthenticatedError`: a wrong or replaced key, or
    one of a deleted organization.
    """
    box, organization = reader.box_by_key(digest) or (None, None)
    if box is None or box.key_digest is None or not same_digest(box.key_digest, digest):
        raise UnauthenticatedError(_NO_BOX_KEY)
    require_working(organization)
    return box


def _deleted(org_id: UUID, erase_at: datetime) -> str:
    return (
        f"The organization is deleted; until {erase_at:%Y-%m-%d %H:%M} UTC an owner can undo it:"
        f" hwci orgs undelete {org_id}"
    )


def require_working(organization: Organization | None) -> None:
    """Raise `UnauthenticatedError` if keys do not work, as the organization is deleted."""
    if organization is not None and organization.erase_at is not None:
        raise UnauthenticatedError(_deleted(organization.id, organization.erase_at))


def _reader_digest(presented: str) -> bytes:
    if not presented.startswith(limits.READER_KEY_PREFIX):
        raise UnauthenticatedError(_NO_READER)
    digest = key_digest(presented, limits.READER_KEY_PREFIX)
    if digest is None:
        raise UnauthenticatedError(_NO_READER_KEY)
    return digest


def _live_reader_key(reader: Reader, digest: bytes) -> tuple[ReaderKey, Organization]:
    return _live_key(reader.key_by_digest(ReaderKey, digest), digest, _NO_READER_KEY)


def live_ci_key(reader: Reader, digest: bytes, now: datetime) -> CiKey:
    """Return the CI key of a digest, if it works now: one that a person made, or that of a job.

    Raises:
        UnauthenticatedError: a wrong or revoked key, one of a deleted organization, or of a job
            that signed in too long ago.
        ForbiddenError: CI Metrics is off for the key's organization.
    """
    row = reader.key_by_digest(CiKey, digest) or _key_of_job(reader, digest, now)
    key, organization = _live_key(row, digest, _NO_KEY)
    _require_metrics(organization)
    return key


def _key_of_job(reader: Reader, digest: bytes, now: datetime) -> tuple[CiKey, Organization] | None:
    """Return the key of a job as a CI key, which is revoked when it expires."""
    row = reader.job_key(digest)
    if row is None:
        return None
    key, organization = row
    ended_at = key.expires_at if now >= key.expires_at else None
    of_ci = CiKey(key.id, key.org_id, "", key.digest, key.created_at, revoked_at=ended_at)
    return of_ci, organization


def _live_key(
    row: tuple[AKey, Organization] | None, digest: bytes, refusal: str
) -> tuple[AKey, Organization]:
    if row is None:
        raise UnauthenticatedError(refusal)
    key, organization = row
    if not same_digest(key.digest, digest) or key.revoked_at is not None:
        raise UnauthenticatedError(refusal)
    require_working(organization)
    return key, organization


def signed_in(reader: Reader, claims: Claims) -> User:
    """Return the user of a session. Raises `UnauthenticatedError`: it has ended."""
    return _signed_in(reader, claims, None).user


def _signed_in(reader: Reader, claims: Claims, org_id: UUID | None) -> SignedIn:
    signed_in = reader.signed_in(claims.session_id, org_id)
    if (
        signed_in is None
        or signed_in.user.id != claims.user_id
        or signed_in.session.ended_at is not None
    ):
        raise UnauthenticatedError("The session has ended; sign in again")
    return signed_in


def _require_member(membership: Membership | None, *, deleted: bool = False) -> Membership:
    if membership is None:
        raise NotFoundError(_NO_ORGANIZATION)
    organization = membership.organization
    if organization.erase_at is not None and not deleted:
        raise NotFoundError(_deleted(organization.id, organization.erase_at))
    return membership


def _require_role(role: Role, roles: Collection[Role]) -> None:
    if role not in roles:
        needed = " or ".join(role for role in Role if role in roles)
        raise ForbiddenError(f"This needs the role {needed}; you are {role}")


def _require_metrics(organization: Organization) -> None:
    if not organization.ci_metrics_enabled:
        raise ForbiddenError("CI Metrics is not enabled for this organization")
