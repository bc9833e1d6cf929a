# SPDX-License-Identifier: Apache-2.0
"""Reads the log of a database file (`FILE-wal`) as SQLite does when it recovers one.

SQLite ignores the first frame that is damaged, and all behind it, without a word. This module
decides how many frames it would take, before it opens the file, and changes nothing. The form is
SQLite's "WAL-mode file format". What should be in the log is known in `page_sums.py`.
"""

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

LOG_HEAD = 32  # bytes
FRAME_HEAD = 24

_MAGIC = {b"\x37\x7f\x06\x82": "<", b"\x37\x7f\x06\x83": ">"}  # the order of bytes that sums take
_WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class Log:
    """The commits in a log: how many frames they have, and the pages in them. The salts are those
    of its present round: SQLite draws new ones when it begins to overwrite it.
    """

    salts: bytes = bytes(8)
    frames: int = 0
    pages: Mapping[int, int] = field(default_factory=dict)
    """The frame that has the newest content of a page."""


def read_log(descriptor: int, page_bytes: int) -> Log:
    """Read the commits of a log; one that SQLite would ignore has none."""
    head = os.pread(descriptor, LOG_HEAD, 0)
    order = _MAGIC.get(head[:4])
    if len(head) < LOG_HEAD or order is None:
        return Log()
    sums = _summed(head[:24], (0, 0), order)
    if sums != struct.unpack(">2I", head[24:]) or head[8:12] != page_bytes.to_bytes(4):
        return Log()
    size, committed = FRAME_HEAD + page_bytes, 0
    pages: dict[int, int] = {}
    uncommitted: dict[int, int] = {}
    for number in range(1, os.fstat(descriptor).st_size // size + 1):
        frame = os.pread(descriptor, size, LOG_HEAD + (number - 1) * size)
        if len(frame) < size:  # SQLite has made the log shorter meanwhile
            break
        page, pages_then, salts, *expected = struct.unpack(">2I8s2I", frame[:FRAME_HEAD])
        if salts != head[16:24] or not page:
            break
        sums = _summed(frame[FRAME_HEAD:], _summed(frame[:8], sums, order), order)
        if sums != tuple(expected):
            break
        uncommitted[page] = number
        if pages_then:  # the last frame of a commit
            pages |= uncommitted
            uncommitted, committed = {}, number
    return Log(head[16:24], committed, pages)


def read_salts(descriptor: int) -> bytes:
    """Return the salts of the present round of a log."""
    return os.pread(descriptor, 8, 16)


def _summed(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """Return the running sums of a log after more of it."""
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    first, second = sums
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & _WORD
        second = (second + odd + first) & _WORD
    return first, second
