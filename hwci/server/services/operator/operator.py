# SPDX-License-Identifier: Apache-2.0
"""What only the operator of a service does: enable CI Metrics; create, disable and enable users and
reset their passwords; copy or check the database; rebuild derived data; export and import an
organization; change the signing key; check the audit log (spec, rule 1; contract, "Organizations").
The commands are in `commands.py`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

from hwci.contract.vocabulary import Role
from hwci.server.clock import Clock
from hwci.server.errors import ConflictError, ForbiddenError, NotFoundError
from hwci.server.security.passwords import Passwords
from hwci.server.security.secret_key import announce_key, rotate_keys
from hwci.server.security.signing import Signer
from hwci.server.security.tokens import new_token, token_digest
from hwci.server.services.audit import record_everywhere
from hwci.server.services.ci_metrics.ingest import HISTORY_SECONDS
from hwci.server.services.operator.audit_chain import verify
from hwci.server.services.operator.commands import (
    AddOwner,
    BackUp,
    BeginImport,
    Check,
    CheckResult,
    Command,
    CommandResult,
    CreateUser,
    EraseUser,
    Export,
    FindUser,
    KeepSent,
    ListOrganizations,
    ListUsage,
    PurgeReplaced,
    Rebuild,
    ResetPassword,
    RotateSecret,
    SetCiMetrics,
    SetUserEnabled,
    UsageLine,
    VerifyAudit,
    Vouch,
)
from hwci.server.services.people.accounts import new_user
from hwci.server.services.people.erasing import erase
from hwci.server.services.people.organizations import add_organization
from hwci.server.services.people.sessions import email_key
from hwci.server.services.quota import hour_of
from hwci.server.services.transfer.exporting import export
from hwci.server.services.transfer.importing import keep
from hwci.server.settings import DEFAULTS, Settings, bytes_of
from hwci.server.storage.new_file import refuse_taken
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import NOBODY, AuditEntry, Organization, Usage, User
from hwci.wire import limits
from hwci.wire.nearest import hint

REBUILD_SECONDS = 3_600.0
EXPORT_SECONDS = 24 * 3_600.0


@dataclass(frozen=True, slots=True)
class Secret:
    """The file of the signing keys, and the running server's signer; None if no server runs.
    `servers_read_after`: the longest time until servers that this process cannot notify have read
    the file.
    """

    file: Path | None
    signer: Signer | None = None
    servers_read_after: float = 0.0


class Operator:
    """Carries out commands."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        passwords: Passwords,
        secret: Secret,
        settings: Settings = DEFAULTS,
    ) -> None:
        """`settings`: those of the server, or of the command."""
        self._storage = storage
        self._clock = clock
        self._passwords = passwords
        self._settings = settings
        self._secret = secret
        self._rotating = asyncio.Lock()

    async def carry_out(  # noqa: C901, PLR0912 - one case a command
        self, command: Command
    ) -> CommandResult:
        """Carry out a command.

        Raises:
            NotFoundError: there is no such organization or user.
            ClashError: the e-mail is taken.
            ConflictError: the user is disabled, or the only owner of an organization, or the noted
                head is malformed.
            ForbiddenError: only the operator may write the file of the signing keys.
            StorageError: a copy cannot be made.
            SettingsError: the file of the signing keys cannot be used.
        """
        match command:
            case SetCiMetrics():
                return await self._set_ci_metrics(command)
            case CreateUser():
                return await self._create_user(command)
            case FindUser():
                key = email_key(command.email)
                user = await self._storage.read(lambda reader: reader.user_by_email(key))
                return CommandResult(user_id=user and user.id)
            case ResetPassword():
                return await self._reset_password(command)
            case SetUserEnabled():
                return await self._set_user_enabled(command)
            case EraseUser():
                return await self._erase_user(command)
            case Vouch():
                return await self._vouch(command)
            case AddOwner():
                return await self._add_owner(command)
            case BackUp():
                await self._storage.backup(command.to)
                return CommandResult()
            case Check():
                return CommandResult(checked=CheckResult.of(await self._storage.check()))
            case ListOrganizations():
                ids = await self._storage.read(lambda reader: reader.organization_ids())
                return CommandResult(org_ids=ids)
            case ListUsage():
                return CommandResult(usage=await self._usage())
            case Rebuild():
                return await self._rebuild(command)
            case PurgeReplaced():
                return await self._purge(command)
            case Export():
                return await self._export(command)
            case BeginImport():
                return await self._begin_import(command)
            case KeepSent():
                return await self._keep_sent(command)
            case RotateSecret():
                return await self._rotate_secret(command)
            case VerifyAudit():
                return CommandResult(audit=await verify(self._storage, command.head))

    async def _usage(self) -> Sequence[UsageLine]:
        hour = hour_of(self._clock())
        quotas = bytes_of(self._settings.quota_hour), bytes_of(self._settings.quota_all)

        def line(reader: Reader, org_id: UUID) -> UsageLine:
            usage = reader.usage(org_id) or Usage(hour, 0, 0)
            return UsageLine(
                org_id=org_id,
                organization=_require_organization(reader, org_id).name,
                hour_bytes=usage.hour_bytes if usage.hour == hour else 0,
                all_bytes=usage.all_bytes,
                hour_quota=quotas[0],
                all_quota=quotas[1],
            )

        def work(reader: Reader) -> Sequence[UsageLine]:
            return [line(reader, org_id) for org_id in reader.organization_ids()]

        return await self._storage.read(work)

    async def _create_user(self, command: CreateUser) -> CommandResult:
        now = self._clock()
        hashed = await self._passwords.hash(command.password)
        user = new_user(command.email, command.name, hashed, now, proved=True)

        def work(writer: Writer) -> CommandResult:
            writer.add_user(user)
            if command.organization is None:
                return CommandResult(user_id=user.id)
            membership = add_organization(writer, command.organization, user.id, now)
            return CommandResult(user_id=user.id, org_id=membership.organization.id)

        return await self._storage.write(work, person=user.id)

    async def _reset_password(self, command: ResetPassword) -> CommandResult:
        now, token = self._clock(), new_token()

        def work(writer: Writer) -> CommandResult:
            user = _user(writer, command.email)
            if user.disabled_at is not None:
                raise ConflictError(
                    f"{user.email} is disabled; enable them first:"
                    f" hwci admin enable-user --email {user.email}"
                )
            writer.set_reset(user.id, token_digest(token), now + limits.RESET_LINK_LIFETIME)
            _record_of_user(writer, user, "password.reset_link", now)
            base_url = self._settings.base_url
            return CommandResult(user_id=user.id, reset_token=token, base_url=base_url)

        return await self._storage.write(work, person=await self._id_of(command.email))

    async def _set_user_enabled(self, command: SetUserEnabled) -> CommandResult:
        now, enabled = self._clock(), command.enabled

        def work(writer: Writer) -> CommandResult:
            user = _user(writer, command.email)
            if enabled is (user.disabled_at is None):
                return CommandResult(user_id=user.id, sessions_ended=0)
            writer.set_disabled(user.id, None if enabled else now)
            ended = writer.end_sessions(user.id, now)
            _record_of_user(writer, user, f"user.{'enabled' if enabled else 'disabled'}", now)
            return CommandResult(user_id=user.id, sessions_ended=ended)

        return await self._storage.write(work, person=await self._id_of(command.email))

    async def _erase_user(self, command: EraseUser) -> CommandResult:
        now = self._clock()

        def work(writer: Writer) -> CommandResult:
            user = _user(writer, command.email)
            _record_of_user(writer, user, "user.erased", now)
            stayed = erase(writer, user)
            return CommandResult(user_id=user.id, reviews=stayed.reviews, notes=stayed.notes)

        # Of all organizations: whatever has the person's name.
        return await self._storage.write(work, seconds=REBUILD_SECONDS)

    async def _vouch(self, command: Vouch) -> CommandResult:
        now = self._clock()

        def work(writer: Writer) -> CommandResult:
            user = _user(writer, command.email)
            if not user.proved:
                writer.vouch(user.id)
                _record_of_user(writer, user, "user.vouched", now)
            return CommandResult(user_id=user.id)

        return await self._storage.write(work, person=await self._id_of(command.email))

    async def _add_owner(self, command: AddOwner) -> CommandResult:
        now = self._clock()
        org_id = await self._storage.read(lambda reader: _organization(reader, command).id)

        def work(writer: Writer) -> CommandResult:
            user = _user(writer, command.email)
            result = CommandResult(user_id=user.id, org_id=org_id)
            member = writer.membership(org_id, user.id)
            if member is None:
                writer.add_membership(org_id, user.id, Role.OWNER, now)
            elif member.role is Role.OWNER:
                return result
            else:
                writer.set_role(org_id, user.id, Role.OWNER)
            action = "member.added" if member is None else "member.role"
            writer.add_audit(org_id, operator_entry(action, user.id, now, role=Role.OWNER))
            return result

        return await self._storage.write(work, organization=org_id)

    async def _id_of(self, email: str) -> UUID:
        return await self._storage.read(lambda reader: _user(reader, email).id)

    async def _set_ci_metrics(self, command: SetCiMetrics) -> CommandResult:
        enabled = command.enabled

        org_id = await self._storage.read(lambda reader: _organization(reader, command).id)

        def work(writer: Writer) -> CommandResult:
            writer.set_ci_metrics(org_id, enabled=enabled)
            self._record(writer, org_id, f"ci_metrics.{'enabled' if enabled else 'disabled'}")
            return CommandResult(org_id=org_id)

        return await self._storage.write(work, organization=org_id)

    async def _rebuild(self, command: Rebuild) -> CommandResult:
        def work(writer: Writer) -> CommandResult:
            _require_organization(writer, command.org_id)
            writer.rebuild(command.org_id)
            self._record(writer, command.org_id, "records.rebuilt")
            return CommandResult(org_id=command.org_id)

        return await self._storage.write(work, organization=command.org_id, seconds=REBUILD_SECONDS)

    async def _purge(self, command: PurgeReplaced) -> CommandResult:
        before = self._clock() - timedelta(days=command.days)

        def work(writer: Writer) -> CommandResult:
            counts = writer.replaced(command.org_id, before)
            if counts and not command.count_only:
                writer.drop_replaced(command.org_id, before)
                self._record(writer, command.org_id, "records.purged")
            return CommandResult(replaced=counts)

        return await self._storage.write(work, organization=command.org_id, seconds=REBUILD_SECONDS)

    async def _export(self, command: Export) -> CommandResult:
        now = self._clock()
        org_id = await self._storage.read(lambda reader: _organization(reader, command).id)

        def begin(writer: Writer) -> None:
            refuse_taken(command.to)
            self._record(writer, org_id, "records.exported")

        def work(reader: Reader) -> CommandResult:
            organization = _require_organization(reader, org_id)
            return CommandResult(
                org_id=org_id, reports=export(reader, organization, command.to, now)
            )

        # First: no file without its entry in the log.
        await self._storage.write(begin, organization=org_id)
        return await self._storage.read(work, seconds=EXPORT_SECONDS)

    async def _begin_import(self, command: BeginImport) -> CommandResult:
        now = self._clock()

        def work(writer: Writer) -> CommandResult:
            target = _import_target(writer, command)
            org_id = _new_organization(writer, command, now) if target is None else target.id
            self._record(writer, org_id, "records.imported")
            return CommandResult(org_id=org_id)

        whose = await self._storage.read(lambda reader: _lock_of_import(reader, command))
        return await self._storage.write(work, organization=whose)

    async def _keep_sent(self, command: KeepSent) -> CommandResult:
        now, org_id = self._clock(), command.org_id

        def work(writer: Writer) -> CommandResult:
            _require_organization(writer, org_id)
            return CommandResult(kept=[keep(writer, org_id, sent, now) for sent in command.sent])

        return await self._storage.write(work, organization=org_id, seconds=HISTORY_SECONDS)

    async def _rotate_secret(self, command: RotateSecret) -> CommandResult:
        if self._secret.file is None:
            raise ForbiddenError(
                "This server keeps its signing key in memory only; restart it to change the key"
            )
        now = self._clock()
        # No token that opens anything lives longer than an access token.
        until = None if command.drop_former else now + limits.ACCESS_TOKEN_LIFETIME
        file, wait, key = self._secret.file, self._secret.servers_read_after, None
        async with self._rotating:  # the file is read, then written again
            if until is not None and wait:
                # No server signs with a key that another one does not know yet.
                key = await asyncio.to_thread(announce_key, file, until)
                await asyncio.sleep(wait)
            keys = await asyncio.to_thread(rotate_keys, file, now, until, key)
            if self._secret.signer is not None:
                self._secret.signer.change_keys(keys)
        return CommandResult()

    def _record(self, writer: Writer, org_id: UUID, action: str) -> None:
        writer.add_audit(org_id, operator_entry(action, org_id, self._clock()))


