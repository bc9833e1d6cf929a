# SPDX-License-Identifier: Apache-2.0
"""Histories as databases, made once and kept: ours, and rows for each peer.

This module decides where they are kept, and when they are made again: when the generator or the
schema changed. Each gets its name when it is whole, so that what was broken off is made again, and
a peer whose package came later is made then. Ours takes the bodies as it takes those of a demo, in
transactions of some dozens. Benchmarks write, so each works on a copy.
"""

import asyncio
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from pydantic import BaseModel

from benchmarks import history
from benchmarks.history import ANNOUNCE, CONFIGURE, REPORT, SEED, Body, Size
from benchmarks.peers.engines import PEERS, Peer
from benchmarks.peers.rows import Rows
from hwci.server.clock import system_clock
from hwci.server.services.ci_metrics.ingest import Ingest
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage
from hwci.server.storage.sqlite.schema import schema
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration
from tests.support.running import new_organization

KEPT = Path(__file__).parent / "kept"
DATABASE = "hwci.db"
_FACTS, _NEXT = "facts.json", "next.jsonl"
_TOGETHER = 50
_MODELS: Mapping[str, type[MergeAnnouncement | RunReport | SuiteConfiguration]] = {
    ANNOUNCE: MergeAnnouncement,
    REPORT: RunReport,
    CONFIGURE: SuiteConfiguration,
}


class Batch(BaseModel):
    """Bodies that were kept together. `seconds`: of the processor, from models to the disk."""

    reports: int
    items: int
    seconds: float


class Facts(BaseModel):
    """What is known of a history that is kept."""

    org_id: UUID
    batches: list[Batch]

    @property
    def items(self) -> int:
        """The number of test items."""
        return sum(batch.items for batch in self.batches)


@dataclass(frozen=True)
class Data:
    """A copy of a history, in a folder of its own."""

    size: Size
    folder: Path
    facts: Facts

    @property
    def database(self) -> Path:
        """Our file."""
        return self.folder / DATABASE

    def following(self) -> Sequence[Body]:
        """Return the bodies that come after the history."""
        return [(kind, sent) for kind, sent in json.loads((self.folder / _NEXT).read_text())]

    def peers(self) -> Sequence[Peer]:
        """Open the rows of each peer."""
        return [kind(self.folder / _rows_of(ending)) for ending, kind in PEERS.items()]


@contextmanager
def copied(size: Size, kept: Path = KEPT, *, peers: bool = False) -> Iterator[Data]:
    """Yield a copy of a history, which is made if it is not kept yet. `peers`: with their rows."""
    kept.mkdir(parents=True, exist_ok=True)
    folder = kept / _name(size)
    with TemporaryDirectory(dir=kept) as unfinished:
        if not folder.exists():
            made = Path(unfinished, folder.name)
            made.mkdir()
            _make(size, made)
            made.rename(folder)
        if peers:
            _add_peers(size, folder, Path(unfinished))
    database = folder / DATABASE
    rows = [folder / _rows_of(one) for one in PEERS] if peers else []
    with TemporaryDirectory(dir=kept) as copy:
        for one in (database, folder / _NEXT, *rows):
            _copy(one, Path(copy))
        facts = Facts.model_validate_json((folder / _FACTS).read_text())
        yield Data(size, Path(copy), facts)


def _rows_of(peer: str) -> str:
    """Return the name of a peer's rows, by its name in `PEERS`."""
    return f"rows.{peer}"


def _copy(kept: Path, to: Path) -> None:
    """Copy a file or folder with its owners: PostgreSQL reads no file of another user."""
    words = ("cp", "--archive", "--target-directory", to, kept)
    subprocess.run(words, check=True)  # noqa: S603 - ours


def _name(size: Size) -> str:
    """Return a name that says what the data is made of."""
    made_by = Path(history.__file__).read_bytes() + schema().encode()
    extent = f"{size.products}x{size.boxes}x{size.tests}x{size.before}+{size.days}"
    return f"{extent}-seed-{SEED}-{hashlib.sha256(made_by).hexdigest()[:8]}"


def _make(size: Size, folder: Path) -> None:
    org_id = new_organization(folder / DATABASE)
    data = Data(size, folder, Facts(org_id=org_id, batches=[]))
    asyncio.run(_fill(data))
    (folder / _FACTS).write_text(data.facts.model_dump_json())


async def _fill(data: Data) -> None:
    following: list[Body] = []
    storage = open_storage(data.database)
    try:
        for past, after in _batches(data.size):
            following += after
            data.facts.batches.append(await _keep(storage, data.facts.org_id, past))
            _show(data)
    finally:
        await storage.close()
    (data.folder / _NEXT).write_text(json.dumps(following))


def _add_peers(size: Size, folder: Path, unfinished: Path) -> None:
    """Make the rows of the peers that a kept history has none of."""
    missing = [one for one in PEERS if not (folder / _rows_of(one)).exists()]
    if not missing:
        return
    peers = [(PEERS[one](unfinished / _rows_of(one)), Rows()) for one in missing]
    for peer, _ in peers:
        peer.make()
    for past, _ in _batches(size):
        for peer, rows in peers:
            peer.add(rows.of(past))
    for peer, _ in peers:
        peer.optimize()
        peer.close()
    for one in missing:
        (unfinished / _rows_of(one)).rename(folder / _rows_of(one))


def _batches(size: Size) -> Iterator[tuple[Sequence[Body], Sequence[Body]]]:
    """Yield what arrives together: of the history, and after it."""
    bodies = history.history(size)
    while batch := list(islice(bodies, _TOGETHER)):
        after = [body for body in batch if history.is_after(size, body)]
        yield [body for body in batch if not history.is_after(size, body)], after


async def _keep(storage: Storage, org_id: UUID, bodies: Iterable[Body]) -> Batch:
    models = [_MODELS[kind].model_validate(sent) for kind, sent in bodies]
    reports = [len(model.tests) for model in models if isinstance(model, RunReport)]
    begun = time.process_time()
    await Ingest(storage, system_clock).keep_history(org_id, models)
    spent = time.process_time() - begun
    return Batch(reports=len(reports), items=sum(reports), seconds=spent)


def _show(data: Data) -> None:
    reports = sum(batch.reports for batch in data.facts.batches)
    end = "\r" if sys.stderr.isatty() else "\n"
    print(f"{reports:,} reports, {data.facts.items:,} items", end=end, file=sys.stderr, flush=True)
