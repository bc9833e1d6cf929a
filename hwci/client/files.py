# SPDX-License-Identifier: Apache-2.0
"""Files of one user on this machine: where they lie, how each is replaced as a whole and kept
private, and how the processes that share them wait for each other. Their content is decided by
their writers.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO if hasattr(os, "getuid") else 0
"""The bits of a mode by which others than its owner reach a file; those of Windows tell nothing."""
UNFINISHED = ".new-"
"""Prefix of the name of an unfinished file: its writer may be killed."""
_LOOK_AGAIN_S = 0.05


def state_home(environ: Mapping[str, str]) -> Path | None:
    """Return `$XDG_STATE_HOME/hwci`; None if this user has no home."""
    try:
        return Path(environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "hwci"
    except RuntimeError:
        return None


def own_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of this user's settings: `$XDG_CONFIG_HOME/hwci`.

    Raises:
        RuntimeError: the user has no home, as in a container that runs as any number.
    """
    return Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "hwci"


def replace_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all, also after a power cut."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file to write, which takes the place of `path` if the block ends well.

    A reader finds the old file or the new one, never a part, also after a power cut.

    Raises:
        OSError: the file cannot be written; the old one stays.
    """
    import tempfile  # noqa: PLC0415 - most commands write no file

    # mkstemp creates the file with mode 0600, so no one else can open it at any moment.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=UNFINISHED)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if os.name != "posix":
        return  # a folder cannot be opened
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name, too, is on the disk
    finally:
        os.close(folder)


def remove_unfinished(folder: Path) -> None:
    """Remove unfinished files of a folder; the caller holds its lock."""
    for path in folder.glob(f"{UNFINISHED}*"):
        path.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a lock that ends with the process; yield False if another thread or process holds it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            import fcntl  # noqa: PLC0415 - the client can be imported where there is none
        except ModuleNotFoundError:
            with _locked_on_windows(handle, wait=wait) as held:
                yield held
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


@contextmanager
def _locked_on_windows(handle: int, *, wait: bool) -> Iterator[bool]:
    """Hold the first byte of a file, which no other handle can lock, of this process neither."""
    msvcrt: Any = import_module("msvcrt")  # typed as empty elsewhere
    while True:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError:  # it is held
            if not wait:
                yield False
                return
            time.sleep(_LOOK_AGAIN_S)  # the wait of `msvcrt` itself ends after ten seconds
        else:
            break
    try:
        yield True
    finally:  # what is only closed may stay locked for a while
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
