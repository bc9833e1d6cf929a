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
from hwci.ci.reporting.under_test import series_of
from hwci.client.store import BenchStore
from hwci.client.store.lifetime import CHOSEN, outlives_job
from hwci.said import short
from hwci.wire.base import write_time
from hwci.wire.reports import RunReport

STORE = "runs remembered here"
FIX = "To count otherwise, set HWCI_RUN_ATTEMPT, or HWCI_RUN_ID"
KEEP_FIX = "Set HWCI_STATE_DIR to a folder that outlives the job, or HWCI_RUN_ATTEMPT"


def with_attempt(
    job: Job,
    store: BenchStore | None,
    started_at: datetime,
    reports_of: Callable[[Job], Sequence[RunReport]],
) -> tuple[Job, str | None]:
    """Return a job with its attempt as this bench counts, and a note for people; the job as it is
    if its CI counts. `reports_of`: the reports of such a job.
    """
    if job.counts_attempts:
        return job, None
    if store is None or not store.keeps():
        return _alone(job, started_at, "nothing is remembered here")
    run_id, sha = job.fields["run_id"], str(job.value("sha")).lower()
    first = store.first_run(run_id.value)
    if first is None and not _lasts(store, job):
        return _alone(job, started_at, "this machine ends with the job")
    job, other = _apart(job, first, sha)
    attempt = 1
    while any(store.replaced(report, results=True) for report in reports_of(_tried(job, attempt))):
        attempt += 1
    if attempt == 1 and other is None:
        return job, None
    what = f"attempt {attempt}"
    if other is not None:
        before = f"run {run_id.value} was of another {other} before"
        what = f"{what} of a run of its own on {short(sha)}: {before}"
    return _tried(job, attempt), f"The CI counts no attempts: this is {what}. {FIX}"


def _apart(job: Job, first: tuple[str, str] | None, sha: str) -> tuple[Job, str | None]:
    """Return a job with a run id of its own, and what was another, if the first run of its number
    was of another commit or series.
    """
    series = _series(job)
    if first is None or first == (series, sha):
        return job, None
    run_id = job.fields["run_id"]
    words, other = f"{run_id.value} of {sha}", "commit"
    if first[0] != series:
        words, other = f"{words} in {series}", "branch or workflow"
    return _named(job, words, f"{run_id.source} and the {other}"), other


def _alone(job: Job, started_at: datetime, why: str) -> tuple[Job, str]:
    """Return a job whose try is a run of its own, and a note for people."""
    run_id = job.fields["run_id"]
    words = f"{run_id.value} at {write_time(started_at)}"
    job = _named(job, words, f"{run_id.source} and the start")
    what = f"{why}, so this try is a run of its own"
    return job, f"The CI counts no attempts, and {what}. {KEEP_FIX}"


def _lasts(store: BenchStore, job: Job) -> bool:
    """Return whether the next job finds what is remembered, which a person decides by a folder."""
    return any(map(job.environ.get, CHOSEN)) or outlives_job(store.folder, job.environ)


def _series(job: Job) -> str:
    series = series_of(job)
    return "" if series is None else series.digest


def _tried(job: Job, attempt: int) -> Job:
    return replace(job, fields=in_order({**job.fields, "run_attempt": Sourced(attempt, STORE)}))


def _named(job: Job, words: str, source: str) -> Job:
    """Return a job with a run id made of words, and the CI's number beside it."""
    own = Sourced(hashed_run_id(words), source)
    fields = {"ci_run": job.fields["run_id"], **job.fields, "run_id": own}
    return replace(job, fields=in_order(fields))
