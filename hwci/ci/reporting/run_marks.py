# SPDX-License-Identifier: Apache-2.0
"""What a sender leaves behind that was killed between two steps: its report was on the disk, so
that it will go out, and its run was not remembered yet. A mark on the disk names the reports;
whoever comes next finds it and remembers them, before it counts from an earlier run and before it
sends them. How runs are remembered is decided in `hwci.ci`.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from hwci.client.files import locked, remove_unfinished, replace_whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from hwci.wire.reports import RunReport

_Identity = tuple[str, int, int, str]


@contextmanager
def marked(reports: Sequence[RunReport], environ: Mapping[str, str]) -> Iterator[None]:
    """Leave a mark while reports are put on the disk and remembered. It stays if the block does not
    come to its end.
    """
    with ExitStack() as held:
        mark = None
        with suppress(OSError):  # where nothing can be marked, nothing can be remembered either
            mark = _mark(reports, environ, held)
        yield
        if mark is not None:
            with suppress(OSError):
                mark.unlink(missing_ok=True)


def settle(environ: Mapping[str, str]) -> None:
    """Remember the runs that a killed sender could not, as far as their reports wait here."""
    folder = _folder(environ)
    if folder is None:
        return
    with suppress(OSError):  # most often there is no such folder
        paths = list(folder.iterdir())
        if paths:
            _settle(folder, environ)


def _settle(folder: Path, environ: Mapping[str, str]) -> None:
    with _alone(folder):
        left = [path for path in sorted(folder.iterdir()) if _is_left(path)]
        if left:
            _remember({one for path in left for one in _named(path)}, environ)
        for path in left:
            path.unlink()


def _mark(reports: Sequence[RunReport], environ: Mapping[str, str], held: ExitStack) -> Path | None:
    folder = _folder(environ)
    if folder is None:
        return None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(folder):
        remove_unfinished(folder)
        path = folder / uuid4().hex
        replace_whole(path, json.dumps([_identity(report) for report in reports]).encode())
        held.enter_context(locked(path, wait=False))
    return path


def _folder(environ: Mapping[str, str]) -> Path | None:
    from hwci.ci.state import state_folder

    folder = state_folder(environ)
    return None if folder is None else folder / "marks"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process makes marks or looks for those that were left."""
    with locked(folder.parent / "marks.lock", wait=True):
        yield


def _is_left(path: Path) -> bool:
    """Tell whether nobody holds a mark any more."""
    with locked(path, wait=False) as mine:
        return mine


def _named(path: Path) -> Iterator[_Identity]:
    """Give the reports that a mark names; one that cannot be read names none."""
    try:
        for repo_key, run_id, run_attempt, box_key in json.loads(path.read_bytes()):
            yield str(repo_key), int(run_id), int(run_attempt), str(box_key)
    except (ValueError, TypeError):
        return


def _remember(named: Collection[_Identity], environ: Mapping[str, str]) -> None:
    from hwci.ci.reported import Reported
    from hwci.ci.reporting.under_test import remember
    from hwci.ci.state import State, StateError, state_folder

    folder = state_folder(environ)
    known, state = Reported(folder), State(folder)
    for one in _waiting(environ):
        if _identity(one) in named:
            known.keep([one])
            with suppress(StateError):
                remember(state, [one])


def _waiting(environ: Mapping[str, str]) -> Iterator[RunReport]:
    """Give the run reports that wait on this machine, oldest first."""
    from pydantic import ValidationError

    from hwci.client.spool import Spool, SpoolError, spool_folder
    from hwci.client.spool_files import body_of
    from hwci.wire.reports import RunReport

    folder = spool_folder(environ)
    with suppress(SpoolError):
        for kept in () if folder is None else Spool(folder).waiting():
            with suppress(ValidationError):  # an announcement, or of a later hwci
                yield RunReport.model_validate_json(json.dumps(body_of(kept)))


def _identity(report: RunReport) -> _Identity:
    return report.repo_key, report.run_id, report.run_attempt, report.box_key
