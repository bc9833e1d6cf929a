# SPDX-License-Identifier: Apache-2.0
"""Passwords of servers in this process are hashed in a moment, not in the 40 ms of CPU that a real
hash costs on purpose: a test server hashes or checks four before a test begins. Tests of that cost
ask for the fixture `real_passwords`.
"""

from collections.abc import Iterator

import pytest
from passlib.hash import argon2

from hwci.server.security import passwords

REAL = {"_ARGON2": passwords._ARGON2, "_DUMMY_HASH": passwords._DUMMY_HASH}
_LIGHT = argon2.using(type="ID", memory_cost=8, time_cost=1, parallelism=1)
LIGHT = {"_ARGON2": _LIGHT, "_DUMMY_HASH": _LIGHT.hash("nobody's")}


@pytest.fixture(scope="session", autouse=True)
def light_passwords() -> Iterator[None]:
    """Hash passwords in this process at the least cost that argon2 allows."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in LIGHT.items():
            patch.setattr(passwords, name, value)
        yield


@pytest.fixture
def real_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords as a server of people does."""
    for name, value in REAL.items():
        monkeypatch.setattr(passwords, name, value)
