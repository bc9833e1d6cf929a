# SPDX-License-Identifier: Apache-2.0
"""The walk from the fix back to the last failing commit (semantics, 6.1-6.2).

This module decides which recorded commits lie between two commits, and whether they are recorded
without a gap. It does not know what the commits changed.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hwci.contract.runs.commits import ChangeList, Commit
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
        span = (repo_key, last_failing, fix)
        if span not in self._found:
            self._found[span] = _Search(self._history, *span).walk()
        return self._found[span]

    def back_from(self, repo_key: str, fix: str) -> frozenset[str]:
        """Return the fix and all commits that steps lead back to from it."""
        reached = {fix}
        queue = deque(reached)
        while queue:
            for step in _steps(self._history, repo_key, queue.popleft()):
                base = step.run.changes.base_sha or ""
                if base not in reached:
                    reached.add(base)
                    queue.append(base)
        return frozenset(reached)


class _Search:
    """A search from both ends, which ask in turn.

    Back from the fix it finds the walk. Onward from the last failing commit it finds which commits
    lead back there: when it has found all, and the two have not met, there is no walk. So a search
    is never much longer than the shorter end, however long the history is behind the other.
    """

    def __init__(self, history: History, repo_key: str, goal: str, fix: str) -> None:
        self._history = history
        self._repo_key = repo_key
        self._goal = goal
        self._reached_by: dict[str, Step | None] = {fix: None}
        self._leading = {goal}
        self._met = False
        self._exact_possible = True
        self._cut_possible = True

    def walk(self) -> Walk:
        """Search. That there is none, or no exact one, may rest on all that lead to the goal."""
        steps = self._back()
        rests_on = {self._goal}
        if not self._exact_possible:
            rests_on |= self._leading
        if self._cut_possible:
            rests_on |= self._reached_by.keys()
        return Walk(steps, frozenset(rests_on))

    def _back(self) -> tuple[Step, ...] | None:
        """Search breadth first, each commit's steps in the order of their reports.

        So the first walk found is the shortest, and "of equally short ones that whose steps come
        first, compared from the fix backwards". "Only when there is no such walk may the last step
        be cut".
        """
        reached_by, goal = self._reached_by, self._goal
        cut: tuple[Step, ...] | None = None
        queue = deque(reached_by)
        onward = self._onward()
        while queue:
            next(onward, None)
            if not self._cut_possible or (cut is not None and not self._exact_possible):
                break
            sha = queue.popleft()
            for step in _steps(self._history, self._repo_key, sha):
                base = step.run.changes.base_sha or ""
                if base == goal:
                    return (step, *_steps_up(reached_by, sha))
                after = last_place(step.commits, goal) + 1
                if cut is None and after:
                    cut = (Step(step.run, step.commits[after:]), *_steps_up(reached_by, sha))
                if base not in reached_by:
                    reached_by[base] = step
                    queue.append(base)
                    self._met = self._met or base in self._leading
        return cut

    def _onward(self) -> Iterator[None]:
        """Find the commits that lead back to the goal: by whole steps, then also by a cut one."""
        yield from self._lead_on([self._goal])
        if self._met:
            return
        self._exact_possible = False
        listings = self._history.changes_listing(self._repo_key, self._goal)
        whole = [run.changes for run in listings if _is_step(run.changes)]
        yield from self._lead_on(
            self._lead(sha for changes in whole for sha in _from(changes, self._goal))
        )
        self._cut_possible = self._met

    def _lead_on(self, leading: Iterable[str]) -> Iterator[None]:
        """Follow steps onward from these commits, one question a turn, until the ends meet."""
        queue = deque(leading)
        while queue and not self._met:
            for run in self._history.changes_based_on(self._repo_key, queue.popleft()):
                if _is_step(run.changes):
                    queue.extend(self._lead(commit.sha for commit in run.changes.commits))
            if queue:
                yield

    def _lead(self, shas: Iterable[str]) -> list[str]:
        """Note commits that lead back to the goal. Return those that are new."""
        new = [sha for sha in dict.fromkeys(shas) if sha not in self._leading]
        self._leading.update(new)
        self._met = self._met or not self._reached_by.keys().isdisjoint(new)
        return new


def _steps(history: History, repo_key: str, sha: str) -> list[Step]:
    """Return the steps back "over the listed commits up to that one (its last place)"."""
    return [
        Step(run, run.changes.commits[: last_place(run.changes.commits, sha) + 1])
        for run in history.changes_listing(repo_key, sha)
        if _is_step(run.changes)
    ]


def _is_step(changes: ChangeList) -> bool:
    """Whether changes are a step at all: "with a base, not truncated"."""
    return changes.base_sha is not None and not changes.truncated


def _from(changes: ChangeList, sha: str) -> list[str]:
    """Return the listed commits from this one's first place on: each leads back over it."""
    listed = [commit.sha for commit in changes.commits]
    return listed[listed.index(sha) :]


def _steps_up(reached_by: dict[str, Step | None], sha: str) -> list[Step]:
    steps = []
    while (step := reached_by[sha]) is not None:
        steps.append(step)
        sha = step.commits[-1].sha
    return steps
