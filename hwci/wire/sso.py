# SPDX-License-Identifier: Apache-2.0
"""Single sign-on on the wire (contract, "Auth"): which providers there are, and how the command
line takes a sign-in over from the browser, whose person confirms it.
"""

import hashlib
from base64 import b32encode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from hwci.wire import limits
from hwci.wire.accounts import Email, HeldToken
from hwci.wire.base import STORABLE, Answer, Body, Text
from hwci.wire.queries import DIGITS, Query


class SsoProvider(Answer):
    """A provider: `name` is part of addresses, `title` is for people."""

    name: str
    title: str


class SsoProviders(Answer):
    """Answer of `GET /api/auth/sso`."""

    providers: Sequence[SsoProvider]


Challenge = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{43}$")]
"""SHA-256 of a verifier, in base64url (RFC 7636, S256)."""


Machine = Annotated[str, Field(min_length=1, max_length=limits.MACHINE_MAX), STORABLE]


def challenge_of(verifier: str) -> str:
    """Return the challenge of a verifier."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


_CODE_DIGITS = 4


def code_of(challenge: str) -> str:
    """Return the code of a challenge that a person compares: the terminal and the page show it."""
    letters = b32encode(hashlib.sha256(challenge.encode()).digest()).decode()
    return f"{letters[:_CODE_DIGITS]}-{letters[_CODE_DIGITS : 2 * _CODE_DIGITS]}"


class SsoLoginQuery(Query):
    """Query of `…/login`. With all of it the sign-in ends at a loopback address of the command
    line, else in the dashboard. `machine`: its name of itself, which a person reads.
    """

    port: Annotated[int, Field(ge=1, le=limits.PORT_MAX), DIGITS] | None = None
    challenge: Challenge | None = None
    machine: Machine | None = None

    @model_validator(mode="after")
    def _all_or_none(self) -> Self:
        lacking = [self.port, self.challenge, self.machine].count(None)
        if lacking not in {0, 3}:
            raise PydanticCustomError("loopback", "Give `port`, `challenge` and `machine`, or none")
        return self


class SsoInvitation(Body):
    """Body of `POST …/login`: an invitation, with which somebody signs in whose e-mail the provider
    does not state to be verified. `email`: the one that was invited.
    """

    email: Email
    invite_token: HeldToken


class SsoStart(Answer):
    """Answer of `POST …/login`: where the browser goes to sign in."""

    url: str


class SsoCallbackQuery(Query):
    """Query of `…/callback`, as the provider sends it (RFC 6749; `iss`: RFC 9207). Providers add
    parameters of their own.
    """

    model_config = ConfigDict(extra="ignore")

    code: Text | None = None
    state: Text | None = None
    iss: Text | None = None
    error: Text | None = None


class SsoWaiting(Answer):
    """Answer of `GET /api/auth/sso/command-line`: who waits for the sign-in of this browser, and
    whose it is. `code`: what its terminal shows, too.
    """

    machine: str
    port: int
    code: str
    challenge: str
    email: str


class SsoConfirmation(Body):
    """Body of `POST /api/auth/sso/command-line`. `challenge`: of the one that the person read."""

    challenge: Challenge
    accepted: bool


class SsoHandover(Answer):
    """Where the browser goes next: to the command line, with a code or the words of a refusal."""

    url: str


class SsoExchange(Body):
    """Body of `POST /api/auth/sso/token`: a code that the loopback address received, once."""

    code: Annotated[str, Field(max_length=limits.CODE_MAX), STORABLE]
    verifier: HeldToken
