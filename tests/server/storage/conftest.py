# SPDX-License-Identifier: Apache-2.0
"""Every driver, so that a test that takes `storage` is a claim about each of them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage


@pytest.fixture(params=["memory", "sqlite"])
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    opened = open_storage("memory:" if request.param == "memory" else tmp_path / "hwci.db")
    yield opened
    await opened.close()
