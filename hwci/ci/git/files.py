# SPDX-License-Identifier: Apache-2.0
"""Which files commits changed, as paths that a report can hold (spec, "Run report").

A rename changes both its paths: what is moved out of the firmware changes the firmware. A merge
counts with the files that differ from each of its parents, which somebody had to settle (semantics,
6.6). A submodule that moves is a path. No file is ever opened. A function raises
GitError if git fails, or the clone lacks what is needed and cannot fetch it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hwci.ci.git.repository import Commit, GitError, Repository
from hwci.said import short
from hwci.wire import limits

_AS_STORED = ("-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none")


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
    """Return the files of each commit."""
    # A commit without its parents looks as if it had made every file.
    cut = repository.cut()
    whole = [sha for sha in commits if sha not in cut]
    _bring_trees(repository, [commits[sha] for sha in whole], seconds)
    raw = repository.run(
        *("diff-tree", "--stdin", "-c", "--root", "--always", *_AS_STORED),
        given="".join(f"{sha}\n" for sha in whole).encode(),
        seconds=seconds,
    )
    changed: dict[str, list[bytes]] = {sha: [] for sha in whole}
    for sha, path in _rows(raw):
        changed[sha].append(path)
    return dict.fromkeys(commits, UNKNOWN) | {
        sha: _written(sha, paths) for sha, paths in changed.items()
    }


def paths_between(
    repository: Repository, earlier: str | None, sha: str, seconds: float
) -> tuple[str, ...]:
    """Return the files that differ between two commits; without an earlier one, all files."""
    words = [earlier, sha] if earlier else ["--root", "--no-commit-id", sha]
    raw = repository.run("diff-tree", *_AS_STORED, *words, seconds=seconds)
    return tuple(path.decode("utf-8", "replace") for _, path in _rows(raw))


def _rows(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Read `diff-tree -z`: a commit's hash, then pairs of a record, which begins with a colon, and
    its path, which may be anything: also a hash, or begin with a colon.
    """
    sha = ""
    words = iter(raw.split(b"\0"))
    for word in words:
        if word.startswith(b":"):
            yield sha, next(words)
        else:
            sha = word.decode()


def _written(sha: str, paths: Sequence[bytes]) -> Files:
    """Turn paths into text. One that is not UTF-8 is changed by that, so the list counts as cut."""
    texts = [path.decode("utf-8", "replace") for path in paths]
    odd = sum(text.encode() != path for text, path in zip(texts, paths, strict=True))
    note = f"Paths of {short(sha)} that are not UTF-8 are sent with U+FFFD: {odd}." if odd else ""
    cut = len(paths) > limits.FILES_MAX or odd > 0
    return Files(tuple(texts[: limits.FILES_MAX]), cut, note)


def _bring_trees(repository: Repository, commits: Sequence[Commit], seconds: float) -> None:
    """Fetch all trees at once in a clone without trees, which would else fetch them one by one."""
    kept = repository.asked("config", "--get-regexp", r"^remote\..*\.partialclonefilter$") or ""
    if "tree:" not in kept:
        return
    parents = repository.among({parent for commit in commits for parent in commit.parents})
    trees = {commit.tree for commit in (*commits, *repository.commits(parents).values())}
    try:
        # No commit is named as present: the remote would think that its trees are, too.
        repository.fetch(
            *("--filter=blob:none", "--stdin"),
            given="".join(f"{tree}\n" for tree in sorted(trees)).encode(),
            seconds=seconds,
        )
    except GitError:
        return  # then git fetches them one by one, and fails there
