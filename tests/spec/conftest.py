# SPDX-License-Identifier: Apache-2.0
"""One server for each module: a sign-in lasts 15 minutes, and all modules may take longer. Each
test has an organization of its own on it.
"""

from collections.abc import Iterator

import pytest

from tests.spec.service import Service, new_service
from tests.support.running import RunningServer, running_in_thread


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path_factory.mktemp("spec")) as running:
        yield running


@pytest.fixture
def service(server: RunningServer) -> Service:
    return new_service(server)
