# SPDX-License-Identifier: Apache-2.0
"""What a run has under test: its changes and the commits that it covers, the same for each of its
boxes and attempts (spec, "Run report"; semantics, 5.1).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hwci.ci.asking import Ask
from hwci.ci.base import STATE_FILE, find_base, lane_of
from hwci.ci.changes import PATIENCE_S, Deadline, collect, covered
from hwci.ci.git import Repository
from hwci.ci.job import Job
from hwci.ci.state import State
from hwci.ci.told import Told
from hwci.engine.vocabulary import Trigger
from hwci.wire import limits
from hwci.wire.reports import Changes


@dataclass(frozen=True, slots=True)
class UnderTest:
    """`changes` None: nothing can be said. `base`: who told it. `notes`: for people."""

    changes: Changes | None
    covers_shas: tuple[str, ...]
    base: Told[str | None]
    notes: tuple[str, ...] = ()


def under_test(
    job: Job, repository: Repository, state: State, ask: Ask, patience_s: float = PATIENCE_S
) -> UnderTest:
    """Find what a job has under test. The job knows its commit."""
    deadline = Deadline(patience_s)
    changes, base, notes = _changes(job, repository, state, ask, deadline)
    return UnderTest(changes, _covers(job, repository, base.value, deadline), base, notes)


def remember(state: State, job: Job, found: UnderTest, *, hello_ok: bool) -> None:
    """Keep that a job was reported, for its next attempts and the runs after it.

    Raises:
        StateError: it cannot be written.
    """
    lane, run_id, sha = lane_of(job), job.value("run_id"), job.value("sha")
    if lane is not None and run_id is not None and sha is not None:
        state.tested(lane, run_id, sha.lower(), hello_ok=hello_ok, changes=found.changes)


def _changes(
    job: Job, repository: Repository, state: State, ask: Ask, deadline: Deadline
) -> tuple[Changes | None, Told[str | None], tuple[str, ...]]:
    """Give the changes of a run: those of its first attempt, if this machine knows them."""
    lane, run_id, sha = lane_of(job), job.value("run_id"), job.value("sha").lower()
    if lane is not None and run_id is not None and "base_sha" not in job.fields:
        first = state.first_attempt(lane, run_id, sha)
        if first is not None:
            return first, Told(first.base_sha, STATE_FILE), ()
    base, notes = find_base(job, state, ask)
    collected = collect(repository, sha, base.value, deadline.left())
    if collected.changes is None and lane is not None:
        # A commit that was tested before has the changes that were under test then.
        earlier = state.first_changes(lane, sha)
        if earlier is not None:
            return earlier, Told(earlier.base_sha, STATE_FILE), notes
    return collected.changes, base, (*notes, *collected.notes)


def _covers(
    job: Job, repository: Repository, base: str | None, deadline: Deadline
) -> tuple[str, ...]:
    """Give the commits of the push: as told, by git, as the CI lists them; always the last one."""
    said = job.value("covers_shas")
    sha = job.value("sha").lower()
    if said is not None:
        return tuple(said)
    before = job.before_sha.value if job.before_sha else None
    if before is None and not job.pushed_shas and job.value("trigger") == Trigger.MERGE:
        before = base  # no CI says more: what was merged since is in the push that started this
    known = covered(repository, before, sha, deadline.left())
    return known if len(known) > 1 else _with_last(job.pushed_shas, sha)


def _with_last(shas: Sequence[str], last: str) -> tuple[str, ...]:
    listed = [sha for sha in dict.fromkeys(shas) if sha != last]
    return tuple([*listed, last][-limits.COVERS_MAX :])
