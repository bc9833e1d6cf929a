# SPDX-License-Identifier: Apache-2.0
"""Single sign-on through OpenID Connect, from its first redirect to its session (contract, "Auth").

This module decides what binds the two ends of a sign-in, for how long, and what a person reads when
it fails; which user a provider's person is, and whether they may sign in: "accounts are linked only
on a verified e-mail", and once linked by the provider's id, as e-mails move on to other people.
`relying_party.py` asks the provider. Between two requests only the browser keeps state, signed, so
any of several servers may take the next one.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from uuid import NAMESPACE_URL, UUID, uuid5

from hwci.server.clock import Clock
from hwci.server.errors import (
    ForbiddenError,
    NotFoundError,
    ProviderError,
    UnauthenticatedError,
)
from hwci.server.security.signing import Signer
from hwci.server.security.tokens import AccessTokens, new_token, same_token
from hwci.server.services.audit import entry_of, record_everywhere
from hwci.server.services.people import sessions
from hwci.server.services.people.accounts import admitted, new_user
from hwci.server.services.people.handover import refusal_url, waiting_ticket
from hwci.server.services.people.invitations import join
from hwci.server.services.people.relying_party import (
    ERROR_CODE,
    Binding,
    Person,
    RelyingParty,
)
from hwci.server.services.people.sessions import email_key
from hwci.server.services.people.sso_providers import providers_of
from hwci.server.services.people.unproved import is_unproved, set_apart
from hwci.server.services.published_keys import Fetch
from hwci.server.settings import Registration, Settings
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Identity, Invite, User
from hwci.wire import limits
from hwci.wire import sso as wire

LOG = logging.getLogger("hwci.server")

_TICKET = "sso+jwt"
_WAITING_CLAIMS = ("port", "challenge", "machine")
_INVITED_CLAIMS = ("invited", "invitation")
_TICKET_CLAIMS = ("provider", "state", "nonce", "verifier", *_WAITING_CLAIMS, *_INVITED_CLAIMS)

_NOT_STARTED = (
    "This sign-in was not started in this browser, or more than 10 minutes ago; sign in again"
)
_CONFIRMING_PAGE = "/sign-in/command-line"
_UNVERIFIED = (
    "Your provider does not say that your e-mail is verified; verify it there, then sign in again,"
    " or ask the operator of this server, whose log says what is missing"
)
_HAS_ACCOUNT = (
    "This e-mail has an account here, which an invitation does not open; sign in to it, and accept"
    " the invitation there"
)
_NOT_USED = "Your sign-in has an account here, so the invitation was not used"
_ACCEPT = f"{_NOT_USED}; it waits for you under Invitations"
_ASK_ANEW = (
    f"{_NOT_USED}; to join with this account, ask who sent it to invite the e-mail of this account"
)
_AMBIGUOUS = (
    "Your e-mail has letters that stand for others when e-mails are compared, so it may be taken"
    " for somebody else's; sign in with another e-mail"
)


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation that somebody holds, and the e-mail that they say it is for."""

    email: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignInStart:
    """Where the browser goes, and the ticket that it brings back; empty for a refusal."""

    url: str
    ticket: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SignInEnd:
    """A sign-in that has come back: where the browser goes. `refresh_token`: for a sign-in of the
    browser; for one of the command line there is a `ticket`, with which its person confirms it.
    """

    url: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    device_token: str | None = field(default=None, repr=False)
    notice: str | None = None
    ticket: str = field(default="", repr=False)


