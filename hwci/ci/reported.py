# SPDX-License-Identifier: Apache-2.0
"""Which tests this machine reported under which identity: two jobs that a CI gives the same number
on the same box replace each other's reports in silence (spec, "Run report"; semantics, 1.5).

This module only notices: a report that replaces one of other tests, or of another product, is most
likely another job's. Without a place to remember, nothing is noticed.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from hwci.client.files import locked, remove_unfinished, replace_whole
from hwci.wire.reports import RunReport

KEPT = 2_000
"""Identities that are remembered, the newest."""


class Reported:
    """What was reported. `folder` None: there is no place to remember."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / "reported"

    def replaced(self, report: RunReport) -> str | None:
        """Say what else a report would replace: other tests or another product; None: nothing."""
        if self._folder is None:
            return None
        try:
            kept = (self._folder / _identity(report)).read_bytes().decode()
        except (OSError, ValueError):
            return None
        tests, _, product = kept.partition(" ")
        if product != _product(report):
            return f"one of product {product}"
        return None if tests == _tests(report) else "one of other tests"

    def keep(self, reports: Sequence[RunReport]) -> Callable[[], None]:
        """Remember reports, as far as it can be written. Give what takes it back."""
        before: dict[Path, bytes | None] = {}
        if self._folder is None:
            return partial(self._take_back, before)
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self._folder.parent / "reported.lock", wait=True):
                remove_unfinished(self._folder)
                for report in reports:
                    content = f"{_tests(report)} {_product(report)}".encode()
                    path = self._folder / _identity(report)
                    before.setdefault(path, path.read_bytes() if path.exists() else None)
                    replace_whole(path, content)
                _forget(self._folder)
        return partial(self._take_back, before)

    def _take_back(self, before: Mapping[Path, bytes | None]) -> None:
        if self._folder is None:
            return
        with (
            contextlib.suppress(OSError),
            locked(self._folder.parent / "reported.lock", wait=True),
        ):
            for path, content in before.items():
                if content is None:
                    path.unlink(missing_ok=True)
                else:
                    replace_whole(path, content)


def _identity(report: RunReport) -> str:
    return _digest(report.repo_key, report.run_id, report.run_attempt, report.box_key)


def _tests(report: RunReport) -> str:
    return _digest(*sorted(item.id for item in report.tests))


def _product(report: RunReport) -> str:
    return report.suite or report.workflow


def _digest(*words: object) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


def _forget(folder: Path) -> None:
    """Remove the oldest beyond those that are kept."""
    paths = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in paths[: max(0, len(paths) - KEPT)]:
        path.unlink(missing_ok=True)
