# SPDX-License-Identifier: Apache-2.0
"""Counting within limits, exactly: a moving window per key, in this process or, for several
servers, in one Valkey.
"""

from array import array
from bisect import bisect_right
from collections import OrderedDict, defaultdict
from contextlib import suppress
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Any

from limits import RateLimitItem
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter
from limits.errors import StorageError

from hwci.server.clock import Clock
from hwci.server.errors import LimiterError, SettingsError, pip_install

if TYPE_CHECKING:
    from valkey.asyncio import Valkey

VALKEY_SECONDS = 1.0
"""The longest wait for Valkey."""
KEYS_MAX = 25_000
_PREFIX = "hwci"


class Memory(MemoryStorage):
    """The windows of one process. The library's own memory starts a thread after each request to
    clean up; this one drops a little each time, and holds at most `KEYS_MAX` keys for each length
    of window. Beyond that it drops the keys that were not used for longest: somebody with that many
    addresses is not stopped by a limit per address.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._logs: defaultdict[int, OrderedDict[str, array[float]]] = defaultdict(OrderedDict)

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count an event, if it is within the limit."""
        now = self._clock().timestamp()
        logs = self._logs[expiry]
        log = _within(logs.get(key, array("d")), now, expiry)
        taken = len(log) + amount <= limit
        if taken:
            log.extend([now] * amount)
        logs[key] = log
        logs.move_to_end(key)
        for oldest in list(islice(logs, 2)):
            if len(logs) > KEYS_MAX or not _within(logs[oldest], now, expiry):
                del logs[oldest]
        return taken

    def give_back(self, key: str, expiry: int) -> None:
        """Count the newest event no more."""
        if log := self._logs[expiry].get(key):
            log.pop()

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Return the time of the oldest event in the window, and the number of events."""
        now = self._clock().timestamp()
        log = _within(self._logs[expiry].get(key, array("d")), now, expiry)[-limit:]
        return (log[0] if log else now), len(log)


def _within(log: "array[float]", now: float, expiry: int) -> "array[float]":
    """Return what is in the window; nothing later, in case the clock was set back."""
    return log[bisect_right(log, now - expiry) : bisect_right(log, now)]


class RateLimiter:
    """Counts events per key. What is refused is not counted."""

    def __init__(self, clock: Clock, valkey_url: str | None = None) -> None:
        """Raises `SettingsError`: the URL cannot be used for Valkey."""
        self._clock = clock
        self._valkey: Valkey | None = None
        self._storage: Memory | RedisStorage = Memory(clock)
        if valkey_url is not None:
            self._storage, self._valkey = _in_valkey(valkey_url)
        self._limiter = MovingWindowRateLimiter(self._storage)

    async def take(self, limit: RateLimitItem, *key: str) -> int:
        """Count an event and return 0, or the seconds until there is room. Raises as `wait`."""
        try:
            if await self._limiter.hit(limit, *key):
                return 0
        except StorageError as fault:
            raise _no_answer() from fault.storage_error
        # Another server's request, or the passing of time, may come in between.
        return max(1, await self.wait(limit, *key))

    async def give_back(self, limit: RateLimitItem, *key: str) -> None:
        """Count the newest event no more. It counts on if Valkey does not answer."""
        name = limit.key_for(*key)
        if isinstance(self._storage, Memory):
            self._storage.give_back(name, limit.get_expiry())
        elif self._valkey is not None:
            from valkey.exceptions import ValkeyError  # noqa: PLC0415 - an extra of its own

            with suppress(ValkeyError):
                popped: Any = self._valkey.lpop(f"{_PREFIX}:{name}")  # the newest is its first
                await popped

    async def wait(self, limit: RateLimitItem, *key: str) -> int:
        """Return the seconds until there is room for one more. Raises `LimiterError`."""
        try:
            stats = await self._limiter.get_window_stats(limit, *key)
        except StorageError as fault:
            raise _no_answer() from fault.storage_error
        if stats.remaining > 0:
            return 0
        return max(1, ceil(stats.reset_time - self._clock().timestamp()))

    async def ready(self) -> None:
        """Return if it can count; raise `LimiterError` if not."""
        try:  # As for a request: the library's own check would hide the cause.
            await self._storage.get_moving_window("ready", 1, 1)
        except StorageError as fault:
            raise _no_answer() from fault.storage_error

    async def close(self) -> None:
        """Close the connections to Valkey."""
        if self._valkey is not None:
            await self._valkey.connection_pool.disconnect()


def _in_valkey(url: str) -> "tuple[RedisStorage, Valkey]":
    try:
        from valkey.asyncio import ConnectionPool, Valkey  # noqa: PLC0415 - an extra of its own
    except ImportError as fault:
        raise SettingsError(
            "HWCI_VALKEY_URL is set, and the client of Valkey is not installed",
            f"run: {pip_install('valkey')}",
        ) from fault
    try:
        pool = ConnectionPool.from_url(
            url, socket_timeout=VALKEY_SECONDS, socket_connect_timeout=VALKEY_SECONDS
        )
    except ValueError as fault:
        # Neither the address nor the fault is shown: they may hold a password.
        raise SettingsError("HWCI_VALKEY_URL cannot be used", "check its options") from fault
    options: dict[str, Any] = {"connection_pool": pool, "key_prefix": _PREFIX}
    return RedisStorage(f"async+{url}", wrap_exceptions=True, **options), Valkey(
        connection_pool=pool
    )


def _no_answer() -> LimiterError:
    return LimiterError(
        "The service cannot count requests now, so it accepts none; try again in a few seconds"
    )
