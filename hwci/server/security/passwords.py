# SPDX-License-Identifier: Apache-2.0
"""Passwords are kept as argon2id hashes. The only module that knows passlib.

Hashing is slow on purpose, so it has its own thread and a bounded queue. A rush of sign-ins cannot
starve the threads of the database or grow without limit.
"""

import secrets
from base64 import b64encode
from collections.abc import Callable
from typing import TypeVar

from passlib.hash import argon2

from hwci.server.line import Line

Result = TypeVar("Result")

MEMORY_KIB, PASSES, LANES = 19_456, 2, 1  # OWASP's minimum for argon2id
WAITING_MAX = 32
"""Passwords that wait to be checked or hashed."""
_FULL = "Too many sign-ins are waiting; try again in a few seconds"

_ARGON2 = argon2.using(type="ID", memory_cost=MEMORY_KIB, time_cost=PASSES, parallelism=LANES)


def _random(size: int) -> str:
    return b64encode(secrets.token_bytes(size)).decode().rstrip("=")


# The hash of a password nobody has: checking it takes as long as checking a real hash.
_DUMMY_HASH = f"$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}${_random(16)}${_random(32)}"


class Passwords:
    """Hashes and checks passwords in a thread of its own."""

    def __init__(self) -> None:
        self._line = Line("hwci-passwords")

    async def hash(self, password: str) -> str:
        """Return the hash of a password. Raises `OverloadedError` if too many wait."""
        return await self._run(lambda: str(_ARGON2.hash(password)))

    async def matches(self, password: str, stored: str | None) -> bool:
        """Return whether a password matches a hash. None (no such user): False, just as slowly."""
        fits = await self._run(lambda: bool(_ARGON2.verify(password, stored or _DUMMY_HASH)))
        return fits and stored is not None

    def close(self) -> None:
        """Finish the queue and end the thread."""
        self._line.close()

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await self._line.run(work, WAITING_MAX, _FULL)