def _require_organization(reader: Reader, org_id: UUID) -> Organization:
    organization = reader.organization(org_id)
    if organization is None:
        raise NotFoundError(f"There is no organization {org_id}; `hwci orgs list` shows ids")
    return organization


class UnknownNameError(NotFoundError):
    """There is no organization of a name."""


def _organization(
    reader: Reader, command: SetCiMetrics | AddOwner | Export | BeginImport
) -> Organization:
    """Return the organization of the id or the name of a command. Names need not be unique."""
    if command.org_id is not None:
        return _require_organization(reader, command.org_id)
    organizations = [_require_organization(reader, org_id) for org_id in reader.organization_ids()]
    named = [row for row in organizations if row.name == command.organization]
    if len(named) == 1:
        return named[0]
    what = f"{len(named) or 'No'} organizations are named {command.organization!r}"
    if named:
        ids = ", ".join(str(row.id) for row in named)
        raise NotFoundError(f"{what}; give the id of one: {ids}")
    also = hint(command.organization or "", {row.name for row in organizations})
    raise UnknownNameError("; ".join(filter(None, (what, also))))


def _import_target(reader: Reader, command: BeginImport) -> Organization | None:
    """Return the organization that an import goes to; None if it is to be made."""
    try:
        target = _named_target(reader, command)
    except UnknownNameError as fault:
        if command.owner is None:
            raise NotFoundError(f"{fault}; to make it, name its owner: --owner") from fault
        return None
    _require_owner(reader, target, command.owner)
    return target


