# SPDX-License-Identifier: Apache-2.0
"""What this machine remembers of what it tested (semantics, 5.1 and 6.6)."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hwci.ci import state as state_module
from hwci.ci.state import RunSeries, State, StateError, state_folder
from hwci.wire.reports import Changes, CommitItem

LANE = RunSeries("acme/firmware", "hil", "main", "fw")
A, B, C = ("a" * 40, "b" * 40, "c" * 40)


def changes_since(base: str | None, sha: str) -> Changes:
    return Changes(base_sha=base, commits=[CommitItem(sha=sha, subject="fix", files=["fw/a.c"])])


def reported(state: State, run_id: int, sha: str, *, hello_ok: bool = True) -> None:
    state.tested(LANE, run_id, sha, hello_ok=hello_ok, changes=None)


def hello_ok(state: State, run_id: int) -> bool | None:
    found = state.reported(LANE, run_id)
    return None if found is None else found.hello_ok


def test_the_last_run_that_tested_is_remembered(tmp_path: Path) -> None:
    reported(State(tmp_path), 1, A)
    reported(State(tmp_path), 2, B)

    assert State(tmp_path).last_tested(LANE, 3) == B


def test_a_run_that_lost_its_bench_tested_nothing(tmp_path: Path) -> None:
    state = State(tmp_path)
    reported(state, 1, A)
    reported(state, 2, B, hello_ok=False)

    assert state.last_tested(LANE, 3) == A
    assert [hello_ok(state, run_id) for run_id in (1, 2, 3)] == [True, False, None]
    assert state.was_lost(LANE, B)
    assert not state.was_lost(LANE, A)
    assert not state.was_lost(LANE, C)


def test_one_box_or_attempt_that_reached_the_hardware_is_enough(tmp_path: Path) -> None:
    state = State(tmp_path)
    for reached in (False, True, False):
        reported(state, 1, A, hello_ok=reached)

    assert hello_ok(state, 1)
    assert state.last_tested(LANE, 2) == A


def test_a_run_is_not_before_itself_and_later_runs_are_not_either(tmp_path: Path) -> None:
    state = State(tmp_path)
    for run_id, sha in ((1, A), (2, B), (3, C), (2, B)):
        reported(state, run_id, sha)

    assert state.last_tested(LANE, 2) == A
    assert state.last_tested(LANE, 1) is None
    assert state.knows(LANE, 2)
    assert not state.knows(LANE, 4)


def test_what_the_first_attempt_said_stays(tmp_path: Path) -> None:
    state = State(tmp_path)
    for base in (A, B):
        state.tested(LANE, 1, C, hello_ok=True, changes=changes_since(base, C))

    assert State(tmp_path).first_attempt(LANE, 1, C) == changes_since(A, C)
    assert state.first_attempt(LANE, 1, A) is None
    assert state.first_attempt(LANE, 2, C) is None


def test_what_the_first_run_on_a_commit_said_is_found_by_the_commit(tmp_path: Path) -> None:
    state = State(tmp_path)
    reported(state, 1, C)
    state.tested(LANE, 2, C, hello_ok=True, changes=changes_since(None, C))
    state.tested(LANE, 3, C, hello_ok=True, changes=changes_since(B, C))

    assert state.first_changes(LANE, C) == changes_since(None, C)
    assert state.first_changes(LANE, A) is None


@pytest.mark.parametrize(
    "other",
    [
        RunSeries("acme/other", "hil", "main", "fw"),
        RunSeries("acme/firmware", "x", "main", "fw"),
        RunSeries("acme/firmware", "hil", "main", "x"),
        RunSeries("acme/firmware", "hil", "../../release/ß\udcff", "fw"),
    ],
)
def test_lanes_know_nothing_of_one_another(other: RunSeries, tmp_path: Path) -> None:
    state = State(tmp_path)
    state.tested(LANE, 1, A, hello_ok=True, changes=changes_since(B, A))

    assert state.last_tested(other, 2) is None
    assert state.first_attempt(other, 1, A) is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"runs": [{"run_id": "1"}]}', "\ud800"])
def test_a_file_that_cannot_be_read_says_nothing_and_is_replaced(
    content: str, tmp_path: Path
) -> None:
    state = State(tmp_path)
    reported(state, 1, A)
    (file,) = tmp_path.rglob("runs.json")
    file.write_bytes(content.encode(errors="surrogatepass"))

    assert state.last_tested(LANE, 2) is None
    reported(state, 2, B)
    assert state.last_tested(LANE, 3) == B


def test_it_does_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_module, "RUNS_KEPT", 5)
    monkeypatch.setattr(state_module, "CHANGES_KEPT", 2)
    monkeypatch.setattr(state_module, "SERIES_KEPT", 3)
    state = State(tmp_path)
    for run_id in range(8):
        age(tmp_path)
        state.tested(LANE, run_id, A, hello_ok=True, changes=changes_since(None, A))
    for number in range(5):
        lane = RunSeries("acme/firmware", "hil", f"branch-{number}", "fw")
        age(tmp_path)
        state.tested(lane, 1, A, hello_ok=True, changes=None)

    assert len(list((tmp_path / "lanes").iterdir())) == 3
    assert state.last_tested(LANE, 99) is None
    state = State(tmp_path / "other")
    for run_id in range(8):
        age(tmp_path)
        state.tested(LANE, run_id, A, hello_ok=True, changes=changes_since(None, A))
    assert [state.knows(LANE, run_id) for run_id in range(8)] == [False] * 3 + [True] * 5
    kept = [state.first_attempt(LANE, run_id, A) is not None for run_id in range(8)]
    assert kept == [False] * 6 + [True] * 2


def age(folder: Path) -> None:
    """Let a second pass for what is there: files that are written within one tick of the kernel's
    clock have one time, and none of them is the oldest.
    """
    for path in folder.rglob("*"):
        found = path.stat()
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns - 1_000_000_000))


def test_nobody_else_reads_it(tmp_path: Path) -> None:
    State(tmp_path / "state").tested(LANE, 1, A, hello_ok=True, changes=changes_since(B, A))

    for path in (tmp_path / "state").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_processes_that_write_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from hwci.ci.state import RunSeries, State\n"
        "state, own = State(Path(sys.argv[1])), int(sys.argv[2])\n"
        "for number in range(20):\n"
        "    state.tested(RunSeries('r', 'w', 'b', 's'), own * 100 + number, 'a' * 40,"
        " hello_ok=True, changes=None)\n"
    )
    root = Path(__file__).parents[2]
    started = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(own)], cwd=root)
        for own in range(4)
    ]
    assert [process.wait() for process in started] == [0] * 4

    (file,) = tmp_path.rglob("runs.json")
    assert len(json.loads(file.read_bytes())["runs"]) == 80
    assert list(tmp_path.rglob(".new-*")) == []


def test_a_place_that_cannot_be_written_is_told_with_its_fix(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for state in (State(tmp_path / "file"), State(None)):
        with pytest.raises(StateError) as raised:
            reported(state, 1, A)
        assert "HWCI_STATE_DIR" in raised.value.fix
        assert state.last_tested(LANE, 1) is None
        assert state.first_changes(LANE, A) is None


def test_its_place_is_told_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert state_folder({"HWCI_STATE_DIR": "/var/bench"}) == Path("/var/bench")
    assert state_folder({"XDG_STATE_HOME": "/state"}) == Path("/state/hwci")
    assert state_folder({}) == tmp_path / ".local" / "state" / "hwci"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("earlier", [None, False, True])
def test_what_is_taken_back_was_never_kept(tmp_path: Path, earlier: bool | None) -> None:
    state = State(tmp_path)
    reported(state, 1, A)
    if earlier is not None:
        reported(state, 2, B, hello_ok=earlier)

    take_back = state.tested(LANE, 2, B, hello_ok=True, changes=changes_since(A, B))
    reported(state, 3, C)
    take_back()

    assert [hello_ok(state, run_id) for run_id in (1, 2, 3)] == [True, earlier, True]
    assert (state.first_attempt(LANE, 2, B) is None) is (earlier is None)
