# SPDX-License-Identifier: Apache-2.0
"""Which files commits changed, as paths that a report can hold (spec, "Run report"). A merge counts
with the files that differ from each of its parents, which somebody had to settle (semantics, 6.6);
a submodule or west manifest that moves, also with the files inside (`modules.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hwci.ci.git.diffs import changes_between, changes_of
from hwci.ci.git.modules import Inside, Modules
from hwci.ci.git.repository import Commit, GitError, Repository
from hwci.said import short
from hwci.wire import limits


@dataclass(frozen=True, slots=True)
class Files:
    """The files that a commit changed. `cut`: there are more, or not all could be written."""

    paths: tuple[str, ...]
    cut: bool
    note: str = ""


UNKNOWN = Files((), cut=True)


def files_of(
    repository: Repository, commits: Mapping[str, Commit], seconds: float
) -> dict[str, Files]:
    """Return the files of each commit.

    Raises:
        GitError: git failed, or the clone lacks what is needed and cannot fetch it.
    """
    # A commit without its parents looks as if it had made every file.
    cut = repository.cut()
    whole = [sha for sha in commits if sha not in cut]
    _bring_trees(repository, [commits[sha] for sha in whole], seconds)
    modules = Modules(repository)
    return dict.fromkeys(commits, UNKNOWN) | {
        sha: _written(sha, modules.with_inside(changes))
        for sha, changes in changes_of(repository, whole, seconds).items()
    }


def paths_between(
    repository: Repository, earlier: str | None, sha: str, seconds: float
) -> tuple[str, ...]:
    """Return the files that differ between two commits; without an earlier one, all files. Those
    inside of what moved are among them as far as they are known.

    Raises:
        GitError: as above.
    """
    changes = changes_between(repository, earlier, sha, seconds)
    paths = Modules(repository).with_inside(changes).paths
    return tuple(path.decode("utf-8", "replace") for path in paths)


def _written(sha: str, inside: Inside) -> Files:
    """Turn paths into text. One that is not UTF-8 is changed by that, so the list counts as cut."""
    texts = [path.decode("utf-8", "replace") for path in inside.paths]
    odd = sum(text.encode() != path for text, path in zip(texts, inside.paths, strict=True))
    notes = [f"{short(sha)}: {why}: sent as cut short." for why in inside.unknown]
    if odd:
        notes.append(f"Paths of {short(sha)} that are not UTF-8 are sent with U+FFFD: {odd}.")
    cut = len(texts) > limits.FILES_MAX or odd > 0 or bool(inside.unknown)
    return Files(tuple(texts[: limits.FILES_MAX]), cut, " ".join(notes))


def _bring_trees(repository: Repository, commits: Sequence[Commit], seconds: float) -> None:
    """Fetch all trees at once in a clone without trees, which would else fetch them one by one."""
    filters = repository.asked("config", "--get-regexp", r"^remote\..*\.partialclonefilter$") or ""
    if "tree:" not in filters:
        return
    parents = repository.among({parent for commit in commits for parent in commit.parents})
    trees = {commit.tree for commit in (*commits, *repository.commits(parents).values())}
    try:
        # No commit is named as present: the remote would think that its trees are, too.
        repository.fetch(
            *("--filter=blob:none", "--stdin"),
            stdin="".join(f"{tree}\n" for tree in sorted(trees)).encode(),
            seconds=seconds,
        )
    except GitError:
        return  # then git fetches them one by one, and fails there
