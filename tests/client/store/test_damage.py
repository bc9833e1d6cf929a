# SPDX-License-Identifier: Apache-2.0
"""A store that is damaged, of a newer version, of another user or on a full disk: nothing that can
be read is lost, and the report being sent still goes out.
"""

import multiprocessing
import os
import random
import resource
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hwci.client.store import (
    BenchStore,
    JobOfBuild,
    PastRuns,
    ReportedRun,
    RunSeries,
    StoreError,
    bench,
)
from tests.support.pending import (
    ADDRESS,
    KEY,
    TEST,
    in_state,
    keep,
    pending,
    run_ids,
    run_report,
    waiting,
)

ROUNDS = 6
"""Damaged files that a test makes."""
SERIES = RunSeries("acme/firmware", "hardware", "main", "hardware")
JOB = JobOfBuild("acme/firmware", ("bench-1",), 5, "job", 1)
MANY = [{**TEST, "id": f"test {number}"} for number in range(40)]


@pytest.fixture
def store(tmp_path: Path) -> BenchStore:
    return BenchStore(tmp_path / "spool")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of many pages."""
    return filled(BenchStore(tmp_path_factory.mktemp("full")))


def filled(store: BenchStore) -> Path:
    store.recall(SERIES, JOB, claim=True)
    store.sent(keep(store, run_id=200))
    store.keep([pending(run_id=run_id, tests=MANY) for run_id in range(1, 31)], ADDRESS, KEY)
    return store.file


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def torn(content: bytes) -> bytes:
    return content[:100]


def garbage(_: bytes) -> bytes:
    return b"this is not a database\n" * 999


@pytest.mark.parametrize("harm", [truncated, torn, garbage])
def test_a_damaged_file_is_set_aside_whole_and_the_next_report_is_kept(
    full: Path, tmp_path: Path, harm: Callable[[bytes], bytes]
) -> None:
    store = BenchStore(tmp_path)
    damaged = harm(full.read_bytes())
    store.file.write_bytes(damaged)
    with pytest.raises(StoreError, match="cannot be read: ") as caught:
        store.reports()
    assert caught.value.fix.startswith("Check the disk")
    assert store.recall(SERIES).past == PastRuns(SERIES)
    assert store.waiting_for(ADDRESS, None) == []

    keep(store, run_id=99)

    assert 99 in run_ids(store)
    [set_aside] = in_state(store, "damaged")
    aside = set_aside.file
    assert aside.read_bytes() == damaged
    assert (set_aside.name, set_aside.reason) == (aside.name, "the file is damaged")
    [message] = store.damaged
    assert message.startswith(f"{aside} (")
    keep(store, run_id=100)
    assert len(store.damaged) == 1


def test_the_journal_of_a_damaged_file_goes_aside_with_it(full: Path, tmp_path: Path) -> None:
    store = BenchStore(tmp_path)
    store.file.write_bytes(torn(full.read_bytes()))
    finished = bytes(8)  # SQLite leaves one that begins with zeros where it is
    store.file.with_name("bench.sqlite3-journal").write_bytes(finished)

    keep(store, run_id=99)

    [aside] = in_state(store, "damaged")
    assert Path(f"{aside.file}-journal").read_bytes() == finished


def test_what_can_be_read_of_a_damaged_file_is_kept(full: Path, tmp_path: Path) -> None:
    """A page in the middle is all zeros."""
    content = bytearray(full.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = bytes(4096)
    store = BenchStore(tmp_path)
    store.file.write_bytes(content)

    keep(store, run_id=99)

    [message] = store.damaged
    read = len(run_ids(store)) - 1
    assert 15 <= read < 30
    assert store.recall(SERIES, JOB._replace(name="other")).run_id == 1
    assert store.replaced(run_report(run_id=200, suite="t")) == "one of product hardware"
    assert store.recall(SERIES).past.runs[0] == ReportedRun(200, "a" * 40, True)
    assert message.endswith(f" ({read} of its reports could be read, and are kept)")
    for one in waiting(store):
        with store.taken(one) as call:
            assert call is not None


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_after_flipped_bits_only_reports_that_were_kept_are_sent(
    full: Path, tmp_path: Path, seed: int
) -> None:
    """Flip a bit in some pages. A changed report is named, and never sent."""
    chance = random.Random(seed)
    content = bytearray(full.read_bytes())
    pages = range(0, len(content), 4096)
    for page in chance.sample(pages, 1 + seed % 4):
        content[page + chance.randrange(4096)] ^= 1 << chance.randrange(8)
    store = BenchStore(tmp_path)
    store.file.write_bytes(content)
    whole = BenchStore(full.parent)
    bodies = {whole.body(one) for one in waiting(whole)}

    kept = store.keep([pending(run_id=99)], ADDRESS, KEY)[0]
    lost = 0
    for one in store.waiting_for(ADDRESS, None):
        try:
            with store.taken(one) as call:
                lost += call is None
                assert call is None or one.run_id == 99 or call.body in bodies
        except StoreError:
            lost += 1

    if not kept.kept:
        assert str(kept.unkept)
    assert lost == 0 or store.damaged or kept.unkept or in_state(store, "damaged")


@pytest.mark.parametrize("body", ["zeroblob(20)", "7", "'text'"])
def test_a_damaged_body_is_named_and_never_sent(store: BenchStore, body: str) -> None:
    first, second = keep(store, run_id=1), keep(store, run_id=2)
    with closing(sqlite3.connect(store.file)) as db, db:
        db.execute(f"UPDATE reports SET body = {body} WHERE number = ?", (first.number,))
    [loaded, _] = waiting(store)

    with store.taken(loaded) as taken:
        assert taken is None

    assert run_ids(store) == [2]
    [damaged] = in_state(store, "damaged")
    assert (damaged.number, damaged.reason) == (first.number, "the disk has damaged it")
    assert store.damaged == [f"report {first.label} in {store.file}"]
    found = store.found(loaded)
    assert found is not None
    assert found.state == "damaged"
    with pytest.raises(StoreError, match=first.label):
        store.body(damaged)
    with store.taken(second) as taken:
        assert taken is not None


@pytest.mark.parametrize(
    "damage",
    [
        "overtaken = '{'",
        "overtaken = '7'",
        "overtaken = CAST(x'ff' AS TEXT)",
        "state = 'waitiog'",
        "identity = substr(identity, 2)",
        "run_id = 'text'",
        "created = 'text'",
        "address = x'00'",
    ],
)
def test_a_damaged_row_is_named_and_delays_no_other(store: BenchStore, damage: str) -> None:
    first, _ = keep(store, run_id=1), keep(store, run_id=2)
    with closing(sqlite3.connect(store.file)) as db, db:
        db.execute(f"UPDATE reports SET {damage} WHERE number = ?", (first.number,))

    [damaged] = in_state(store, "damaged")

    assert (damaged.label, damaged.name) == (first.label, first.name)
    assert damaged.reason == "the disk has damaged it"
    assert run_ids(store) == [2]


def test_a_damaged_text_is_read_as_far_as_possible(store: BenchStore) -> None:
    keep(store)
    with closing(sqlite3.connect(store.file)) as db, db:
        db.execute("UPDATE reports SET reason = CAST(x'35ff' AS TEXT)")

    assert [one.reason for one in waiting(store)] == ["5\ufffd"]


def test_a_store_of_an_older_version_takes_the_steps_that_it_lacks(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, run_id=1)
    monkeypatch.setattr(bench, "STEPS", ("ALTER TABLE reports ADD COLUMN later TEXT",))

    assert run_ids(store) == [1]
    keep(store, run_id=2)

    assert run_ids(store) == [1, 2]
    with closing(sqlite3.connect(store.file)) as db:
        assert db.execute("SELECT later FROM reports").fetchall() == [(None,), (None,)]
    monkeypatch.undo()
    with pytest.raises(StoreError, match=r"newer hwci \(version 2; this one knows 1\)"):
        store.reports()


def test_a_store_of_a_newer_version_is_left_alone_and_named(store: BenchStore) -> None:
    keep(store, run_id=1)
    with closing(sqlite3.connect(store.file)) as db:
        db.execute("PRAGMA user_version = 9")
    before = store.file.read_bytes()

    kept = store.keep([pending(run_id=2)], ADDRESS, KEY)[0]

    assert str(kept.unkept) == (
        f"{store.file} was written by a newer hwci (version 9; this one knows 1)"
    )
    assert kept.unkept is not None
    assert kept.unkept.fix.startswith("Use the newer hwci on this bench, or set HWCI_SPOOL_DIR ")
    with pytest.raises(StoreError, match="newer"):
        store.reports()
    assert store.file.read_bytes() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_store_of_another_user_is_left_alone_and_named(store: BenchStore) -> None:
    keep(store, run_id=1)
    os.chown(store.file, 12345, 12345)

    kept = store.keep([pending(run_id=2)], ADDRESS, KEY)[0]

    assert str(kept.unkept) == f"{store.file} belongs to another user"
    with pytest.raises(StoreError, match="another user"):
        store.reports()


def keep_until_full(folder: Path) -> None:
    """A limit on the size of a file simulates the full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    for run_id in range(1, 200):
        [one] = BenchStore(folder).keep([pending(run_id=run_id, tests=MANY)], ADDRESS, KEY)
        (folder / "message").write_text(f"{run_id} {one.unkept}")
        if not one.kept:
            break


def test_a_full_disk_loses_no_kept_report(tmp_path: Path) -> None:
    """A report that does not fit is not kept in part."""
    child = multiprocessing.get_context("fork").Process(target=keep_until_full, args=(tmp_path,))
    child.start()
    child.join()

    number, _, message = (tmp_path / "message").read_text().partition(" ")
    assert message.startswith(f"{tmp_path}/bench.sqlite3 cannot be written: ")
    store = BenchStore(tmp_path)
    assert len(run_ids(store)) > 10
    assert run_ids(store) == list(range(1, int(number)))
    keep(store, run_id=500)
    assert 500 in run_ids(store)


def test_a_deleted_store_delays_nothing(store: BenchStore) -> None:
    kept = keep(store)
    shutil.rmtree(store.folder)

    with pytest.raises(StoreError), store.taken(kept):
        pytest.fail("it is not there")
    assert store.waiting_for(ADDRESS, None) == []
