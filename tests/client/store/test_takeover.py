# SPDX-License-Identifier: Apache-2.0
"""What versions before this one keep in folders is taken in at every start, and nothing of it is
lost or sent twice. `before` was written by the version before (see `written_by.txt` there).
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hwci.client.files import locked
from hwci.client.store import (
    BenchStore,
    JobOfBuild,
    RunSeries,
    StoreError,
    bench_store,
    memory,
)
from tests.support.pending import (
    ADDRESS,
    KEY,
    OTHER_ADDRESS,
    OTHER_KEY,
    in_state,
    keep,
    run_ids,
    run_report,
    states,
    waiting,
)

BEFORE = Path(__file__).parent / "before"
SERIES = RunSeries("acme/firmware", "hardware", "main", "hardware")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    shutil.copytree(BEFORE, tmp_path / "hwci")
    return tmp_path / "hwci"


@pytest.fixture
def store(home: Path) -> BenchStore:
    return BenchStore(home / "spool", home)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_process_that_looks_sees_all_and_changes_nothing(store: BenchStore, home: Path) -> None:
    before = files(home)

    found = {(one.state, one.run_id, one.address) for one in store.reports()}

    assert files(home) == before
    assert found == {
        *(("waiting", run_id, ADDRESS) for run_id in (1, 2, 6, 7)),
        ("waiting", 3, OTHER_ADDRESS),
        ("waiting", 4, ""),
        ("waiting", None, ADDRESS),
        ("refused", 5, ADDRESS),
        ("superseded", 6, ADDRESS),
        *[("unreadable", None, "")],
    }
    assert [one.reason for one in in_state(store, "unreadable")] == [
        "the file is damaged",
        "a newer hwci wrote it (format 2; this one knows 1), and can send it",
    ]


def test_all_is_taken_in_as_it_was(store: BenchStore, home: Path) -> None:
    seen = {one.label: one for one in BenchStore(home / "spool").reports()}
    bodies = {name: store.body(one) for name, one in seen.items() if one.kept}
    store.take_in()

    assert len(bodies) == 9
    for one in store.reports():
        if one.kept:
            same = ("name", "identity", "state", "address", "fingerprint", "created", "tries")
            for name in (*same, "reason", "not_before", "overtaken"):
                assert getattr(one, name) == getattr(seen[one.label], name), name
            assert json.loads(store.body(one)) == json.loads(bodies[one.label])
            assert one.file == store.file
    tried = next(one for one in waiting(store) if one.run_id == 2)
    assert (tried.tries, tried.reason[:3]) == (1, "503")
    assert tried.not_before > tried.created
    left = [name for name in files(home) if name.endswith((".report", ".json", ".damaged"))]
    assert [Path(name).suffix for name in left] == [".damaged", ".report"]  # that of the newer one


@pytest.mark.parametrize("first", [False, True], ids=["beside others", "the first"])
def test_what_is_damaged_goes_aside_and_is_named(
    store: BenchStore, home: Path, first: bool
) -> None:
    if first:
        shutil.rmtree(home / "spool/refused")
    store.take_in()

    [aside] = store.damaged
    assert Path(aside).parent == home / "spool/refused"
    assert Path(aside).suffix == ".damaged"
    assert [one.reason for one in in_state(store, "damaged")] == ["the file is damaged"]
    assert [one.newer for one in in_state(store, "unreadable")] == [True]
    again = BenchStore(home / "spool", home)
    again.take_in()
    assert again.damaged == []


def test_what_a_killed_process_left_half_written_is_removed(store: BenchStore, home: Path) -> None:
    assert len(list(home.rglob(".new-*"))) == 2

    keep(store, run_id=99)

    assert list(home.rglob(".new-*")) == []


def test_what_was_taken_in_is_not_taken_in_twice(
    store: BenchStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed once it was in the store, and before the files were removed."""
    with monkeypatch.context() as killed:
        killed.setattr("hwci.client.store.takeover.OlderFolders.clear", lambda *_: [])
        store.take_in()
    before = [(one.label, one.state) for one in store.reports()]
    assert len(list((home / "spool").glob("*.report"))) > 1

    again = BenchStore(home / "spool", home)
    again.take_in()

    in_store = [(one.label, one.state) for one in again.reports() if one.kept]
    assert in_store == [one for one in before if one[0].isdigit()]
    assert len(list((home / "spool").glob("*.report"))) == 1  # of the newer version


def test_a_later_report_is_the_later_one_of_what_the_folders_hold(store: BenchStore) -> None:
    keep(store, run_id=1, sha=f"{1:040x}")
    keep(store, key=OTHER_KEY, run_id=2)
    keep(store, run_id=5)
    keep(store, run_id=7)

    assert [run_id for run_id in run_ids(store) if run_id in {1, 2, 5, 7}] == [1, 2, 5, 7]
    assert {one.run_id for one in in_state(store, "superseded")} == {2, 5, 6}
    assert in_state(store, "refused") == []


