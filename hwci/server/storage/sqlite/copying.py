# SPDX-License-Identifier: Apache-2.0
"""Whole copies of the database file: made while it is in use, and put in its place.

This module decides when a copy is good: it is read back whole before it is renamed. A copy is
made from a reader's snapshot, so it holds all that was committed before and disturbs no writer, and
no second connection checkpoints (`connections.py`). It never overwrites or removes the only copy of
anything.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

from hwci.server.errors import StorageError
from hwci.server.private_file import wait_for_disk
from hwci.server.storage.new_file import give_name, part_beside, refuse_taken
from hwci.server.storage.sqlite.condition import FAULTS
from hwci.server.storage.sqlite.connections import Connection, known_version, open_reader
from hwci.server.storage.sqlite.locking import FORMER, check_header
from hwci.server.storage.sqlite.page_sums import begin_sums, forget_sums

_PAGES_PER_STEP = 1_024
STEPS_PER_LOOK = 100_000
STOPPED = ("The copy was stopped before its end, and removed", "try again")

Stopped = Callable[[], bool]


def back_up(path: Path, to: Path, stopped: Stopped) -> None:
    """Write a copy of the open database at `path` to a new file, its owner's alone.

    Raises:
        StorageError: there is something at `to`, it cannot be written, or it was stopped.
    """
    refuse_taken(to)
    with part_beside(to) as part:
        with closing(open_reader(path)) as reader:
            _copy_pages(reader, part, stopped)
        _require_whole(part, to, stopped)
        wait_for_disk(part)
        if stopped():
            raise StorageError(*STOPPED)
        give_name(part, to)


def put_back(path: Path, copy: Path, damage_of: Callable[[Path], Sequence[str]]) -> Path | None:
    """Put a copy in the place of the database at `path`, whose lock must be held. Return the new
    name of its former file, None if there was none. There is a database at every moment.

    Raises:
        StorageError: it is not a whole database of hwci, or newer, or cannot be written, or
            `damage_of` finds damage.
    """
    _require_copy(path, copy)
    with part_beside(path) as part:
        shutil.copyfile(copy, part)
        _require_whole(part, copy, lambda: False)
        for damage in damage_of(part):
            raise StorageError(f"{copy} is damaged: {damage}", "take an earlier backup")
        _give_to_owner(part)
        wait_for_disk(part)
        forget_sums(path)
        former = _keep_former(path)
        part.rename(path)
        begin_sums(path)
        wait_for_disk(path.parent)
    return former


@contextmanager
def scratch_copy(path: Path, stopped: Stopped) -> Iterator[Path]:
    """Yield a temporary copy of a database as of one moment, beside it. Nothing is changed, not
    even the log beside it, which shows an unclean stop.

    Raises:
        StorageError: it cannot be written, or it was stopped.
    """
    logged = path.with_name(path.name + "-wal").exists()
    with part_beside(path) as part:
        try:
            _remove_logs(part)
            with closing(open_reader(path, "mode=ro" if logged else "immutable=1")) as source:
                _copy_pages(source, part, stopped)
            yield part
        finally:
            _remove_logs(part)


def _remove_logs(path: Path) -> None:
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _copy_pages(source: Connection, part: Path, stopped: Stopped) -> None:
    """Copy page by page from one snapshot, so that a writer does not restart it."""

    def look(_status: int, _remaining: int, _total: int) -> None:
        if stopped():
            raise StorageError(*STOPPED)

    with closing(sqlite3.connect(part)) as target:
        source.execute("BEGIN")
        source.execute("PRAGMA schema_version")  # the snapshot is that of the first read
        # It is read back and synced below: a file without its name needs no journal.
        target.execute("PRAGMA journal_mode = OFF")
        target.execute("PRAGMA synchronous = OFF")
        source.raw.backup(target, pages=_PAGES_PER_STEP, progress=look)


def _require_whole(part: Path, shown: Path, stopped: Stopped) -> None:
    """Read a copy whole. Raises `StorageError`: it is damaged, or it was stopped."""
    uri = f"{part.absolute().as_uri()}?immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as probe:
        probe.set_progress_handler(stopped, STEPS_PER_LOOK)
        try:
            (damage,) = probe.execute("PRAGMA integrity_check(1)").fetchone()
        except FAULTS as fault:
            if stopped():
                raise StorageError(*STOPPED) from fault
            damage = str(fault)
    if damage != "ok":
        fault_in_one_line = " ".join(str(damage).split())
        raise StorageError(f"{shown} is damaged: {fault_in_one_line}", "take an earlier backup")


def _require_copy(path: Path, copy: Path) -> None:
    """Refuse a copy that cannot take the place of the database."""
    if not copy.is_file():
        raise StorageError(f"There is no backup {copy}", "name one that `hwci admin backup` made")
    if path.exists() and path.samefile(copy):
        raise StorageError(f"{copy} is the database itself", "name a backup of it")
    check_header(copy, known_version())
    log = copy.with_name(copy.name + "-wal")
    if log.exists() and log.stat().st_size > 0:
        raise StorageError(
            f"{copy} is in use or was not closed: it has a log beside it",
            "make a whole copy of it with `hwci admin backup`",
        )


def _keep_former(path: Path) -> Path | None:
    """Keep a database under a second name; it also keeps its own until the copy replaces it.

    A log beside the copy would be read as the copy's, so it is first written into its own file. A
    file that is too damaged for this is kept with its log.
    """
    log = path.with_name(path.name + "-wal")
    if not path.exists() and not log.exists():
        return None
    former = next(
        name
        for name in (path.with_name(f"{path.name}{FORMER}{n}") for n in count(1))
        if _is_free(name) or (path.exists() and name.exists() and name.samefile(path))
    )
    if path.exists():
        _empty_log(path)
        if not former.exists():  # else an interrupted restore gave it that name
            _give_second_name(path, former)
    if log.exists():
        log.rename(former.with_name(former.name + "-wal"))
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    return former


def _is_free(name: Path) -> bool:
    return not name.exists() and not name.with_name(name.name + "-wal").exists()


def _empty_log(path: Path) -> None:
    uri = f"{path.absolute().as_uri()}?mode=rw"
    with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True)) as former:
        former.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _give_second_name(path: Path, former: Path) -> None:
    try:
        former.hardlink_to(path)
    except OSError:  # a file system without links
        with part_beside(former) as half:
            shutil.copyfile(path, half)
            _give_to_owner(half)
            wait_for_disk(half)
            half.rename(former)
    wait_for_disk(former.parent)


def _give_to_owner(part: Path) -> None:
    """Make the owner of the folder the owner of what root restores, as a service has its user."""
    if os.geteuid() == 0:
        folder = part.parent.stat()
        os.chown(part, folder.st_uid, folder.st_gid)
