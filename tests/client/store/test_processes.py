# SPDX-License-Identifier: Apache-2.0
"""Several processes share a store, and any may be killed at any moment."""

import multiprocessing
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from hwci.client.store import BenchStore, RunSeries
from tests.support.pending import ADDRESS, KEY, in_state, pending, run_ids, waiting

ROUNDS = 8
"""Processes that a test kills."""
SERIES = RunSeries("acme/firmware", "hardware", "main", "hardware")


class Child:
    """A process of its own. What it says comes line by line, up to where it was killed."""

    def __init__(self, work: Callable[..., None], folder: Path, *arguments: int) -> None:
        reader, self._writer = os.pipe()
        self._lines = os.fdopen(reader)
        fork = multiprocessing.get_context("fork")
        self._process = fork.Process(target=self._run, args=(work, folder, *arguments))
        self._process.start()
        os.close(self._writer)

    def _run(self, work: Callable[..., None], folder: Path, *arguments: int) -> None:
        def say(number: int | None) -> None:
            os.write(self._writer, f"{number}\n".encode())

        work(BenchStore(folder), say, *arguments)

    def line(self) -> int:
        """Wait for a line; 0 if it ended before."""
        return int(self._lines.readline() or 0)

    def kill(self) -> list[int]:
        """Kill it, and return what else it said."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGKILL)
        return self.rest()

    def rest(self) -> list[int]:
        """Wait until it ends, and return what else it said."""
        with self._lines:
            said = [int(line) for line in self._lines]
        self._process.join()
        return said


def keep_many(store: BenchStore, say: Callable[[int], None], first: int, many: int) -> None:
    for run_id in range(first, first + many):
        [one] = store.keep([pending(run_id=run_id)], ADDRESS, KEY)
        assert one.kept, one.unkept
        say(run_id)


def send_all(store: BenchStore, say: Callable[[int | None], None]) -> None:
    for one in store.waiting_for(ADDRESS, None):
        with store.taken(one) as call:
            if call is not None:
                say(one.run_id)
                store.sent(one)


def test_a_keeper_that_is_killed_loses_nothing_and_leaves_nothing_torn(tmp_path: Path) -> None:
    """What it said is kept, is kept; at the most one more is, whole. And so is its run known."""
    for number in range(ROUNDS):
        store = BenchStore(tmp_path / str(number))
        keeper = Child(keep_many, store.folder, 1, 100_000)
        assert keeper.line() == 1
        time.sleep(random.uniform(0, 0.15))
        said = 1 + len(keeper.kill())

        kept = run_ids(store)
        assert kept in (list(range(1, said + 1)), list(range(1, said + 2)))
        assert [run.run_id for run in store.recall(SERIES).past.runs] == kept
        assert all(store.body(one) for one in waiting(store))
        with closing(sqlite3.connect(store.file)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_sender_that_is_killed_leaves_what_it_had_not_sent(tmp_path: Path) -> None:
    store = BenchStore(tmp_path)
    assert Child(keep_many, tmp_path, 1, 12).rest() == list(range(1, 13))
    sent: Counter[int] = Counter()
    for _ in range(ROUNDS):
        sender = Child(send_all, tmp_path)
        sent.update([sender.line(), *sender.kill()])
    sent.update(Child(send_all, tmp_path).rest())

    assert set(sent) - {0} == set(range(1, 13))
    assert waiting(store) == in_state(store, "refused") == []
    assert [run.run_id for run in store.recall(SERIES).past.runs] == list(range(1, 13))


def test_processes_that_write_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    """The first of them makes the file."""
    keepers = [Child(keep_many, tmp_path, own * 100, 5) for own in range(1, 5)]
    assert [len(keeper.rest()) for keeper in keepers] == [5] * 4

    store = BenchStore(tmp_path)
    assert len(run_ids(store)) == len({one.number for one in waiting(store)}) == 20
    assert len(store.recall(SERIES).past.runs) == 20

    senders = [Child(send_all, tmp_path) for _ in range(3)]
    sent = [run_id for sender in senders for run_id in sender.rest()]
    while left := Child(send_all, tmp_path).rest():
        sent += left
    assert len(sent) == len(set(sent)) == 20
    assert waiting(store) == []
