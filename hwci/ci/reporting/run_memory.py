# SPDX-License-Identifier: Apache-2.0
"""When this machine remembers a run that it reports: once the report is on the disk, as it will go
out even when its sender is killed; without those boxes whose report the server then refuses. What
is remembered, and where, is decided in `hwci.ci`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from hwci.ci.reported import Reported
    from hwci.ci.state import State
    from hwci.wire.reports import RunReport


class Memory:
    """What is remembered of the reports of a run."""

    def __init__(
        self,
        known: Reported,
        state: State,
        reports: Sequence[RunReport],
        notify: Callable[[str], None],
    ) -> None:
        self._known = known
        self._state = state
        self._reports = reports
        self._notify = notify
        self._early: list[Callable[[], None]] | None = None

    def begun_by(
        self, when_kept: Callable[[], AbstractContextManager[None]]
    ) -> Callable[[], AbstractContextManager[None]]:
        """Remember all reports, which are on the disk now, before a block begins."""

        @contextmanager
        def block() -> Iterator[None]:
            self._early = self._remember(self._reports)
            with when_kept():
                yield

        return block

    def end_with(self, there: Sequence[RunReport]) -> None:
        """Remember only the reports that the server has, or will have."""
        if self._early is not None and len(there) == len(self._reports):
            return
        for take_back in self._early or ():
            take_back()
        if there:
            self._remember(there)

    def _remember(self, reports: Sequence[RunReport]) -> list[Callable[[], None]]:
        """Keep it for the next attempt and the next run, which counts from it even when nobody said
        what changed. Give what takes it back.
        """
        from hwci.ci.reporting.under_test import remember
        from hwci.ci.state import StateError

        undo = [self._known.keep(reports)]
        try:
            undo.append(remember(self._state, reports))
        except StateError as fault:
            self._notify(f"note: {fault}. {fault.fix}.")
        return undo
