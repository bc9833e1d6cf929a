# SPDX-License-Identifier: Apache-2.0
"""Which commit was tested: what is checked out, whatever started the job (contract, "Fields of a
report").

A CI's variables name what started the job: a comment on a pull request, a schedule or a dispatch
names the default branch, and the job may then check out another commit. This module decides which
fields of the CI hold for what is checked out. How they are read, it does not know.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hwci.ci.git.repository import GitError, Repository
from hwci.ci.job import GIT, Notice, Sourced, matches_branch
from hwci.ci.systems.system import slug
from hwci.engine.vocabulary import Trigger
from hwci.said import short

Fields = Mapping[str, Sourced[Any]]

OF_THE_PUSH = frozenset({"merged_at", "before_sha", "pushed_shas", "queued", "batched"})
"""What a CI knows of a push. It holds for the commit of the push only."""
OF_ITS_COMMIT = OF_THE_PUSH | {"previous_sha", "succeeded_sha"}
DETACHED = "detached"
"""The branch of a commit that is on none, as far as git knows."""
FIRMWARE_FIX = (
    "Name the folder of the firmware in hwci.toml:"
    ' [firmware] checkout = "../fw", or "." if it is here'
)
NAME_FIX = "If another commit was tested, name it: --sha (HWCI_SHA)"


@dataclass(frozen=True, slots=True)
class Tested:
    """The fields of the CI, as far as they hold for what was tested. `notice`: what people should
    know, None for nothing.
    """

    fields: Fields
    notice: Notice | None = None


def as_checked_out(
    named: Fields,
    built: Collection[str],
    checkout: Repository | None,
    merge_branches: Sequence[str],
    *,
    of_firmware: bool = False,
) -> Tested:
    """Return the fields that a CI names, as they hold for what is checked out. `built`: the commits
    that the CI checks out by itself in place of the one that it names, such as the merge of a pull
    request. `of_firmware`: the project says that the checkout is that of the firmware.
    """
    sha = named.get("sha")
    if checkout is None or sha is None:
        return Tested(named)
    head = checkout.head()
    if head is None:
        what = f"no commit is checked out here, so that of {sha.source} counts"
        return Tested(named, Notice(what, NAME_FIX))
    if head in {sha.value, *built}:
        return Tested(named)
    return _other(named, head, checkout, merge_branches, of_firmware=of_firmware)


def _other(
    named: Fields,
    head: str,
    checkout: Repository,
    merge_branches: Sequence[str],
    *,
    of_firmware: bool,
) -> Tested:
    """Return the fields where another commit is checked out than the one that the CI names."""
    sha = named["sha"]
    fields = {name: value for name, value in named.items() if name not in OF_ITS_COMMIT}
    fields["sha"] = Sourced(head, f"{GIT}: what is checked out")
    apart = checkout.commit(sha.value) is None
    where, repository = "", _repository(named.get("repo_key"), checkout)
    if repository is not None and (of_firmware or apart):
        fields["repo_key"] = repository
        where = f" of {repository.value}"
    branch = _branch(checkout, head, named, merge_branches, apart=apart)
    fields["branch"] = branch
    on_merge_branch = matches_branch(branch.value, merge_branches)
    trigger = named.get("trigger")
    if trigger is not None and trigger.value is Trigger.MERGE and (apart or not on_merge_branch):
        fields["trigger"] = Sourced(Trigger.MANUAL, trigger.source)
    if of_firmware:
        return Tested(fields)
    what = (
        f"{sha.source} names {short(sha.value)}, but {short(head)}{where} is checked out, on"
        f" {branch.value}: that commit is reported"
    )
    return Tested(fields, Notice(what, NAME_FIX))


def _repository(named: Sourced[str] | None, checkout: Repository) -> Sourced[str] | None:
    """Return the repository that is checked out, None if the CI names it, or a fork of it."""
    name = slug(checkout.remote_url() or "")
    if name is None or (named is not None and same_name(name, named.value)):
        return None
    return Sourced(name, GIT)


def same_name(one: str, other: str) -> bool:
    """Return whether two repositories may be one, or forks of one: their last names are equal."""
    return _last(one) == _last(other)


def _last(name: str) -> str:
    return name.rpartition("/")[2].lower()


def _branch(
    checkout: Repository,
    head: str,
    named: Fields,
    merge_branches: Sequence[str],
    *,
    apart: bool,
) -> Sourced[str]:
    """Return the branch of what is checked out: the one that git is on, else one that holds the
    commit, a merge branch before the CI's own, and that before others. What was put on a merge
    branch here alone, as by `git merge`, is not on it.
    """
    on, branches = checkout.branch(), checkout.branches_with(head)
    if on is not None and (on in branches or not matches_branch(on, merge_branches)):
        return Sourced(on, GIT)
    own = None if apart else named.get("branch")
    if own is not None and own.value not in branches and _leads_to(checkout, head, named):
        branches = [own.value, *branches]
    first = _first(branches, merge_branches, own.value if own else None)
    return Sourced(DETACHED if first is None else first, GIT)


def _first(branches: Iterable[str], merge_branches: Sequence[str], own: str | None) -> str | None:
    def rank(name: str) -> tuple[bool, bool, str]:
        return not matches_branch(name, merge_branches), name != own, name

    return min(branches, key=rank, default=None)


def _leads_to(checkout: Repository, head: str, named: Fields) -> bool:
    """Return whether the commit that the CI names comes after the one that is checked out."""
    with suppress(GitError):
        return checkout.is_ancestor(head, named["sha"].value)
    return False


def of_tests(repo_key: Sourced[str] | None, checkout: Repository | None) -> Notice | None:
    """Return a notice if a person names another repository than the one that is checked out. The
    name of a folder, from which a clone was made, says nothing.
    """
    name = slug((checkout and checkout.remote_url()) or "") or ""
    if repo_key is None or "/" not in name or same_name(name, repo_key.value):
        return None
    what = (
        f"{repo_key.source} says {repo_key.value}, but {name} is checked out: commit and changes"
        f" are those of {name}"
    )
    return Notice(what, FIRMWARE_FIX)
