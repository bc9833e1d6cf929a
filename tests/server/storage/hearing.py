# SPDX-License-Identifier: Apache-2.0
"""Two servers of one database that hear of each other's events."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from hwci.server.storage.location import Location
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage
from tests.server.storage.happenings import append, numbers


@asynccontextmanager
async def hearing_of_each_other(location: Location) -> AsyncIterator[Sequence[Storage]]:
    """Open a database twice, and assert that an event of the second is heard by each once."""
    first, second = open_storage(location), open_storage(location)
    heard: asyncio.Queue[str] = asyncio.Queue()
    first.listen(lambda _: heard.put_nowait("first"))
    second.listen(lambda _: heard.put_nowait("second"))
    await second.write(append(2))
    assert {await heard.get(), await heard.get()} == {"first", "second"}
    assert await numbers(first) == [1, 2]
    assert heard.empty()
    yield first, second
    await first.close()
    await second.close()
