# SPDX-License-Identifier: Apache-2.0
"""Answers that several people get: who asks while one is made waits for it, and who asks later
gets its bytes, as long as nothing has changed (ADR 0004).

This module decides how many answers are held and how long. It knows neither what an answer is made
of (`ci_metrics/tags.py`) nor who may see it.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from time import monotonic

HELD_BYTES_MAX = 16 * 1024 * 1024
"""Bytes of all answers that are held; the one that was asked for longest ago goes first."""
HELD_SECONDS = 300.0
"""So long an answer is held: it may show the time at which it was made."""

_PART_MAX = 1 / 8
"""So much of all bytes one answer may have, or it is not held."""

Key = Hashable
"""Names an answer, and who may see it."""


@dataclass(frozen=True, slots=True)
class _Held:
    data: bytes
    until: float


class SharedAnswers:
    """The answers that are held, and those that are being made. `take` is called by any thread."""

    def __init__(self, most: int = HELD_BYTES_MAX, clock: Callable[[], float] = monotonic) -> None:
        self._most, self._clock, self._lock = most, clock, Lock()
        self._held: OrderedDict[Key, _Held] = OrderedDict()
        self._in_work: dict[Key, Future[bytes | None]] = {}
        self.held_bytes = 0

    def take(self, key: Key) -> "bytes | Future[bytes | None] | None":
        """Return an answer, or that of who makes it now; None: the caller is to make it, and to
        call `put` or `give_up`.
        """
        with self._lock:
            held = self._held.get(key)
            if held is not None and held.until > self._clock():
                self._held.move_to_end(key)
                return held.data
            if key in self._in_work:
                return self._in_work[key]
            self._in_work[key] = Future()
            return None

    def put(self, key: Key, data: bytes) -> None:
        """Give an answer to those who wait for it, and hold it for others if it is not too long."""
        if len(data) <= self._most * _PART_MAX:
            with self._lock:
                self._drop(key)
                self._held[key] = _Held(data, self._clock() + HELD_SECONDS)
                self.held_bytes += len(data)
                while self.held_bytes > self._most:
                    self._drop(next(iter(self._held)))
        self._end(key, data)

    def give_up(self, key: Key) -> None:
        """Have those who wait for an answer make it themselves."""
        self._end(key, None)

    def _drop(self, key: Key) -> None:
        held = self._held.pop(key, None)
        self.held_bytes -= 0 if held is None else len(held.data)

    def _end(self, key: Key, data: bytes | None) -> None:
        with self._lock:
            waiting = self._in_work.pop(key, None)
        if waiting is not None:
            waiting.set_result(data)
