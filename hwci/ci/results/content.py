# SPDX-License-Identifier: Apache-2.0
"""The bytes of a result file, plain or gzipped, and the wording of its faults.

This module decides how much is read and kept of a file and how a fault is worded: line and column,
what happened, what to do. What the bytes mean is decided by the readers of each format.
"""

import gzip
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple

INFLATED_BYTES_MAX = 16 * 1024**3
"""Bytes that are unpacked of a gzip file, which takes minutes. A plain file may have any size: it
takes its room on a disk."""
KEPT_BYTES_MAX = 256 * 1024**2
"""Bytes that are kept of a file, which is what its tests are called and what they say of failures;
and those of a whole file that is JSON."""
CHUNK_BYTES = 256 * 1024
GZIP_MAGIC = b"\x1f\x8b"
WRITE_AGAIN = "Let the test run write it again, or leave it out"


class Room:
    """What may still be kept of a file."""

    def __init__(self) -> None:
        self._left = KEPT_BYTES_MAX
        self._lent = 0

    def take(self, size: int) -> None:
        """Take room for good.

        Raises:
            CutError: there is none left.
        """
        self._left -= size
        if self._left < 0:
            what = f"Its tests and what they say take more than {KEPT_BYTES_MAX // 1024**2} MiB"
            raise CutError(what, "Split the results into files")

    def lend(self, size: int) -> None:
        """Take room until it is given back."""
        self.take(size)
        self._lent += size

    def begin(self) -> None:
        """Keep for good what was lent so far."""
        self._lent = 0

    def give_back(self) -> None:
        """Give back what was lent since."""
        self._left += self._lent
        self._lent = 0


class Position(NamedTuple):
    """A place in a file, both counted from 1."""

    line: int
    column: int


class ContentError(Exception):
    """A fault of the content; the name of the file is added by the reader of files."""

    def __init__(self, what: str, fix: str, position: Position | None = None) -> None:
        super().__init__(what, fix, position)
        self.what = what
        self.fix = fix
        self.position = position

    def __str__(self) -> str:
        return f"{self.what}. {self.fix}"


class CutError(ContentError):
    """The content ends too early, or cannot be read further; what comes before it is valid."""


def one_line(position: Position | None, what: str, fix: str) -> str:
    """Return a fault as the text that follows the name of its file."""
    place = "" if position is None else f":{position.line}:{position.column}"
    return f"{place}: {what}. {fix}"


def lost_behind(fault: ContentError, count: int, unit: str) -> str:
    """Return the line of a fault in whose file something was read before it."""
    units = unit if count == 1 else f"{unit}s"
    what = f"{fault.what}: {count} {units} before that counted; what follows is lost"
    return one_line(fault.position, what, fault.fix)


def inflated(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a file that stands at its start, chunk after chunk.

    Raises:
        ContentError: it is damaged; CutError: it ends before its end, or unpacks to too much.
    """
    magic = file.read(len(GZIP_MAGIC))
    file.seek(0)
    is_gzip = magic == GZIP_MAGIC
    # `read1` returns what was unpacked before the end of a file that was cut short.
    read = gzip.GzipFile(fileobj=file).read1 if is_gzip else file.read
    size = 0
    try:
        while chunk := read(CHUNK_BYTES):
            size += len(chunk)
            if is_gzip and size > INFLATED_BYTES_MAX:
                what = f"It unpacks to more than {INFLATED_BYTES_MAX // 1024**3} GiB"
                raise CutError(what, "Split the results into files")
            yield chunk
    except EOFError as fault:
        raise CutError("It is a gzip file that was cut short", WRITE_AGAIN) from fault
    except (gzip.BadGzipFile, zlib.error) as fault:
        raise ContentError(f"It is a damaged gzip file ({fault})", WRITE_AGAIN) from fault
