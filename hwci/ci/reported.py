# SPDX-License-Identifier: Apache-2.0
"""Which tests this machine reported under which identity: two jobs that a CI gives the same number
on the same box replace each other's reports in silence (spec, "Run report"; semantics, 1.5).

This module only notices: a report that replaces one of other tests is most likely another job's.
Without a place to remember, nothing is noticed.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from hwci.wire.reports import RunReport

KEPT = 2_000
"""Identities that are remembered, the newest."""


class Reported:
    """What was reported. `folder` None: there is no place to remember."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / "reported"

    def replaces_others(self, report: RunReport) -> bool:
        """Tell whether a report would replace one of other tests or of another product."""
        if self._folder is None:
            return False
        try:
            kept = (self._folder / _identity(report)).read_text(encoding="ascii")
        except (OSError, ValueError):
            return False
        return kept != _content(report)

    def keep(self, reports: Sequence[RunReport]) -> None:
        """Remember reports, as far as it can be written."""
        if self._folder is None:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for report in reports:
                path = self._folder / _identity(report)
                new = path.with_name(f".new-{path.name}-{os.getpid()}")
                new.write_text(_content(report), encoding="ascii")
                new.replace(path)
            _forget(self._folder)


def _identity(report: RunReport) -> str:
    return _digest(report.repo_key, report.run_id, report.run_attempt, report.box_key)


def _content(report: RunReport) -> str:
    tests = sorted(item.id for item in report.tests)
    return _digest(report.suite or report.workflow, *tests)


def _digest(*words: object) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


def _forget(folder: Path) -> None:
    """Remove the oldest beyond those that are kept."""
    paths = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in paths[: max(0, len(paths) - KEPT)]:
        path.unlink(missing_ok=True)
