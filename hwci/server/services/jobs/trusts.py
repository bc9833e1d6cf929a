# SPDX-License-Identifier: Apache-2.0
"""Trusts: the repositories whose CI jobs an organization lets sign in (contract, "CI jobs without a
secret"). Owners and admins make them. This module decides which job a trust fits.
"""

from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

from hwci.contract.ci_systems import SigningSystem
from hwci.contract.shape import ListPage
from hwci.engine.starred import matcher
from hwci.server.clock import Clock
from hwci.server.errors import ConflictError, NotFoundError, UnfitError
from hwci.server.services import Service
from hwci.server.services.access import ADMINS, Member, role_now
from hwci.server.services.audit import entry_of
from hwci.server.services.jobs.issuers import ISSUERS, JobIdentity, OwnIssuers, system_of
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Trust, User
from hwci.wire import limits
from hwci.wire import trusts as wire
from hwci.wire.queries import PageQuery

_CREATED = "trust.created"
_TOO_MANY = (
    f"An organization may trust {limits.TRUSTS_MAX} repositories; remove one that is not needed"
)


class Trusts(Service):
    """Trusts, for owners and admins, and for members."""

    def __init__(self, storage: Storage, clock: Clock, own_issuers: OwnIssuers) -> None:
        super().__init__(storage, clock)
        self._own_issuers = own_issuers

    async def listed(self, member: Member, query: PageQuery) -> ListPage[wire.TrustAnswer]:
        """List the organization's trusts."""

        def work(reader: Reader) -> ListPage[wire.TrustAnswer]:
            rows = reader.trusts(member.org_id, query.offset, query.limit)
            return query.page_of(rows, wire.TrustAnswer.model_validate)

        return await self._storage.read(work, organization=member.org_id, person=member.id)

    async def create(self, member: Member, body: wire.NewTrust) -> wire.TrustAnswer:
        """Create a trust. Raises `UnfitError`, `ConflictError`."""
        form, pattern = ISSUERS[body.system].form
        if pattern.fullmatch(body.repository) is None:
            raise UnfitError("repository", f"The tokens of {body.system} name it as {form}")
        if body.environment is not None and ISSUERS[body.system].environment is None:
            raise UnfitError("environment", f"The tokens of {body.system} name no environment")
        now = self._clock()
        trust = Trust(
            id=uuid4(),
            org_id=member.org_id,
            system=body.system,
            issuer=self._issuer(body.system, body.issuer),
            repository=body.repository,
            repository_id=body.repository_id,
            owner_id=None,
            branch=body.branch,
            environment=body.environment,
            created_at=now,
        )

        def work(writer: Writer) -> None:
            role_now(writer, member, ADMINS)
            if writer.trusts(member.org_id, 0, 1).total >= limits.TRUSTS_MAX:
                raise ConflictError(_TOO_MANY)
            writer.put_trust(trust)
            bounds = {"branch": trust.branch, "environment": trust.environment}
            given = {name: value for name, value in bounds.items() if value is not None}
            entry = entry_of(
                *(member.user, now, _CREATED, trust.id), name=trust.repository, **given
            )
            writer.add_audit(member.org_id, entry)

        await self._storage.write(work, organization=member.org_id)
        return wire.TrustAnswer.model_validate(trust)

    async def remove(self, member: Member, trust_id: UUID | None) -> None:
        """Remove a trust. The keys of its jobs end at once. Raises `NotFoundError`."""
        now = self._clock()

        def work(writer: Writer) -> None:
            role_now(writer, member, ADMINS)
            if trust_id is None or not _removed(writer, member.org_id, trust_id, member.user, now):
                raise NotFoundError("Trust not found")

        await self._storage.write(work, organization=member.org_id)

    def _issuer(self, system: SigningSystem, named: str | None) -> str:
        """Return the issuer that is meant. Raises `UnfitError`."""
        issuer = named or ISSUERS[system].default
        if issuer is None:
            raise UnfitError(
                "issuer", f"{system} has an issuer for each organization there; name that of yours"
            )
        if system_of(issuer, self._own_issuers) is not system:
            raise UnfitError(
                "issuer",
                f"{issuer} is no issuer of {system} that this server knows; the operator may allow"
                " it (HWCI_CI_ISSUERS)",
            )
        return issuer


def remove_of(writer: Writer, org_id: UUID, user: User, now: datetime) -> None:
    """Remove the trusts of an organization that a user made."""
    for trust_id, maker in writer.last_actors(org_id, [_CREATED]).items():
        if maker == user.id:
            _removed(writer, org_id, trust_id, user, now)


def fits(trust: Trust, job: JobIdentity) -> bool:
    """Return whether a job may sign in by a trust: it is of the repository with this name and its
    ids, so no other that takes over the name is; one that was renamed still is, by its ids.
    """
    same_ids = trust.repository_id in {None, job.repository_id} and trust.owner_id in {
        None,
        job.owner_id,
    }
    same_name = trust.repository.casefold() == job.repository.casefold()
    renamed = trust.repository_id is not None and ISSUERS[trust.system].follows
    return (
        same_ids
        and (same_name or renamed)
        and _matches(trust.branch, job.branch)
        and _matches(trust.environment, job.environment)
    )


def used(trust: Trust, job: JobIdentity, now: datetime) -> Trust:
    """Return a trust by which a job signed in: it is bound to the ids of its repository."""
    return replace(
        trust,
        repository=job.repository,
        repository_id=job.repository_id,
        owner_id=job.owner_id,
        last_used_at=now,
    )


def _matches(pattern: str | None, name: str | None) -> bool:
    if pattern is None or name is None:
        return pattern is None
    return matcher(pattern)(name)


def _removed(writer: Writer, org_id: UUID, trust_id: UUID, by: User, now: datetime) -> bool:
    """Remove a trust; False if there is none."""
    trust = writer.remove_trust(org_id, trust_id)
    if trust is not None:
        entry = entry_of(by, now, "trust.removed", trust.id, name=trust.repository)
        writer.add_audit(org_id, entry)
    return trust is not None
