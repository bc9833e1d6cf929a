# SPDX-License-Identifier: Apache-2.0
"""The sum of each page of a database file, and how far its log was acknowledged, in `FILE.sums`.

SQLite has no sums of its pages, and ignores a damaged frame of its log with all behind it. This
module decides which page of the file is not what was written, and whether the log lacks what was
acknowledged (ADR 0006). It knows no row. Between two checkpoints the file does not change, so its
pages are compared beside a writer; those that are in the log too are left out. Before a checkpoint
the sums of the pages in the log are on the disk.

The file begins with a head: the size of a page, the frames that were acknowledged, those whose
pages have their sums, and a sum of its own. Then there are four bytes for each page, 0 for one that
is not known yet: it is taken as it is found. So a file that is missing, or has not four bytes for
each page, was removed or cut, unless the database is new. The process has the lock of the database.
"""

import logging
import os
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from zlib import crc32

from hwci.server.errors import DamagedError, StorageError
from hwci.server.storage.sqlite.log_file import (
    FRAME_HEAD,
    LOG_HEAD,
    Log,
    read_log,
    read_salts,
)

LOG = logging.getLogger("hwci.server")

SLICE = 256
"""Pages that are compared at once: 1 MiB, which takes about a millisecond."""

_MAGIC = b"hwcisum1"
_HEAD = struct.Struct("<8sI8sI8sII")
_SUMS_AT = 4096
_SUM_BYTES = 4
_SUMS_AT_ONCE = 1024
_FRAMES_AT_ONCE = 256
# Of SQLite's "WAL-Index File Format": the frames of the log, and its salts.
_INDEX = struct.Struct("=16xI12x8s")


class Reached(NamedTuple):
    """A place in the log: its salts, and a number of frames."""

    salts: bytes = bytes(8)
    frames: int = 0


