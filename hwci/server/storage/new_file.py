# SPDX-License-Identifier: Apache-2.0
"""A new file, written under another name beside it and renamed when it is complete."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hwci.server.errors import StorageError
from hwci.server.private_file import wait_for_disk
from hwci.server.storage.location import part_of

WRITE_FIX = (
    "name a file in a folder with room for it, where the process that has the database may write"
)


@contextmanager
def part_beside(to: Path) -> Iterator[Path]:
    """Yield a new file beside `to`, its owner's alone, removed unless it is renamed; one that a
    crash left is emptied.

    Raises:
        StorageError: its folder, or the disk, does not take it, or it is being written already.
    """
    part = part_of(to)
    held = None
    try:
        if not to.parent.is_dir():
            raise StorageError(
                f"There is no folder {to.parent}", "make it, or name a file elsewhere"
            )
        while held is None:
            held = _held(part, to)
        yield part
    except OSError as fault:
        raise StorageError(f"Cannot write {to}: {fault.strerror}", WRITE_FIX) from fault
    finally:
        if held is not None:
            if _is(part, held):  # not renamed
                part.unlink()
            os.close(held)


def _held(part: Path, to: Path) -> int | None:
    """Return the descriptor of a part, empty and locked while it is open; None if who had it
    before has just renamed or removed it.
    """
    held = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    ours = False
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is(part, held):
            os.fchmod(held, 0o600)
            os.ftruncate(held, 0)
            ours = True
    except BlockingIOError as fault:
        raise StorageError(
            f"Another process is writing {to} at this moment",
            "wait until it is done, or name another file",
        ) from fault
    finally:
        if not ours:  # open, it would keep the lock
            os.close(held)
    return held if ours else None


def _is(part: Path, held: int) -> bool:
    """Return whether a part's name is that of an open file."""
    try:
        return os.path.samestat(part.lstat(), os.fstat(held))
    except OSError:  # gone, or its folder is
        return False


def give_name(part: Path, to: Path) -> None:
    """Rename a part that is whole and on the disk. Raises as `refuse_taken`."""
    refuse_taken(to)
    part.rename(to)
    wait_for_disk(to.parent)


def refuse_taken(to: Path) -> None:
    """Raise `StorageError` when there is something at `to`."""
    if os.path.lexists(to):
        raise StorageError(f"{to} exists already", "name a new file")