class Sso:
    """Signs people in through providers."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        signer: Signer,
        tokens: AccessTokens,
        settings: Settings,
        fetch: Fetch,
    ) -> None:
        """Read the providers. Raises `SettingsError`."""
        self._storage = storage
        self._clock = clock
        self._signer = signer
        self._tokens = tokens
        self._settings = settings
        self._parties = {
            name: RelyingParty(provider, fetch, clock)
            for name, provider in providers_of(settings).items()
        }

    async def providers(self) -> wire.SsoProviders:
        """List the providers."""
        return wire.SsoProviders(
            providers=[
                wire.SsoProvider(name=name, title=party.provider.title)
                for name, party in self._parties.items()
            ]
        )

    async def begin(self, name: str, query: wire.SsoLoginQuery) -> SignInStart:
        """Start a sign-in.

        Raises:
            NotFoundError: there is no such provider.
            UnauthenticatedError: it cannot be reached; a waiting command line is sent this instead.
        """
        waiting = (str(query.port or ""), query.challenge or "", query.machine or "")
        claims = dict(zip(_WAITING_CLAIMS, waiting, strict=True))
        try:
            return await self._begun(name, {**claims, **dict.fromkeys(_INVITED_CLAIMS, "")})
        except UnauthenticatedError as refusal:
            return SignInStart(refusal_url(refusal, claims))

    async def begin_invited(self, name: str, body: wire.SsoInvitation) -> SignInStart:
        """Start the sign-in of somebody who has an invitation.

        Raises:
            NotFoundError: there is no such provider.
            ForbiddenError: the invitation does not let them register.
            UnauthenticatedError: the provider cannot be reached.
        """
        self._party(name)
        invited, policy = Invited(body.email, body.invite_token), self._settings.registration

        def check(reader: Reader) -> None:
            invited_user(reader, invited, policy, self._clock())

        await self._storage.read(check, short=True)
        claims = dict(zip(_INVITED_CLAIMS, (body.email, body.invite_token), strict=True))
        return await self._begun(name, {**dict.fromkeys(_WAITING_CLAIMS, ""), **claims})

    async def _begun(self, name: str, subject: Mapping[str, str]) -> SignInStart:
        """Start a sign-in. `subject`: the claims of its ticket that say for whom."""
        party = self._party(name)
        binding = Binding(state=new_token(), nonce=new_token(), verifier=new_token())
        with _provider_faults(party, "cannot be reached now; try again in a minute"):
            url = await party.authorization_url(binding, self._redirect_uri(name))
        claims = {"provider": name, **asdict(binding), **subject}
        return SignInStart(url, self._signer.sign(_TICKET, claims, limits.SSO_LIFETIME))

    async def finish(
        self, name: str, ticket: str, query: wire.SsoCallbackQuery, client: str
    ) -> SignInEnd:
        """Finish a sign-in. `ticket`: the browser's, from its beginning; or empty.

        Raises:
            NotFoundError: there is no such provider.
            UnauthenticatedError: it is not the answer to this browser's sign-in.
            ForbiddenError: the provider or the operator refuses this person, and no command line
                waits.
        """
        party = self._party(name)
        claims = self._signer.read(_TICKET, ticket, _TICKET_CLAIMS)
        if claims is None or claims["provider"] != name:
            raise UnauthenticatedError(_NOT_STARTED)
        try:
            redirect_uri = self._redirect_uri(name)
            return await self._finished(party, redirect_uri, claims, query, client)
        except (ForbiddenError, UnauthenticatedError) as refusal:
            return SignInEnd(refusal_url(refusal, claims))

    async def _finished(
        self,
        party: RelyingParty,
        redirect_uri: str,
        claims: Mapping[str, str],
        query: wire.SsoCallbackQuery,
        client: str,
    ) -> SignInEnd:
        """Sign in a person. `claims`: the claims of the ticket. Raises the refusal."""
        # A refusal signs no one in, so it needs no proof: some providers leave out the state.
        with _refusals_logged(party):
            _require_consent(party, query.error)
        if not same_token(query.state, claims["state"]):
            raise UnauthenticatedError(_NOT_STARTED)
        binding = Binding(claims["state"], claims["nonce"], claims["verifier"])
        with _provider_faults(party, "gave no proof of who you are; sign in again"):
            await party.require_issuer(query.iss)
            if query.code is None:
                raise ProviderError("the browser came back with neither code nor error")
            person = await party.person(query.code, binding, redirect_uri)
        with _refusals_logged(party):
            if claims["port"]:
                return await self._hand_over(person, claims)
            return await self._signed_in(person, _invited(claims), client)

    async def _signed_in(self, person: Person, invited: Invited | None, client: str) -> SignInEnd:
        """Sign in a person's browser. Raises `ForbiddenError`."""
        now, policy = self._clock(), self._settings.registration

        def work(writer: Writer) -> sessions.Started:
            user = user_of(writer, person, invited, policy, now)
            return sessions.start(writer, user, now, client)

        started = await self._storage.write(work, person=await self._lock_of(person))
        device_token = self._tokens.issue_device(started.user.email_key)
        home = f"{self._settings.base_url}/"
        return SignInEnd(home, started.refresh_token, device_token, started.user.notice)

    async def _hand_over(self, person: Person, claims: Mapping[str, str]) -> SignInEnd:
        """Send the browser to the page on which its person confirms that a command line waits."""
        now, policy = self._clock(), self._settings.registration

        def work(writer: Writer) -> User:
            return user_of(writer, person, None, policy, now)

        user = await self._storage.write(work, person=await self._lock_of(person))
        ticket = waiting_ticket(self._signer, user, claims)
        return SignInEnd(f"{self._settings.base_url}{_CONFIRMING_PAGE}", ticket=ticket)

    async def _lock_of(self, person: Person) -> UUID | None:
        """Return what stands for a person who is linked or known; None where an account may be set
        apart, which no write of its organizations may overtake: it may be registered meanwhile.
        """
        key = email_key(person.email or "")

        def find(reader: Reader) -> bool:
            user = reader.user_by_email(key)
            known = user is not None and not is_unproved(user)
            return known or reader.user_by_identity(person.issuer, person.subject) is not None

        if not await self._storage.read(find, short=True):
            return None
        return uuid5(NAMESPACE_URL, f"{person.issuer} {person.subject}")

    def _party(self, name: str) -> RelyingParty:
        if name not in self._parties:
            raise NotFoundError("Provider not found; GET /api/auth/sso lists those there are")
        return self._parties[name]

    def _redirect_uri(self, name: str) -> str:
        return f"{self._settings.base_url}/api/auth/sso/{name}/callback"


