# SPDX-License-Identifier: Apache-2.0
"""Which user a provider's person is, and whether they may sign in (contract, "Auth": "accounts are
linked only on a verified e-mail", "Policy is the operator's"). Once linked, a provider's id for
somebody is enough: e-mails move on to other people, those ids do not.
"""

from datetime import datetime

from hwci.server.errors import ForbiddenError
from hwci.server.services.audit import entry_of, record_everywhere
from hwci.server.services.people.accounts import REFUSALS, new_user
from hwci.server.services.people.invitations import still_stands
from hwci.server.services.people.relying_party import Person
from hwci.server.services.people.sessions import email_key
from hwci.server.settings import Registration
from hwci.server.storage.ports import Writer
from hwci.server.storage.records import Identity, User
from hwci.wire import limits

_UNVERIFIED = (
    "Your provider does not say that your e-mail is verified; verify it there, then sign in again"
)
_AMBIGUOUS = (
    "Your e-mail has letters that stand for others when e-mails are compared, so it may be taken"
    " for somebody else's; sign in with another e-mail"
)


def user_of(writer: Writer, person: Person, policy: Registration, now: datetime) -> User:
    """Return the user of a person: the linked one, else the one with the verified e-mail, else a
    new one if the operator's policy allows it. Raises `ForbiddenError`: the e-mail is not
    verified, or the policy does not allow it.
    """
    linked = writer.user_by_identity(person.issuer, person.subject)
    if linked is not None:
        return linked
    if person.email is None:
        raise ForbiddenError(_UNVERIFIED)
    user = writer.user_by_email(email_key(person.email))
    _require_own_letters(person.email, *([] if user is None else [user.email]))
    if user is None:
        user = _registered(writer, person, person.email, policy, now)
    writer.add_identity(Identity(person.issuer, person.subject, user.id, now))
    entry = entry_of(user, now, "identity.linked", user.id, issuer=person.issuer)
    record_everywhere(writer, user.id, entry)
    return user


def _require_own_letters(*emails: str) -> None:
    """Raise `ForbiddenError` for an e-mail that folding changes beyond its capitals: a mailbox at
    `faß.example` is not one at `fass.example`.
    """
    if any(email.encode().lower() != email_key(email).encode() for email in emails):
        raise ForbiddenError(_AMBIGUOUS)


def _registered(
    writer: Writer, person: Person, email: str, policy: Registration, now: datetime
) -> User:
    """Make a user. An invitation lets them register; they accept or decline it later."""
    found = writer.open_invites(email_key(email), now, 0, limits.INTEGER_MAX).items
    invited = any(one.offer is not None and still_stands(writer, one.offer) for one in found)
    if policy is not Registration.OPEN and not (policy is Registration.INVITE and invited):
        raise ForbiddenError(REFUSALS[policy])
    user = new_user(email, person.name, None, now)
    writer.add_user(user)
    return user
