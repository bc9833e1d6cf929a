# SPDX-License-Identifier: Apache-2.0
"""The part of the storage port for people, organizations and sign-ins. `ports.py` explains
transactions, and which organization a query is about.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from hwci.contract.vocabulary import Role
from hwci.engine.history import Listing
from hwci.server.storage.records import (
    Counting,
    Identity,
    Invite,
    KeepDays,
    Kept,
    Membership,
    OpenSession,
    Organization,
    OrganizationMember,
    RefreshToken,
    Session,
    SignedIn,
    Usage,
    User,
)


class Accounts(Protocol):
    """People and organizations, for reading."""

    def user(self, user_id: UUID) -> User | None:
        """Return a user by id."""

    def user_by_email(self, email_key: str) -> User | None:
        """Return a user by the folded form of the e-mail."""

    def user_by_reset(self, digest: bytes, now: datetime) -> User | None:
        """Return the user whose reset link has this digest, if it has not expired."""

    def users_apart(self) -> Sequence[User]:
        """Return the users that were set apart."""

    def organization(self, org_id: UUID) -> Organization | None:
        """Return an organization by id."""

    def membership(self, org_id: UUID, user_id: UUID) -> Membership | None:
        """Return the membership of a user in an organization, or None."""

    def memberships(self, user_id: UUID, offset: int, limit: int) -> Listing[Membership]:
        """List the organizations of a user, newest first."""

    def any_user(self) -> bool:
        """Return whether there is any user yet."""

    def user_by_identity(self, issuer: str, subject: str) -> User | None:
        """Return the user with this id at a provider of single sign-on."""

    def has_identity(self, user_id: UUID) -> bool:
        """Return whether a provider of single sign-on is linked to a user."""

    def organization_ids(self) -> Sequence[UUID]:
        """Return the ids of all organizations."""

    def organizations_to_erase(self, now: datetime) -> Sequence[UUID]:
        """Return the ids of the deleted organizations whose time is over."""

    def counting(self, org_id: UUID) -> Mapping[Kept, Counting]:
        """Return what of an organization goes after some days, as `set_counting` kept it."""

    def usage(self, org_id: UUID) -> Usage | None:
        """Return the bytes that an organization sent; None if it sent nothing."""

    def members(self, org_id: UUID, offset: int, limit: int) -> Listing[OrganizationMember]:
        """List the members of an organization, newest first."""

    def owners(self, org_id: UUID) -> int:
        """Count the owners of an organization."""

    def invite(self, digest: bytes) -> Invite | None:
        """Return an invitation, used or not, by the digest of its token."""

    def invite_by_id(self, invite_id: UUID) -> Invite | None:
        """Return an invitation, used or not, by its id."""

    def owned(self, user_id: UUID) -> int:
        """Count the organizations that a user owns."""

    def open_invite(self, org_id: UUID, email_key: str, now: datetime) -> Invite | None:
        """Return the invitation of an e-mail to an organization that can be used."""

    def open_invites(
        self, email_key: str, now: datetime, offset: int, limit: int
    ) -> Listing[Invite]:
        """List the invitations of an e-mail that can be used, newest first."""

    def invites_of(self, org_id: UUID, now: datetime, offset: int, limit: int) -> Listing[Invite]:
        """List the invitations to an organization that can be used, newest first."""


class AccountsWriter(Accounts, Protocol):
    """People and organizations, for writing."""

    def add_user(self, user: User) -> None:
        """Keep a new user. Raises `ClashError("email")` when the e-mail is taken."""

    def set_password(self, user_id: UUID, password_hash: str) -> None:
        """Change a user's password. Their reset link stops working."""

    def set_reset(self, user_id: UUID, digest: bytes, expires_at: datetime) -> None:
        """Keep a reset link of a user, in place of an earlier one."""

    def set_disabled(self, user_id: UUID, at: datetime | None) -> None:
        """Disable a user, whose reset link stops working; `at` None: enable them."""

    def vouch(self, user_id: UUID) -> None:
        """Keep that the e-mail of a user is proved to be theirs."""

    def told(self, user_id: UUID) -> None:
        """Forget the notice of a user, who is told it."""

    def set_apart(self, user_id: UUID, at: datetime) -> None:
        """Disable a user for good: their e-mail is free for another account, and their password
        and reset link stop working.
        """

    def erase_user(self, user: User) -> None:
        """Delete a user who is a member of nothing, with their sign-ins, their ids at providers,
        and the invitations that they sent or that are for their e-mail.
        """

    def add_organization(self, organization: Organization) -> None:
        """Keep a new organization."""

    def add_usage(self, org_id: UUID, hour: int, size: int) -> Usage:
        """Add bytes that an organization sent in an hour, and return its usage with them."""

    def add_membership(self, org_id: UUID, user_id: UUID, role: Role, joined_at: datetime) -> None:
        """Make a user a member. Raises `ClashError("user")` when it is one."""

    def set_role(self, org_id: UUID, user_id: UUID, role: Role) -> bool:
        """Change the role of a member; False if the user is not a member."""

    def remove_membership(self, org_id: UUID, user_id: UUID) -> bool:
        """Remove a member; False if the user is not a member."""

    def add_identity(self, identity: Identity) -> None:
        """Link a provider's id to a user. Raises `ClashError("identity")` if it is linked
        already.
        """

    def add_invite(self, invite: Invite) -> None:
        """Keep an invitation. A new set-up token takes the place of the earlier ones."""

    def use_invite(self, digest: bytes, at: datetime) -> bool:
        """Use an invitation up, if it is unused and has not expired; at most one caller gets
        True.
        """

    def withdraw_invites(self, org_id: UUID, email_key: str, at: datetime) -> None:
        """Use up every unused invitation of an e-mail to an organization."""

    def drop_invites(self, before: datetime, most: int) -> int:
        """Delete invitations that were used or expired by then, up to a number; return how many."""

    def set_keep_days(self, org_id: UUID, days: KeepDays) -> None:
        """Set for how many days an organization keeps something."""

    def set_counting(self, org_id: UUID, kind: Kept, counting: Counting | None) -> None:
        """Keep after how many days something goes, and since when that counts; None: it stays."""

    def set_erase_at(self, org_id: UUID, at: datetime | None) -> None:
        """Set when all of an organization goes; None: it stays."""

    def drop_organization(self, org_id: UUID, most: int) -> bool:
        """Delete up to `most` rows of an organization, its members first, and when none is left
        the organization; return whether it is gone. The audit log stays.
        """

    def set_ci_metrics(self, org_id: UUID, *, enabled: bool) -> bool:
        """Turn CI Metrics on or off; False when there is no such organization."""