def test_what_an_older_version_writes_beside_is_taken_in_at_the_next_start(
    store: BenchStore, home: Path
) -> None:
    store.take_in()
    ours = keep(store, run_id=1)
    [theirs] = (BEFORE / "spool").glob("00001769900000000000-*")
    later = home / "spool" / f"{ours.number + 5:020d}{theirs.name[20:]}"
    shutil.copy(theirs, later)
    keep(store, run_id=98)
    assert run_ids(store).count(1) == 2  # seen, and not yet in its place

    again = BenchStore(home / "spool", home)
    again.take_in()

    assert [one.number for one in waiting(again) if one.run_id == 1] == [ours.number + 5]
    assert not later.exists()


def test_a_report_at_which_an_older_process_works_is_left_to_it(
    store: BenchStore, home: Path
) -> None:
    [mark] = (home / "marks").iterdir()
    with locked(mark, wait=False):
        store.take_in()
        [left] = (home / "spool").glob("00001769900000000000-*")
        assert mark.exists()

    BenchStore(home / "spool", home).take_in()

    assert not left.exists()
    assert not mark.exists()
    assert 1 in run_ids(store)


def test_a_number_that_is_taken_loses_no_report(store: BenchStore, home: Path) -> None:
    elsewhere = home.parent / "elsewhere"
    elsewhere.mkdir()
    store.take_in()
    taken = waiting(store)[0].number
    [other] = (BEFORE / "spool").glob("00001769900001000000-*")
    shutil.copy(other, elsewhere / f"{taken:020d}{other.name[20:]}")
    store.remove(next(one for one in waiting(store) if one.run_id == 2))
    last = keep(store, run_id=99)
    store.sent(last)

    both = BenchStore(home / "spool", home, [elsewhere])
    both.take_in()

    assert {1, 2} <= set(run_ids(both))
    assert waiting(both)[-1].run_id == 2
    assert waiting(both)[-1].number > last.number
    assert list(elsewhere.glob("*.report")) == []


@pytest.mark.parametrize(
    "left",
    [
        "spool/.new-x",
        "spool/refused/.new-x",
        "spool/superseded/00001769900007000000-240c677fbdb57bb55d949d553a1d1292d4db811c.report",
        "marks/0123456789abcdef0123456789abcdef",
        "reported/37444ad41339db3f49ed2b58b65facf1bd7e0e73de6df35813ff9d7f90b3f31a",
        f"lanes/{SERIES.digest}/runs.json",
    ],
)
def test_whatever_an_older_version_left_is_found_where_nothing_else_is(
    tmp_path: Path, left: str
) -> None:
    file = tmp_path / left
    file.parent.mkdir(parents=True)
    kept = BEFORE / left
    file.write_bytes(kept.read_bytes() if kept.exists() else b"{")

    BenchStore(tmp_path / "spool", tmp_path).take_in()

    assert not file.exists()


