# SPDX-License-Identifier: Apache-2.0
"""Which commits lie between a pass and a failure, as runs listed them (semantics, 7).

A run lists the commits since the one before it, whichever box ran that. Where the pass is further
back, the lists of the runs between are put before it. This module does not know what passed.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.engine.rules.changes import last_place

STEPS_MAX = 32
"""So many runs back a pass is looked for."""


class Asked(NamedTuple):
    """The changes under test where something failed, and the commit that passed before; None: none
    is known, and all that the run listed count.
    """

    repo_key: str
    changes: ChangeList
    passed: str | None


def commits_since(
    history: RecordedRuns, questions: Sequence[Asked]
) -> list[tuple[Commit, ...] | None]:
    """Return the commits after each pass, oldest first; None: no runs list all of them."""
    searches = [_Search(question) for question in questions]
    for back in (0, STEPS_MAX - 2):  # nearly all find it in the first list
        wanted: dict[str, set[str]] = defaultdict(set)
        for search in searches:
            if search.base is not None:
                wanted[search.repo_key].add(search.base)
        if not wanted:
            break
        history.check_time()
        listings = {
            repo_key: history.listings_back(repo_key, sorted(shas), back)
            for repo_key, shas in wanted.items()
        }
        for search in searches:
            for _ in range(back + 1):
                if search.base is not None:
                    search.step(listings[search.repo_key].get(search.base))
    return [search.found for search in searches]


class _Search:
    """A search for one pass. `base`: the commit whose list is needed next; None: it has ended."""

    def __init__(self, question: Asked) -> None:
        self.repo_key, self._passed = question.repo_key, question.passed
        self._commits: tuple[Commit, ...] = ()
        self.base: str | None = None
        self.found: tuple[Commit, ...] | None = None
        self._look(question.changes, question.changes.commits)

    def step(self, changes: ChangeList | None) -> None:
        """Go on with the list of the base."""
        at, self.base = self.base, None
        if changes is not None and at is not None:
            self._look(changes, changes.commits[: last_place(changes.commits, at) + 1])

    def _look(self, changes: ChangeList, listed: tuple[Commit, ...]) -> None:
        after = -1 if self._passed is None else last_place(listed, self._passed)
        self._commits = (*listed[after + 1 :], *self._commits)
        base = changes.base_sha
        if after >= 0 or self._passed in {None, base}:
            self.found = self._commits
        elif not changes.truncated:
            self.base = base
