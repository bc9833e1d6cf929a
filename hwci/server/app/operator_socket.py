# SPDX-License-Identifier: Apache-2.0
"""The operator's socket: how a server makes it, and how a command reaches it (contract,
"Organizations"). It is beside the database: in a shared folder anyone could make
it first. This module decides who may be at its other end.
"""

import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hwci.server.errors import ListenError, OperatorUnreachableError

_PATH_BYTES = 103
"""The longest path of a socket on every system."""


def listen(path: Path) -> socket.socket:
    """Make the socket, which only its owner can open, from its first moment on. One that exists
    already is of a server that crashed: the caller holds the lock of the database. Raises
    `ListenError`: it cannot be made.
    """
    listener = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)
    try:
        if path.is_socket():
            path.unlink()
        with _short(path) as name:
            listener.bind(name)
    except OSError as fault:
        listener.close()
        raise ListenError(
            f"Cannot make the operator socket {path}: {fault.strerror or fault}",
            "put the database into a folder that only its owner may write to",
        ) from fault
    finally:
        os.umask(mask)
    return listener


def connect(path: Path, database: Path, patience: float | None) -> socket.socket:
    """Connect to the server that has a database. A command may hold a password, so the other end
    must be the caller's own or the database owner's. `patience`: seconds for each step. Raises
    `OperatorUnreachableError`: it does not answer, or the other end is another user.
    """
    line = socket.socket(socket.AF_UNIX)
    try:
        line.settimeout(patience)
        with _short(path) as name:
            line.connect(name)
        owners = {os.geteuid(), database.stat().st_uid}
        if not stat.S_ISSOCK(path.lstat().st_mode) or _listener(line, path) not in owners:
            raise PermissionError
    except OSError as fault:
        line.close()
        raise unreachable(database, path) from fault
    return line


def unreachable(database: Path, path: Path) -> OperatorUnreachableError:
    """Return the error for a database whose holder gives no answer."""
    return OperatorUnreachableError(
        f"{database} is in use by a process that takes no commands at {path}",
        "stop that process and try again",
    )


def _listener(line: socket.socket, path: Path) -> int:
    """Return the user at the other end. Only Linux knows it of the connection itself."""
    credentials = getattr(socket, "SO_PEERCRED", None)
    if credentials is None:
        return path.lstat().st_uid
    peer = line.getsockopt(socket.SOL_SOCKET, credentials, struct.calcsize("iII"))
    _, user, _ = struct.unpack("iII", peer)
    return int(user)


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """Yield a name for a path that is short enough: a long one goes by its open folder."""
    if len(os.fsencode(path)) <= _PATH_BYTES:
        yield os.fspath(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
