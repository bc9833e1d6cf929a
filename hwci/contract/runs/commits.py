# SPDX-License-Identifier: Apache-2.0
"""Commits: as a run sent them, and as answers name those that broke a test, its fix, and what
they changed.
"""

from datetime import datetime
from typing import ClassVar

from hwci.contract.shape import Open, sent, shape
from hwci.contract.vocabulary import FileKind

MAY_HAVE_BROKEN = "May have broken it"


@sent
class Commit:
    """A commit of `changes`. `files_truncated`: it changed more files than were sent."""

    sha: str
    subject: str = ""
    committed_at: datetime | None = None
    files: tuple[str, ...] = ()
    files_truncated: bool = False


@sent
class ChangeList:
    """Commits after `base_sha` up to the tested one, oldest first: since the previous run of the
    same workflow on the same branch.
    """

    base_sha: str | None
    commits: tuple[Commit, ...] = ()
    truncated: bool = False


@shape
class CommitSubject:
    """A commit by its hash and first line."""

    sha: str
    subject: str


@shape
class BrokenBy:
    """The commit that broke the test, or the range of commits that may have, oldest first."""

    JSON_NAMES: ClassVar = {"start": "from", "end": "to"}

    start: str
    end: str
    commits: tuple[CommitSubject, ...]


@shape
class Fix:
    """The fixing commit, and when the earliest run that passed on it started."""

    sha: str
    started_at: datetime


@shape
class ChangedFile:
    """A changed file by kind; null: no paths are configured for the product."""

    path: str
    kind: Open[FileKind] | None


@shape
class ChangedCommit(CommitSubject):
    """A commit that a run listed.

    At most 200 files are shown of `files_total`, firmware and harness files before others.
    """

    committed_at: datetime | None
    files: tuple[ChangedFile, ...]
    files_total: int
    files_truncated: bool


@shape
class FilesOfKind:
    """How many files of a kind a commit changed, and the first of them; `kind` null: no paths are
    configured for the product.
    """

    kind: Open[FileKind] | None
    total: int
    first: str


@shape
class CommitInShort(CommitSubject):
    """A commit that a run listed, with its files by kind. `files_truncated`: it has more files."""

    files: tuple[FilesOfKind, ...]
    files_truncated: bool
