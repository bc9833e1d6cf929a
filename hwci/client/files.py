# SPDX-License-Identifier: Apache-2.0
"""Files on this machine. Those that people name are read within limits: a pipe or a device is
refused before it is opened, and a file that is too large is not read to its end. The caller decides
how much is too large; the wording of a fault is here, as the `strerror` of an OSError.

Those of hwci itself: where they lie, how each is replaced as a whole and kept private, and how the
processes that share them wait for each other. Their content is decided by their writers.
"""

import errno
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any, BinaryIO

from hwci.client.explained import wrong_usage
from hwci.wire import limits

OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO if hasattr(os, "getuid") else 0
"""The bits of a mode by which others than its owner reach a file; those of Windows tell nothing."""
UNFINISHED = ".new-"
"""Prefix of the name of an unfinished file: its writer may be killed."""
_LOOK_AGAIN_S = 0.05
ENDLESS = "it is not a file but a pipe or a device"
MEBIBYTE = 1024 * 1024


def is_file_or_folder(path: Path) -> bool:
    """Return whether a path is a file, or a folder, which opening refuses. Opening a pipe may wait
    forever, and opening a device may do something to it.

    Raises:
        OSError: it cannot be looked at.
    """
    mode = path.stat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def refuse_pipe(path: Path) -> None:
    """Raise an error before a pipe or a device is opened.

    Raises:
        OSError: it is one, or cannot be looked at.
    """
    if not is_file_or_folder(path):
        raise OSError(errno.EINVAL, ENDLESS, str(path))


def read_whole(path: Path, most: int) -> bytes:
    """Read a file of at most so many bytes.

    Raises:
        OSError: it cannot be read, is a pipe or a device, or holds more.
    """
    refuse_pipe(path)
    with path.open("rb") as file:
        return read_at_most(file, most)


def read_at_most(file: IO[bytes], most: int) -> bytes:
    """Read an open file to its end.

    Raises:
        OSError: it holds more than `most` bytes, or cannot be read.
    """
    content = file.read(most + 1)
    if len(content) > most:
        size = f"{most // MEBIBYTE} MiB" if most >= MEBIBYTE else f"{most // 1024} KiB"
        raise OSError(errno.EFBIG, f"it holds more than {size}")
    return content


def read_bytes(path: str) -> bytes:
    """Read a file, or stdin for `-`: at most what a server takes.

    Raises:
        ExplainedError: wrong usage: it cannot be read, or holds more.
    """
    try:
        if path == "-":
            return read_at_most(sys.stdin.buffer, limits.RUN_REPORT_BYTES)
        return read_whole(Path(path), limits.RUN_REPORT_BYTES)
    except OSError as fault:
        name = "stdin" if path == "-" else path
        why = fault.strerror or str(fault)
        fix = "Name another file, or - for stdin"
        raise wrong_usage(f"{name} cannot be read", why, fix) from fault


# Files of hwci


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