def _require_consent(party: RelyingParty, error: str | None) -> None:
    if error is not None:
        code = error if ERROR_CODE.fullmatch(error) else "error"
        raise ForbiddenError(f"{party.provider.title} did not sign you in ({code}); sign in again")


@contextmanager
def _provider_faults(party: RelyingParty, sentence: str) -> Iterator[None]:
    """Log a provider's fault, and raise what a person can do about it."""
    try:
        yield
    except ProviderError as fault:
        LOG.warning("single sign-on through %s: %s", party.provider.name, fault)
        raise UnauthenticatedError(f"{party.provider.title} {sentence}") from fault


@contextmanager
def _refusals_logged(party: RelyingParty) -> Iterator[None]:
    """Log why a person is refused: what they read leaves out what only the operator can mend."""
    try:
        yield
    except ForbiddenError as refusal:
        cause = refusal.__cause__ or refusal
        LOG.warning("single sign-on through %s is refused: %s", party.provider.name, cause)
        raise


def user_of(
    writer: Writer, person: Person, invited: Invited | None, policy: Registration, now: datetime
) -> User:
    """Return the user of a person: the linked one, else the one whose e-mail was proved to be
    theirs, else a new one if an invitation or the operator's policy allows it, or in place of one
    whose e-mail nobody proved. Whoever has an account is told that an invitation was not used.
    Raises `ForbiddenError`: the e-mail does not count, the policy does not allow it, or the account
    in place of which it would be is disabled.
    """
    linked = writer.user_by_identity(person.issuer, person.subject)
    if linked is not None:
        return _told_of_unused(linked, invited)
    former = None
    if person.email is not None:
        former = writer.user_by_email(email_key(person.email))
        proved = [former.email] if former and former.proved else []
        _require_own_letters(person.email, *proved)
    if former is None and invited is not None:
        user = _register(writer, person, invited, policy, now)
    else:
        user = former if former and former.proved else _new(writer, person, former, policy, now)
        user = _told_of_unused(user, invited)
    writer.add_identity(Identity(person.issuer, person.subject, user.id, now))
    entry = entry_of(user, now, "identity.linked", user.id, issuer=person.issuer)
    record_everywhere(writer, user.id, entry)
    return user


def _told_of_unused(user: User, invited: Invited | None) -> User:
    """Return a user who reads after the sign-in that the invitation, if any, was not used."""
    if invited is None:
        return user
    unused = _ACCEPT if email_key(invited.email) == user.email_key else _ASK_ANEW
    return replace(user, notice=". ".join(filter(None, [user.notice, unused])))


def _invited(claims: Mapping[str, str]) -> Invited | None:
    """Return the invitation with which a sign-in began. `claims`: the claims of its ticket."""
    email, token = (claims[name] for name in _INVITED_CLAIMS)
    return Invited(email, token) if token else None


def invited_user(
    reader: Reader, invited: Invited, policy: Registration, now: datetime
) -> tuple[User, Invite]:
    """Return the new user of an invitation, and the invitation. Whoever sent it has its token, so
    it proves nothing of the e-mail (ADR 0017), and opens no account that there is.

    Raises:
        ForbiddenError: it cannot be used, or its e-mail has an account.
    """
    invite = admitted(reader, policy, invited.email, invited.token, now)
    assert invite is not None, "there is a token"
    if reader.user_by_email(email_key(invited.email)) is not None:
        raise ForbiddenError(_HAS_ACCOUNT)
    return new_user(invited.email, None, None, now, proved=invite.offer is None), invite


def _register(
    writer: Writer, person: Person, invited: Invited, policy: Registration, now: datetime
) -> User:
    """Make the user of a person who was invited, as registering with a password does; the provider
    may have verified that the e-mail is theirs.
    """
    user, invite = invited_user(writer, invited, policy, now)
    user = replace(user, name=person.name)
    if person.email is not None and email_key(person.email) == user.email_key:
        user = replace(user, email=person.email, proved=True)
    writer.add_user(user)
    join(writer, invite, user, now)
    return user


def _require_own_letters(*emails: str) -> None:
    """Raise `ForbiddenError` if folding changes more than capitals: `faß.eu` is not `fass.eu`."""
    if any(email.encode().lower() != email_key(email).encode() for email in emails):
        raise ForbiddenError(_AMBIGUOUS)


def _new(
    writer: Writer, person: Person, former: User | None, policy: Registration, now: datetime
) -> User:
    """Make the user of a person, in place of a former one whose e-mail nobody proved."""
    if person.email is None:
        raise ForbiddenError(_UNVERIFIED) from ProviderError(person.email_fault)
    user = new_user(person.email, person.name, None, now, proved=True)
    if former is None:
        admitted(writer, policy, person.email, None, now, verified=True)
    elif former.disabled_at is not None:
        raise ForbiddenError(sessions.DISABLED)
    else:
        user = replace(user, notice=set_apart(writer, former, now))
    writer.add_user(user)
    return user
