# SPDX-License-Identifier: Apache-2.0
"""What the operator of a service does while it runs: enable CI Metrics for an organization, create,
disable and enable a user, reset a password, copy or check the database, compute anew, change the
signing key (spec, rule 1; contract, "Organizations").

Which commands there are stands in `operator_commands.py`; those about users are carried out in
`operator_users.py`.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from hwci.server.clock import Clock
from hwci.server.errors import ForbiddenError, NotFoundError
from hwci.server.security.passwords import Passwords
from hwci.server.security.secret_key import rotate_keys
from hwci.server.security.signing import Signer
from hwci.server.services.audit_chain import AuditChain
from hwci.server.services.operator_commands import (
    BackUp,
    Check,
    CheckResult,
    Command,
    CommandResult,
    CreateUser,
    ListOrganizations,
    ReadAudit,
    Rebuild,
    ResetPassword,
    RotateSecret,
    SetCiMetrics,
    SetUserEnabled,
    VerifyAudit,
)
from hwci.server.services.operator_users import OperatorUsers, deed
from hwci.server.storage.opening import read_audit_key
from hwci.server.storage.ports import Storage, Writer
from hwci.wire import limits

REBUILD_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True)
class Secret:
    """Where the signing keys are kept, and who signs with them now; None where no server runs.
    `audit_key_file`: where the key of the audit log is.
    """

    file: Path | None
    signer: Signer | None = None
    audit_key_file: Path | None = None


class Operator:
    """Carries commands out."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        passwords: Passwords,
        secret: Secret,
        base_url: str | None = None,
    ) -> None:
        """`base_url`: the address that people use, where the settings say it."""
        self._storage = storage
        self._clock = clock
        self._users = OperatorUsers(storage, clock, passwords, base_url)
        self._secret = secret
        self._rotating = asyncio.Lock()

    async def carry_out(self, command: Command) -> CommandResult:
        """Carry a command out.

        Raises:
            NotFoundError: there is no such organization or user.
            ClashError: the e-mail is taken.
            ConflictError: the user is disabled, or the noted head is none.
            ForbiddenError: the file of the signing keys is not the program's to write.
            StorageError: a copy cannot be made.
            SettingsError: the file of the signing keys cannot be used.
        """
        match command:
            case SetCiMetrics():
                return await self._set_ci_metrics(command)
            case CreateUser() | ResetPassword() | SetUserEnabled():
                return await self._users.carry_out(command)
            case BackUp() | Check():
                return await self._look_after_file(command)
            case ListOrganizations():
                ids = await self._storage.read(lambda reader: reader.organization_ids())
                return CommandResult(org_ids=ids)
            case Rebuild():
                return await self._rebuild(command)
            case RotateSecret():
                return await self._rotate_secret(command)
            case ReadAudit() | VerifyAudit():
                return await self._look_at_audit(command)

    async def _set_ci_metrics(self, command: SetCiMetrics) -> CommandResult:
        org_id, enabled = command.org_id, command.enabled

        def work(writer: Writer) -> CommandResult:
            _require_organization(writer, org_id)
            writer.set_ci_metrics(org_id, enabled=enabled)
            self._record(writer, org_id, f"ci_metrics.{'enabled' if enabled else 'disabled'}")
            return CommandResult(org_id=org_id)

        return await self._storage.write(work)

    async def _rebuild(self, command: Rebuild) -> CommandResult:
        def work(writer: Writer) -> CommandResult:
            _require_organization(writer, command.org_id)
            writer.rebuild(command.org_id)
            self._record(writer, command.org_id, "records.rebuilt")
            return CommandResult(org_id=command.org_id)

        return await self._storage.write(work, seconds=REBUILD_SECONDS)

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

    async def _look_after_file(self, command: BackUp | Check) -> CommandResult:
        if isinstance(command, Check):
            return CommandResult(checked=CheckResult.of(await self._storage.check()))
        await self._storage.backup(command.to)
        return CommandResult()

    async def _look_at_audit(self, command: ReadAudit | VerifyAudit) -> CommandResult:
        chain = AuditChain(self._storage)
        if isinstance(command, ReadAudit):
            return CommandResult(audit_lines=await chain.lines(command.after))
        file = self._secret.audit_key_file
        key = None if file is None else await asyncio.to_thread(read_audit_key, file)
        return CommandResult(audit=await chain.verify(key, command.head))

    def _record(self, writer: Writer, org_id: UUID, action: str) -> None:
        writer.add_audit(org_id, deed(action, org_id, self._clock()))


def _require_organization(writer: Writer, org_id: UUID) -> None:
    if writer.organization(org_id) is None:
        raise NotFoundError(f"There is no organization {org_id}; `hwci orgs list` shows ids")
