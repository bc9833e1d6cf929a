# SPDX-License-Identifier: Apache-2.0
"""Sign-ins: how one begins, is renewed and answered, whichever way a person signed in (contract,
"Auth"). This module decides what the use of a refresh token does.
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

DISABLED = "This account is disabled; ask the operator of this server"
_EXPIRES_IN = int(limits.ACCESS_TOKEN_LIFETIME.total_seconds())


def email_key(email: str) -> str:
    """Return the key of an e-mail's account: e-mails that differ in case are one account."""
    return email.strip().casefold()


@dataclass(frozen=True, slots=True)
class Started:
    """A new sign-in. `membership`: the organization that its answer shows. The notice of its user
    is told by that answer alone.
    """

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
    """Begin a sign-in. `client`: the kind of program; `membership`: for its answer, else the user's
    newest; `session_id`: one that was issued before. Raises `ForbiddenError`: the user is
    disabled.
    """
    if user.disabled_at is not None:
        raise ForbiddenError(DISABLED)
    if user.notice is not None:
        writer.told(user.id)
    session = Session(session_id or uuid4(), user.id, now, client)
    writer.add_session(session)
    token = _issue(writer, user.id, session.id, now)
    newest = [membership] if membership else writer.memberships(user.id, 0, 1).items
    return Started(user, session, token, newest[0] if newest else None)


def rotate(writer: Writer, held: RefreshToken, now: datetime) -> str | None:
    """Use up a token and return the next one; None if it does not work: "if one refresh token is
    used twice, all sessions of that user are revoked" (spec, "Authentication"). Nothing is raised,
    as that would undo the revocation.
    """
    if writer.use_refresh_token(held.digest, now):
        return _issue(writer, held.user_id, held.session_id, now)
    token = writer.refresh_token(held.digest)
    if token is not None and token.used_at is not None and token.expires_at > now:
        _end_all(writer, held.user_id, now)
    return None


def _end_all(writer: Writer, user_id: UUID, now: datetime) -> None:
    """End every sign-in of a user whose token was used twice, and record it. All their tokens of
    before expire with that: whoever goes on using them ends no later sign-in. If none was open,
    nothing is recorded.
    """
    ended = writer.end_sessions(user_id, now)
    writer.expire_tokens(user_id)
    user = writer.user(user_id)
    LOG.warning("a refresh token of user %s was used twice; %d sign-ins have ended", user_id, ended)
    if user is None or ended == 0:
        return
    entry = entry_of(user, now, "session.reuse", user_id, sessions=ended)
    record_everywhere(writer, user_id, entry)


def _issue(writer: Writer, user_id: UUID, session_id: UUID, now: datetime) -> str:
    """Return the next refresh token of a session."""
    token = new_token()
    expires_at = now + limits.REFRESH_TOKEN_LIFETIME
    writer.add_refresh_token(RefreshToken(token_digest(token), session_id, user_id, expires_at))
    return token


def signed_in(tokens: AccessTokens, started: Started) -> wire.SignedIn:
    """Return the answer to a sign-in."""
    membership = started.membership
    return wire.SignedIn(
        user=wire.UserAnswer.model_validate(started.user),
        organization=None
        if membership is None
        else wire.OrganizationRole(
            id=membership.organization.id, name=membership.organization.name, role=membership.role
        ),
        access_token=tokens.issue(Claims(started.user.id, started.session.id)),
        refresh_token=started.refresh_token,
        expires_in=_EXPIRES_IN,
        device_token=tokens.issue_device(started.user.email_key),
        notice=started.user.notice,
    )


def renewed(tokens: AccessTokens, held: RefreshToken, refresh_token: str) -> wire.TokenPair:
    """Return the answer to a renewal: the next refresh token, and an access token."""
    return wire.TokenPair(
        access_token=tokens.issue(Claims(held.user_id, held.session_id)),
        refresh_token=refresh_token,
        expires_in=_EXPIRES_IN,
    )
