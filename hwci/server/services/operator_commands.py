# SPDX-License-Identifier: Apache-2.0
"""The operator's commands as values, so that they can be carried out here or carried to a running
server, and what comes back.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import Field

from hwci.wire.accounts import Email, Password
from hwci.wire.base import SECRET, Answer, Body, Name


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


class ResetPassword(Body):
    """Make a link, good once and for 24 hours, by which a user sets a new password."""

    command: ClassVar = "reset-password"

    email: Email


class SetUserEnabled(Body):
    """Disable a user, whose sign-ins end, or enable them again."""

    command: ClassVar = "user-enabled"

    email: Email
    enabled: bool


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


Command = (
    SetCiMetrics
    | CreateUser
    | ResetPassword
    | SetUserEnabled
    | BackUp
    | ListOrganizations
    | Rebuild
    | RotateSecret
)
COMMANDS: tuple[type[Command], ...] = (
    SetCiMetrics,
    CreateUser,
    ResetPassword,
    SetUserEnabled,
    BackUp,
    ListOrganizations,
    Rebuild,
    RotateSecret,
)


class CommandResult(Answer):
    """What a command was about: the organization that was switched, what was created or listed, and
    how many sign-ins ended. `reset_token` stands in this answer and nowhere else.
    """

    user_id: UUID | None = None
    org_id: UUID | None = None
    org_ids: Sequence[UUID] | None = None
    sessions_ended: int | None = None
    reset_token: Annotated[str | None, SECRET] = None
    base_url: str | None = None
