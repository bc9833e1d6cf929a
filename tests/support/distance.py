# SPDX-License-Identifier: Apache-2.0
"""A proxy that puts a distance between a server and its PostgreSQL: what is sent arrives a while
later, in both directions, however much is on the way. It counts round trips.

A round trip is counted where the database has answered and is asked again. Statements that are sent
together are asked once, also if the database has answered the first of them before the last came.
The end of a read, for whose answer nobody waits, is none; its answer can be kept back to show that.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qs, urlsplit

from hwci.server.storage.location import Location

_CHUNK_BYTES = 64 * 1024
_SYNC_OR_FLUSH = b"\0\0\0\x04"
"""How the last message ends of statements for whose answers a client waits."""
_FLUSH = b"H\0\0\0\x04"
"""It asks nothing. psycopg sends it behind the end of its statements, at times on its own, when the
database has answered these.
"""
_END_OF_A_READ = b"Q\0\0\0\x0dROLLBACK\0"


@dataclass
class Distance:
    """A running proxy. `seconds`: of one way. `ends_stay_open`: the answer to the end of a read
    never arrives, nor does any after it on that connection.
    """

    near: Location
    seconds: float
    port: int = 0
    round_trips: int = 0
    ends_stay_open: bool = False
    _running: set["asyncio.Task[None]"] = field(default_factory=set)

    @property
    def location(self) -> Location:
        """The database as it is reached through the proxy."""
        address = re.sub(r"host=[^&]*", f"host=127.0.0.1&port={self.port}", self.near.written)
        return replace(self.near, written=address)

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._running)

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand on what comes over one connection, until both ends have closed it."""
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        line = _Line(self)
        with closing(writer), suppress(asyncio.CancelledError):
            near_reader, near_writer = await asyncio.open_unix_connection(_socket(self.near))
            with closing(near_writer):
                asking, answering = line.ask(reader, near_writer), line.answer(near_reader, writer)
                await asyncio.gather(asking, answering)

    async def close(self) -> None:
        """End all connections."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


class _Line:
    """One connection through the proxy."""

    def __init__(self, distance: Distance) -> None:
        self._distance = distance
        self._answered = True
        self._asked = True
        self._kept_back = False

    async def ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await self._read(reader):
            if chunk == _FLUSH:
                self._asked = True
            elif chunk != _END_OF_A_READ:
                self._distance.round_trips += self._answered and self._asked
                self._answered = False
                self._asked = chunk[:1] == b"Q" or chunk.endswith(_SYNC_OR_FLUSH)
            elif self._distance.ends_stay_open:
                self._kept_back = True
            self._write_later(writer, chunk)
        self._write_later(writer, b"")

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await self._read(reader):
            self._answered = True
            if not self._kept_back:
                self._write_later(writer, chunk)
        self._write_later(writer, b"")

    async def _read(self, reader: asyncio.StreamReader) -> bytes:
        with suppress(ConnectionError):
            return await reader.read(_CHUNK_BYTES)
        return b""

    def _write_later(self, writer: asyncio.StreamWriter, chunk: bytes) -> None:
        """Write a chunk when it has come all the way; close if it is empty."""

        def arrive() -> None:
            if chunk:
                writer.write(chunk)
            else:
                writer.close()

        asyncio.get_running_loop().call_later(self._distance.seconds, arrive)


@asynccontextmanager
async def distant(near: Location, seconds: float, port: int = 0) -> AsyncIterator[Distance]:
    """Run a proxy before the server of a database. `port`: one that the caller holds."""
    distance = Distance(near, seconds)
    server = await asyncio.start_server(distance.connect, "127.0.0.1", port)
    distance.port = server.sockets[0].getsockname()[1]
    try:
        yield distance
    finally:
        server.close()
        await distance.close()


def _socket(location: Location) -> str:
    """Return the socket of a server that takes no port."""
    (folder,) = parse_qs(urlsplit(location.written).query)["host"]
    return f"{folder}/.s.PGSQL.5432"
