# SPDX-License-Identifier: Apache-2.0
"""The files that a commit changed inside of other repositories (semantics, 6.7): of a submodule
that it moved, and of the projects that a change of a west manifest moved. They count by their paths
in the workspace, such as `modules/hal/src/adc.c`.

They are read from the clones that stand where the job has them; nothing is fetched for it. What is
not there is unknown, and it is said why.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from hwci.ci.git.diffs import Change, changes_between
from hwci.ci.git.repository import LOCAL_SECONDS, GitError, Repository
from hwci.ci.git.west import Project, UnreadableManifestError, Workspace, projects_of, workspace_of
from hwci.client.files import MEBIBYTE
from hwci.said import short

MANIFEST_BYTES_MAX = 4 * MEBIBYTE
"""A larger west manifest is not read."""

_MANIFESTS = (".yml", ".yaml")
"""The endings of the manifests in a folder that is imported."""


class Inside(NamedTuple):
    """The paths of changes, with those inside of what moved. `unknown`: why some are not known."""

    paths: Sequence[bytes]
    unknown: Sequence[str] = ()


class Move(NamedTuple):
    """A module that stands at another revision than in each parent; None: it is not there."""

    path: str
    before: Sequence[str | None]
    after: str | None


class Modules:
    """The modules of a repository, by the clones that are checked out in it and beside it."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._projects: dict[str, Mapping[str, Project]] = {}

    def with_inside(self, changes: Sequence[Change]) -> Inside:
        """Return the paths of changes, and those that changed inside of what they moved."""
        paths, unknown = [change.path for change in changes], list[str]()
        for change in changes:
            try:
                for folder, move in self._moves(change):
                    inside = self._inside(folder, move)
                    paths += inside.paths
                    unknown += inside.unknown
            except UnreadableManifestError as fault:
                unknown.append(f"what {os.fsdecode(change.path)} moved is unknown ({fault})")
        return Inside(list(dict.fromkeys(paths)), unknown)

    def _moves(self, change: Change) -> Sequence[tuple[Path | None, Move]]:
        """Return what a change moves, each with the folder in which its path begins."""
        path, workspace = os.fsdecode(change.path), self._workspace
        commits = [entry.commit for entry in change.before]
        if change.after.commit or any(commits):
            return [(self._root, Move(path, commits, change.after.commit))]
        if workspace is None or path != workspace.manifest:
            return []
        before = [self._projects_at(entry.blob) for entry in change.before]
        after = self._projects_at(change.after.blob)
        return [(workspace.folder, move) for move in _moves_of(before, after)]

    @cached_property
    def _root(self) -> Path | None:
        root = self._repository.asked("rev-parse", "--show-toplevel")
        return None if root is None else Path(root).resolve()

    @cached_property
    def _workspace(self) -> Workspace | None:
        return None if self._root is None else workspace_of(self._root)

    def _projects_at(self, blob: str | None) -> Mapping[str, Project]:
        """Return the projects that a manifest names, by its blob; None: there is no manifest."""
        if blob is None or self._root is None:
            return {}
        if blob not in self._projects:
            manifest = _content(self._repository.offline(self._root), blob)
            self._projects[blob] = projects_of(manifest, self._imported)
        return self._projects[blob]

    def _imported(self, project: Project, path: str) -> str | list[str]:
        """Return the manifest of a project at a path, or those in its folder there."""
        workspace = self._workspace
        clone = None if workspace is None else self._clone(workspace.folder, project.path)
        if clone is None:
            raise UnreadableManifestError(f"{project.path}, an import, is not checked out here")
        try:
            place = f"{_commit(clone, project.revision)}:{path}"
        except GitError as fault:
            raise UnreadableManifestError(f"{project.path}, an import: {fault}") from fault
        if clone.asked("cat-file", "-t", place) != "tree":
            return _content(clone, place)
        names = (clone.asked("ls-tree", "--name-only", "-z", place) or "").split("\0")
        return [_content(clone, f"{place}/{name}") for name in names if name.endswith(_MANIFESTS)]

    def _clone(self, folder: Path | None, path: str) -> Repository | None:
        """Return the clone at a path in a folder, None if none is there."""
        if folder is None:
            return None
        place = (folder / path).resolve()
        is_there = folder.resolve() in place.parents and (place / ".git").exists()
        return self._repository.offline(place) if is_there else None

    def _inside(self, folder: Path | None, move: Move) -> Inside:
        """Return what a move changed: with several parents, what differs from each of them."""
        clone = self._clone(folder, move.path)
        if clone is None:
            return Inside((), [f"{move.path}, which it moved, is not checked out here"])
        differ = [_differ(clone, move.path, before, move.after) for before in move.before]
        in_each = set.intersection(*({*part.paths} for part in differ))
        return Inside(
            [os.fsencode(move.path) + b"/" + path for path in differ[0].paths if path in in_each],
            [why for part in differ for why in part.unknown],
        )


def _differ(clone: Repository, path: str, before: str | None, after: str | None) -> Inside:
    """Return the files of a module that differ between two revisions."""
    try:
        earlier = None if before is None else _commit(clone, before)
        later = None if after is None else _commit(clone, after)
        changes = changes_between(clone, earlier, later, LOCAL_SECONDS)
    except GitError as fault:
        return Inside((), [f"what changed in {path}, which it moved, is unknown ({fault})"])
    return Modules(clone).with_inside(changes)


def _commit(clone: Repository, revision: str) -> str:
    """Return the commit of a hash or tag. A branch names another one each day.

    Raises:
        GitError: the clone has no such commit.
    """
    commit = clone.commit(revision) or clone.asked(
        "rev-parse", "--verify", "--quiet", f"refs/tags/{revision}^{{commit}}"
    )
    if commit is None:
        raise GitError(f"the clone there has no commit or tag {short(revision)}")
    return commit


def _content(clone: Repository, name: str) -> str:
    """Return a manifest, by what git names it.

    Raises:
        UnreadableManifestError: it is not in the clone, or no manifest.
    """
    try:
        size = int(clone.run("cat-file", "-s", name))
        if size <= MANIFEST_BYTES_MAX:
            return clone.run("cat-file", "blob", name).decode()
    except (GitError, UnicodeDecodeError) as fault:
        raise UnreadableManifestError(str(fault)) from fault
    raise UnreadableManifestError(f"a manifest of {size:,} bytes is not read")


def _moves_of(
    before: Sequence[Mapping[str, Project]], after: Mapping[str, Project]
) -> Iterator[Move]:
    """Yield the projects whose revision or path differs from that of each parent. One that went to
    another path is gone from the one and new at the other.
    """
    for name in dict.fromkeys([*after, *(name for projects in before for name in projects)]):
        now, earlier = after.get(name), [projects.get(name) for projects in before]
        if now in earlier:
            continue
        for path in dict.fromkeys(project.path for project in (now, *earlier) if project):
            yield Move(path, [_at(project, path) for project in earlier], _at(now, path))


def _at(project: Project | None, path: str) -> str | None:
    """Return the revision of a project where it stands at a path."""
    return project.revision if project is not None and project.path == path else None
