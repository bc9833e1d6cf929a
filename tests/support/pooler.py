# SPDX-License-Identifier: Apache-2.0
"""A PgBouncer between a server and its PostgreSQL, as Debian packages it."""

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urlsplit

import pytest

from hwci.server.storage.location import Location
from tests.support.held_port import held_port

# Debian puts it where only root looks for programs.
PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")

with_pgbouncer = pytest.mark.skipif(
    PGBOUNCER is None, reason="PgBouncer is missing: apt-get install pgbouncer"
)

_SETTINGS = """
[databases]
* = host={folder} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
{others}
"""
_SECONDS = 60


@contextmanager
def pooler(near: Location, mode: str, others: str = "", port: int = 0) -> Iterator[Location]:
    """Run a PgBouncer before the server of a database, and return the database as it is reached
    through it. `others`: lines of its settings. `port`: one that the caller holds.
    """
    folder = parse_qs(urlsplit(near.written).query)["host"][0]
    with held_port() as free, TemporaryDirectory(prefix="hwci-pooler-") as own:
        port = port or free
        file = Path(own, "pgbouncer.ini")
        file.write_text(
            _SETTINGS.format(folder=folder, port=port, mode=mode, others=others), "utf-8"
        )
        process = subprocess.Popen(
            [*_command(folder, Path(own)), str(file)], stderr=subprocess.DEVNULL
        )
        try:
            yield _answering(near, port)
        finally:
            process.kill()  # on other signals newer ones wait for their clients
            process.wait(_SECONDS)


def _command(folder: str, own: Path) -> list[str]:
    """Return the command, by which it is the user that may open the socket of the database: it does
    not run as root.
    """
    assert PGBOUNCER is not None
    if os.geteuid() != 0:
        return [PGBOUNCER, "--quiet"]
    own.chmod(0o755)
    return [PGBOUNCER, "--quiet", "--user", Path(folder).owner()]


def _answering(near: Location, port: int) -> Location:
    end = time.monotonic() + _SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except ConnectionRefusedError:
            assert time.monotonic() < end
            time.sleep(0.01)
    return at_port(near, port)


def at_port(near: Location, port: int) -> Location:
    """Return a database as it is reached through what listens at a port."""
    address = re.sub(r"//postgres:@/([^?]*).*", rf"//postgres@127.0.0.1:{port}/\1", near.written)
    return replace(near, written=address)


def version() -> tuple[int, ...]:
    """Return the version of the PgBouncer here; none is older than any."""
    if PGBOUNCER is None:
        return ()
    version = subprocess.run([PGBOUNCER, "--version"], capture_output=True, text=True, check=True)
    match = re.search(r"PgBouncer (\d+)\.(\d+)", version.stdout)
    assert match is not None
    return int(match[1]), int(match[2])
