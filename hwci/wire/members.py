# SPDX-License-Identifier: Apache-2.0
"""Members of an organization and invitations on the wire (contract, "Organizations")."""

from uuid import UUID

from hwci.engine.vocabulary import Role
from hwci.wire.accounts import Email, HeldTokenOrNone, Secret, UserAnswer
from hwci.wire.base import Answer, Body, Time


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
    """The only answer that ever holds the token, which registers this e-mail or lets the account
    with it accept, once.
    """

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
    """An open invitation as the invited person sees it. `needs_token`: accepting it needs its
    token; declining it does not.
    """

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
