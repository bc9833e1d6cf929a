# SPDX-License-Identifier: Apache-2.0
"""From the fix back to the last failing commit, over the changes of runs (semantics, 6.1-6.2).

This module decides which recorded commits lie between two commits, and whether that is known
without a gap. It does not know what the commits changed.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from hwci.engine.facts import Changes, Commit
from hwci.engine.history import History, RunChanges


class Step(NamedTuple):
    """The changes of a run, and the commits of its list that it leads over, oldest first."""

    run: RunChanges
    commits: tuple[Commit, ...]


def last_place(commits: Sequence[Commit], sha: str) -> int:
    """Give the index of a commit's last place in a list; -1 when the list lacks it."""
    return max((at for at, commit in enumerate(commits) if commit.sha == sha), default=-1)


class _Arrival(NamedTuple):
    """How the search came to a commit: by which step, from which arrival. The fix has no step."""

    sha: str
    step: Step | None
    after: "_Arrival | None"


class Walks:
    """Searches walks in one history, and remembers them: one fix often fixes many tests."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._found: dict[tuple[str, str, str], tuple[Step, ...] | None] = {}

    def between(self, repo_key: str, last_failing: str, fix: str) -> tuple[Step, ...] | None:
        """Give the steps from the last failing commit up to the fix, oldest first, or None."""
        asked = (repo_key, last_failing, fix)
        if asked not in self._found:
            self._found[asked] = self._search(repo_key, last_failing, fix)
        return self._found[asked]

    def _search(self, repo_key: str, goal: str, fix: str) -> tuple[Step, ...] | None:
        """Search breadth first, each commit's steps in the order of their reports.

        So the first walk found is the shortest, and "of equally short ones the one whose steps come
        first, compared from the fix backwards". Every exact walk goes before every cut one.
        """
        exact_possible = self._history.is_recorded_base(repo_key, goal)
        if not exact_possible and not self._cut_possible(repo_key, goal):
            return None
        cut: tuple[Step, ...] | None = None
        seen = {fix}
        queue = deque([_Arrival(fix, None, None)])
        while queue and (exact_possible or cut is None):
            arrival = queue.popleft()
            for step in self._steps(repo_key, arrival.sha):
                base = step.run.changes.base_sha or ""
                if base == goal:
                    return (step, *_steps_to(arrival))
                if cut is None:
                    shortened = _cut(step, goal)
                    cut = shortened and (shortened, *_steps_to(arrival))
                if base not in seen:
                    seen.add(base)
                    queue.append(_Arrival(base, step, arrival))
        return cut

    def _cut_possible(self, repo_key: str, goal: str) -> bool:
        """Whether some step leads over the goal from another commit: else all of history would be
        searched for one, as for a commit that was run by hand and is in no list but its own.
        """
        listings = self._history.changes_listing(repo_key, goal)
        return any(_leads_past(run.changes, goal) for run in listings)

    def _steps(self, repo_key: str, sha: str) -> list[Step]:
        """Give the steps that lead back from a commit: changes "with a `base_sha`, not `truncated`,
        lead from any commit of their list back to the `base_sha`".
        """
        return [
            Step(run, run.changes.commits[: last_place(run.changes.commits, sha) + 1])
            for run in self._history.changes_listing(repo_key, sha)
            if _leads_back(run.changes)
        ]


def _leads_back(changes: Changes) -> bool:
    """Whether changes are a step at all: they have "a `base_sha`", and are "not `truncated`"."""
    return changes.base_sha is not None and not changes.truncated


def _leads_past(changes: Changes, sha: str) -> bool:
    """Whether changes lead over a commit that they list from another one, which comes after it."""
    listed = [commit.sha for commit in changes.commits]
    return _leads_back(changes) and any(one != sha for one in listed[listed.index(sha) :])


def _steps_to(arrival: _Arrival) -> list[Step]:
    """Give the steps from a commit that was arrived at up to the fix, oldest first."""
    steps = []
    at: _Arrival | None = arrival
    while at is not None and at.step is not None:
        steps.append(at.step)
        at = at.after
    return steps


def _cut(step: Step, goal: str) -> Step | None:
    """Keep what a step leads over after the last place of a commit among it; None without it."""
    after = last_place(step.commits, goal) + 1
    return Step(step.run, step.commits[after:]) if after else None
