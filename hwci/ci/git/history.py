# SPDX-License-Identifier: Apache-2.0
"""Which commits lie after one and up to another, and fetching what a shallow clone lacks to know it
(spec, "Run report"; semantics, 6.6).

A shallow clone answers `base..sha` without any sign of what it lacks: commits are missing, and
commits of the base are among the others. The latter also happens if clocks were wrong, because git
stops its walk by the times of commits. So a range counts only if it is proved.
"""

import re
import time
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from hwci.ci.git.repository import GitError, Repository

PATIENCE_S = 30.0
"""How long a report may wait for a remote to send more of the history."""

DEEPENING = ("--deepen=50", "--deepen=500", "--unshallow")
"""Each is tried when the one before it was not enough."""

BRANCHES = "+refs/heads/*:refs/hwci/*"
"""All of a remote's branches, beside those that are the user's."""


class UnrelatedError(Exception):
    """The base is not an ancestor: the branch was moved by force, or it is another branch's."""


class CutOffError(Exception):
    """The clone ends too early to know."""


class Deadline:
    """A time by which to end."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left, at least 0."""
        return max(0.0, self._end - time.monotonic())


def commits_after(repository: Repository, base: str, sha: str) -> tuple[str, ...]:
    """Return the commits after `base`, up to and including `sha`, each after its parents.

    Both are full hashes; `sha` is in the clone.

    Raises:
        UnrelatedError: `base` is not an ancestor of `sha`.
        CutOffError: the clone does not hold what is needed to know.
        GitError: git failed.
    """
    cut = repository.cut()
    if cut:
        return _proved(_lineage(repository, sha), base, cut)
    if repository.commit(base) is None:
        raise UnrelatedError
    if base == sha:
        return ()
    after = _lineage(repository, sha, f"^{base}")
    onward = _onward_from(base, after)
    if sha not in onward:
        raise UnrelatedError
    # What descends from the base is new. Of what came from the side, each lowest commit has to be.
    lowest = (
        commit
        for commit, parents in after.items()
        if commit not in onward and not any(parent in after for parent in parents)
    )
    if any(repository.is_ancestor(commit, base) for commit in lowest):
        return _proved(_lineage(repository, sha), base, cut)
    return tuple(reversed(list(after)))


Lineage = Mapping[str, Sequence[str]]
"""A commit and all that its clone reaches from it, the newest first, each with its parents."""


def _reached_from(sha: str, lineage: Lineage) -> set[str]:
    """Return a commit and its ancestors, as far as they are in the clone."""
    reached = {sha}
    for commit, parents in lineage.items():
        if commit in reached:
            reached.update(parents)
    return reached


def _onward_from(sha: str, lineage: Lineage) -> set[str]:
    """Return a commit and its descendants."""
    found = {sha}
    for commit in reversed(list(lineage)):
        if not found.isdisjoint(lineage[commit]):
            found.add(commit)
    return found


def _behind(marked: Collection[str], lineage: Lineage) -> dict[str, int]:
    """Return, for each commit, the marked ones that it is or descends from, as bits."""
    bits = {sha: 1 << place for place, sha in enumerate(marked)}
    masks: dict[str, int] = {}
    for commit in reversed(list(lineage)):
        mask = bits.get(commit, 0)
        for parent in lineage[commit]:
            mask |= masks.get(parent, 0)
        masks[commit] = mask
    return masks


def _lineage(repository: Repository, *of: str) -> Lineage:
    lines = repository.run("rev-list", "--topo-order", "--parents", *of, "--").decode()
    rows = (line.split() for line in lines.splitlines())
    return {row[0]: row[1:] for row in rows}


def _proved(lineage: Lineage, base: str, cut: Collection[str]) -> tuple[str, ...]:
    """Return the range if nothing that the clone lacks could change it.

    Two things could. A commit of the range lacks its parents: the range lacks commits. Or a commit
    of the range is an ancestor of the base by a way through what is missing. It cannot be one if
    each end of the clone that the base reaches stands behind it: a commit is not its own ancestor.
    """
    ends = [sha for sha in lineage if sha in cut]
    if base not in lineage:
        raise CutOffError if ends else UnrelatedError
    known = _reached_from(base, lineage)
    after = [sha for sha in lineage if sha not in known]
    ends_behind_base = [sha for sha in ends if sha in known]
    behind = _behind(ends_behind_base, lineage)
    all_of_them = (1 << len(ends_behind_base)) - 1
    if any(sha in cut or behind[sha] != all_of_them for sha in after):
        raise CutOffError
    return tuple(reversed(after))


# Fetching

_BEHIND = re.compile(r"(?P<tip>[^~^]+)[~^]")


def whole_range(repository: Repository, base: str, sha: str, deadline: Deadline) -> tuple[str, ...]:
    """Return the commits after `base`, up to and including `sha`. Deepen a shallow clone.

    Raises:
        UnrelatedError: `base` is not an ancestor.
        CutOffError: the clone ends too early; its cause is why it was not deepened.
        GitError: git failed.
    """
    for depth in DEEPENING:
        try:
            return commits_after(repository, base, sha)
        except CutOffError:
            try:
                fetch_commit(repository, sha, deadline, depth)
            except GitError as fault:
                raise CutOffError from fault
    return commits_after(repository, base, sha)


def present(repository: Repository, sha: str, deadline: Deadline) -> str:
    """Return the full hash of a commit. Fetch it if the clone is of another branch's tip."""
    found = repository.commit(sha)
    if found is None:
        fetch_commit(repository, sha, deadline, *(DEEPENING[:1] if repository.cut() else ()))
        found = repository.commit(sha)
    if found is None:
        raise GitError(f"{sha} is not a commit of this clone")
    return found


def fetch_commit(repository: Repository, sha: str, deadline: Deadline, *depth: str) -> None:
    """Fetch a commit with more of its history; `depth`: of `DEEPENING`."""
    try:
        repository.fetch(*depth, sha, seconds=deadline.left())
    except GitError:
        # An old server gives only what its branches name.
        repository.fetch(*depth, BRANCHES, seconds=deadline.left())


class DeepeningRepository(Repository):
    """A repository that fetches what a revision names beyond the ends of its clone, such as
    `HEAD~1` where it ends at `HEAD`.
    """

    def resolved(self, revision: str) -> str | None:
        """Return the full hash of the commit that a revision names, here or in the remote."""
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
        except GitError:  # what cannot be fetched counts as missing
            return None
        return found

    @cached_property
    def _deadline(self) -> Deadline:
        """For all revisions of a command."""
        return Deadline(PATIENCE_S)