def test_older_processes_change_nothing_meanwhile(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = home.parent / "elsewhere"
    shutil.copytree(home / "spool", elsewhere)
    locks = [home / f"{name}.lock" for name in ("marks", "reported", "lanes")]
    locks += [home / "spool/.lock", elsewhere / ".lock"]
    free: list[bool] = []

    def look(*_: object) -> list[Path]:
        for path in locks:
            with locked(path, wait=False) as mine:
                free.append(mine)
        return []

    monkeypatch.setattr("hwci.client.store.takeover.OlderFolders.clear", look)
    BenchStore(home / "spool", home, [elsewhere]).take_in()

    assert free == [False] * len(locks)


def test_a_damaged_mark_delays_no_report(store: BenchStore, home: Path) -> None:
    [mark] = (home / "marks").iterdir()
    mark.write_text('[["acme/firmware"')
    with locked(mark, wait=False):
        store.take_in()

    assert 1 in [one.run_id for one in waiting(store) if one.file == store.file]


def test_a_file_that_is_set_aside_is_listed_by_its_name_and_time(
    store: BenchStore, home: Path
) -> None:
    [broken] = (home / "spool").glob("00001769900008000000-*")
    os.utime(broken, (1_000, 2_000))
    broken.write_bytes(broken.read_bytes()[:-30])
    os.utime(broken, (1_000, 2_000))
    store.take_in()

    found = [one for one in store.find(str(broken.parent / broken.stem)) if not one.kept]
    assert [(one.name, one.state, one.created, one.number) for one in found] == [
        (f"{broken.stem}.damaged", "damaged", 2_000, 0)
    ]


def test_a_job_that_claims_its_run_id_takes_in_what_is_remembered(
    store: BenchStore, home: Path
) -> None:
    known = store.recall(SERIES, JobOfBuild("r", ("b",), 5, "job", 6), claim=True)

    assert known.run_id == 5
    assert [run.run_id for run in known.past.runs][:2] == [101, 102]
    assert list((home / "lanes").iterdir()) == []


def test_reports_are_taken_in_where_nothing_is_remembered(home: Path) -> None:
    store = BenchStore(home / "spool")
    keep(store, run_id=99)

    assert run_ids(store) == [1, 2, 3, 4, 6, None, 7, 99]
    assert 101 not in [run.run_id for run in store.recall(SERIES).past.runs]


# What the bench remembers


def test_what_was_tested_and_reported_is_known_before_and_after(
    store: BenchStore, home: Path
) -> None:
    for at in (store, BenchStore(home / "spool", home)):
        known = at.recall(SERIES).past
        assert [(run.run_id, run.hello_ok) for run in known.runs[:2]] == [(101, True), (102, False)]
        assert known.last_tested(200) in {f"{101:040x}", f"{7:040x}"}
        changes = known.first_attempt(101, f"{101:040x}")
        assert changes is not None
        assert changes.base_sha == "e" * 40
        at.take_in()
        again = run_report(run_id=101, sha=f"{101:040x}", tests=[])
        assert at.replaced(again) == "one of other tests"
    assert list((home / "lanes").iterdir()) == list((home / "reported").iterdir()) == []


@pytest.mark.parametrize(
    "named", [{}, {"HWCI_SPOOL_DIR": "elsewhere"}, {"HWCI_STATE_DIR": "hwci"}], ids=str
)
def test_it_is_known_wherever_the_reports_are_kept(
    home: Path, tmp_path: Path, named: dict[str, str]
) -> None:
    folders = {name: str(tmp_path / folder) for name, folder in named.items()}
    store = bench_store({"XDG_STATE_HOME": str(tmp_path), **folders})
    assert store is not None
    store.take_in()

    assert [run.run_id for run in store.recall(SERIES).past.runs][:2] == [101, 102]
    assert list((home / "lanes").iterdir()) == []


def test_the_series_written_last_are_taken_in_if_there_are_too_many(
    store: BenchStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(home / "spool")
    older = home / "lanes" / ("f" * 32)
    shutil.copytree(home / "lanes" / SERIES.digest, older)
    os.utime(older, (0, 0))
    monkeypatch.setattr(memory, "SERIES_KEPT", 1)

    store.take_in()

    assert [run.run_id for run in store.recall(SERIES).past.runs] == [101, 102]


def test_reports_that_waited_count_as_their_runs_did(store: BenchStore) -> None:
    """Whoever kept one may have been killed before its run was remembered: a mark says so."""
    store.take_in()

    known = store.recall(SERIES).past
    assert {run.run_id for run in known.runs} == {101, 102, 1, 2, 3, 4, 6, 7}
    assert known.runs[0].run_id == 101


def test_torn_files_of_memory_say_nothing(store: BenchStore, home: Path) -> None:
    [runs] = home.rglob("runs.json")
    runs.write_bytes(runs.read_bytes()[:50])
    for path in (home / "reported").iterdir():
        path.write_bytes(b"\xff")

    assert store.recall(SERIES).past.runs == ()
    keep(store)
    assert [run.run_id for run in store.recall(SERIES).past.runs if run.run_id > 100] == []


# Files of which nothing can be asked


def loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("harm", [Path.mkdir, loop])
def test_a_file_that_cannot_be_opened_stays_and_delays_no_report(
    store: BenchStore, home: Path, harm: Callable[[Path], None]
) -> None:
    [file] = (home / "spool").glob("00001769900000000000-*")
    file.unlink()
    harm(file)
    (home / "spool/refused/one.json").symlink_to("one.json")

    keep(store, run_id=99)

    assert file.lstat()
    assert ("waiting", 99) in states(store)
    [unopened] = [one for one in in_state(store, "unreadable") if not one.newer]
    assert unopened.file == file
    assert unopened.reason.startswith("the file cannot be opened: ")
    [refused] = [one for one in in_state(store, "refused") if not one.kept]
    assert refused.reason.startswith("the file cannot be opened: ")


def test_a_damaged_file_that_cannot_be_set_aside_delays_no_report(
    store: BenchStore, home: Path
) -> None:
    shutil.rmtree(home / "spool/refused")
    (home / "spool/refused").touch()

    keep(store, run_id=99)

    assert store.damaged == []
    assert 99 in run_ids(store)
    assert "the file is damaged" in [one.reason for one in in_state(store, "unreadable")]


def test_a_body_that_no_json_holds_is_damaged(store: BenchStore, home: Path) -> None:
    [file] = (home / "spool/refused").glob("*.json")
    file.write_text('{"name": "x"}')

    store.take_in()

    assert len(store.damaged) == 2
    with pytest.raises(StoreError, match="damaged"):
        store.body(in_state(store, "damaged")[0])
    assert KEY not in str(store.damaged)
