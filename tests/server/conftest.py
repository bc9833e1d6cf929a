# SPDX-License-Identifier: Apache-2.0
"""One server per test file. A test that needs a fresh one, or moves the clock, starts its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import Hands, RunningServer, running_in_thread


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("server")
    with running_in_thread(folder) as running:
        yield running


@pytest.fixture
def clock() -> Hands:
    """A clock that stands at a whole second."""
    hands = Hands()
    hands.now = hands.now.replace(microsecond=0)
    return hands
