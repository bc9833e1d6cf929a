# SPDX-License-Identifier: Apache-2.0
"""Sign-ins: how one begins, is renewed and answered, whichever way a person proved who they are
(contract, "Auth").

This module decides what a sign-in is, whom the operator lets begin one, and what the use of a
refresh token does.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from hwci.server.errors import ForbiddenError
from hwci.server.security.tokens import AccessTokens, Claims, new_token, token_digest
from hwci.server.services.audit import entry_of, record_everywhere
from hwci.server.storage.ports import Writer
from hwci.server.storage.records import Membership, RefreshToken, Session, User
from hwci.wire import accounts as wire
from hwci.wire import limits

LOG = logging.getLogger("hwci.server")

_DISABLED = "This account is disabled; ask the operator of this service"
_EXPIRES_IN = int(limits.ACCESS_TOKEN_LIFETIME.total_seconds())


@dataclass(frozen=True, slots=True)
class Started:
    """A sign-in that has begun. `membership`: the organization that its answer shows."""

    user: User
    session: Session
    refresh_token: str
    membership: Membership | None


def start(
    writer: Writer,
    user: User,
    now: datetime,
    client: str,
    membership: Membership | None = None,
    session_id: UUID | None = None,
) -> Started:
    """Begin a sign-in from a kind of program. Its answer shows `membership`, else the user's
    newest, if there is one. `session_id`: one that was promised already.

    Raises:
        ForbiddenError: the user, as kept now, is disabled.
    """
    if user.disabled_at is not None:
        raise ForbiddenError(_DISABLED)
    session = Session(session_id or uuid4(), user.id, now, client=client)
    writer.add_session(session)
    token = _hand_out(writer, user.id, session.id, now)
    newest = [membership] if membership else writer.memberships(user.id, 0, 1).items
    return Started(user, session, token, newest[0] if newest else None)


def rotate(writer: Writer, held: RefreshToken, now: datetime) -> str | None:
    """Use a token up and give the next one, or None: "if one refresh token is used twice, all
    sessions of that user are revoked" (spec, "Authentication").

    Nothing is raised here, as that would undo the revocation.
    """
    if writer.use_refresh_token(held.digest, now):
        return _hand_out(writer, held.user_id, held.session_id, now)
    found = writer.refresh_token(held.digest)
    if found is not None and found.used_at is not None:
        _end_all(writer, held.user_id, now)
    return None


def _end_all(writer: Writer, user_id: UUID, now: datetime) -> None:
    """End every sign-in of a user whose token came a second time, and tell those who watch.

    One that ends nothing tells nothing new: who sends it again and again fills no audit log.
    """
    ended = writer.end_sessions(user_id, now)
    user = writer.user(user_id)
    LOG.warning("a refresh token of user %s was used twice; %d sign-ins have ended", user_id, ended)
    if user is None or ended == 0:
        return
    entry = entry_of(user, now, "session.reuse", user_id, sessions=ended)
    record_everywhere(writer, user_id, entry)


def _hand_out(writer: Writer, user_id: UUID, session_id: UUID, now: datetime) -> str:
    """Make the next refresh token of a session. Expired ones need not be known any longer."""
    token = new_token()
    expires_at = now + limits.REFRESH_TOKEN_LIFETIME
    writer.drop_expired(user_id, now)
    writer.add_refresh_token(RefreshToken(token_digest(token), session_id, user_id, expires_at))
    return token


def signed_in(tokens: AccessTokens, started: Started) -> wire.SignedIn:
    """Give the answer to who signed in."""
    found = started.membership
    return wire.SignedIn(
        user=user_answer(started.user),
        organization=None
        if found is None
        else wire.OrganizationRole(
            id=found.organization.id, name=found.organization.name, role=found.role
        ),
        access_token=tokens.issue(Claims(started.user.id, started.session.id)),
        refresh_token=started.refresh_token,
        expires_in=_EXPIRES_IN,
        device_token=tokens.issue_device(started.user.email_key),
    )


def renewed(tokens: AccessTokens, held: RefreshToken, refresh_token: str) -> wire.TokenPair:
    """Give the answer to who renewed a sign-in: its next refresh token, and an access token."""
    return wire.TokenPair(
        access_token=tokens.issue(Claims(held.user_id, held.session_id)),
        refresh_token=refresh_token,
        expires_in=_EXPIRES_IN,
    )


def user_answer(user: User) -> wire.UserAnswer:
    """Give a user as others may see them."""
    return wire.UserAnswer(id=user.id, email=user.email, name=user.name)
