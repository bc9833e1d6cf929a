# SPDX-License-Identifier: Apache-2.0
"""Which commit was tested: what is checked out, whatever started the job (contract, "Fields of a
report").

A CI's variables name what started the job: a comment on a pull request, a schedule or a dispatch
names the default branch, and the job may then check out another commit. This module decides which
fields of the CI hold for what is checked out, or for the commit that a person names. How they are
read, it does not know, nor how a commit's branch is found.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hwci.ci.branch import branch_of, same_name
from hwci.ci.git.repository import Repository
from hwci.ci.job import GIT, Notice, Sourced, matches_branch
from hwci.ci.systems.system import slug
from hwci.contract.vocabulary import Trigger
from hwci.said import short

Fields = Mapping[str, Sourced[Any]]

OF_THE_PUSH = frozenset({"merged_at", "before_sha", "pushed_shas", "queued", "batched"})
"""What a CI knows of a push. It holds for the commit of the push only."""
OF_ITS_COMMIT = OF_THE_PUSH | {"previous_sha", "succeeded_sha"}
FIRMWARE_FIX = (
    "Name the folder of the firmware in hwci.toml:"
    ' [firmware] checkout = "../fw", or "." if it is here'
)
NAME_FIX = "If another commit was tested, name it: --sha (HWCI_SHA)"


@dataclass(frozen=True, slots=True)
class Checkout:
    """A clone, and what is known of it. `merger`: the committer of merges that the CI makes in it
    to test a pull request. `of_firmware`: the project says that it is that of the firmware.
    `chosen`: the commit that a person says was tested.
    """

    clone: Repository
    merger: str | None = None
    of_firmware: bool = False
    chosen: str | None = None

    def tested(self, head: str) -> str:
        """Return the commit that was tested where `head` is checked out."""
        if self.chosen is not None:
            return self.chosen
        return (self.merger and self.clone.merged_head(head, self.merger)) or head


@dataclass(frozen=True, slots=True)
class Tested:
    """The fields of the CI, as far as they hold for what was tested. `notice`: what people should
    know, None for nothing. `is_other`: the CI names another commit; `elsewhere`: one of another
    repository.
    """

    fields: Fields
    notice: Notice | None = None
    is_other: bool = False
    elsewhere: bool = False


def as_tested(
    named: Fields, built: Collection[str], checkout: Checkout, merge_branches: Sequence[str]
) -> Tested:
    """Return the fields that a CI names, as they hold for what was tested: what a person says, else
    what is checked out. `built`: the commits that the CI checks out by itself in place of the one
    that it names, such as the merge of a pull request.
    """
    clone, sha = checkout.clone, named.get("sha")
    head = checkout.chosen or clone.head()
    if head is None:
        if sha is None:
            return Tested(named)
        what = f"no commit is checked out here, so that of {sha.source} counts"
        return Tested(named, Notice(what, NAME_FIX))
    if sha is not None and head in {sha.value, *built}:
        return Tested(named)
    if sha is not None and (commit := clone.commit(sha.value)) is not None:
        sha = Sourced(commit, sha.source)  # of a tag that is an object, its commit
        named = {**named, "sha": sha}
    tested = checkout.tested(head)
    if sha is not None and not {head, tested}.isdisjoint({sha.value, *built}):
        return Tested(named)
    if clone.commit(tested) is None:
        return chosen_elsewhere(named, tested)
    if sha is None and _may_be_on(named.get("branch"), tested, clone, merge_branches):
        own = {} if tested == head else {"sha": Sourced(tested, f"{GIT}, its first parent")}
        return Tested({**named, **own})
    return _other(named, tested, checkout, merge_branches)


def chosen_elsewhere(named: Fields, chosen: str) -> Tested:
    """Return the fields where a person names a commit that no clone here has."""
    if "sha" in named and named["sha"].value == chosen:
        return Tested(named)
    fields = _without(named, OF_ITS_COMMIT)
    trigger = named.get("trigger")
    if trigger is not None and trigger.value is Trigger.MERGE:  # what was pushed is another commit
        fields["trigger"] = Sourced(Trigger.MANUAL, trigger.source)
    return Tested(fields, is_other=True)


def _without(fields: Fields, names: Collection[str]) -> dict[str, Sourced[Any]]:
    return {name: value for name, value in fields.items() if name not in names}


def _may_be_on(
    branch: Sourced[str] | None, sha: str, clone: Repository, merge_branches: Sequence[str]
) -> bool:
    """Return whether a commit may be on the branch that a CI names without a commit: not if that is
    a merge branch, and git knows it without the commit.
    """
    if branch is None or not matches_branch(branch.value, merge_branches):
        return True
    return branch.value not in clone.branches() - clone.branches(sha)


def _other(named: Fields, tested: str, checkout: Checkout, merge_branches: Sequence[str]) -> Tested:
    """Return the fields where another commit was tested than the one that the CI names."""
    clone, sha = checkout.clone, named.get("sha")
    apart = sha is not None and clone.commit(sha.value) is None
    repository = None
    if checkout.of_firmware or (apart and checkout.chosen is None):
        repository = _repository(named.get("repo_key"), clone)
    branch = branch_of(tested, named, clone, merge_branches)
    fields = _without(named, OF_ITS_COMMIT) | {"branch": branch}
    if checkout.chosen is None:
        fields["sha"] = Sourced(tested, f"{GIT}: what is checked out")
    if repository is not None:
        fields["repo_key"] = repository
    elsewhere = repository is not None or (checkout.of_firmware and apart)
    trigger, takes_merges = named.get("trigger"), matches_branch(branch.value, merge_branches)
    if trigger is not None and trigger.value is Trigger.MERGE and (elsewhere or not takes_merges):
        fields["trigger"] = Sourced(Trigger.MANUAL, trigger.source)
    notice = None
    if checkout.chosen is None and not checkout.of_firmware:
        notice = _notice(named, tested, branch, repository)
    return Tested(fields, notice, is_other=True, elsewhere=elsewhere)


def _notice(
    named: Fields, tested: str, branch: Sourced[str], repository: Sourced[str] | None
) -> Notice:
    """Return what to tell: both commits, or the branch that the CI names without one."""
    sha = named.get("sha")
    field = sha or named["branch"]
    source, name = field.source, short(field.value) if sha else field.value
    where = f" of {repository.value}" if repository else ""
    out = f"{short(tested)}{where} is checked out, on {branch.value}"
    return Notice(f"{source} names {name}, but {out}: that commit is reported", NAME_FIX)


def _repository(named: Sourced[str] | None, clone: Repository) -> Sourced[str] | None:
    """Return the repository that is checked out, None if the CI names it, or a fork of it."""
    name = slug(clone.remote_url() or "")
    if name is None or (named is not None and same_name(name, named.value)):
        return None
    return Sourced(name, GIT)


def of_tests(
    repo_key: Sourced[str], clone: Repository | None, by_ci: Sourced[str] | None
) -> Notice | None:
    """Return a notice if a person names another repository than the one that is checked out, or
    that the CI names where no clone tells. The name of a folder, from which a clone was made, says
    nothing.
    """
    name, what = slug((clone and clone.remote_url()) or "") or "", "is checked out"
    if "/" not in name and by_ci is not None:
        name, what = by_ci.value, f"is what {by_ci.source} names"
    if "/" not in name or same_name(name, repo_key.value):
        return None
    what = (
        f"{repo_key.source} says {repo_key.value}, but {name} {what}: commit and changes are those"
        f" of {name}"
    )
    return Notice(what, FIRMWARE_FIX)
