# SPDX-License-Identifier: Apache-2.0
"""Accounts, organizations, their members and invitations, keys and the audit log on the wire
(contract, "Auth", "Organizations").
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from hwci.contract.people import Actor
from hwci.contract.vocabulary import Role
from hwci.wire import limits
from hwci.wire.base import SECRET, STORABLE, Answer, Body, Name, Text, Time
from hwci.wire.lists import ListRule

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


def _email(text: str) -> str:
    if _EMAIL.fullmatch(text) is None:
        raise PydanticCustomError("email", "Should look like name@example.org")
    return text


Email = Annotated[
    str,
    Field(
        min_length=limits.EMAIL_MIN,
        max_length=limits.EMAIL_MAX,
        json_schema_extra={"pattern": f"^{_EMAIL.pattern}$"},
    ),
    AfterValidator(_email),
    STORABLE,
]
_ROWS = ("0123456789", "abcdefghijklmnopqrstuvwxyz")


def guessed_first(password: str, email: str) -> str | None:
    """Return why a new password is easy to guess (contract, "Auth"); None if it is not."""
    folded = password.casefold()
    ways = [row * (len(folded) // len(row) + 2) for row in _ROWS]
    if len(set(folded)) == 1 or any(folded in way or folded[::-1] in way for way in ways):
        return "Should not be one character repeated, or a run such as 123456789012"
    if folded == email.casefold():
        return "Should not be the e-mail of the account"
    return None


def _not_guessed_first(password: str, info: ValidationInfo) -> str:
    fault = guessed_first(password, str(info.data.get("email", "")))
    if fault is not None:
        raise PydanticCustomError("password", "{fault}", {"fault": fault})
    return password


Password = Annotated[
    str,
    Field(min_length=limits.PASSWORD_MIN, max_length=limits.PASSWORD_MAX),
    STORABLE,
    SECRET,
    AfterValidator(_not_guessed_first),
]
"""A new password. In a body with the e-mail of its account it comes after that field."""
OldPassword = Annotated[str, Field(max_length=limits.PASSWORD_MAX), STORABLE, SECRET]
"""A password that is compared with the stored one."""
Secret = Annotated[str, SECRET]
_Token = Annotated[str, Field(max_length=limits.TOKEN_MAX), STORABLE]
_DeviceToken = Annotated[str, Field(max_length=limits.DEVICE_TOKEN_MAX), STORABLE]
HeldToken = Annotated[_Token, SECRET]
"""A secret that this service handed out, as its holder sends it back."""
HeldTokenOrNone = Annotated[_Token | None, SECRET]


class SessionMode(StrEnum):
    """Where the refresh token goes: into the answer, or into a cookie that no script can read."""

    TOKEN = "token"
    COOKIE = "cookie"


class Registration(Body):
    """Body of `POST /api/auth/register`."""

    email: Email
    password: Password
    name: Name | None = None
    organization: Name | None = None
    invite_token: HeldTokenOrNone = None
    session: SessionMode = SessionMode.TOKEN


class Login(Body):
    """Body of `POST /api/auth/login`."""

    email: Text
    password: OldPassword
    session: SessionMode = SessionMode.TOKEN
    device_token: Annotated[_DeviceToken | None, SECRET] = None


class HeldSession(Body):
    """A session, named by its refresh token or by the cookie that holds it."""

    refresh_token: HeldTokenOrNone = None
    session: SessionMode = SessionMode.TOKEN

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.refresh_token is None) is (self.session is SessionMode.TOKEN):
            raise PydanticCustomError(
                "session", 'Give either `refreshToken`, or `"session": "cookie"` with the cookie'
            )
        return self


class Refresh(HeldSession):
    """Body of `POST /api/auth/refresh`."""


class Logout(HeldSession):
    """Body of `POST /api/auth/logout`."""


class UserAnswer(Answer):
    """A person as others see them."""

    id: UUID
    email: str
    name: str


class OrganizationRole(Answer):
    """An organization and the caller's role in it."""

    id: UUID
    name: str
    role: Role


class TokenPair(Answer):
    """Answer of refresh. `expires_in`: in seconds. `refresh_token`: null if a cookie holds it."""

    access_token: Secret
    refresh_token: Annotated[str | None, SECRET]
    token_type: Literal["Bearer"] = "Bearer"
    expires_in: int


class SignedIn(TokenPair):
    """Answer of register and login. `device_token`: what this device shows at its next sign-in to
    this account; null when a cookie holds it. `notice`: what became of the account, told once.
    """

    user: UserAnswer
    organization: OrganizationRole | None
    device_token: Annotated[str | None, SECRET] = None
    notice: str | None = None


class OwnOrganization(OrganizationRole):
    """An organization of `GET /api/auth/me`. `erase_at`: it is deleted, and all of it goes then;
    null: it is not.
    """

    ci_metrics_enabled: bool
    erase_at: Time | None


class Me(Answer):
    """The caller. `organizations`: a page of theirs, 100 of `total`. `invitations`: how many are
    open for them.
    """

    user: UserAnswer
    organizations: Sequence[OwnOrganization]
    total: int
    page: int
    invitations: int


