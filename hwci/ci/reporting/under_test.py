# SPDX-License-Identifier: Apache-2.0
"""What a run has under test: its changes and the commits that it covers, the same for each of its
boxes and attempts (spec, "Run report"; semantics, 5.1). This module asks what this bench remembers
of the runs before it, and git; what is remembered is decided in `hwci.client.store.memory`.

A CI may have one number for all jobs of a build: two of them on one box would replace each other's
reports (spec, "Run report"). The first that comes to a box keeps the number, each other one gets a
run id of its own; a further attempt has that of the first (contract, "Run ids").
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hwci.ci.fields import in_order
from hwci.ci.git.changes import collect, covered
from hwci.ci.git.repository import PATIENCE_S, Deadline, Repository
from hwci.ci.job import Job, Sourced, job_run_id
from hwci.ci.reporting.base import NOBODY, RUN_KEPT_HERE, find_base
from hwci.ci.reporting.push import covers_less, stood_before
from hwci.ci.systems.api import GetJson, for_one_report
from hwci.client.store import BenchStore, JobOfBuild, PastRuns, RunSeries
from hwci.contract.vocabulary import Trigger
from hwci.said import short
from hwci.wire import limits
from hwci.wire.reports import Changes


def series_of(job: Job) -> RunSeries | None:
    """Return the run series of a job; None if its parts are not all known."""
    suite = job.product()
    names = [job.value(name) for name in ("repo_key", "workflow", "branch")]
    names.append(suite.value if suite else None)
    return RunSeries(*names) if all(names) else None


def remembered(
    job: Job, boxes: Iterable[str], store: BenchStore | None, *, claim: bool = False
) -> tuple[Job, PastRuns]:
    """Return a job with the run id that it has on the boxes that it reports, and what this bench
    knows now of its run series. `claim`: the bench remembers the run id.
    """
    if store is None:
        return job, PastRuns()
    repo_key, run_id = job.fields.get("repo_key"), job.fields.get("run_id")
    if job.name is None or not (repo_key and run_id):
        return job, store.recall(series_of(job)).past
    own = job_run_id(run_id.value, job.name)
    build = JobOfBuild(repo_key.value, tuple(boxes), run_id.value, job.name, own)
    known = store.recall(series_of(job), build, claim=claim)
    if known.run_id == run_id.value:
        return job, known.past
    of_job = Sourced(known.run_id, f"{run_id.source} and the job")
    fields = in_order({"ci_run": run_id, **job.fields, "run_id": of_job})
    return replace(job, fields=fields), known.past


@dataclass(frozen=True, slots=True)
class UnderTest:
    """`changes` None: nothing is known. `notes`: for people."""

    changes: Changes | None
    covers_shas: tuple[str, ...]
    base: Sourced[str | None]
    notes: tuple[str, ...] = ()


def given(job: Job, changes: Changes | None = None) -> UnderTest:
    """Return what is known without git."""
    covers = job.value("covers_shas") or job.pushed_shas
    return UnderTest(changes, tuple(covers), Sourced(None, NOBODY))


def under_test(job: Job, repository: Repository, past: PastRuns, get_json: GetJson) -> UnderTest:
    """Find what a job has under test. The job knows its commit."""
    deadline, get_json = Deadline(PATIENCE_S), for_one_report(get_json)
    changes, base, notes = _changes(job, repository, past, get_json, deadline)
    covers, more = _covers(job, repository, get_json, deadline)
    return UnderTest(changes, covers, base, (*notes, *more))


def base_of(
    job: Job, past: PastRuns, get_json: GetJson
) -> tuple[Sourced[str | None], tuple[str, ...]]:
    """Return the base of a report of a job, and notes for people."""
    first, get_json = _first_attempt(job, past), for_one_report(get_json)
    return (
        find_base(job, past, get_json)
        if first is None
        else (Sourced(first.base_sha, RUN_KEPT_HERE), ())
    )


def _first_attempt(job: Job, past: PastRuns) -> Changes | None:
    """Return what the first attempt of a run reported, if this machine knows it and no person set
    more.
    """
    run_id, sha = job.value("run_id"), job.value("sha")
    if run_id is None or sha is None or "base_sha" in job.fields:
        return None
    return past.first_attempt(run_id, sha.lower())


def _changes(
    job: Job, repository: Repository, past: PastRuns, get_json: GetJson, deadline: Deadline
) -> tuple[Changes | None, Sourced[str | None], tuple[str, ...]]:
    """Return the changes of a run: those of its first attempt, if this machine knows them."""
    first = _first_attempt(job, past)
    if first is not None:
        return first, Sourced(first.base_sha, RUN_KEPT_HERE), ()
    sha = job.value("sha").lower()
    base, notes = find_base(job, past, get_json)
    collected = collect(repository, sha, base.value, deadline.left())
    if collected.changes is None:
        # A commit that was tested before has the changes that were under test then.
        earlier = past.first_changes(sha)
        if earlier is not None:
            return earlier, Sourced(earlier.base_sha, RUN_KEPT_HERE), notes
    return collected.changes, base, (*notes, *collected.notes)


def _covers(
    job: Job, repository: Repository, get_json: GetJson, deadline: Deadline
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the commits of the push, as set, by git or as the CI lists them, always with the last
    one; and notes for people.
    """
    named = job.value("covers_shas")
    sha = job.value("sha").lower()
    if named is not None:
        return tuple(named), ()
    before = stood_before(job, get_json)
    if before.commit is None:
        return _with_last(job.pushed_shas, sha), before.notes
    known = covered(repository, before.commit, sha, deadline.left(), before.built)
    if known is not None:
        return known, before.notes
    if job.pushed_shas or job.value("trigger") != Trigger.MERGE:
        return _with_last(job.pushed_shas, sha), before.notes
    why = f"what came after {short(before.commit)} is not in this clone, nor to be had"
    return (sha,), (*before.notes, *covers_less(job, why))


def _with_last(shas: Sequence[str], last: str) -> tuple[str, ...]:
    listed = [sha for sha in dict.fromkeys(shas) if sha != last]
    return tuple([*listed, last][-limits.COVERS_MAX :])
