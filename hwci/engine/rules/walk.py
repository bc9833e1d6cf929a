# SPDX-License-Identifier: Apache-2.0
"""The walk from the fix back to the last failing commit (semantics, 6.1-6.2).

This module decides which recorded commits lie between two commits, and whether they are recorded
without a gap. It does not know what the commits changed.
"""

from collections import deque
from typing import NamedTuple

from hwci.engine.facts import Changes, Commit
from hwci.engine.history import History, RunChanges
from hwci.engine.rules.changes import last_place


class Step(NamedTuple):
    """The changes of a run, and the commits of its list that the step leads over, oldest first."""

    run: RunChanges
    commits: tuple[Commit, ...]


class Walk(NamedTuple):
    """An answer about two commits: the steps between them, oldest first, or None if there is no
    walk; and the commits it rests on. The answer stays until another list of changes has one of
    those as its base or among its commits.
    """

    steps: tuple[Step, ...] | None
    rests_on: frozenset[str]


class Walks:
    """Searches walks in one history, and remembers them: one fix often fixes many tests."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._found: dict[tuple[str, str, str], Walk] = {}

    def between(self, repo_key: str, last_failing: str, fix: str) -> Walk:
        """Return the walk from the last failing commit to the fix."""
        asked = (repo_key, last_failing, fix)
        if asked not in self._found:
            reached_by: dict[str, Step | None] = {fix: None}
            steps = self._search(repo_key, last_failing, reached_by)
            self._found[asked] = Walk(steps, frozenset({last_failing, *reached_by}))
        return self._found[asked]

    def _search(
        self, repo_key: str, goal: str, reached_by: dict[str, Step | None]
    ) -> tuple[Step, ...] | None:
        """Search breadth first, each commit's steps in the order of their reports.

        So the first walk found is the shortest, and "of equally short ones that whose steps come
        first, compared from the fix backwards". "Only when there is no such walk may the last step
        be cut".
        """
        exact_possible = self._history.is_recorded_base(repo_key, goal)
        if not exact_possible and not self._cut_possible(repo_key, goal):
            return None
        cut: tuple[Step, ...] | None = None
        queue = deque(reached_by)
        while queue and (exact_possible or cut is None):
            sha = queue.popleft()
            for step in self._steps(repo_key, sha):
                base = step.run.changes.base_sha or ""
                if base == goal:
                    return (step, *_steps_up(reached_by, sha))
                after = last_place(step.commits, goal) + 1
                if cut is None and after:
                    cut = (Step(step.run, step.commits[after:]), *_steps_up(reached_by, sha))
                if base not in reached_by:
                    reached_by[base] = step
                    queue.append(base)
        return cut

    def _cut_possible(self, repo_key: str, goal: str) -> bool:
        """Whether some step leads over the goal from a commit after it. Without this check all of
        history would be searched for a commit that was run by hand and is only in its own list.
        """
        listings = self._history.changes_listing(repo_key, goal)
        return any(_is_step(run.changes) and _leads_past(run.changes, goal) for run in listings)

    def _steps(self, repo_key: str, sha: str) -> list[Step]:
        """Return the steps back "over the listed commits up to that one (its last place)"."""
        return [
            Step(run, run.changes.commits[: last_place(run.changes.commits, sha) + 1])
            for run in self._history.changes_listing(repo_key, sha)
            if _is_step(run.changes)
        ]


def _is_step(changes: Changes) -> bool:
    """Whether changes are a step at all: "with a base, not truncated"."""
    return changes.base_sha is not None and not changes.truncated


def _leads_past(changes: Changes, sha: str) -> bool:
    listed = [commit.sha for commit in changes.commits]
    return any(other != sha for other in listed[listed.index(sha) :])


def _steps_up(reached_by: dict[str, Step | None], sha: str) -> list[Step]:
    steps = []
    while (step := reached_by[sha]) is not None:
        steps.append(step)
        sha = step.commits[-1].sha
    return steps
