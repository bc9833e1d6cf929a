# SPDX-License-Identifier: Apache-2.0
"""How a sign-in goes from the browser to a command line (contract, "Auth").

Anybody can prepare a link that names a port, and a provider that knows the browser asks nothing. So
a person reads first who waits, where, and as whom they would sign it in, and says yes: only then is
there a code. This module decides what they read and what their answer is worth; how they were
signed in is decided in `sso.py`. Between two requests only the browser keeps state, signed.
"""

from collections.abc import Mapping
from urllib.parse import urlencode
from uuid import UUID, uuid4

from hwci.server.clock import Clock
from hwci.server.errors import ForbiddenError, HwciServerError, UnauthenticatedError
from hwci.server.security.signing import Signer
from hwci.server.security.tokens import AccessTokens, same_token
from hwci.server.services.people import sessions
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import User
from hwci.wire import limits
from hwci.wire import sso as wire
from hwci.wire.accounts import SignedIn

_WAITING, _CODE = "sso-waiting+jwt", "sso-code+jwt"
_WAITING_CLAIMS = ("sub", "sid", "port", "challenge", "machine")
_CODE_CLAIMS = ("sub", "sid", "challenge")

_NOT_WAITING = (
    "No command line waits for this browser, or it has waited for more than 10 minutes, or another"
    " sign-in began here since; run hwci login again"
)
_REFUSED = "You said no in the browser"
_NO_CODE = "The code is not valid, has expired or was used before; sign in again"


def waiting_ticket(signer: Signer, user: User, claims: Mapping[str, str]) -> str:
    """Return the ticket of a person who is signed in, until they answer. `claims`: who waits."""
    waiting = {name: claims[name] for name in ("port", "challenge", "machine")}
    promised = {"sub": str(user.id), "sid": str(uuid4()), **waiting}
    return signer.sign(_WAITING, promised, limits.SSO_LIFETIME)


def refusal_url(refusal: HwciServerError, claims: Mapping[str, str]) -> str:
    """Return the address that carries a refusal to the command line, so that it does not wait. The
    challenge proves that the refusal is ours: no other program that opens that address knows it.
    Raises `HwciServerError`: the refusal, if no command line waits.
    """
    if not claims["port"]:
        raise refusal
    return _loopback(claims, error=str(refusal), challenge=claims["challenge"])


def _loopback(claims: Mapping[str, str], **brought: str) -> str:
    return f"http://127.0.0.1:{claims['port']}/callback?{urlencode(brought)}"


class Handover:
    """Hands sign-ins over to command lines."""

    def __init__(
        self, storage: Storage, clock: Clock, signer: Signer, tokens: AccessTokens
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._signer = signer
        self._tokens = tokens

    async def waiting(self, ticket: str) -> wire.SsoWaiting:
        """Return who waits for the sign-in of a browser. Raises `UnauthenticatedError`: nobody."""
        claims = self._claims(ticket)
        user_id = UUID(claims["sub"])
        user = await self._storage.read(lambda reader: reader.user(user_id), short=True)
        if user is None:
            raise UnauthenticatedError(_NOT_WAITING)
        return wire.SsoWaiting(
            machine=claims["machine"],
            port=int(claims["port"]),
            code=wire.code_of(claims["challenge"]),
            challenge=claims["challenge"],
            email=user.email,
        )

    def answered(self, ticket: str, body: wire.SsoConfirmation) -> wire.SsoHandover:
        """Return where the browser goes after its person has answered.

        Raises:
            UnauthenticatedError: nobody waits, or it is not the one that the person read of.
        """
        claims = self._claims(ticket)
        if not same_token(body.challenge, claims["challenge"]):
            raise UnauthenticatedError(_NOT_WAITING)
        if not body.accepted:
            return wire.SsoHandover(url=refusal_url(ForbiddenError(_REFUSED), claims))
        promised = {name: claims[name] for name in _CODE_CLAIMS}
        code = self._signer.sign(_CODE, promised, limits.CODE_LIFETIME)
        return wire.SsoHandover(url=_loopback(claims, code=code))

    async def exchange(self, body: wire.SsoExchange, client: str) -> SignedIn:
        """Return the sign-in of a command line, once.

        Raises:
            UnauthenticatedError: the code has ended, was used, or is somebody else's.
            ForbiddenError: the user was disabled meanwhile.
        """
        claims = self._signer.read(_CODE, body.code, _CODE_CLAIMS)
        if claims is None or not same_token(wire.challenge_of(body.verifier), claims["challenge"]):
            raise UnauthenticatedError(_NO_CODE)
        user_id, session_id, now = UUID(claims["sub"]), UUID(claims["sid"]), self._clock()

        def work(writer: Writer) -> sessions.Started:
            # The code is for this session: if it exists, the code was used.
            user = writer.user(user_id)
            if user is None or writer.session(session_id) is not None:
                raise UnauthenticatedError(_NO_CODE)
            return sessions.start(writer, user, now, client, session_id=session_id)

        started = await self._storage.write(work, person=user_id)
        return sessions.signed_in(self._tokens, started)

    def _claims(self, ticket: str) -> Mapping[str, str]:
        claims = self._signer.read(_WAITING, ticket, _WAITING_CLAIMS)
        if claims is None:
            raise UnauthenticatedError(_NOT_WAITING)
        return claims
