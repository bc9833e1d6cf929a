# SPDX-License-Identifier: Apache-2.0
"""Which commits lie after one and up to another, and when a clone that was cut short can know it
(spec, "Run report"; semantics, 6.6).

A shallow clone answers `base..sha` without a word of what it lacks: with commits missing, and with
commits that the base has, too. The latter also happens where clocks went wrong, because git stops
its walk by the times of commits. So a range counts only when it is proved.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hwci.ci.git.repository import Repository


class UnrelatedError(Exception):
    """The base is no ancestor: the branch was moved by force, or it is another's."""


class CutOffError(Exception):
    """The clone ends too early to know."""


def commits_after(repository: Repository, base: str, sha: str) -> tuple[str, ...]:
    """Give the commits after `base`, up to and including `sha`: each after its parents.

    Both are full hashes; `sha` is in the clone.

    Raises:
        UnrelatedError: `base` is no ancestor of `sha`.
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
    onward = after.onward_from(base)
    if sha not in onward:
        raise UnrelatedError
    # What descends from the base is new. Of what came from the side, each lowest commit has to be.
    lowest = (
        commit
        for commit, parents in after.parents.items()
        if commit not in onward and not any(parent in after.parents for parent in parents)
    )
    if any(repository.is_ancestor(commit, base) for commit in lowest):
        return _proved(_lineage(repository, sha), base, cut)
    return tuple(reversed(list(after.parents)))


@dataclass(frozen=True, slots=True)
class Lineage:
    """A commit and those that its clone reaches from it, the newest first, with their parents."""

    parents: Mapping[str, Sequence[str]]

    def reached_from(self, sha: str) -> set[str]:
        """Give a commit and its ancestors, as far as they are here."""
        reached = {sha}
        for commit, parents in self.parents.items():
            if commit in reached:
                reached.update(parents)
        return reached

    def onward_from(self, sha: str) -> set[str]:
        """Give a commit and those that descend from it."""
        found = {sha}
        for commit in reversed(list(self.parents)):
            if not found.isdisjoint(self.parents[commit]):
                found.add(commit)
        return found

    def behind(self, marked: Collection[str]) -> dict[str, int]:
        """Give for each commit the marked ones that it is or has behind it, as bits of a number."""
        bits = {sha: 1 << place for place, sha in enumerate(marked)}
        masks: dict[str, int] = {}
        for commit in reversed(list(self.parents)):
            mask = bits.get(commit, 0)
            for parent in self.parents[commit]:
                mask |= masks.get(parent, 0)
            masks[commit] = mask
        return masks


def _lineage(repository: Repository, *of: str) -> Lineage:
    lines = repository.run("rev-list", "--topo-order", "--parents", *of, "--").decode()
    rows = (line.split() for line in lines.splitlines())
    return Lineage({row[0]: row[1:] for row in rows})


def _proved(lineage: Lineage, base: str, cut: Collection[str]) -> tuple[str, ...]:
    """Give the range if nothing that the clone lacks could change it.

    Two things could. A commit of the range lacks its parents: the range lacks commits. Or a commit
    of the range is an ancestor of the base by a way through what is lacking. It cannot be one if
    each end of the clone that the base reaches stands behind it: a commit is not its own ancestor.
    """
    ends = [sha for sha in lineage.parents if sha in cut]
    if base not in lineage.parents:
        raise CutOffError if ends else UnrelatedError
    known = lineage.reached_from(base)
    after = [sha for sha in lineage.parents if sha not in known]
    ends_behind_base = [sha for sha in ends if sha in known]
    behind = lineage.behind(ends_behind_base)
    all_of_them = (1 << len(ends_behind_base)) - 1
    if any(sha in cut or behind[sha] != all_of_them for sha in after):
        raise CutOffError
    return tuple(reversed(after))
