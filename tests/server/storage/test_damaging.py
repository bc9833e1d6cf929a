# SPDX-License-Identifier: Apache-2.0
"""No damaged copy of a database is served as if it were whole (`damaging.py`)."""

import asyncio
from pathlib import Path

import pytest

from tests.server.storage.damaging import Original, damaged, original, outcome
from tests.support.soak import rounds

SEEDS = range(rounds(5, 16))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return asyncio.run(original(tmp_path_factory.mktemp("original")))


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_damaged_copy_is_refused_not_ready_or_holds_all_that_was_acknowledged(
    whole: Original, seed: int, tmp_path: Path
) -> None:
    assert damaged(whole, seed) != (whole.main, whole.log)
    word = await outcome(whole, seed, tmp_path)

    assert not word.startswith("FAULT")
