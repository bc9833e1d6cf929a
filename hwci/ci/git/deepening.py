# SPDX-License-Identifier: Apache-2.0
"""Revisions that a clone was cut too short for: `HEAD~1` where it ends at `HEAD`. Its remote is
asked for more of the history, as for the changes of a run, and within the same patience.
"""

import re
from functools import cached_property

from hwci.ci.git.changes import DEEPENING, PATIENCE_S, Deadline, fetch_commit
from hwci.ci.git.repository import GitError, Repository

_BEHIND = re.compile(r"(?P<tip>[^~^]+)[~^]")


class DeepeningRepository(Repository):
    """A repository that fetches what lies behind the ends of its clone when a revision names it."""

    def resolved(self, revision: str) -> str | None:
        """Give the full hash of the commit that a revision names, here or in the remote."""
        found = super().resolved(revision)
        behind = _BEHIND.match(revision)
        tip = super().resolved(behind["tip"]) if behind and found is None else None
        return found if tip is None else self._resolved_behind(tip, revision)

    def _resolved_behind(self, tip: str, revision: str) -> str | None:
        found = None
        try:
            for depth in DEEPENING:
                if found is not None or not self.cut():
                    break
                fetch_commit(self, tip, self._deadline, depth)
                found = super().resolved(revision)
        except GitError:  # what cannot be had is as what is not there
            return None
        return found

    @cached_property
    def _deadline(self) -> Deadline:
        """The end of patience, for all revisions of a command."""
        return Deadline(PATIENCE_S)
