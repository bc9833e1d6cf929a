# SPDX-License-Identifier: Apache-2.0
"""What this bench remembers, asked for a job before its report is kept: the runs of its series, the
run id that it has beside other jobs, and which report of other tests it would replace. What is
remembered is decided in `hwci.client.store.memory`.

A CI may have one number for all jobs of a build: two of them on one box would replace each other's
reports (spec, "Run report"). The first that comes to a box keeps the number, each other one gets a
run id of its own; a further attempt has that of the first (contract, "Run ids").
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hwci.ci.fields import in_order
from hwci.ci.job import Job, Sourced, job_run_id
from hwci.client.store import JobOfBuild, PastRuns, RunSeries, bench_store
from hwci.wire.reports import RunReport


def series_of(job: Job) -> RunSeries | None:
    """Return the run series of a job; None if its parts are not all known."""
    suite = job.product()
    names = [job.value(name) for name in ("repo_key", "workflow", "branch")]
    names.append(suite.value if suite else None)
    return RunSeries(*names) if all(names) else None


def past_runs(job: Job) -> PastRuns:
    """Return what this bench remembers now of the run series of a job."""
    store = bench_store(job.environ)
    return PastRuns() if store is None else store.past_runs(series_of(job))


def set_apart(job: Job, boxes: Iterable[str], *, claim: bool) -> Job:
    """Return the job with the run id that it has on the boxes that it reports. `claim`: the bench
    remembers it.
    """
    repo_key, run_id = job.fields.get("repo_key"), job.fields.get("run_id")
    store = bench_store(job.environ)
    if store is None or job.name is None or not (repo_key and run_id):
        return job
    known = JobOfBuild(repo_key.value, tuple(boxes), run_id.value, job.name)
    own = store.run_id_of(known, job_run_id(run_id.value, job.name), claim=claim)
    if own == run_id.value:
        return job
    of_job = Sourced(own, f"{run_id.source} and the job")
    return replace(job, fields=in_order({"ci_run": run_id, **job.fields, "run_id": of_job}))


def replaced(reports: Sequence[RunReport], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return warnings of reports that replace those of other tests, or of the same tests at another
    time or commit: most likely another job's, or old results.
    """
    store = bench_store(environ)
    return tuple(
        f"The report of {report.box_key} replaces {other}: same run {report.run_id}, attempt "
        f"{report.run_attempt} and box. If the tests did not run again since, run them. If they are"
        " of two jobs, set HWCI_RUN_ID to a number of its"
        " own for each, the same in every attempt; in a matrix of GitHub, under `env:` of the job: "
        "`HWCI_RUN_ID: ${{ github.run_id }}${{ strategy.job-index }}`"
        for report in reports
        if store is not None and (other := store.replaced(report)) is not None
    )
