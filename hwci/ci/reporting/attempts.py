# SPDX-License-Identifier: Apache-2.0
"""Which attempt of a run this is where the CI counts none (contract, "Run ids").

Gitea, Forgejo and act have GitHub's variables, but no attempt, and numbers that repeat: a second
run would replace the first one, and with it a flake. So this bench counts. What it remembers is
decided in `hwci.client.store.memory`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from hwci.ci.fields import in_order
from hwci.ci.job import Job, Sourced, hashed_run_id
from hwci.client.store import BenchStore, PastRuns
from hwci.said import short
from hwci.wire.base import write_time
from hwci.wire.reports import RunReport

STORE = "runs remembered here"
FIX = "To count otherwise, set HWCI_RUN_ATTEMPT, or HWCI_RUN_ID"


def with_attempt(
    job: Job,
    past: PastRuns,
    store: BenchStore | None,
    started_at: datetime,
    reports_of: Callable[[Job], Sequence[RunReport]],
) -> tuple[Job, str | None]:
    """Return a job with its attempt as this bench counts, and a note for people; the job as it is
    if its CI counts. `reports_of`: the reports of such a job.
    """
    if job.counts_attempts:
        return job, None
    run_id, sha = job.fields["run_id"], str(job.value("sha")).lower()
    if store is None:
        words = f"{run_id.value} at {write_time(started_at)}"
        job = _named(job, words, f"{run_id.source} and the start")
        why = "nothing is remembered here, so this try is a run of its own"
        return job, f"{job.title} counts no attempts, and {why}. {FIX}"
    earlier = past.reported(run_id.value)
    if earlier is not None and earlier.sha != sha:
        job = _named(job, f"{run_id.value} of {sha}", f"{run_id.source} and the commit")
    attempt = 1
    while any(store.replaced(report, results=True) for report in reports_of(_tried(job, attempt))):
        attempt += 1
    if attempt == 1 and job.value("run_id") == run_id.value:
        return job, None
    of_commit = f"{short(sha)}: run {run_id.value} was of another commit before"
    what = f"attempt {attempt}" if job.value("run_id") == run_id.value else f"a run of {of_commit}"
    return _tried(job, attempt), f"{job.title} counts no attempts: this is {what}. {FIX}"


def _tried(job: Job, attempt: int) -> Job:
    return replace(job, fields=in_order({**job.fields, "run_attempt": Sourced(attempt, STORE)}))


def _named(job: Job, words: str, source: str) -> Job:
    """Return a job with a run id made of words, and the CI's number beside it."""
    own = Sourced(hashed_run_id(words), source)
    fields = {"ci_run": job.fields["run_id"], **job.fields, "run_id": own}
    return replace(job, fields=in_order(fields))
