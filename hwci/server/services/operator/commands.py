# SPDX-License-Identifier: Apache-2.0
"""The operator's commands and their result, as values that can be sent to a running server."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, ClassVar, Self, get_args
from uuid import UUID

from pydantic import Field

from hwci.server.services.operator.audit_chain import AuditReport
from hwci.server.services.transfer.sent import Sent
from hwci.server.storage.records import Checked, SentKind
from hwci.wire.accounts import Email, Password
from hwci.wire.base import SECRET, Answer, Body, Name

DAYS_MAX = 36_500


class SetCiMetrics(Body):
    """Enable or disable CI Metrics for an organization, of this id or this name."""

    command: ClassVar = "ci-metrics"

    org_id: UUID | None = None
    organization: Name | None = None
    enabled: bool


class CreateUser(Body):
    """Create a user, and an organization that they own when it is named."""

    command: ClassVar = "create-user"

    email: Email
    password: Annotated[Password, Field(repr=False)]
    name: Name | None = None
    organization: Name | None = None


class FindUser(Body):
    """Find the id of a user; there may be none."""

    command: ClassVar = "find-user"

    email: Email


class ResetPassword(Body):
    """Make a link, good once and for 24 hours, by which a user sets a new password."""

    command: ClassVar = "reset-password"

    email: Email


class SetUserEnabled(Body):
    """Disable a user, whose sign-ins end, or enable them again."""

    command: ClassVar = "user-enabled"

    email: Email
    enabled: bool


class EraseUser(Body):
    """Erase a user: the account, and their name wherever it stands."""

    command: ClassVar = "erase-user"

    email: Email


class Vouch(Body):
    """Keep that the e-mail of a user is theirs: the operator knows who they are."""

    command: ClassVar = "vouch"

    email: Email


class AddOwner(Body):
    """Make a user an owner of an organization, of this id or this name."""

    command: ClassVar = "add-owner"

    org_id: UUID | None = None
    organization: Name | None = None
    email: Email


class BackUp(Body):
    """Write a whole copy of the database to a new file, of an absolute path."""

    command: ClassVar = "backup"

    to: Path


class Check(Body):
    """Check the database for damage, and for derived rows that are out of date."""

    command: ClassVar = "check"


class ListOrganizations(Body):
    """List the ids of all organizations."""

    command: ClassVar = "organizations"


class ListUsage(Body):
    """List what each organization sent."""

    command: ClassVar = "usage"


class Rebuild(Body):
    """Recompute everything that is derived from an organization's reports."""

    command: ClassVar = "rebuild"

    org_id: UUID


class PurgeReplaced(Body):
    """Delete, or only count, what was replaced more than so many days ago."""

    command: ClassVar = "purge"

    org_id: UUID
    days: Annotated[int, Field(ge=0, le=DAYS_MAX)]
    count_only: bool


class Export(Body):
    """Write an organization, of this id or this name, to a new file of an absolute path."""

    command: ClassVar = "export"

    org_id: UUID | None = None
    organization: Name | None = None
    to: Path


class BeginImport(Body):
    """Find the organization that an import goes to: of this id or this name, else of the id that
    the export was made of, never of the name in it, which anybody may give. One that is not there
    is made when it has an owner, with that id if it is free.
    """

    command: ClassVar = "import-begin"

    org_id: UUID | None = None
    organization: Name | None = None
    owner: Email | None = None
    exported_id: UUID | None = None
    exported_name: Name | None = None


class KeepSent(Body):
    """Keep what an organization does not have of what was sent. Nothing is replaced."""

    command: ClassVar = "import-keep"

    org_id: UUID
    sent: Annotated[Sequence[Sent], Field(repr=False)]


class RotateSecret(Body):
    """Sign with a new key. Tokens of the former one work until they end, unless it is dropped."""

    command: ClassVar = "rotate-secret"

    drop_former: bool = False


class VerifyAudit(Body):
    """Check whether the audit log is whole; `head`: one noted earlier."""

    command: ClassVar = "audit-verify"

    head: str | None = None


Command = (
    SetCiMetrics
    | CreateUser
    | FindUser
    | ResetPassword
    | SetUserEnabled
    | EraseUser
    | Vouch
    | AddOwner
    | BackUp
    | Check
    | ListOrganizations
    | ListUsage
    | Rebuild
    | PurgeReplaced
    | Export
    | BeginImport
    | KeepSent
    | RotateSecret
    | VerifyAudit
)
COMMANDS: tuple[type[Command], ...] = get_args(Command)


class CheckResult(Answer):
    """What a check found. `stale`: out-of-date derived data."""

    whole: bool
    reports: int
    damage: Sequence[str]
    stale: Sequence[str]

    @classmethod
    def of(cls, checked: Checked) -> Self:
        """Return it as the result of a check."""
        whole = not checked.damage and not checked.stale
        return cls(whole=whole, **asdict(checked))


class UsageLine(Answer):
    """The bytes that an organization sent in this hour and in all, and what it may send; None where
    there is no quota.
    """

    org_id: UUID
    organization: str
    hour_bytes: int
    all_bytes: int
    hour_quota: int | None
    all_quota: int | None


class CommandResult(Answer):
    """The result of a command: what was created, changed, listed or found, how many sign-ins ended,
    how many reports were exported, how many reviews and notes of an erased person stay, and which
    of what was imported was `kept`, as it is new. `reset_token` is shown only in this answer.
    """

    user_id: UUID | None = None
    org_id: UUID | None = None
    org_ids: Sequence[UUID] | None = None
    usage: Sequence[UsageLine] | None = None
    checked: CheckResult | None = None
    replaced: Mapping[SentKind, int] | None = None
    sessions_ended: int | None = None
    reset_token: Annotated[str | None, SECRET] = None
    base_url: str | None = None
    reports: int | None = None
    reviews: int | None = None
    notes: int | None = None
    kept: Sequence[bool] | None = None
    audit: AuditReport | None = None
