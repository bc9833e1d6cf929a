# SPDX-License-Identifier: Apache-2.0
"""What changed since the run before, exactly or openly not (spec, "Run report"; semantics, 6.6).

This module decides what a report says of commits: which ones, which files each changed, and when it
has to say `null` or "cut short" instead. Which base is the right one is decided in
`hwci.ci.base`. Hashes, first lines, times and paths are all that it gives away.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hwci.ci.commits import Commit
from hwci.ci.files import UNKNOWN, Files, files_of, paths_between
from hwci.ci.git import LOCAL_SECONDS, GitError, Repository
from hwci.ci.history import CutOffError, UnrelatedError, commits_after
from hwci.wire import limits
from hwci.wire.reports import Changes, CommitItem

PATIENCE_S = 30.0
"""How long a report may wait for a remote to tell more of the history."""

DEEPENING = ("--deepen=50", "--deepen=500", "--unshallow")
"""Each is tried when the one before it was not enough."""

BRANCHES = "+refs/heads/*:refs/hwci/*"
"""All of a remote's branches, beside those that are the user's."""

DEPTH_FIX = (
    "Give the checkout its history (GitHub: fetch-depth: 0, GitLab: GIT_DEPTH: 0); "
    "filter: blob:none keeps it small"
)


@dataclass(frozen=True, slots=True)
class Collected:
    """Changes, and what people should know of them. None: nothing can be said at all."""

    changes: Changes | None
    notes: tuple[str, ...] = ()


class Deadline:
    """The end of patience."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Give the seconds that are left, 0 when there are none."""
        return max(0.0, self._end - time.monotonic())


def collect(
    repository: Repository, sha: str, base_sha: str | None, patience_s: float = PATIENCE_S
) -> Collected:
    """Collect what a run on `sha` tested for the first time, after a run on `base_sha`."""
    deadline = Deadline(patience_s)
    try:
        commit = _present(repository, sha, deadline)
        if base_sha is None:
            return _alone(repository, commit, deadline)
        base = repository.commit(base_sha) or base_sha.lower()
        if base == commit:
            return Collected(None, (f"The run before was on {base[:12]}, too: no changes.",))
        try:
            range_ = whole_range(repository, base, commit, deadline)
        except (UnrelatedError, CutOffError) as fault:
            why = _why_no_base(base, fault)
            alone = _alone(repository, commit, deadline)
            return Collected(alone.changes, (why, *alone.notes))
        return _told(repository, range_, base, deadline)
    except GitError as fault:
        return Collected(None, (f"The changes are not known: {fault}. {fault.fix}".strip(),))


def covered(
    repository: Repository, before: str | None, sha: str, patience_s: float = PATIENCE_S
) -> tuple[str, ...]:
    """Give the commits of a push, oldest first, the newest 1,000; its last if no more is known."""
    if before is None or before.lower() == sha:
        return (sha,)
    try:
        deadline = Deadline(patience_s)
        commit = _present(repository, sha, deadline)
        return whole_range(repository, before.lower(), commit, deadline)[-limits.COVERS_MAX :]
    except (GitError, UnrelatedError, CutOffError):
        return (sha,)


def touched(
    repository: Repository, sha: str, before: str | None = None, patience_s: float = PATIENCE_S
) -> tuple[str, ...] | None:
    """Give the files that a merge changed on its branch: since `before`, else since its first
    parent. None: it cannot be known.
    """
    deadline = Deadline(patience_s)
    try:
        commit = _present(repository, sha, deadline)
        parents = repository.commits([commit])[commit].parents
        earlier = before.lower() if before else next(iter(parents), None)
        if earlier is not None:
            whole_range(repository, earlier, commit, deadline)
        return paths_between(repository, earlier, commit, _patient(deadline))
    except (GitError, UnrelatedError, CutOffError):
        return None


def whole_range(repository: Repository, base: str, sha: str, deadline: Deadline) -> tuple[str, ...]:
    """Give the commits after `base`, up to and including `sha`; a shallow clone is deepened.

    Raises:
        UnrelatedError: `base` is no ancestor.
        CutOffError: the clone ends too early; its cause says why it was not deepened.
        GitError: git failed.
    """
    for depth in DEEPENING:
        try:
            return commits_after(repository, base, sha)
        except CutOffError:
            try:
                _fetch(repository, sha, deadline, depth)
            except GitError as fault:
                raise CutOffError from fault
    return commits_after(repository, base, sha)


def _present(repository: Repository, sha: str, deadline: Deadline) -> str:
    """Give the full hash of a commit; a clone of another ref's tip has to fetch it.

    Raises:
        GitError: it is not to be had.
    """
    found = repository.commit(sha)
    if found is None:
        _fetch(repository, sha, deadline, *(DEEPENING[:1] if repository.cut() else ()))
        found = repository.commit(sha)
    if found is None:
        raise GitError(f"{sha} is no commit of this clone")
    return found


def _fetch(repository: Repository, sha: str, deadline: Deadline, *depth: str) -> None:
    """Fetch a commit with more of its history.

    Raises:
        GitError: it is not to be had.
    """
    try:
        repository.fetch(*depth, sha, seconds=deadline.left())
    except GitError:
        # An old server gives only what its branches name.
        repository.fetch(*depth, BRANCHES, seconds=deadline.left())


def _why_no_base(base: str, fault: UnrelatedError | CutOffError) -> str:
    if isinstance(fault, UnrelatedError):
        return f"{base[:12]}, which was tested before, is no ancestor: sent without a base."
    cause = f" ({fault.__cause__})" if fault.__cause__ else ""
    return (
        f"The clone is too shallow to know the changes since {base[:12]}{cause}: "
        f"sent without a base. {DEPTH_FIX}."
    )


def _alone(repository: Repository, commit: str, deadline: Deadline) -> Collected:
    """Say what one commit changed, where it is not known what was tested before."""
    return _told(repository, (commit,), None, deadline)


def _told(
    repository: Repository, range_: Sequence[str], base: str | None, deadline: Deadline
) -> Collected:
    """Write commits with their files."""
    newest = range_[-limits.COMMITS_MAX :]
    commits = repository.commits(newest)
    notes = []
    files: Mapping[str, Files] = {}
    try:
        files = files_of(repository, commits, _patient(deadline))
    except GitError as fault:
        notes.append(f"The files of the commits are not known: {fault}. {DEPTH_FIX}.")
    items = [_item(sha, commits[sha], files.get(sha, UNKNOWN)) for sha in newest]
    notes += [known.note for known in files.values() if known.note]
    # Without a base, all that came before may be new.
    cut = len(newest) < len(range_) or (base is None and bool(commits[newest[0]].parents))
    told: dict[str, object] = {"base_sha": base, "commits": items}
    return Collected(
        Changes.model_validate(told | ({"truncated": True} if cut else {})), tuple(notes)
    )


def _item(sha: str, commit: Commit, files: Files) -> CommitItem:
    told: dict[str, object] = {
        "sha": sha,
        "subject": commit.subject[: limits.SUBJECT_MAX],
        "files": list(files.paths),
    }
    if commit.committed_at is not None:
        told["committed_at"] = commit.committed_at
    if files.cut:
        told["files_truncated"] = True
    return CommitItem.model_validate(told)


def _patient(deadline: Deadline) -> float:
    """Give how long git may read, which is more than a remote gets: it may also have to fetch."""
    return deadline.left() + LOCAL_SECONDS
