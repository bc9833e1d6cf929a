# SPDX-License-Identifier: Apache-2.0
"""The keys that an issuer of tokens publishes, as they are fetched and kept.

This module decides for how long keys are kept, that one request at a time fetches those of an
issuer, and when newer ones are worth a look. What a token must hold is decided in
`security/id_tokens.py`; what is sent is in the hands of `Fetch`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from hwci.server.clock import Clock
from hwci.server.security.id_tokens import Key, UnknownKeyError, published_keys

KEPT_FOR = timedelta(hours=1)
_NEWER_KEYS_AFTER = timedelta(minutes=1)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request to an issuer: a POST of `form`, or a GET without one."""

    url: str
    form: Mapping[str, str] | None = field(default=None, repr=False)
    authorization: str | None = field(default=None, repr=False)


Fetch = Callable[[Outgoing], Awaitable[bytes]]
"""Sends a request and returns the body of a good answer. Raises `ProviderError`."""


class PublishedKeys:
    """The keys of one issuer."""

    def __init__(self, fetch: Fetch, clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._keys: tuple[Sequence[Key], datetime] | None = None
        self._asking = asyncio.Lock()

    async def read(
        self, address: Callable[[], Awaitable[str]], read: Callable[[Sequence[Key]], Result]
    ) -> Result:
        """Return what `read` makes of a token with the keys at an address. If it knows none of
        them, the issuer may have changed its keys.

        Raises:
            ProviderError: the keys cannot be had.
            UnknownKeyError: none of them signed the token.
        """
        try:
            return read(await self._of(address, KEPT_FOR))
        except UnknownKeyError:
            return read(await self._of(address, _NEWER_KEYS_AFTER))

    async def _of(
        self, address: Callable[[], Awaitable[str]], kept_for: timedelta
    ) -> Sequence[Key]:
        """Return the keys, fetched again if they are older than `kept_for`."""
        if (keys := self._kept(kept_for)) is not None:
            return keys
        async with self._asking:
            if (keys := self._kept(kept_for)) is not None:
                return keys
            keys = published_keys(await self._fetch(Outgoing(await address())))
            self._keys = keys, self._clock()
            return keys

    def _kept(self, kept_for: timedelta) -> Sequence[Key] | None:
        if self._keys is None or self._clock() >= self._keys[1] + kept_for:
            return None
        return self._keys[0]
