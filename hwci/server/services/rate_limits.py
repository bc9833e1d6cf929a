# SPDX-License-Identifier: Apache-2.0
"""Rate limits (spec, "Limits"): requests of one address, to all of the API and to some routes, as
the operator has set them; and tries of the password of one account, by one device that signed in
before, and by all other devices together, of which one address has a small part.
"""

import hashlib
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from ipaddress import IPv4Network, ip_network
from typing import TypeVar

from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute, parse

from hwci.server.errors import RateLimitedError, UnauthenticatedError, WrongPasswordError
from hwci.server.security.rate_limiter import RateLimiter
from hwci.server.settings import NO_LIMIT, Settings

LOG = logging.getLogger("hwci.server")

Limit = TypeVar("Limit", RateLimitItem, RateLimitItem | None)
Count = tuple[RateLimitItem, *tuple[str, ...]]
"""A limit, and the key that is counted by it."""

WRONG_PASSWORDS = RateLimitItemPerMinute(20, 15)
"""Wrong passwords for one account from one device that signed in to it before."""
BY_UNKNOWN_DEVICES = RateLimitItemPerHour(100)
"""Tries at one account from all devices that never signed in to it."""
OF_ONE_ADDRESS = RateLimitItemPerMinute(10, 30)
"""Tries at one account from such devices at one address: a fifth of those of all, so that who
guesses from one address leaves the others to an owner elsewhere. Its window is no hour: in this
process addresses are dropped when there are too many, and accounts, counted by the hour, never.
"""
_GROUPS = 16_384
"""Accounts are counted in so many groups, so that the memory is bounded and no count is dropped:
trying thousands of other e-mails gives no new tries at this one.
"""
_ELSEWHERE = ", or sign in on a device that has signed in to this account before"
_SITE_PREFIX = 56
SITE_FACTOR = 4
"""A site has a /56 of IPv6, 256 subnets: together they may do this many times as much."""


class RateLimits:
    """The limits of one server, or of several with one Valkey."""

    def __init__(self, limiter: RateLimiter, settings: Settings) -> None:
        self._limiter = limiter
        self._all = _limit(settings.rate_limit)
        self._own = settings.auth_rate_limit
        self._wrong = self._held_up = 0

    async def take(self, address: str) -> None:
        """Count a request. Raises `RateLimitedError`, `LimiterError`."""
        await self._take(self._all, "api", address)

    async def require_room(self, address: str) -> None:
        """Raise as `take` does if a request would be refused now; count nothing."""
        if self._all is not None:
            _refuse(await self._limiter.wait(self._all, "api", address))

    async def take_own(self, route: str, per_minute: int, address: str) -> None:
        """Count a request to a route with a limit of its own, then as any other: what this limit
        refuses does not count. Raises as `take`.
        """
        limit = _limit(self._own) if self._own else RateLimitItemPerMinute(per_minute)
        for key, factor in _sites(address):
            await self._take(_times(limit, factor), route, key)
        await self.take(address)

    @asynccontextmanager
    async def guessing(
        self, email_key: str, address: str, device: str | None
    ) -> AsyncIterator[None]:
        """Limit tries of a password: a block that raises `UnauthenticatedError` or
        `WrongPasswordError` tried a wrong one.

        A guesser must wait; the owner, on a device that signed in before, need not, as else
        anybody could lock the account. E-mails without an account count too, so the limit does not
        reveal them. `device`: the name of a device that signed in to this account before, or None:
        then each counts before it is tried, so that none passes beside another, and no more once it
        was right.

        Raises:
            RateLimitedError: too many were tried.
            LimiterError: it cannot be counted.
        """
        if self._own == NO_LIMIT:
            yield
            return
        account = hashlib.sha256(email_key.encode()).hexdigest()
        own = (WRONG_PASSWORDS, "password", account, device or "")
        unknown = _unknown(account, address) if device is None else []
        with self._summed():
            if device is None:
                await self._take_unknown(unknown)
            else:
                _refuse(await self._limiter.wait(*own))
        try:
            yield
        except (UnauthenticatedError, WrongPasswordError):
            self._wrong += 1
            if device is not None:
                await self._limiter.take(*own)
            raise
        for each in unknown:
            await self._limiter.give_back(*each)

    async def _take_unknown(self, counts: Sequence[Count]) -> None:
        """Count a try from a device that never signed in to an account. One that its address may
        not make takes none from the others, and one that nobody may make none from its address.
        """
        _refuse(await self._limiter.wait(*counts[-1]), _ELSEWHERE)
        for each in counts:
            _refuse(await self._limiter.take(*each), _ELSEWHERE)

    @contextmanager
    def _summed(self) -> Iterator[None]:
        try:
            yield
        except RateLimitedError:
            self._held_up += 1
            raise

    async def log_guesses(self) -> None:
        """Log one line for all tries since the last line, if any was refused."""
        wrong, held_up = self._wrong, self._held_up
        self._wrong = self._held_up = 0
        if held_up:
            LOG.warning(
                "passwords are being guessed: %d wrong ones were tried, and %d more tries were"
                " refused, since the last check",
                wrong,
                held_up,
            )

    async def _take(self, limit: RateLimitItem | None, what: str, address: str) -> None:
        _refuse(await self._limiter.take(limit, what, address) if limit else 0)


def _sites(address: str) -> list[tuple[str, int]]:
    """Return what an address counts for, with its multiple of the limit; of IPv6 also its site."""
    network = ip_network(address)
    if isinstance(network, IPv4Network):
        return [(address, 1)]
    return [(str(network.supernet(new_prefix=_SITE_PREFIX)), SITE_FACTOR), (address, 1)]


def _unknown(account: str, address: str) -> Sequence[Count]:
    """Return what a try from a device that never signed in to an account counts for: its address,
    of IPv6 also its site, and last all such devices.
    """
    of_address = [
        (_times(OF_ONE_ADDRESS, factor), "password", account, key)
        for key, factor in reversed(_sites(address))
    ]
    return [*of_address, (BY_UNKNOWN_DEVICES, "account", str(int(account, 16) % _GROUPS))]


def _times(limit: Limit, factor: int) -> Limit:
    if limit is None or factor == 1:
        return limit
    return type(limit)(limit.amount * factor, limit.multiples)


def _refuse(seconds: int, otherwise: str = "") -> None:
    """Raise `RateLimitedError` if there are seconds to wait; `otherwise`: what helps too."""
    if seconds:
        unit = "second" if seconds == 1 else "seconds"
        raise RateLimitedError(
            f"Rate limit exceeded, retry in {seconds} {unit}{otherwise}", seconds
        )


def _limit(text: str) -> RateLimitItem | None:
    return None if text == NO_LIMIT else parse(text)
