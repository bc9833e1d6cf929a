# SPDX-License-Identifier: Apache-2.0
"""What this machine tested last, per repository, workflow, branch and product, and what the first
attempt of a run said of its changes (semantics, 5.1 and 6.6).

A file of this machine alone: it decides nothing that a report says without being asked, and when it
is lost, broken or written by a later version, nothing is known. It holds hashes, first lines and
paths, and is nobody else's to read.
"""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from hwci.client.files import locked, remove_unfinished, replace_whole, state_home
from hwci.wire.reports import Changes

RUNS_KEPT = 200
"""Runs of a lane, the newest."""
CHANGES_KEPT = 20
"""Runs of a lane of which the changes are kept, too: they may be large."""
SERIES_KEPT = 1_000
"""Lanes, the last written: each branch of each product is one."""

_RUNS = "runs.json"


class StateError(Exception):
    """The state cannot be written."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.fix = "Set HWCI_STATE_DIR to a folder that outlives the job"


class _Kept(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class Tested(_Kept):
    """A run that was reported. `hello_ok`: on one of its boxes, in one of its attempts."""

    run_id: int
    sha: str
    hello_ok: bool


class _Runs(_Kept):
    """The runs of a lane, oldest first; the names are for people who look at the file."""

    repo_key: str
    workflow: str
    branch: str
    suite: str
    runs: list[Tested]


class _FirstAttempt(_Kept):
    sha: str
    changes: Changes


_Form = TypeVar("_Form", bound=_Kept)


@dataclass(frozen=True, slots=True)
class RunSeries:
    """Runs that follow one another. Those of another product tested another firmware, though the
    bench and the workflow may be the same.
    """

    repo_key: str
    workflow: str
    branch: str
    suite: str


def state_folder(environ: Mapping[str, str]) -> Path | None:
    """Give `$HWCI_STATE_DIR`, else `$XDG_STATE_HOME/hwci`; None: this user has no home."""
    if told := environ.get("HWCI_STATE_DIR"):
        return Path(told)
    return state_home(environ)


class State:
    """The state of this machine. `folder` None: there is no place for one, and nothing is known."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / "lanes"

    # Asking

    def last_tested(self, lane: RunSeries, run_id: int) -> str | None:
        """Give the commit of the last run before this one that tested."""
        earlier = self._before(lane, run_id)
        return next((run.sha for run in reversed(earlier) if run.hello_ok), None)

    def knows(self, lane: RunSeries, run_id: int) -> bool:
        """Tell whether this machine reported a run, in an earlier attempt or of another box."""
        return any(run.run_id == run_id for run in self._runs(lane))

    def reported(self, lane: RunSeries, run_id: int) -> Tested | None:
        """Give what this machine reported of a run; None: it does not know it."""
        return next((run for run in self._runs(lane) if run.run_id == run_id), None)

    def was_tested(self, lane: RunSeries, sha: str) -> bool:
        """Tell whether a run on a commit is known that reached the hardware."""
        return any(run.sha == sha and run.hello_ok for run in self._runs(lane))

    def was_lost(self, lane: RunSeries, sha: str) -> bool:
        """Tell whether runs on a commit are known, of which none reached the hardware."""
        reached = [run.hello_ok for run in self._runs(lane) if run.sha == sha]
        return bool(reached) and not any(reached)

    def first_attempt(self, lane: RunSeries, run_id: int, sha: str) -> Changes | None:
        """Give what the first attempt of a run said of its changes."""
        folder = self._lane(lane)
        kept = None if folder is None else _read(_changes_file(folder, run_id), _FirstAttempt)
        return kept.changes if kept is not None and kept.sha == sha else None

    def first_changes(self, lane: RunSeries, sha: str) -> Changes | None:
        """Give what the first run on a commit said of its changes."""
        on_it = (run.run_id for run in self._runs(lane) if run.sha == sha)
        found = (self.first_attempt(lane, run_id, sha) for run_id in on_it)
        return next((changes for changes in found if changes is not None), None)

    # Telling

    def tested(
        self, lane: RunSeries, run_id: int, sha: str, *, hello_ok: bool, changes: Changes | None
    ) -> Callable[[], None]:
        """Keep a run that was reported. What its first attempt said of its changes stays. Give what
        takes it back, as far as that can be written.

        Raises:
            StateError: it cannot be written.
        """
        if self._folder is None:
            raise StateError("there is no place for what was tested last: this user has no home")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self._folder.parent / "lanes.lock", wait=True):
                run = Tested(run_id=run_id, sha=sha, hello_ok=hello_ok)
                earlier = next((one for one in self._runs(lane) if _same(one, run)), None)
                self._tested(lane, run, changes)
        except OSError as fault:
            raise StateError(f"what was tested last cannot be kept: {fault}") from fault
        return partial(self._take_back, lane, run, earlier)

    def _take_back(self, lane: RunSeries, run: Tested, earlier: Tested | None) -> None:
        """Know of a run what was known before: nothing, or what an earlier attempt or box said."""
        folder = self._lane(lane)
        assert folder is not None
        with suppress(OSError), locked(folder.parents[1] / "lanes.lock", wait=True):
            runs = [earlier if _same(one, run) else one for one in self._runs(lane)]
            left = [one for one in runs if one is not None]
            _replace(folder / _RUNS, _Runs(**asdict(lane), runs=left))
            if earlier is None:
                _changes_file(folder, run.run_id).unlink(missing_ok=True)

    def _tested(self, lane: RunSeries, run: Tested, changes: Changes | None) -> None:
        folder = self._lane(lane)
        assert folder is not None
        folder.mkdir(mode=0o700, exist_ok=True)
        remove_unfinished(folder)
        if changes is not None and self.first_attempt(lane, run.run_id, run.sha) is None:
            first = _FirstAttempt(sha=run.sha, changes=changes)
            _replace(_changes_file(folder, run.run_id), first)
            _keep_newest(folder.glob("changes-*.json"), CHANGES_KEPT)
        runs = _with(self._runs(lane), run)[-RUNS_KEPT:]
        _replace(folder / _RUNS, _Runs(**asdict(lane), runs=runs))
        assert self._folder is not None
        _keep_newest((path for path in self._folder.iterdir() if path.is_dir()), SERIES_KEPT)

    def _before(self, lane: RunSeries, run_id: int) -> Sequence[Tested]:
        """Give the runs before one: also what came after its first attempt is not before it."""
        runs = self._runs(lane)
        places = [place for place, run in enumerate(runs) if run.run_id == run_id]
        return runs[: places[0]] if places else runs

    def _runs(self, lane: RunSeries) -> list[Tested]:
        folder = self._lane(lane)
        kept = None if folder is None else _read(folder / _RUNS, _Runs)
        return [] if kept is None else kept.runs

    def _lane(self, lane: RunSeries) -> Path | None:
        """Give the folder of a lane. Its name is a hash: a branch may be called anything."""
        if self._folder is None:
            return None
        words = "\0".join((lane.repo_key, lane.workflow, lane.branch, lane.suite))
        digest = hashlib.sha256(words.encode(errors="surrogatepass")).hexdigest()
        return self._folder / digest[:32]


def _same(one: Tested, other: Tested) -> bool:
    return (one.run_id, one.sha) == (other.run_id, other.sha)


def _with(runs: list[Tested], run: Tested) -> list[Tested]:
    """Add a run; a further attempt or box of one on the same commit stays in its place."""
    for place, kept in enumerate(runs):
        if _same(kept, run):
            reached = kept.hello_ok or run.hello_ok
            return [*runs[:place], run.model_copy(update={"hello_ok": reached}), *runs[place + 1 :]]
    return [*runs, run]


def _changes_file(folder: Path, run_id: int) -> Path:
    return folder / f"changes-{run_id}.json"


def _read(path: Path, form: type[_Form]) -> _Form | None:
    """Read a file; one that is not there, torn or of another form says nothing."""
    try:
        return form.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _replace(path: Path, kept: _Kept) -> None:
    replace_whole(path, kept.model_dump_json(exclude_unset=True).encode())


def _keep_newest(paths: Iterator[Path], many: int) -> None:
    """Remove the oldest files or folders beyond `many`."""
    oldest_first = sorted(paths, key=lambda path: path.stat().st_mtime_ns)
    for path in oldest_first[: max(0, len(oldest_first) - many)]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
