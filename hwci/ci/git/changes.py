# SPDX-License-Identifier: Apache-2.0
"""What changed since the run before, exactly or openly not (spec, "Run report"; semantics, 6.6).

This module decides what a report says of commits: which ones, which files each changed, and when it
has to say `null` or "cut short" instead. Which base is the right one is decided in
`hwci.ci.reporting.base`. Hashes, first lines, times and paths are all that it gives away.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from hwci.ci.git.commits import Commit
from hwci.ci.git.files import UNKNOWN, Files, files_of, paths_between
from hwci.ci.git.history import CutOffError, UnrelatedError, commits_after
from hwci.ci.git.repository import LOCAL_SECONDS, GitError, Repository
from hwci.wire import limits
from hwci.wire.hashes import short
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
TREES_FIX = "Clone with filter: blob:none where it was tree:0, or let the job reach the remote"
PUSH_FIX = "Say where the branch stood before: --before-sha (or HWCI_BEFORE_SHA)"
ONE_COMMIT_FIX = "HEAD~1 where each merge is one commit"

LISTED_MAX = 20
"""A list of so many commits may have been cut short: GitHub's events end theirs here."""


@dataclass(frozen=True, slots=True)
class Collected:
    """Changes, and what people should know of them. None: nothing can be said at all."""

    changes: Changes | None
    notes: tuple[str, ...] = ()


class FilesUnknownError(Exception):
    """Which files a push changed cannot be known. `fix`: what to do about it, if anything."""

    def __init__(self, why: str, fix: str = "") -> None:
        super().__init__(why)
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Push:
    """What is told of a push: where its branch stood before, commits of it, and whether it stands
    for several pushes that were built at once.
    """

    before: str | None = None
    listed: Sequence[str] = ()
    batched: bool = False

    def list_to(self, commit: str) -> Sequence[str]:
        """Give the commits of the push up to its last, if they are known to be all."""
        whole = len(self.listed) < LISTED_MAX and commit in self.listed
        return self.listed if whole else ()


UNTOLD = Push()


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
            lacking = _with_parents(repository, commit, deadline)
            alone = _alone(repository, commit, deadline)
            return Collected(alone.changes, (*lacking, *alone.notes))
        base = repository.commit(base_sha) or base_sha.lower()
        if base == commit:
            return Collected(None, (f"The run before was on {short(base)}, too: no changes.",))
        try:
            range_ = whole_range(repository, base, commit, deadline)
        except (UnrelatedError, CutOffError) as fault:
            why = _why_no_base(repository, base, fault)
            alone = _alone(repository, commit, deadline)
            return Collected(alone.changes, (why, *alone.notes))
        return _told(repository, range_, base, deadline)
    except GitError as fault:
        return Collected(None, (f"The changes are not known: {fault}. {fault.fix}".strip(),))


def covered(
    repository: Repository,
    before: str,
    sha: str,
    patience_s: float = PATIENCE_S,
    built: Sequence[str] = (),
) -> tuple[str, ...] | None:
    """Give the commits of a push, oldest first, the newest 1,000; None: they are not to be had.
    `before`: where its branch stood. `built`: what came up to one of these is of pushes before.
    """
    if before.lower() == sha:
        return (sha,)
    try:
        deadline = Deadline(patience_s)
        commit = _present(repository, sha, deadline)
        base = repository.commit(before.lower()) or before.lower()
        range_ = whole_range(repository, base, commit, deadline)
    except (GitError, UnrelatedError, CutOffError):
        return None
    # Each commit stands after all that it has behind it.
    own = takewhile(lambda it: it == commit or not it.startswith(tuple(built)), reversed(range_))
    return tuple(reversed(list(own)))[-limits.COVERS_MAX :]


def touched(
    repository: Repository, sha: str, push: Push = UNTOLD, patience_s: float = PATIENCE_S
) -> tuple[str, ...]:
    """Give the files that a push changed on its branch.

    A commit with one parent says nothing of what was pushed with it. A merge commit does: what it
    brought is what differs from its first parent.

    Raises:
        FilesUnknownError: nobody tells, or the clone cannot.
    """
    try:
        return _touched(repository, sha, push, Deadline(patience_s))
    except UnrelatedError as fault:
        what = f"{push.before} is no ancestor of {sha}, as after a forced push"
        raise FilesUnknownError(what) from fault
    except CutOffError as fault:
        cause = f" ({fault.__cause__})" if fault.__cause__ else ""
        what = f"the clone is too shallow to reach {push.before}{cause}"
        raise FilesUnknownError(what, DEPTH_FIX) from fault
    except GitError as fault:
        raise FilesUnknownError(str(fault), fault.fix) from fault


