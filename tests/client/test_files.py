# SPDX-License-Identifier: Apache-2.0
"""Locks on files: who has one, and who waits."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hwci.client.files import locked
from tests.support.windows import MSVCRT


@pytest.fixture(params=["posix", "windows"], autouse=True)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "windows":
        monkeypatch.setitem(sys.modules, "fcntl", None)
        monkeypatch.setitem(sys.modules, "msvcrt", MSVCRT)


def test_a_lock_that_is_held_is_not_had_twice(tmp_path: Path) -> None:
    path = tmp_path / ".lock"

    with locked(path, wait=False) as first, locked(path, wait=False) as second:
        assert (first, second) == (True, False)
    with locked(path, wait=False) as later:
        assert later


def test_a_process_that_waits_for_a_lock_has_it_after_the_one_that_holds_it(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    order: list[object] = []

    def wait() -> None:
        with locked(path, wait=True) as held:
            order.append(held)

    with ThreadPoolExecutor(1) as pool:
        with locked(path, wait=True):
            waiting = pool.submit(wait)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.2)
            order.append("first")
        waiting.result(timeout=30)

    assert order == ["first", True]
