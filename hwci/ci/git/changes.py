# SPDX-License-Identifier: Apache-2.0
"""What changed since the run before: exactly, or marked as incomplete (spec, "Run report";
semantics, 6.6).

This module decides what a report holds of commits: which ones, the files that each changed, and
when it holds `null` or "cut short" instead. Which base is the right one is decided in
`hwci.ci.reporting.base`. A report holds hashes, first lines, times and paths, and nothing else of
the repository.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from hwci.ci.git.changed_files import UNKNOWN, Files, files_of, paths_between
from hwci.ci.git.repository import (
    DEEPENING,
    LOCAL_SECONDS,
    PATIENCE_S,
    Commit,
    Deadline,
    GitError,
    Repository,
    fetch_commit,
    present,
)
from hwci.said import short
from hwci.wire import limits
from hwci.wire.reports import Changes, CommitItem

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
    """Changes, None if they are unknown, and notes about them for people."""

    changes: Changes | None
    notes: tuple[str, ...] = ()


class FilesUnknownError(Exception):
    """It is unknown which files a push changed. `fix`: what to do about it, "" if nothing."""

    def __init__(self, why: str, fix: str = "") -> None:
        super().__init__(why)
        self.fix = fix


class UnrelatedError(Exception):
    """The base is not an ancestor: the branch was moved by force, or it is another branch's."""


class CutOffError(Exception):
    """The clone ends too early to know."""


@dataclass(frozen=True, slots=True)
class Push:
    """What is known of a push: where its branch stood before, commits of it, and whether several
    pushes were built at once.
    """

    before: str | None = None
    listed: Sequence[str] = ()
    batched: bool = False

    def list_to(self, commit: str) -> Sequence[str]:
        """Return the commits of the push up to its last, none if some may be missing."""
        whole = len(self.listed) < LISTED_MAX and commit in self.listed
        return self.listed if whole else ()


NOTHING_KNOWN = Push()


def collect(
    repository: Repository, sha: str, base_sha: str | None, patience_s: float = PATIENCE_S
) -> Collected:
    """Return what a run on `sha` tests for the first time, after a run on `base_sha`."""
    deadline = Deadline(patience_s)
    try:
        if base_sha is None:
            tip = present(repository, sha, deadline)
            notes = _fetch_parents(repository, tip, deadline)
            return _collected(repository, (tip,), None, deadline, notes)
        try:
            base, tip, commits = whole_range(repository, base_sha, sha, deadline)
        except (UnrelatedError, CutOffError) as fault:
            tip = present(repository, sha, deadline)
            notes = (_why_no_base(repository, base_sha.lower(), fault),)
            return _collected(repository, (tip,), None, deadline, notes)
        if base == tip:
            return Collected(None, (f"The run before was on {short(tip)}, too: no changes.",))
        return _collected(repository, commits, base, deadline)
    except GitError as fault:
        return Collected(None, (f"The changes are not known: {fault}. {fault.fix}".strip(),))


def between(folder: Path, base_sha: str, sha: str) -> Changes | None:
    """Return what changed from one commit to another, as far as a report holds it; None if the
    folder is no clone that knows it. It fetches no commit.
    """
    repository = Repository(folder)
    commit = repository.commit(sha)
    if commit is None:
        return None
    try:
        base, _, commits = commits_after(repository, base_sha, commit)
        return _collected(repository, commits, base, Deadline(0)).changes
    except (GitError, UnrelatedError, CutOffError):
        return None


def covered(
    repository: Repository,
    before: str,
    sha: str,
    patience_s: float = PATIENCE_S,
    built: Sequence[str] = (),
) -> tuple[str, ...] | None:
    """Return the commits of a push, oldest first, the newest 1,000; None if unknown. `before`:
    where its branch stood. `built`: what came up to one of these belongs to earlier pushes.
    """
    if before.lower() == sha:
        return (sha,)
    try:
        _, tip, commits = whole_range(repository, before, sha, Deadline(patience_s))
    except (GitError, UnrelatedError, CutOffError):
        return None
    # Each commit stands after all of its ancestors.
    own = takewhile(
        lambda commit: commit == tip or not commit.startswith(tuple(built)), reversed(commits)
    )
    return tuple(reversed(list(own)))[-limits.COVERS_MAX :]


