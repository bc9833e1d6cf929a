# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ASYNC240, T201 - nothing else runs on the loop; a program that prints
"""Damaged copies of a database that is in use, and what becomes of each: `python -m
tests.server.storage.damaging [SEEDS]` tries many, the tests a few.

A copy is damaged in its main file (bits or bytes flipped, or cut short) or in its log. It may be
refused, not ready, or hold just what was acknowledged. All else is a fault.
"""

import asyncio
import random
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from hwci.engine.facts import failure_id
from hwci.server.errors import NotReadyError, StorageError
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage, Writer
from tests.server.storage.examples import ACME, ADA, ANNOUNCEMENT, CONFIG, FAILURE, NOON, REVIEW
from tests.server.storage.histories import ORG, HistoryDraw

PAGE = 4096
Dump = Mapping[str, frozenset[tuple[object, ...]]]


@dataclass(frozen=True)
class Original:
    """A database that was copied while it was open. `rows`: all that was acknowledged."""

    main: bytes
    log: bytes
    sums: bytes
    rows: Dump


def dump(path: Path) -> Dump:
    """Return the rows of all tables, and what is wrong with an index."""
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        found: dict[str, frozenset[tuple[object, ...]]] = {
            name: frozenset(database.execute(f'SELECT * FROM "{name}"').fetchall())
            for (name,) in tables
        }
        found["an index"] = frozenset(database.execute("PRAGMA integrity_check"))
        return found


async def original(folder: Path) -> Original:
    """Make a database with a history, some of it still in its log."""
    path, draw = folder / "hwci.db", HistoryDraw(7)

    def begin(writer: Writer) -> None:
        writer.add_organization(ACME)
        writer.add_user(ADA)
        for _ in range(150):
            writer.put_report(ORG, draw.next_report(), NOON)
        writer.announce(ORG, ANNOUNCEMENT, NOON)
        writer.put_config(ORG, CONFIG, NOON)
        writer.put_review(ORG, failure_id(ORG, FAILURE), REVIEW)

    storage = open_storage(path)
    await storage.write(begin)
    await storage.close()
    storage = open_storage(path)
    await storage.look_over()
    for _ in range(4):
        await storage.write(lambda writer: writer.put_report(ORG, draw.next_report(), NOON))
    rows = dump(path)
    main, log, sums = (Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-wal", ".sums"))
    await storage.close()
    return Original(main, log, sums, rows)


def damaged(of: Original, seed: int) -> tuple[bytes, bytes]:
    """Return the main file and the log, one of them damaged."""
    draw = random.Random(seed)
    files = [bytearray(of.main), bytearray(of.log)]
    target = files[seed % 2]
    match draw.randrange(5):
        case 4:
            target[draw.randrange(len(target))] ^= 1 << draw.randrange(8)
        case 0:
            del target[draw.randrange(len(target)) :]
        case 1:  # within a value: the structure of the file stays whole
            letters = [place for place, byte in enumerate(target) if chr(byte).isalnum()]
            target[draw.choice(letters)] ^= 1
        case 2:
            for _ in range(draw.randint(2, 64)):
                target[draw.randrange(len(target))] ^= draw.randrange(1, 256)
        case 3:
            start = draw.randrange(len(target)) // PAGE * PAGE
            target[start : start + PAGE] = draw.randbytes(len(target[start : start + PAGE]))
    return bytes(files[0]), bytes(files[1])


async def outcome(of: Original, seed: int, folder: Path) -> str:
    """Return what happens to a damaged copy; it begins with FAULT if the copy is served."""
    path = folder / "hwci.db"
    contents = (*damaged(of, seed), of.sums)
    for suffix, content in zip(("", "-wal", ".sums"), contents, strict=True):
        Path(f"{path}{suffix}").write_bytes(content)
    try:
        storage = open_storage(path)
    except StorageError as refused:
        return "FAULT: more than a line" if "\n" in str(refused) else "refused"
    try:
        await storage.look_over()
        if not await _ready(storage):
            return "not ready"
    finally:
        await storage.close()
    try:
        now = dump(path)
    except sqlite3.Error:
        return "FAULT: served with a value that cannot be read"
    if now == of.rows:
        return "whole"
    return f"FAULT: served with other rows of {', '.join(sorted(_differing(of.rows, now)))}"


async def _ready(storage: Storage) -> bool:
    """Wait until the server has checked a file. Return whether it serves it."""
    while True:
        try:
            await storage.ready()
        except NotReadyError as why:
            if "is damaged" in str(why):
                return False
            await asyncio.sleep(0.01)
        except StorageError:
            return False
        else:
            return True


def _differing(one: Dump, other: Dump) -> set[str]:
    return {table for table in one.keys() | other.keys() if one.get(table) != other.get(table)}


async def main(seeds: int) -> int:
    """Try this many copies; return 1 if a damaged one was served."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="hwci-damage-") as name:
        of = await original(Path(name))
        for seed in range(seeds):
            folder = Path(name, f"{seed}")
            folder.mkdir()
            word = await outcome(of, seed, folder)
            shutil.rmtree(folder)
            counts[f"{('main file', 'log')[seed % 2]}: {word}"] += 1
            if word.startswith("FAULT"):
                print(f"seed {seed}: {word}", flush=True)
    for word, times in sorted(counts.items()):
        print(f"{times:5}  {word}")
    return int(any("FAULT" in word for word in counts))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)))
