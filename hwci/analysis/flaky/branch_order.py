# SPDX-License-Identifier: Apache-2.0
"""The commits of a branch in order, with those that no run tested, and what each changed.

This module decides the order from places and lists of changes. It knows no test and no box.
"""

from collections.abc import Collection, Mapping, Sequence

from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.flaky.suspects import BranchCommit
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.vocabulary import CommitKind, FileKind
from hwci.engine.facts import Product
from hwci.engine.history import Place
from hwci.engine.rules.changes import ProductFiles, last_place, product_files

COMMITS_MAX = 500
"""The newest tested commits of a branch; what was before them is before the period."""
_LISTS_MAX = 20
"""So many lists one after the other are followed back to a commit that ran."""


def branch_order(
    history: RecordedRuns, product: Product, branch: str, shas: set[str]
) -> list[BranchCommit] | None:
    """Return the commits of a branch that ran, by their places, each after those that were listed
    since the one before and did not run themselves. The first list with a commit may be of a run of
    another product, which began later, so its base is followed back. A commit appears once,
    wherever else lists name it. None: by what was listed, commits come before one another in a
    circle, as rebases may say.
    """
    [placed] = history.places({(product.repo_key, branch): shas}).values()
    places = sorted(placed.values())[-COMMITS_MAX:]
    newest, oldest = [place.sha for place in places], places[0].sha if places else ""
    listings = history.listings_back(product.repo_key, newest, _LISTS_MAX - 1, oldest)
    if _in_a_circle(listings):
        return None
    config = history.config(product)
    files = None if config is None else product_files(config, history.check_time)
    order: dict[str, BranchCommit] = {}
    tested = {place.sha for place in places}
    for place in places:
        changes = listings.get(place.sha)
        between = _listed_before(changes, listings, order)
        listed = changes.commits[: last_place(changes.commits, place.sha) + 1] if changes else ()
        for commit in (*between, *listed[:-1]):
            if commit.sha not in tested:
                order.setdefault(commit.sha, _ordered(commit, files, place))
        whole = changes is not None and not changes.truncated and changes.base_sha in order
        own = listed[-1] if listed else Commit(place.sha, files_truncated=True)
        order[place.sha] = _ordered(own, files if whole else None, place)
    return list(order.values())


def _listed_before(
    changes: ChangeList | None, listings: Mapping[str, ChangeList], order: Collection[str]
) -> Sequence[Commit]:
    """Return the commits of the lists that lead from one whose base is in no list so far to a
    commit that is; none if they do not.
    """
    commits: list[Commit] = []
    for _ in range(_LISTS_MAX):
        base = None if changes is None else changes.base_sha
        if base is None or base in order:
            return commits if base else ()
        changes = listings.get(base)
        if changes is not None:
            commits[:0] = changes.commits[: last_place(changes.commits, base) + 1]
    return ()


def _in_a_circle(listings: Mapping[str, ChangeList]) -> bool:
    """Whether bases lead from a commit back to itself."""
    bases = {sha: changes.base_sha for sha, changes in listings.items() if changes.base_sha != sha}
    while bases:
        sha, base = bases.popitem()
        followed: set[str | None] = {sha}
        while base in bases:
            followed.add(base)
            base = bases.pop(base)
        if base in followed:
            return True
    return False


def _ordered(commit: Commit, files: ProductFiles | None, place: Place) -> BranchCommit:
    return BranchCommit(
        sha=commit.sha,
        subject=commit.subject,
        kind=commit_kind(commit, files),
        seen_at=place.started_at,
    )


def commit_kind(commit: Commit, files: ProductFiles | None) -> CommitKind:
    """Return what a commit changed. A list that was cut short never proves what is not in it."""
    if files is None:
        return CommitKind.UNKNOWN
    kinds = {files.kind(path) for path in commit.files}
    firmware = bool(kinds & {FileKind.FIRMWARE, FileKind.BOTH})
    harness = bool(kinds & {FileKind.HARNESS, FileKind.BOTH})
    if firmware and harness:
        return CommitKind.BOTH
    if commit.files_truncated:
        return CommitKind.UNKNOWN
    if firmware:
        return CommitKind.FIRMWARE
    return CommitKind.HARNESS if harness else CommitKind.OTHER
