# SPDX-License-Identifier: Apache-2.0
"""A new file that has its name only once it is whole: it is written beside, then renamed."""

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
    crash left is replaced.

    Raises:
        StorageError: its folder, or the disk, does not take it.
    """
    part = part_of(to)
    try:
        if not to.parent.is_dir():
            raise StorageError(
                f"There is no folder {to.parent}", "make it, or name a file elsewhere"
            )
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        yield part
    except OSError as fault:
        raise StorageError(f"Cannot write {to}: {fault.strerror}", WRITE_FIX) from fault
    finally:
        if os.path.isdir(part.parent):  # noqa: PTH112 - the folder may be out of reach
            part.unlink(missing_ok=True)


def give_name(part: Path, to: Path) -> None:
    """Rename a part that is whole and on the disk. Raises as `refuse_taken`."""
    refuse_taken(to)
    part.rename(to)
    wait_for_disk(to.parent)


def refuse_taken(to: Path) -> None:
    """Raise `StorageError` when there is something at `to`."""
    if os.path.lexists(to):
        raise StorageError(f"{to} exists already", "name a new file")
