# SPDX-License-Identifier: Apache-2.0
"""What the change of a commit is: which commits it has, from where on the base branch it began, and
which runs are of it and which tell how it was before.

Reports carry lists of commits, not a graph, so the lists of runs are followed back from the commit
until one begins at a commit of the base branch. This module knows no test.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hwci.analysis.failures.since_pass import STEPS_MAX
from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns, RunOutcomes
from hwci.contract.runs.commits import ChangeList
from hwci.engine.history import Place, Scope
from hwci.engine.periods import Period
from hwci.engine.rules.changes import last_place


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a commit. `base_branch`: what it is compared with. `branches`: those that are
    of the change alone. `commits`: its own, as far as they are known. `places`: those of commits
    of the base branch; `fork`: that from which the change began, None if no list tells. It first
    ran at `began`.
    """

    sha: str
    base_branch: str
    branches: Collection[str]
    commits: Collection[str]
    places: Mapping[str, Place]
    fork: Place | None
    began: datetime

    def is_of(self, run: RunOutcomes) -> bool:
        """Whether a run has some of the change: none of these tells how it was before."""
        return run.sha in self.commits or run.branch in self.branches

    def is_on_base(self, run: RunOutcomes) -> bool:
        """Whether a run is of a commit of the base branch that is none of the change."""
        return run.sha in self.places and not self.is_of(run)

    def is_below(self, run: RunOutcomes) -> bool:
        """Whether it is of one from which the change began. If that is not known, it is one that
        ran before the change.
        """
        if self.fork is None:
            return self.is_earlier(run)
        return self.is_on_base(run) and self.places[run.sha] <= self.fork

    def is_earlier(self, run: RunOutcomes) -> bool:
        """Whether it ran before the change, on a commit that cannot have it."""
        own, earlier = self.places.get(self.sha), run.started_at < self.began
        return earlier and self.is_on_base(run) and (own is None or self.places[run.sha] < own)


def base_branch_of(history: RecordedRuns, scope: Scope, period: Period) -> str | None:
    """Return the branch to which most merges went; without any, that which ran most. None: there is
    neither.
    """
    merges = Counter(merge.branch for merge, _ in history.merges(scope, period))
    ran = Counter(
        run.branch
        for product in history.outcomes(scope, period)
        for run in product.runs
        if run.hello_ok
    )
    branches = merges or ran
    return min(branches, key=lambda branch: (-branches[branch], branch), default=None)


def change_of(
    history: RecordedRuns,
    repo_key: str,
    sha: str,
    base_branch: str,
    products: Sequence[ProductOutcomes],
) -> Change:
    """Return the change of a commit with a run of one of these products."""
    runs = [run for product in products for run in product.runs]
    own = sorted((run for run in runs if run.sha == sha), key=lambda run: run.started_at)
    branch = repo_key, base_branch
    places = history.places({branch: {run.sha for run in runs}})[branch]
    commits, fork = _walked(history, repo_key, base_branch, own)
    return Change(
        sha=sha,
        base_branch=base_branch,
        branches={run.branch for run in own} - {base_branch},
        commits={sha, *commits},
        places=places,
        fork=fork,
        began=own[0].started_at,
    )


def _walked(
    history: RecordedRuns, repo_key: str, base_branch: str, runs: Sequence[RunOutcomes]
) -> tuple[Collection[str], Place | None]:
    """Return the commits that lists lead over from these runs of a commit back to one of the base
    branch, and the place of that; None: they lead to none.
    """
    sha = runs[0].sha
    own = history.place(repo_key, base_branch, sha)
    changes = _sent(history, repo_key, runs)
    listed = () if changes is None else changes.commits
    commits: dict[str, None] = {}
    for _ in range(STEPS_MAX):
        history.check_time()
        commits.update(dict.fromkeys(commit.sha for commit in listed))
        base = None if changes is None else changes.base_sha
        if base is None or base == sha:
            break
        place = history.place(repo_key, base_branch, base)
        if place is not None and base not in commits and (own is None or place < own):
            return commits, place
        commits[base] = None
        changes = history.first_listing(repo_key, [base]).get(base)
        if changes is not None:
            listed = changes.commits[: last_place(changes.commits, base) + 1]
    return commits, None


def _sent(history: RecordedRuns, repo_key: str, runs: Sequence[RunOutcomes]) -> ChangeList | None:
    """Return the changes of the first of these runs that sent any with a base."""
    for workflow, branch, sha in dict.fromkeys((run.workflow, run.branch, run.sha) for run in runs):
        sent = history.changes_under_test(repo_key, workflow, branch, sha)
        if sent is not None and sent.changes.base_sha not in {None, sha}:
            return sent.changes
    return None
