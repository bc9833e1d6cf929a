# SPDX-License-Identifier: Apache-2.0
"""What a report says of commits: the changes under test, what a push covers (spec, "Run report").
A file or a flag is believed first; what git and the CI know is decided in
`hwci.ci.reporting.under_test`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hwci.cli.reporting import bodies
from hwci.cli.terminal.render import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.ci.reporting.under_test import UnderTest
    from hwci.cli.reporting.job import Here
    from hwci.wire.reports import Changes


@dataclass(frozen=True, slots=True)
class Commits:
    """What is told of commits. `found`: what git said, for the runs that come after this one."""

    changes: Changes | None = None
    covers_shas: Sequence[str] | None = None
    found: UnderTest | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know of it."""
        return self.found.notes if self.found else ()

    def base(self) -> str | None:
        """Say since when changes count, and who told it; None: nobody was asked."""
        if self.found is None:
            return None
        base = self.found.base
        if base.value and self.changes is not None and self.changes.base_sha is None:
            return f"changes do not count from {base.value}, told by {base.source}: no base is sent"
        return f"changes count from {base.value or 'no commit'}, told by {base.source}"


def changes_of(place: Here, path: str | None, *, no_changes: bool) -> Commits:
    """Tell what changed and what a push covers.

    Raises:
        ExplainedError: the file of changes breaks the field rules.
    """
    said = _from_file(path)
    found = None if no_changes or said is not None else _found(place)
    if found is None:
        return Commits(said, place.job.value("covers_shas") or place.job.pushed_shas or None)
    for line in found.notes:
        note(f"note: {line}")
    return Commits(found.changes, found.covers_shas or None, found)


def _found(place: Here) -> UnderTest | None:
    if place.repository is None:
        return None
    from hwci.ci.reporting.under_test import under_test
    from hwci.ci.state import State, state_folder
    from hwci.ci.systems.api import get_json

    state = State(state_folder(place.job.environ))
    return under_test(place.job, place.repository, state, get_json)


def _from_file(path: str | None) -> Changes | None:
    if path is None:
        return None
    from hwci.wire.reports import Changes

    return bodies.from_file(Changes.model_validate_json, path, beside={})