def _touched(repository: Repository, sha: str, push: Push, deadline: Deadline) -> tuple[str, ...]:
    commit = _present(repository, sha, deadline)
    if push.before is not None:
        before = push.before.lower()
        whole_range(repository, before, commit, deadline)
        return paths_between(repository, before, commit, _patient(deadline))
    listed = push.list_to(commit)
    parents = repository.commits([commit])[commit].parents
    if push.batched and not listed:
        raise FilesUnknownError("several pushes are built at once", PUSH_FIX)
    if len(parents) == 1 and not listed:
        raise FilesUnknownError("nobody tells what was pushed", f"{PUSH_FIX}; {ONE_COMMIT_FIX}")
    found = _of_listed(repository, commit, listed, deadline)
    return tuple(dict.fromkeys([*found, *_of_merge(repository, commit, parents, deadline)]))


def _of_listed(
    repository: Repository, commit: str, listed: Sequence[str], deadline: Deadline
) -> Sequence[str]:
    """Give the files of the commits of a push, `commit` the last of them.

    Raises:
        GitError: git failed, or the commits are not to be had.
        FilesUnknownError: they have too many files.
    """
    if not listed:
        return ()
    for depth in DEEPENING:
        here = repository.among(listed)
        if len(here) == len(set(listed)) and repository.cut().isdisjoint(here):
            break
        fetch_commit(repository, commit, deadline, depth)
    files = files_of(repository, repository.commits(listed), _patient(deadline)).values()
    if any(known.cut for known in files):
        raise FilesUnknownError("a commit of the push has more files than are read, or odd names")
    return [path for known in files for path in known.paths]


def _of_merge(
    repository: Repository, commit: str, parents: Sequence[str], deadline: Deadline
) -> Sequence[str]:
    """Give the files that a merge, or a first commit, brought to its branch; of others none.

    Raises:
        GitError: they are not to be had.
    """
    if len(parents) == 1:
        return ()
    earlier = _present(repository, parents[0], deadline) if parents else None
    return paths_between(repository, earlier, commit, _patient(deadline))


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
                fetch_commit(repository, sha, deadline, depth)
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
        fetch_commit(repository, sha, deadline, *(DEEPENING[:1] if repository.cut() else ()))
        found = repository.commit(sha)
    if found is None:
        raise GitError(f"{sha} is no commit of this clone")
    return found


def fetch_commit(repository: Repository, sha: str, deadline: Deadline, *depth: str) -> None:
    """Fetch a commit with more of its history; `depth`: of `DEEPENING`.

    Raises:
        GitError: it is not to be had.
    """
    try:
        repository.fetch(*depth, sha, seconds=deadline.left())
    except GitError:
        # An old server gives only what its branches name.
        repository.fetch(*depth, BRANCHES, seconds=deadline.left())


def _with_parents(repository: Repository, commit: str, deadline: Deadline) -> tuple[str, ...]:
    """Bring what a commit is compared with to a clone that ends at it; else say that it lacks."""
    if commit not in repository.cut():
        return ()
    cause = "its remote has no more"
    try:
        fetch_commit(repository, commit, deadline, "--deepen=1")
    except GitError as fault:
        cause = str(fault)
    if commit not in repository.cut():
        return ()
    what = f"The clone is too shallow to know the files of {short(commit)} ({cause})"
    return (f"{what}: sent as cut short. {DEPTH_FIX}.",)


def _why_no_base(repository: Repository, base: str, fault: UnrelatedError | CutOffError) -> str:
    if isinstance(fault, UnrelatedError):
        here = repository.commit(base) is not None
        why = "is no ancestor" if here else "is not in this clone, which has all that came before"
        return f"{short(base)}, which was tested before, {why}: sent without a base."
    cause = f" ({fault.__cause__})" if fault.__cause__ else ""
    return (
        f"The clone is too shallow to know the changes since {short(base)}{cause}: "
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
        notes.append(f"The files of the commits are not known: {fault}. {TREES_FIX}.")
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
