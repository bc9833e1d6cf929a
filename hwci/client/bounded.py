# SPDX-License-Identifier: Apache-2.0
"""Reading files that people name, within limits: a pipe or a device is refused before it is opened,
and a file that is too large is not read to its end. The caller decides how much is too large; the
wording of a fault is here, as the `strerror` of an OSError.
"""

import errno
import stat
import sys
from pathlib import Path
from typing import IO

from hwci.client.explained import wrong_usage
from hwci.wire import limits

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