def _lock_of_import(reader: Reader, command: BeginImport) -> UUID:
    """Return whom the begin of an import is about: its organization, or who will own it."""
    target = _import_target(reader, command)
    if target is not None:
        return target.id
    assert command.owner is not None
    return command.exported_id or _user(reader, command.owner).id


def _named_target(reader: Reader, command: BeginImport) -> Organization:
    """Return the organization that an import goes to. Raises `UnknownNameError`: there is none.

    Names need not be unique: one that has the name in an export may be a stranger's.
    """
    if command.exported_name is None:
        return _organization(reader, command)
    assert command.exported_id is not None
    organization = reader.organization(command.exported_id)
    if organization is not None:
        return organization
    name = command.exported_name
    organizations = [_require_organization(reader, org_id) for org_id in reader.organization_ids()]
    ids = ", ".join(str(row.id) for row in organizations if row.name == name)
    if ids:
        raise NotFoundError(
            f"{name!r} is the name of another organization than the exported one; to import into"
            f" it, give its id: --organization {ids}"
        )
    raise UnknownNameError(f"There is no organization {command.exported_id} ({name!r})")


def _require_owner(reader: Reader, organization: Organization, email: str | None) -> None:
    """Raise `NotFoundError` when an owner was named who is not one of an organization."""
    if email is None:
        return
    member = reader.membership(organization.id, _user(reader, email).id)
    if member is None or member.role is not Role.OWNER:
        raise NotFoundError(
            f"{email} is not an owner of {organization.name!r} ({organization.id}); leave --owner"
            " out, or name another organization: --organization"
        )


def _new_organization(writer: Writer, command: BeginImport, now: datetime) -> UUID:
    """Make the organization of an import, with CI Metrics on. It keeps the id that it had: links
    to its failures stay good.
    """
    name = command.organization or command.exported_name
    assert name is not None
    assert command.owner is not None
    owner, org_id = _user(writer, command.owner), command.exported_id or uuid4()
    if writer.organization(org_id) is not None:
        org_id = uuid4()
    made = Organization(org_id, name, ci_metrics_enabled=True, created_at=now)
    writer.add_organization(made)
    writer.add_membership(org_id, owner.id, Role.OWNER, now)
    return org_id


def operator_entry(action: str, target: UUID, at: datetime, **details: str) -> AuditEntry:
    """Return an entry of the audit log for what the operator did."""
    return AuditEntry(uuid4(), at, NOBODY, action, str(target), details)


def _user(reader: Reader, email: str) -> User:
    user = reader.user_by_email(email_key(email))
    if user is None:
        raise NotFoundError(f"There is no user with the e-mail {email}")
    return user


def _record_of_user(writer: Writer, user: User, action: str, at: datetime) -> None:
    record_everywhere(writer, user.id, operator_entry(action, user.id, at))
