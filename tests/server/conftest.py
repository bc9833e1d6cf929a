# SPDX-License-Identifier: Apache-2.0
"""One server per file of tests; who needs a fresh one, or a clock to move, runs it themselves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import RunningServer, running_in_thread


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("server")
    with running_in_thread(folder) as running:
        yield running
