# SPDX-License-Identifier: Apache-2.0
"""The bytes of a result file, plain or gzipped, and the wording of its faults.

This module decides how much a file may hold and how a fault is worded: line and column, what
happened, what to do. What the bytes mean is decided by the readers of each format.
"""

import gzip
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple

INFLATED_BYTES_MAX = 256 * 1024 * 1024
CHUNK_BYTES = 256 * 1024
GZIP_MAGIC = b"\x1f\x8b"
WRITE_AGAIN = "Let the test run write it again, or leave it out"


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


def lost_behind(fault: ContentError, kept: int, unit: str) -> str:
    """Return the line of a fault in whose file something was read before it."""
    units = unit if kept == 1 else f"{unit}s"
    what = f"{fault.what}: {kept} {units} before that counted; what follows is lost"
    return one_line(fault.position, what, fault.fix)


def inflated(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a file that stands at its start, chunk after chunk.

    Raises:
        ContentError: it is damaged, or holds too much; CutError: it ends before its end.
    """
    magic = file.read(len(GZIP_MAGIC))
    file.seek(0)
    # `read1` returns what was unpacked before the end of a file that was cut short.
    read = gzip.GzipFile(fileobj=file).read1 if magic == GZIP_MAGIC else file.read
    size = 0
    try:
        while chunk := read(CHUNK_BYTES):
            size += len(chunk)
            if size > INFLATED_BYTES_MAX:
                raise ContentError("It holds more than 256 MiB", "Split the results into files")
            yield chunk
    except EOFError as fault:
        raise CutError("It is a gzip file that was cut short", WRITE_AGAIN) from fault
    except (gzip.BadGzipFile, zlib.error) as fault:
        raise ContentError(f"It is a damaged gzip file ({fault})", WRITE_AGAIN) from fault
