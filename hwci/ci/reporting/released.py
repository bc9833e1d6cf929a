# SPDX-License-Identifier: Apache-2.0
"""The commits of a release, as the clone of a folder has them: those of a range, or what one commit
brought to its branch. Nothing is fetched: a clone that may lack commits of the range is refused.

Which of them had to be merges is decided by the rule that announces merges. What was announced and
what ran is not known here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from hwci.ci.git.changed_files import paths_between
from hwci.ci.git.changes import DEPTH_FIX, CutOffError, commits_beyond
from hwci.ci.git.repository import LOCAL_SECONDS, GitError, Repository
from hwci.ci.project import Project, ProjectFileError, find_project
from hwci.client.explained import ExplainedError, wrong_usage

_UNREAD = "The commits of the release are not known"
_HERE = "Call hwci in the checkout of the firmware"


@dataclass(frozen=True)
class Released:
    """The commits of a release, each after its parents; `tip`: the last. `since`: when the oldest
    of them was made.
    """

    repository: Repository
    project: Project | None
    tip: str
    commits: Sequence[str]

    @cached_property
    def _read(self) -> "dict[str, tuple[tuple[str, ...], datetime | None]]":
        read = self.repository.commits(self.commits)
        return {sha: (commit.parents, commit.committed_at) for sha, commit in read.items()}

    @cached_property
    def since(self) -> datetime | None:
        """When the oldest of the commits was made; None if none has a time."""
        return min((at for _, at in self._read.values() if at is not None), default=None)

    @cached_property
    def line(self) -> Sequence[str]:
        """The commits that stood on the branch itself, the oldest first: what a merge brought from
        the side counts through the merge.
        """
        line = [self.tip]
        while (parents := self._read[line[-1]][0]) and parents[0] in self._read:
            line.append(parents[0])
        return line[::-1]

    def holds(self, sha: str) -> bool | None:
        """Return whether a commit is the last one or an ancestor; None if the clone does not tell.
        A commit is compared whole: nobody knows of which an abbreviation was.
        """
        if sha.lower() in self._history:
            return True
        return None if self._is_cut or len(sha) != len(self.tip) else False

    @cached_property
    def _history(self) -> frozenset[str]:
        return frozenset(self.repository.run("rev-list", self.tip, "--").decode().split())

    @cached_property
    def _is_cut(self) -> bool:
        return bool(self.repository.cut())

    def starts(self, sha: str, suite: str | None) -> bool:
        """Return whether a commit of the line had to be announced, by the files that it brought and
        by hwci.toml: for this product, or for any.
        """
        products = [
            product
            for product in (self.project.products if self.project else ())
            if suite in {None, product.suite}
        ]
        parents = self._read[sha][0]
        try:
            paths = paths_between(
                self.repository, parents[0] if parents else None, sha, LOCAL_SECONDS
            )
        except GitError:  # a clone without trees: the files are not known
            return True
        return not products or any(product.starts(paths) for product in products)


def read_released(folder: Path, commits: str | None, commit: str | None) -> Released:
    """Read the commits of a range such as `v1.4..v1.5`, or what one commit brought.

    Raises:
        ExplainedError: wrong usage: git does not know them here, or may not know all.
    """
    try:
        project = find_project(folder)
    except ProjectFileError as fault:
        raise wrong_usage(_UNREAD, str(fault), "Correct hwci.toml") from fault
    repository = Repository((project.firmware if project else None) or folder)
    if (no_git := repository.fault()) is not None:
        raise wrong_usage(_UNREAD, str(no_git), no_git.fix or _HERE)
    start, end = (None, str(commit)) if commits is None else _ends(commits)
    try:
        tip = _resolved(repository, end)
        base = _resolved(repository, start) if start else _parent(repository, tip)
        listed = commits_beyond(repository, base, tip)
    except CutOffError as fault:
        cause = f"the clone is shallow, and hides a part of {commits or commit}"
        raise wrong_usage(_UNREAD, cause, DEPTH_FIX) from fault
    except GitError as fault:
        raise wrong_usage(_UNREAD, str(fault), fault.fix or _HERE) from fault
    if not listed:
        is_same = start == end
        why = "both are the same" if is_same else f"{end} is an ancestor of {start}, or the same"
        cause = f"{commits} holds no commit: {why}"
        raise wrong_usage(_UNREAD, cause, "Name the earlier release first: v1.4..v1.5")
    return Released(repository, project, tip, listed)


def _ends(commits: str) -> tuple[str, str]:
    start, dots, end = commits.partition("..")
    if not (start and dots and end) or end.startswith("."):
        cause = f"{commits!r} is not of the form EARLIER..LATER"
        raise wrong_usage("--range is not understood", cause, "Write it like v1.4..v1.5")
    return start, end


def _resolved(repository: Repository, revision: str) -> str:
    sha = repository.resolved(revision)
    if sha is None:
        raise _unknown(repository, revision)
    return sha


def _unknown(repository: Repository, revision: str) -> ExplainedError:
    cause = f"git knows no commit {revision!r} here"
    if repository.cut():
        return wrong_usage(_UNREAD, f"{cause}, and the clone is shallow", DEPTH_FIX)
    return wrong_usage(_UNREAD, cause, "Correct it, or fetch it: git fetch --tags")


def _parent(repository: Repository, tip: str) -> str | None:
    """Return the commit that a branch stood on before this one; None before its first."""
    if tip in repository.cut():
        raise CutOffError
    return next(iter(repository.commits([tip])[tip].parents), None)
