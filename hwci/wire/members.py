# SPDX-License-Identifier: Apache-2.0
"""Members of an organization and invitations on the wire (contract, "Organizations")."""

from uuid import UUID

from hwci.engine.vocabulary import Role
from hwci.wire.accounts import Email, Secret, UserAnswer
from hwci.wire.base import Answer, Body, Time


class NewMember(Body):
    """Body of `POST …/members`: an account that exists."""

    email: Email
    role: Role


class RoleChange(Body):
    """Body of `PATCH …/members/{userId}`."""

    role: Role


class MemberAnswer(Answer):
    """A member of an organization."""

    user: UserAnswer
    role: Role
    joined_at: Time


class NewInvite(Body):
    """Body of `POST …/invites`: an e-mail that has no account yet."""

    email: Email
    role: Role


class InviteAnswer(Answer):
    """The only answer that ever holds the token, which registers this e-mail once."""

    org_id: UUID
    email: str
    role: Role
    invite_token: Secret
    expires_at: Time