class PageSums:
    """The sums of a database file, at `path`. What is made here reads only; `begin` makes it write.
    Its files are closed last: a closed one would take SQLite's locks along.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._name = path.with_name(path.name + ".sums")
        self._files: dict[str, int] = {}
        self._writes = False
        self._lock = Lock()
        self._acknowledged = self._summed = Reached()
        self._logged: set[int] = set()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        main, log = self._file(""), self._file("-wal")
        head = b"" if main is None else os.pread(main, 100, 0)
        self.page_bytes = _page_bytes(head)
        self._anew = not head or not self._read_head()
        wal = Log() if log is None or not head else read_log(log, self.page_bytes)
        self._lost = () if self._has_all(wal) else (self._lacking(wal),)
        self._logged.update(wal.pages)

    def _read_head(self) -> bool:
        """Return whether the sums can be used; log it if not all of them can."""
        file = self._file(".sums")
        if file is None:
            self._warn("are missing")
            return False
        head = os.pread(file, _HEAD.size, 0)
        whole = len(head) == _HEAD.size and crc32(head[:-4]) == int.from_bytes(head[-4:], "little")
        if not whole or head[:12] != _MAGIC + self.page_bytes.to_bytes(4, "little"):
            self._warn("cannot be used")
            return False
        if os.fstat(file).st_size < self._whole_bytes():
            self._warn("were cut short")
        _, _, salts, frames, summed_salts, summed_frames, _ = _HEAD.unpack(head)
        self._acknowledged = Reached(salts, frames)
        self._summed = Reached(summed_salts, summed_frames)
        return True

    def _warn(self, what: str) -> None:
        LOG.warning(
            "The page sums %s %s, and are made anew of what is there: damage to the database from"
            " before now is not found by them. If nobody removed them, look at the disk, and run:"
            " hwci admin check",
            self._name,
            what,
        )

    def _whole_bytes(self) -> int:
        """Return the bytes that the sums of all pages of the file take at least."""
        main = self._file("")
        return 0 if main is None else _sum_at(1 + os.fstat(main).st_size // self.page_bytes)

    def cover(self) -> None:
        """Have four bytes for each page of the file."""
        file = self._files[".sums"]
        with suppress(OSError):  # on a full disk they look cut
            size, least = os.fstat(file).st_size, self._whole_bytes()
            if size < least:
                os.ftruncate(file, size - size % _SUM_BYTES)  # a part of a sum is none
                os.ftruncate(file, least)

    def _has_all(self, log: Log) -> bool:
        """Return whether what was acknowledged is in a log, or else in the file."""
        salts, frames = self._acknowledged
        if not frames or (log.salts == salts and log.frames >= frames):
            return True
        in_file = salts == self._summed.salts and frames <= self._summed.frames
        return in_file and not any(self.damage())

    def _lacking(self, log: Log) -> str:
        salts, frames = self._acknowledged
        left = min(log.frames, frames) if log.salts == salts else 0
        return (
            f"The log {self._path.name}-wal has {left} of {frames} pages that were acknowledged:"
            " what CI or people sent last is missing"
        )

    def lacking(self) -> Sequence[str]:
        """Return what the log of a closed database lacks of what was acknowledged."""
        return self._lost

    def require_all(self) -> None:
        """Raises `DamagedError`: the log lacks what was acknowledged."""
        for lost in self._lost:
            raise DamagedError(
                lost, f"restore a backup, or, to go on without it, remove {self._name}"
            )

    def begin(self, *, anew: bool = False) -> None:
        """Begin to write, before the database is opened. `anew`: it is then written without this.

        Raises:
            DamagedError: the log lacks what was acknowledged, or a page is damaged.
            OSError: the file cannot be written.
        """
        self.require_all()
        if anew:
            for damage in self.damage():
                raise DamagedError(damage)
        if (read_only := self._files.pop(".sums", None)) is not None:
            os.close(read_only)
        file = os.open(self._name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._files[".sums"] = file
        self._writes = True
        self._summed = Reached()  # a power cut may have kept the head without the sums
        if anew or self._anew:
            os.ftruncate(file, 0)
            self._acknowledged = self._summed = Reached()
            self._write_head()

    def acknowledge(self) -> int:
        """Note what the log has now, after a commit. Return how many frames that is."""
        reached = self._reached()
        if reached != self._acknowledged:
            self._acknowledged = reached
            with suppress(OSError):  # the commit is kept, and fewer are noted
                self._write_head()
        return reached.frames

    def take_log(self) -> None:
        """Put the sums of the pages in the log on the disk, before a checkpoint writes these pages.
        The writer's thread calls it. Raises `OSError`: then there must be no checkpoint.
        """
        reached = self._reached()
        if reached == self._summed or not reached.frames:
            return
        with self._lock:
            begun = self._summed.frames if reached.salts == self._summed.salts else 0
            if not begun:
                self._logged.clear()
            sums = self._sums_in_log(begun, reached.frames)
            self._logged.update(sums)
            self._write_sums(sums)
            file = self._files[".sums"]
            former, self._summed = self._summed, reached
            self._acknowledged = reached
            try:
                self._write_head()
                os.fdatasync(file)
            except OSError:
                self._summed = former
                raise

    def checkpointed(self) -> None:
        """Note that the file has all pages of the log, so that they are compared, too."""
        with self._lock:
            self._logged.clear()
            self.cover()

    def damage_in_log(self) -> Sequence[str]:
        """Return what is damaged in the log of an open database, which SQLite would not see."""
        salts, frames = self._acknowledged
        log = self._file("-wal")
        if log is None or not frames:
            return ()
        wal = read_log(log, self.page_bytes)
        # The writer may have begun to overwrite it meanwhile, which changes the head first.
        if wal.salts != salts or wal.frames >= frames or read_salts(log) != salts:
            return ()
        return (self._lacking(wal),)

    def closed(self) -> None:
        """Note that the database is closed, and has no log."""
        if self._writes and not self._path.with_name(self._path.name + "-wal").exists():
            self._acknowledged = self._summed = Reached()
            self.cover()
            with suppress(OSError):
                self._write_head()

    def close(self) -> None:
        """Close the files, after the last connection."""
        while self._files:
            os.close(self._files.popitem()[1])

    def damage(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[str]:
        """Yield which pages are damaged, until it is stopped."""
        first = 1
        while first and not stopped():
            damaged, first = self.compare(first)
            yield from damaged

    def compare(self, first: int) -> tuple[Sequence[str], int]:
        """Compare a slice of pages. Return what is damaged, and the page after it, 0 at the end."""
        main, file = self._file(""), self._file(".sums")
        if main is None or file is None:
            return (), 0
        with self._lock:
            size = self.page_bytes
            data = memoryview(os.pread(main, SLICE * size, (first - 1) * size))
            known = os.pread(file, SLICE * _SUM_BYTES, _sum_at(first))
            known = known[: len(known) // _SUM_BYTES * _SUM_BYTES]
            count = max(len(data) // size, len(known) // _SUM_BYTES)
            expected = struct.unpack(f"<{count}I", known.ljust(count * _SUM_BYTES, b"\0"))
            sums = [_sum(data[at : at + size]) for at in range(0, count * size, size)]
            damaged, unknown = [], {}
            if (*sums,) != expected:
                for page, (was, now) in enumerate(zip(expected, sums, strict=True), first):
                    if was and was != now and page not in self._logged:
                        damaged.append(self._not_written(page))
                    elif now and not was:
                        unknown[page] = now
            if self._writes:
                self._write_sums(unknown)
        return damaged, first + SLICE if count == SLICE else 0

    def _not_written(self, page: int) -> str:
        return (
            f"Page {page} is not what hwci wrote: the disk changed it, or another program did (if"
            f" you wanted that, remove {self._name.name})"
        )

    def _sums_in_log(self, begun: int, end: int) -> dict[int, int]:
        """Return the newest sum of each page in these frames of the log."""
        log, size = self._file("-wal"), FRAME_HEAD + self.page_bytes
        if log is None:
            raise FileNotFoundError(f"The log of {self._path} was removed")
        sums: dict[int, int] = {}
        frames = memoryview(bytearray(_FRAMES_AT_ONCE * size))
        for start in reversed(range(begun, end, _FRAMES_AT_ONCE)):
            data = frames[: min(_FRAMES_AT_ONCE, end - start) * size]
            if os.preadv(log, [data], LOG_HEAD + start * size) < len(data):
                raise FileNotFoundError(f"The log of {self._path} was cut short")
            pages = (page for (page,) in struct.iter_unpack(f">I{size - 4}x", data))
            newest = dict(zip(pages, range(0, len(data), size), strict=True))
            for page in newest.keys() - sums.keys():
                at = newest[page]
                sums[page] = _sum(data[at + FRAME_HEAD : at + size])
        return sums

    def _reached(self) -> Reached:
        """Return what the log has, by SQLite's index of it, which the writer's thread may read."""
        index = self._file("-shm")
        head = b"" if index is None else os.pread(index, _INDEX.size, 0)
        if len(head) < _INDEX.size:
            return Reached()
        frames, salts = _INDEX.unpack(head)
        return Reached(salts, frames)

    def _write_sums(self, sums: Mapping[int, int]) -> None:
        """Write sums of pages, many at once: a write for each takes longer than the checkpoint."""
        file = self._files[".sums"]
        for block, pages in groupby(sorted(sums), key=lambda page: (page - 1) // _SUMS_AT_ONCE):
            begins = _sum_at(block * _SUMS_AT_ONCE + 1)
            content = bytearray(os.pread(file, _SUMS_AT_ONCE * _SUM_BYTES, begins))
            for page in pages:
                at = _sum_at(page) - begins
                content.extend(bytes(max(0, at + _SUM_BYTES - len(content))))
                content[at : at + _SUM_BYTES] = sums[page].to_bytes(_SUM_BYTES, "little")
            os.pwrite(file, content, begins)

    def _write_head(self) -> None:
        head = _head(self.page_bytes, self._acknowledged, self._summed)
        os.pwrite(self._files[".sums"], head, 0)

    def _file(self, suffix: str) -> int | None:
        """Return the descriptor of a file of the database, None if it is not there."""
        if suffix not in self._files:
            try:
                name = self._path.with_name(self._path.name + suffix)
                self._files[suffix] = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return None
            except OSError as fault:
                raise StorageError(
                    f"Cannot read {name}: {fault.strerror}",
                    "give the owner of the database the right",
                ) from fault
        return self._files[suffix]


def forget_sums(path: Path) -> None:
    """Forget the sums of a file that another one replaces, or that is written without them."""
    path.with_name(path.name + ".sums").unlink(missing_ok=True)


def begin_sums(path: Path) -> None:
    """Begin the sums of a closed file that hwci itself put there: each page is taken as it is
    found.
    """
    with path.open("rb") as main, path.with_name(path.name + ".sums").open("wb") as sums:
        size = _page_bytes(main.read(100))
        sums.write(_head(size, Reached(), Reached()))
        sums.truncate(_sum_at(1 + os.fstat(main.fileno()).st_size // size))
    path.with_name(path.name + ".sums").chmod(0o600)


def _page_bytes(head: bytes) -> int:
    size = int.from_bytes(head[16:18]) if head else 4096
    return 65536 if size == 1 else size


def _head(page_bytes: int, acknowledged: Reached, summed: Reached) -> bytes:
    head = _HEAD.pack(_MAGIC, page_bytes, *acknowledged, *summed, 0)[:-4]
    return head + crc32(head).to_bytes(4, "little")


def _sum(page: memoryview) -> int:
    """Return the sum of a page; 0 is that of none."""
    return (crc32(page) or 1) if page else 0


def _sum_at(page: int) -> int:
    return _SUMS_AT + (page - 1) * _SUM_BYTES
