# SPDX-License-Identifier: Apache-2.0
"""What the operator of a service does with its users: create, disable and enable one, and make the
link that resets a password (contract, "Organizations"). Nobody else can: an owner of an
organization ends a membership, and no more.

This module decides what such a deed ends, and where it is recorded.
"""

from datetime import datetime
from uuid import UUID, uuid4

from hwci.server.clock import Clock
from hwci.server.errors import ConflictError, NotFoundError
from hwci.server.security.passwords import Passwords
from hwci.server.security.tokens import new_token, token_digest
from hwci.server.services.accounts import email_key, new_user
from hwci.server.services.audit import record_everywhere
from hwci.server.services.operator_commands import (
    CommandResult,
    CreateUser,
    ResetPassword,
    SetUserEnabled,
)
from hwci.server.services.organizations import found_organization
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import NOBODY, AuditEntry, User
from hwci.wire import limits

ACTOR = "operator"
"""Who did it, in the audit log of an organization. The operator is no user: the id is that of
nobody.
"""


UserCommand = CreateUser | ResetPassword | SetUserEnabled


class OperatorUsers:
    """Carries commands about users out. `base_url`: the address that people use, where known."""

    def __init__(
        self, storage: Storage, clock: Clock, passwords: Passwords, base_url: str | None
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._passwords = passwords
        self._base_url = base_url

    async def carry_out(self, command: UserCommand) -> CommandResult:
        """Carry a command out.

        Raises:
            ClashError: the e-mail is taken.
            NotFoundError: there is no such user.
            ConflictError: the user is disabled.
        """
        match command:
            case CreateUser():
                return await self._create_user(command)
            case ResetPassword():
                return await self._reset_password(command)
            case SetUserEnabled():
                return await self._set_user_enabled(command)

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

    async def _reset_password(self, command: ResetPassword) -> CommandResult:
        now, token = self._clock(), new_token()

        def work(writer: Writer) -> CommandResult:
            user = _user(writer, command.email)
            if user.disabled_at is not None:
                raise ConflictError(
                    f"{user.email} is disabled; enable them first: hwci admin enable-user"
                )
            writer.set_reset(user.id, token_digest(token), now + limits.RESET_LINK_LIFETIME)
            _record(writer, user, "password.reset_link", now)
            return CommandResult(user_id=user.id, reset_token=token, base_url=self._base_url)

        return await self._storage.write(work)

    async def _set_user_enabled(self, command: SetUserEnabled) -> CommandResult:
        now, enabled = self._clock(), command.enabled

        def work(writer: Writer) -> CommandResult:
            user = _user(writer, command.email)
            if enabled is (user.disabled_at is None):
                return CommandResult(user_id=user.id, sessions_ended=0)
            writer.set_disabled(user.id, None if enabled else now)
            ended = writer.end_sessions(user.id, now)
            _record(writer, user, f"user.{'enabled' if enabled else 'disabled'}", now)
            return CommandResult(user_id=user.id, sessions_ended=ended)

        return await self._storage.write(work)


def deed(action: str, target: UUID, at: datetime, **details: str) -> AuditEntry:
    """Return the operator's deed as it is recorded."""
    return AuditEntry(uuid4(), at, NOBODY, ACTOR, action, str(target), details)


def _user(reader: Reader, email: str) -> User:
    found = reader.user_by_email(email_key(email))
    if found is None:
        raise NotFoundError(f"There is no user with the e-mail {email}")
    return found


def _record(writer: Writer, user: User, action: str, at: datetime) -> None:
    record_everywhere(writer, user.id, deed(action, user.id, at, email=user.email))