class PasswordChange(Body):
    """Body of `POST /api/auth/password`."""

    current_password: OldPassword
    new_password: Password


class PasswordReset(Body):
    """Body of `POST /api/auth/reset`."""

    reset_token: HeldToken
    new_password: Password


class SessionAnswer(Answer):
    """A sign-in. `client`: the kind of program that began it. `last_used_at`: when it was last
    renewed. `current`: it is the caller's own.
    """

    id: UUID
    client: str
    created_at: Time
    last_used_at: Time
    current: bool


class SessionsEnded(Answer):
    """How many other sign-ins of the caller ended."""

    ended: int


class NewOrganization(Body):
    """Body of `POST /api/orgs`."""

    name: Name


_ReportsDays = Annotated[int, Field(ge=limits.KEEP_REPORTS_DAYS_MIN, le=limits.KEEP_DAYS_MAX)]
_TextsDays = Annotated[int, Field(ge=limits.KEEP_TEXTS_DAYS_MIN, le=limits.KEEP_DAYS_MAX)]


class NewKeepDays(Body):
    """Days for which an organization keeps what it was sent; null: for ever. What is left out stays
    as it is.
    """

    reports: _ReportsDays | None = None
    messages: _TextsDays | None = None
    logs: _TextsDays | None = None


class OrganizationChange(Body):
    """Body of `PATCH /api/orgs/{orgId}`."""

    keep_days: NewKeepDays


class KeepDaysAnswer(Answer):
    """Days for which reports with merges, messages of failed tests, and log addresses are kept;
    null: for ever.
    """

    reports: int | None
    messages: int | None
    logs: int | None


class OrganizationAnswer(OwnOrganization):
    """Answer of `GET /api/orgs/{orgId}` and item of the list. `keep_days`: what the organization
    set; `kept_days`: what counts, within the operator's bounds. `kept_since`: reports that began
    before it were deleted; null: none was.
    """

    created_at: Time
    keep_days: KeepDaysAnswer
    kept_days: KeepDaysAnswer
    kept_since: Time | None


class NewCiKey(Body):
    """Body of `POST …/ci-keys`."""

    name: Name


class CreatedCiKey(Answer):
    """The only answer that ever holds the key."""

    id: UUID
    name: str
    api_key: Secret
    created_at: Time


class CiKeyAnswer(Answer):
    """A key in the list: never the key itself."""

    id: UUID
    name: str
    created_at: Time
    last_used_at: Time | None
    revoked_at: Time | None


class KeyProduct(Body):
    """A product that a new reader key is bound to."""

    repo_key: Name
    suite: Name


class NewReaderKey(Body):
    """Body of `POST …/reader-keys`. Without `products` it reads all of the organization."""

    name: Name
    products: (
        Annotated[Sequence[KeyProduct], ListRule(limits.KEY_PRODUCTS_MAX), Field(min_length=1)]
        | None
    ) = None


class BoundProduct(Answer):
    """A product that a reader key is bound to."""

    repo_key: str
    suite: str


class CreatedReaderKey(CreatedCiKey):
    """The only answer that ever holds the key. `products` empty: all of the organization."""

    org_id: UUID
    products: Sequence[BoundProduct]


class ReaderKeyAnswer(CiKeyAnswer):
    """A reader key in the list: never the key itself."""

    products: Sequence[BoundProduct]


class KeyOrganization(Answer):
    """The organization that a reader key reads."""

    id: UUID
    name: str
    ci_metrics_enabled: bool


class OwnReaderKey(Answer):
    """Answer of `GET /api/reader-key`: what the key of the request reads. `products` empty: all of
    the organization.
    """

    name: str
    organization: KeyOrganization
    products: Sequence[BoundProduct]


class AuditEntryAnswer(Answer):
    """An entry of the audit log."""

    id: UUID
    at: Time
    actor: Actor
    action: str
    target: str
    details: Mapping[str, object]


class RoleChange(Body):
    """Body of `PATCH …/members/{userId}`."""

    role: Role


class MemberAnswer(Answer):
    """A member of an organization."""

    user: UserAnswer
    role: Role
    joined_at: Time


class NewInvite(Body):
    """Body of `POST …/invites`: the owner of the e-mail is invited."""

    email: Email
    role: Role


class InviteAnswer(Answer):
    """Shown once: the token, which registers this e-mail or lets its account accept, once."""

    org_id: UUID
    email: str
    role: Role
    invite_token: Secret
    expires_at: Time


class SentInvite(Answer):
    """An open invitation as the organization's owners and admins see it: never its token."""

    id: UUID
    email: str
    role: Role
    invited_by: UserAnswer
    created_at: Time
    expires_at: Time


class InvitingOrganization(Answer):
    """An organization as an invited person sees it."""

    id: UUID
    name: str


class ReceivedInvite(Answer):
    """An open invitation as the invited person sees it. `needs_token`: only to accept it."""

    id: UUID
    organization: InvitingOrganization
    role: Role
    invited_by: UserAnswer
    created_at: Time
    expires_at: Time
    needs_token: bool


class Acceptance(Body):
    """Body of `POST /api/invites/{inviteId}/accept`."""

    invite_token: HeldTokenOrNone = None
