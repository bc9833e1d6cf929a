# SPDX-License-Identifier: Apache-2.0
"""Every driver, so that a test that takes `storage` is a claim about each of them."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from hwci.server.storage.location import Location
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage
from tests.support.databases import DRIVERS, Server, postgresql_server

NewDatabase = Callable[[], Location]


@pytest.fixture(scope="session")
def postgresql() -> Server:
    """A PostgreSQL server for the tests of this process."""
    return postgresql_server()


@pytest.fixture(params=DRIVERS)
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewDatabase]:
    """Return what makes an empty database of each driver."""
    numbers = count()
    with ExitStack() as stack:
        if request.param == "postgresql":
            server: Server = request.getfixturevalue("postgresql")
            yield lambda: stack.enter_context(server.database())
        else:
            yield lambda: Location(str(tmp_path / f"{next(numbers)}.db"))


@pytest.fixture(params=DRIVERS)
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    with ExitStack() as stack:
        where: Location | str | Path = tmp_path / "hwci.db"
        if request.param == "postgresql":
            where = stack.enter_context(request.getfixturevalue("postgresql").database())
        opened = open_storage(where)
        yield opened
        await opened.close()
