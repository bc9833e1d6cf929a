# SPDX-License-Identifier: Apache-2.0
"""What the operator of a service does: enable CI Metrics for an organization, create a user (spec,
rule 1; contract, "Organizations").

The commands are values, so that they can be carried out here or carried to a running server.
"""

from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import Field

from hwci.server.clock import Clock
from hwci.server.errors import NotFoundError
from hwci.server.security.passwords import Passwords
from hwci.server.services.accounts import new_user
from hwci.server.services.organizations import found_organization
from hwci.server.storage.ports import Storage, Writer
from hwci.wire.accounts import Email, Password
from hwci.wire.base import Answer, Body, Name


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


Command = SetCiMetrics | CreateUser
COMMANDS: tuple[type[Command], ...] = (SetCiMetrics, CreateUser)


class CommandResult(Answer):
    """What a command was about: the organization that was switched, or what was created."""

    user_id: UUID | None = None
    org_id: UUID | None = None


class Operator:
    """Carries commands out."""

    def __init__(self, storage: Storage, clock: Clock, passwords: Passwords) -> None:
        self._storage = storage
        self._clock = clock
        self._passwords = passwords

    async def carry_out(self, command: Command) -> CommandResult:
        """Carry a command out.

        Raises:
            NotFoundError: there is no such organization.
            ClashError: the e-mail is taken.
        """
        if isinstance(command, SetCiMetrics):
            return await self._set_ci_metrics(command)
        return await self._create_user(command)

    async def _set_ci_metrics(self, command: SetCiMetrics) -> CommandResult:
        def work(writer: Writer) -> CommandResult:
            if not writer.set_ci_metrics(command.org_id, enabled=command.enabled):
                raise NotFoundError(
                    f"There is no organization {command.org_id}; `hwci orgs list` shows ids"
                )
            return CommandResult(org_id=command.org_id)

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
