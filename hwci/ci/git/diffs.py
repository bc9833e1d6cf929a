# SPDX-License-Identifier: Apache-2.0
"""What differs between commits of one repository, as git stores it: each path with its entry before
and after. A rename changes both its paths. Paths are bytes, as git keeps them. No file is opened.
What a path means for a report is decided in `changed_files.py`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hwci.ci.git.repository import Repository

_MODULE = "160000"
"""The mode of an entry that is a commit of another repository: a submodule."""
_AS_STORED = ("-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none")


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands at a path: a mode and a hash, of zeros where nothing does."""

    mode: str
    sha: str

    @property
    def commit(self) -> str | None:
        """The commit of a submodule; None for anything else."""
        return self.sha if self.mode == _MODULE else None

    @property
    def blob(self) -> str | None:
        """The hash of a file's content; None for anything else."""
        return self.sha if self.mode.startswith("100") else None


@dataclass(frozen=True, slots=True)
class Change:
    """A path that differs. `before`: its entry in each parent."""

    path: bytes
    before: Sequence[Entry]
    after: Entry


def changes_of(
    repository: Repository, shas: Sequence[str], seconds: float
) -> dict[str, list[Change]]:
    """Return what each commit changed: a merge, what differs from each of its parents.

    Raises:
        GitError: git failed, or the clone lacks what is needed and cannot fetch it.
    """
    raw = repository.run(
        *("diff-tree", "--stdin", "-c", "--root", "--always", *_AS_STORED),
        stdin="".join(f"{sha}\n" for sha in shas).encode(),
        seconds=seconds,
    )
    changed: dict[str, list[Change]] = {sha: [] for sha in shas}
    for sha, change in _rows(raw):
        changed[sha].append(change)
    return changed


def changes_between(
    repository: Repository, earlier: str | None, later: str | None, seconds: float
) -> list[Change]:
    """Return what differs between two commits; None: a commit without files.

    Raises:
        GitError: as above.
    """
    nothing = "" if earlier and later else _empty_tree(repository)
    words = (earlier or nothing, later or nothing)
    raw = repository.run("diff-tree", *_AS_STORED, *words, seconds=seconds)
    return [change for _, change in _rows(raw)]


def _empty_tree(repository: Repository) -> str:
    return repository.run("hash-object", "-t", "tree", "--stdin").decode().strip()


def _rows(raw: bytes) -> Iterator[tuple[str, Change]]:
    """Read `diff-tree -z`: a commit's hash, then pairs of a record, which begins with a colon, and
    its path, which may be anything: also a hash, or begin with a colon.
    """
    sha = ""
    words = iter(raw.split(b"\0"))
    for word in words:
        if word.startswith(b":"):
            yield sha, _change(word.decode(), next(words))
        else:
            sha = word.decode()


def _change(record: str, path: bytes) -> Change:
    """Read a record: a colon for each parent, then a mode and a hash of each of them and of the
    commit.
    """
    fields = record.lstrip(":").split(" ")
    entries = len(record) - len(record.lstrip(":")) + 1
    states = list(map(Entry, fields[:entries], fields[entries : 2 * entries]))
    return Change(path, states[:-1], states[-1])
