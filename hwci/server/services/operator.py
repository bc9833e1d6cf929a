# SPDX-License-Identifier: Apache-2.0
"""What the operator of a service does while it runs: enable CI Metrics for an organization, create
a user, copy the database, compute anew, change the signing key (spec, rule 1; contract,
"Organizations").

The commands are values, so that they can be carried out here or carried to a running server.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar
from uuid import UUID, uuid4

from pydantic import Field

from hwci.server.clock import Clock
from hwci.server.errors import ForbiddenError, NotFoundError
from hwci.server.security.passwords import Passwords
from hwci.server.security.secret_key import rotate_keys
from hwci.server.security.signing import Signer
from hwci.server.services.accounts import new_user
from hwci.server.services.organizations import found_organization
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import NOBODY, AuditEntry
from hwci.wire import limits
from hwci.wire.accounts import Email, Password
from hwci.wire.base import Answer, Body, Name

ACTOR = "operator"
"""Who did it, in the audit log of an organization. The operator is no user: the id is that of
nobody.
"""


class SetCiMetrics(Body):
    """Enable or disable CI Metrics for an organization."""

    command: ClassVar = "ci-metrics"

    org_id: UUID
    enabled: bool


class CreateUser(Body):
    """Create a user, and an organization that they own when it is named."""

    command: ClassVar = "create-user"

    email: Email
    password: Annotated[Password, Field(repr=False)]
    name: Name | None = None
    organization: Name | None = None


class BackUp(Body):
    """Write a whole copy of the database to a new file, of an absolute path."""

    command: ClassVar = "backup"

    to: Path


class ListOrganizations(Body):
    """Give the ids of all organizations."""

    command: ClassVar = "organizations"


class Rebuild(Body):
    """Compute everything that is derived from an organization's reports anew."""

    command: ClassVar = "rebuild"

    org_id: UUID


class RotateSecret(Body):
    """Sign with a new key. What the former signed is read until it ends, unless it is dropped."""

    command: ClassVar = "rotate-secret"

    drop_former: bool = False


Command = SetCiMetrics | CreateUser | BackUp | ListOrganizations | Rebuild | RotateSecret
COMMANDS: tuple[type[Command], ...] = (
    SetCiMetrics,
    CreateUser,
    BackUp,
    ListOrganizations,
    Rebuild,
    RotateSecret,
)


class CommandResult(Answer):
    """What a command was about: the organization that was switched, what was created or listed."""

    user_id: UUID | None = None
    org_id: UUID | None = None
    org_ids: Sequence[UUID] | None = None


@dataclass(frozen=True, slots=True)
class Secret:
    """Where the signing keys are kept, and who signs with them now; None where no server runs."""

    file: Path | None
    signer: Signer | None = None


class Operator:
    """Carries commands out."""

    def __init__(
        self, storage: Storage, clock: Clock, passwords: Passwords, secret: Secret
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._passwords = passwords
        self._secret = secret
        self._rotating = asyncio.Lock()

    async def carry_out(self, command: Command) -> CommandResult:
        """Carry a command out.

        Raises:
            NotFoundError: there is no such organization.
            ClashError: the e-mail is taken.
            ForbiddenError: the file of the signing keys is not the program's to write.
            StorageError: a copy cannot be made.
            SettingsError: the file of the signing keys cannot be used.
        """
        match command:
            case SetCiMetrics():
                return await self._set_ci_metrics(command)
            case CreateUser():
                return await self._create_user(command)
            case BackUp():
                await self._storage.backup(command.to)
                return CommandResult()
            case ListOrganizations():
                ids = await self._storage.read(lambda reader: reader.organization_ids())
                return CommandResult(org_ids=ids)
            case Rebuild():
                return await self._rebuild(command)
            case RotateSecret():
                return await self._rotate_secret(command)

    async def _set_ci_metrics(self, command: SetCiMetrics) -> CommandResult:
        org_id, enabled = command.org_id, command.enabled

        def work(writer: Writer) -> CommandResult:
            _require_organization(writer, org_id)
            writer.set_ci_metrics(org_id, enabled=enabled)
            self._record(writer, org_id, f"ci_metrics.{'enabled' if enabled else 'disabled'}")
            return CommandResult(org_id=org_id)

        return await self._storage.write(work)

    async def _create_user(self, command: CreateUser) -> CommandResult:
        now = self._clock()
        hashed = await self._passwords.hash(command.password)
        user = new_user(command.email, command.name, hashed, now)

        def work(writer: Writer) -> CommandResult:
            writer.add_user(user)
            if command.organization is None:
                return CommandResult(user_id=user.id)
            found = found_organization(writer, command.organization, user.id, now)
            return CommandResult(user_id=user.id, org_id=found.organization.id)

        return await self._storage.write(work)

    async def _rebuild(self, command: Rebuild) -> CommandResult:
        def work(writer: Writer) -> CommandResult:
            _require_organization(writer, command.org_id)
            writer.rebuild(command.org_id)
            self._record(writer, command.org_id, "records.rebuilt")
            return CommandResult(org_id=command.org_id)

        return await self._storage.write(work)

    async def _rotate_secret(self, command: RotateSecret) -> CommandResult:
        if self._secret.file is None:
            raise ForbiddenError("This server keeps its signing key nowhere; restart it")
        now = self._clock()
        # No token of any kind lives longer than an access token.
        until = None if command.drop_former else now + limits.ACCESS_TOKEN_LIFETIME
        async with self._rotating:  # the file is read, then written anew
            keys = await asyncio.to_thread(rotate_keys, self._secret.file, now, until)
            if self._secret.signer is not None:
                self._secret.signer.change_keys(keys)
        return CommandResult()

    def _record(self, writer: Writer, org_id: UUID, action: str) -> None:
        entry = AuditEntry(uuid4(), self._clock(), NOBODY, ACTOR, action, str(org_id), {})
        writer.add_audit(org_id, entry)


def _require_organization(writer: Writer, org_id: UUID) -> None:
    if writer.organization(org_id) is None:
        raise NotFoundError(f"There is no organization {org_id}; `hwci orgs list` shows ids")