def touched(repository: Repository, sha: str, push: Push = NOTHING_KNOWN) -> tuple[str, ...]:
    """Return the files that a push changed on its branch.

    A commit with one parent does not show what was pushed with it. A merge commit does: it brought
    what differs from its first parent.

    Raises:
        FilesUnknownError: neither the push nor the clone shows them.
    """
    try:
        return _touched(repository, sha, push, Deadline(PATIENCE_S))
    except UnrelatedError as fault:
        what = f"{push.before} is not an ancestor of {sha}, as after a forced push"
        raise FilesUnknownError(what) from fault
    except CutOffError as fault:
        cause = f" ({fault.__cause__})" if fault.__cause__ else ""
        what = f"the clone is too shallow to reach {push.before}{cause}"
        raise FilesUnknownError(what, DEPTH_FIX) from fault
    except GitError as fault:
        raise FilesUnknownError(str(fault), fault.fix) from fault


def _touched(repository: Repository, sha: str, push: Push, deadline: Deadline) -> tuple[str, ...]:
    if push.before is not None:
        before, tip, _ = whole_range(repository, push.before, sha, deadline)
        return paths_between(repository, before, tip, _patient(deadline))
    commit = present(repository, sha, deadline)
    listed = push.list_to(commit)
    parents = repository.commits([commit])[commit].parents
    if push.batched and not listed:
        raise FilesUnknownError("several pushes are built at once", PUSH_FIX)
    if len(parents) == 1 and not listed:
        raise FilesUnknownError("it is unknown what was pushed", f"{PUSH_FIX}; {ONE_COMMIT_FIX}")
    changes = _of_listed(repository, commit, listed, deadline)
    return tuple(dict.fromkeys([*changes, *_of_merge(repository, commit, parents, deadline)]))


def _of_listed(
    repository: Repository, commit: str, listed: Sequence[str], deadline: Deadline
) -> Sequence[str]:
    """Return the files of the commits of a push, `commit` the last of them."""
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
    """Return the files that a merge, or a first commit, brought to its branch; of others none."""
    if len(parents) == 1:
        return ()
    earlier = present(repository, parents[0], deadline) if parents else None
    return paths_between(repository, earlier, commit, _patient(deadline))


def _fetch_parents(repository: Repository, commit: str, deadline: Deadline) -> tuple[str, ...]:
    """Fetch the parents of a commit at which a clone ends. Return a note if that fails."""
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
        why = "is not an ancestor" if here else "is not in this clone, which has the whole history"
        return f"{short(base)}, which was tested before, {why}: sent without a base."
    cause = f" ({fault.__cause__})" if fault.__cause__ else ""
    return (
        f"The clone is too shallow to know the changes since {short(base)}{cause}: "
        f"sent without a base. {DEPTH_FIX}."
    )


def _collected(
    repository: Repository,
    range_: Sequence[str],
    base: str | None,
    deadline: Deadline,
    notes: Sequence[str] = (),
) -> Collected:
    """Read commits with their files."""
    newest = range_[-limits.COMMITS_MAX :]
    commits = repository.commits(newest)
    notes, files = [*notes], dict[str, Files]()
    try:
        files = files_of(repository, commits, _patient(deadline))
    except GitError as fault:
        notes.append(f"The files of the commits are unknown: {fault}. {TREES_FIX}.")
    items = [_item(sha, commits[sha], files.get(sha, UNKNOWN)) for sha in newest]
    notes += [known.note for known in files.values() if known.note]
    # Without a base, all that came before may be new.
    cut = len(newest) < len(range_) or (base is None and bool(commits[newest[0]].parents))
    fields: dict[str, object] = {"base_sha": base, "commits": items}
    changes = Changes.model_validate(fields | ({"truncated": True} if cut else {}))
    return Collected(changes, tuple(notes))


