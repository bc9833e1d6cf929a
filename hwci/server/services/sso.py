# SPDX-License-Identifier: Apache-2.0
"""Single sign-on through OpenID Connect (contract, "Auth"): authorization code, PKCE, state, nonce,
issuer; "accounts are linked only on a verified e-mail". It does not know how requests are sent.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from hwci.server.clock import Clock
from hwci.server.security.signing import Signer
from hwci.server.security.tokens import AccessTokens
from hwci.server.settings import Settings
from hwci.server.storage.ports import Storage
from hwci.wire import sso as wire
from hwci.wire.accounts import SignedIn


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request to a provider. `form`: it is posted, else asked for."""

    url: str
    form: Mapping[str, str] | None = None
    bearer: str | None = None


Fetch = Callable[[Outgoing], Awaitable[bytes]]
"""Sends a request and gives the body of a good answer. Raises `ProviderError`."""


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
        self._storage = storage
        self._clock = clock
        self._signer = signer
        self._tokens = tokens
        self._settings = settings
        self._fetch = fetch

    def providers(self) -> wire.SsoProviders:
        """List the providers."""
        raise NotImplementedError

    async def exchange(self, body: wire.SsoExchange) -> SignedIn:
        """Give the command line its sign-in."""
        raise NotImplementedError
