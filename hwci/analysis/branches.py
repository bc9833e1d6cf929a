# SPDX-License-Identifier: Apache-2.0
"""Of which branches runs count that an answer is made of: all, the default branch of each
repository, all others, or those of a name or pattern. This module decides which branch is the
default one. It does not know what is counted.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime

from hwci.analysis.outcomes import Branches, RecordedRuns
from hwci.contract.vocabulary import BranchChoice
from hwci.engine.history import History, Scope
from hwci.engine.periods import Period
from hwci.engine.starred import matcher

Merges = Mapping[str, Mapping[str, datetime]]
"""Merges of a repository by branch, that with most first: their commits, and when they merged."""


def branches_of(
    history: RecordedRuns, scope: Scope, period: Period, choice: str | None
) -> Branches | None:
    """Return the branches that a choice means: one of `BranchChoice`, else a name, or a pattern in
    which `*` stands for any characters. None: all of them.
    """
    if choice is None:
        return None
    if choice not in [*BranchChoice]:
        fits = matcher(choice)
        return lambda _, branch: fits(branch)
    defaults, wanted = default_branches(history, scope, period), choice == BranchChoice.DEFAULT
    return lambda repo_key, branch: (defaults.get(repo_key) == branch) is wanted


def default_branches(history: RecordedRuns, scope: Scope, period: Period) -> Mapping[str, str]:
    """Return the branch of each repository to which most of its merges of the period went; of one
    without any, that which ran most.
    """
    around = Scope(scope.repo_key)
    merges = merges_by_branch(history, around, period)
    defaults = {repo_key: next(iter(branches)) for repo_key, branches in merges.items()}
    ran = {product.repo_key for product, *_ in history.products() if around.holds(*product)}
    for repo_key in ran - defaults.keys():
        runs = Counter(
            run.branch
            for product in history.outcomes(Scope(repo_key), period)
            for run in product.runs
            if run.hello_ok
        )
        if runs:
            defaults[repo_key] = min(runs, key=lambda branch: (-runs[branch], branch))
    return defaults


def merges_by_branch(history: History, scope: Scope, period: Period) -> Mapping[str, Merges]:
    """Return the merges of a period by repository."""
    by_repo: dict[str, dict[str, dict[str, datetime]]] = defaultdict(lambda: defaultdict(dict))
    for merge, _ in history.merges(scope, period):
        by_repo[merge.repo_key][merge.branch][merge.sha] = merge.merged_at
    return {
        repo: dict(sorted(branches.items(), key=lambda branch: (-len(branch[1]), branch[0])))
        for repo, branches in by_repo.items()
    }
