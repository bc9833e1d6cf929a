# SPDX-License-Identifier: Apache-2.0
"""Single sign-on on the wire (contract, "Auth"): which providers there are, and how the command
line takes a sign-in over from the browser.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from hwci.wire import limits
from hwci.wire.accounts import HeldToken
from hwci.wire.base import STORABLE, Answer, Body, Text
from hwci.wire.queries import DIGITS, Query


class SsoProvider(Answer):
    """A provider: `name` stands in addresses, `title` is for people."""

    name: str
    title: str


class SsoProviders(Answer):
    """Answer of `GET /api/auth/sso`."""

    providers: Sequence[SsoProvider]


Challenge = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{43}$")]
"""SHA-256 of a verifier, in base64url (RFC 7636, S256)."""


class SsoLoginQuery(Query):
    """Query of `…/login`. With `port` and `challenge` the sign-in ends at a loopback address of the
    command line, else in the dashboard.
    """

    port: Annotated[int, Field(ge=1, le=65_535), DIGITS] | None = None
    challenge: Challenge | None = None


class SsoCallbackQuery(Query):
    """Query of `…/callback`, as the provider sends it (RFC 6749; `iss`: RFC 9207)."""

    code: Text | None = None
    state: Text | None = None
    iss: Text | None = None
    error: Text | None = None


class SsoExchange(Body):
    """Body of `POST /api/auth/sso/token`: a code that the loopback address was given, once."""

    code: Annotated[str, Field(max_length=limits.CODE_MAX), STORABLE]
    verifier: HeldToken