def _item(sha: str, commit: Commit, files: Files) -> CommitItem:
    fields: dict[str, object] = {
        "sha": sha,
        "subject": commit.subject[: limits.SUBJECT_MAX],
        "files": list(files.paths),
    }
    if commit.committed_at is not None:
        fields["committed_at"] = commit.committed_at
    if files.cut:
        fields["files_truncated"] = True
    return CommitItem.model_validate(fields)


def _patient(deadline: Deadline) -> float:
    """Return how long git may read, which is more than a remote gets: it may also have to fetch."""
    return deadline.left() + LOCAL_SECONDS


# Which commits lie after one and up to another. A shallow clone answers `base..sha` without any
# sign of what it lacks: commits are missing, and commits of the base are among the others. The
# latter also happens if clocks were wrong, because git stops its walk by the times of commits. So a
# range counts only if it is proved.


class Range(NamedTuple):
    """The commits after `base`, up to and including `tip`, each after its parents."""

    base: str
    tip: str
    commits: tuple[str, ...]


def whole_range(repository: Repository, base: str, sha: str, deadline: Deadline) -> Range:
    """Return the commits after `base`, up to and including `sha`. Fetch `sha` if the clone lacks
    it, and deepen a shallow clone.

    Raises:
        UnrelatedError: `base` is not an ancestor.
        CutOffError: the clone ends too early; its cause is why it was not deepened.
        GitError: git failed.
    """
    tip = present(repository, sha, deadline)
    for depth in DEEPENING:
        try:
            return commits_after(repository, base, tip)
        except CutOffError:
            try:
                fetch_commit(repository, tip, deadline, depth)
            except GitError as fault:
                raise CutOffError from fault
    return commits_after(repository, base, tip)


def commits_after(repository: Repository, base: str, tip: str) -> Range:
    """Return the commits after `base`, up to and including `tip`: a full hash, in the clone.

    Raises:
        UnrelatedError: `base` is not an ancestor of `tip`.
        CutOffError: the clone does not hold what is needed to know.
        GitError: git failed.
    """
    cut, known = repository.cut(), repository.commit(base)
    base = known or base.lower()
    if cut:
        return Range(base, tip, _proved(_lineage(repository, tip), base, cut))
    if known is None:
        raise UnrelatedError
    if base == tip:
        return Range(base, tip, ())
    after = _lineage(repository, tip, f"^{base}")
    onward = _onward_from(base, after)
    if tip not in onward:
        raise UnrelatedError
    # What descends from the base is new. Of what came from the side, each lowest commit has to be.
    lowest = (
        commit
        for commit, parents in after.items()
        if commit not in onward and not any(parent in after for parent in parents)
    )
    if any(repository.is_ancestor(commit, base) for commit in lowest):
        return Range(base, tip, _proved(_lineage(repository, tip), base, cut))
    return Range(base, tip, tuple(reversed(list(after))))


def commits_beyond(repository: Repository, other: str | None, tip: str) -> tuple[str, ...]:
    """Return the commits of `tip` that `other` does not hold, each after its parents: two releases
    may stand on branches beside each other. Both are full hashes in the clone; without `other`, all
    of them.

    Raises:
        CutOffError: the clone does not hold what is needed to know.
        GitError: git failed.
    """
    try:
        if other is not None:
            return commits_after(repository, other, tip).commits
    except UnrelatedError:
        pass
    if repository.cut():
        raise CutOffError
    held = _lineage(repository, other) if other is not None else {}
    return tuple(reversed([sha for sha in _lineage(repository, tip) if sha not in held]))


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
    seen = {sha}
    for commit in reversed(list(lineage)):
        if not seen.isdisjoint(lineage[commit]):
            seen.add(commit)
    return seen


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


def _lineage(repository: Repository, *revisions: str) -> Lineage:
    lines = repository.run("rev-list", "--topo-order", "--parents", *revisions, "--").decode()
    rows = (line.split() for line in lines.splitlines())
    return {commit: parents for commit, *parents in rows}


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