class Sessions(Protocol):
    """Sign-ins, for reading."""

    def session(self, session_id: UUID) -> Session | None:
        """Return a sign-in by id."""

    def signed_in(self, session_id: UUID, org_id: UUID | None) -> SignedIn | None:
        """Return a sign-in by id with its user, and with their membership in an organization, if
        one is named. It is one question.
        """

    def open_sessions(
        self, user_id: UUID, now: datetime, offset: int, limit: int
    ) -> Listing[OpenSession]:
        """List the sign-ins of a user that can be renewed now, newest first."""

    def refresh_token(self, digest: bytes) -> RefreshToken | None:
        """Return a refresh token, used or not, by its digest."""


class SessionsWriter(Sessions, Protocol):
    """Sign-ins, for writing."""

    def add_session(self, session: Session) -> None:
        """Keep a sign-in."""

    def end_session(self, session_id: UUID, at: datetime) -> None:
        """End a sign-in; an earlier end stays. Nothing happens if there is no such sign-in."""

    def end_sessions(self, user_id: UUID, at: datetime, but: UUID | None = None) -> int:
        """End every sign-in of a user but one; return how many this ended."""

    def add_refresh_token(self, token: RefreshToken) -> None:
        """Keep a new refresh token."""

    def use_refresh_token(self, digest: bytes, at: datetime) -> bool:
        """Use a token up, if it was not used, has not expired and its sign-in has not ended.

        Of several callers, at once or not, at most one gets True.
        """

    def expire_tokens(self, user_id: UUID) -> None:
        """Let every token of a user, used or not, have expired by any clock."""

    def drop_refresh_tokens(self, before: datetime, most: int) -> int:
        """Delete expired tokens of all users and sign-ins without a token, up to a number; return
        how many. The access tokens of these sign-ins, which live shorter, have expired too.
        """
