# SPDX-License-Identifier: Apache-2.0
"""Run ids of jobs whose CI has one number for all jobs of a build: two of them on one box would
replace each other's reports (spec, "Run report"). The first that comes to a box keeps the number,
each other one gets a run id of its own; a further attempt has that of the first (contract, "Run
ids"). What a bench remembers is decided in `hwci.client.store.memory`.
"""

from collections.abc import Iterable
from dataclasses import replace

from hwci.ci.fields import in_order
from hwci.ci.job import Job, Sourced, job_run_id
from hwci.client.store import JobOfBuild, bench_store


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
