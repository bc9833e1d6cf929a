# SPDX-License-Identifier: Apache-2.0
"""How often one address may ask (spec, "Limits"): one limit on all of the API, and stricter ones of
some routes on top, as the operator has set them; and how often it may guess one account's password.
"""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from limits import RateLimitItem, RateLimitItemPerMinute, parse

from hwci.server.errors import RateLimitedError, UnauthenticatedError, WrongPasswordError
from hwci.server.security.windows import Windows
from hwci.server.settings import NO_LIMIT, Settings

_WRONG_PASSWORDS = RateLimitItemPerMinute(20, 15)


class RateLimits:
    """The limits of one server, or of several that count together."""

    def __init__(self, windows: Windows, settings: Settings) -> None:
        self._windows = windows
        self._all = _limit(settings.rate_limit)
        self._own = settings.auth_rate_limit

    async def take(self, address: str) -> None:
        """Count a request. Raises `RateLimitedError`, `LimiterError`."""
        await self._take(self._all, "api", address)

    async def take_own(self, route: str, per_minute: int, address: str) -> None:
        """Count a request to a route that has a limit of its own, by default so many a minute.

        Raises:
            RateLimitedError: there were too many.
            LimiterError: it cannot be known.
        """
        limit = _limit(self._own) if self._own else RateLimitItemPerMinute(per_minute)
        await self._take(limit, route, address)

    @asynccontextmanager
    async def guessing(self, email_key: str, address: str) -> AsyncIterator[None]:
        """Have a password tried; a block that raises `UnauthenticatedError`, or
        `WrongPasswordError`, tried a wrong one.

        Who guesses waits, and the owner, who asks from elsewhere, does not: an account that could
        be locked would be anybody's to lock. What is no account counts as well, and tells nothing.

        Raises:
            RateLimitedError: too many from this address were wrong.
            LimiterError: it cannot be known.
        """
        if self._own == NO_LIMIT:
            yield
            return
        key = ("password", hashlib.sha256(email_key.encode()).hexdigest(), address)
        _refuse(await self._windows.wait(_WRONG_PASSWORDS, *key))
        try:
            yield
        except (UnauthenticatedError, WrongPasswordError):
            await self._windows.take(_WRONG_PASSWORDS, *key)
            raise

    async def _take(self, limit: RateLimitItem | None, what: str, address: str) -> None:
        _refuse(await self._windows.take(limit, what, address) if limit else 0)


def _refuse(seconds: int) -> None:
    """Refuse who has to wait. Raises `RateLimitedError`."""
    if seconds:
        unit = "second" if seconds == 1 else "seconds"
        raise RateLimitedError(f"Rate limit exceeded, retry in {seconds} {unit}", seconds)


def _limit(text: str) -> RateLimitItem | None:
    return None if text == NO_LIMIT else parse(text)
