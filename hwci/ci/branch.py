# SPDX-License-Identifier: Apache-2.0
"""The branch of a commit for which the CI names none (contract, "Fields of a report"): the one that
git tells, and a merge branch only if the commit is on it. Which commit was tested is decided in
`hwci.ci.checked_out`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hwci.ci.git.repository import GitError, Repository
from hwci.ci.job import GIT, Sourced, matches_branch
from hwci.ci.systems.system import slug
from hwci.said import short

DETACHED = "detached-"
"""How the branch of a commit begins that is on none, as far as git knows; its hash follows. Such
commits do not follow one another, so they are no series.
"""


def branch_of(
    sha: str, named: Mapping[str, Sourced[Any]], clone: Repository, merge_branches: Sequence[str]
) -> Sourced[str]:
    """Return the branch of a commit of a clone: the one that git is on, else one that holds the
    commit, a merge branch before the CI's own, and that before others, else a name under which it
    was fetched. What was put on a merge branch here alone, as by `git merge`, is not on it.
    `named`: the fields of the CI, whose commit is another one.
    """
    own, owner = named.get("branch"), _fork(clone.remote_url(), named.get("repo_key"))
    holders, fetched = clone.branches(sha), set(_fetched(sha, named, clone, merge_branches))
    on = clone.branch() if sha == clone.head() else None
    if on is not None and (on in holders | fetched or not matches_branch(on, merge_branches)):
        return Sourced(_of(owner, on), GIT)
    names = {_of(owner, name) for name in holders}
    of_ci = named["sha"].value if "sha" in named else None
    if own is not None and _is_ancestor(clone, sha, of_ci):
        names.add(own.value)
    refs = (name for name in clone.names_at(sha) if not matches_branch(name, merge_branches))
    for some in (names, fetched, refs):
        if (first := _first(some, merge_branches, own)) is not None:
            return Sourced(first, GIT)
    takes_merges = own is None or matches_branch(own.value, merge_branches)
    if own is not None and not takes_merges and _is_ancestor(clone, of_ci, sha):
        return own  # the CI's commit, with something on top that was made here
    return Sourced(f"{DETACHED}{short(sha)}", GIT)


def _first(
    names: Iterable[str], merge_branches: Sequence[str], own: Sourced[str] | None
) -> str | None:
    def rank(name: str) -> tuple[bool, bool, str]:
        return not matches_branch(name, merge_branches), own is None or name != own.value, name

    return min(names, key=rank, default=None)


def _is_ancestor(clone: Repository, earlier: str | None, later: str | None) -> bool:
    """Return whether a commit comes before another one; not if one of them is not known."""
    if earlier is None or later is None:
        return False
    with suppress(GitError):  # the clone lacks it
        return clone.is_ancestor(earlier, later)
    return False


def _fetched(
    sha: str, named: Mapping[str, Sourced[Any]], clone: Repository, merge_branches: Sequence[str]
) -> Iterator[str]:
    """Yield the names under which a commit was fetched last. Those of a fork bear its owner's name;
    a merge branch is one of the clone's remote, or of the CI's repository.
    """
    repo_key = named.get("repo_key")
    ours = {slug(clone.remote_url() or ""), repo_key.value if repo_key else None}
    for name, address in clone.fetched(sha):
        branch = _of(_fork(address, repo_key), name)
        if slug(address) in ours or not matches_branch(branch, merge_branches):
            yield branch


# Whose repository it is


def same_name(name: str, other: str) -> bool:
    """Return whether two repositories may be one, or forks of one: their last names are equal."""
    return _last(name) == _last(other)


def _last(name: str) -> str:
    return name.rpartition("/")[2].lower()


def _fork(address: str | None, repo_key: Sourced[str] | None) -> str | None:
    """Return the owner of a repository that is a fork of the one that the CI names; None if it is
    none. A server below a path has that before each name.
    """
    name, ours = slug(address or "") or "", repo_key.value if repo_key else ""
    if "/" not in name or "/" not in ours or not same_name(name, ours):
        return None
    theirs, own = f"/{name.lower()}", f"/{ours.lower()}"
    return None if theirs.endswith(own) or own.endswith(theirs) else name.rpartition("/")[0]


def _of(owner: str | None, branch: str) -> str:
    return branch if owner is None else f"{owner}:{branch}"
