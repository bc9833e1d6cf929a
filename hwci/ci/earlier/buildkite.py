# SPDX-License-Identifier: Apache-2.0
"""Earlier builds of a Buildkite pipeline. Each is listed with its jobs, its retried ones too.

A job is that of the same step: by its key, label and place among parallel ones, as in run ids.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from urllib.parse import quote

from hwci.ci.earlier.answers import Row, listed, number_of, pages
from hwci.ci.earlier.runs import EarlierRun, Ending, JobOfRun, ThisJob
from hwci.ci.job import Job
from hwci.ci.systems.api import GetJson
from hwci.ci.systems.buildkite import run_id_of, step_of

ADDRESS = "https://api.buildkite.com/v2/organizations"

_ENDINGS = {
    "passed": Ending.TESTED,
    "failed": Ending.IN_DOUBT,
    "timed_out": Ending.IN_DOUBT,
}
"""By the state of a job. One of any other never began, or goes on."""


def runs(job: Job, token: str, get_json: GetJson) -> Iterator[EarlierRun]:
    """Give the builds before the one of a job, the newest first."""
    environ = job.environ
    organization, pipeline = (
        quote(environ[name], "")
        for name in ("BUILDKITE_ORGANIZATION_SLUG", "BUILDKITE_PIPELINE_SLUG")
    )
    address = f"{ADDRESS}/{organization}/pipelines/{pipeline}/builds"
    wanted = {"branch": str(job.value("branch")), "include_retried_jobs": "true"}
    headers = {"Authorization": f"Bearer {token}"}
    own, this = int(environ["BUILDKITE_BUILD_NUMBER"]), ThisJob(step_of(environ) or None)
    for row in pages(get_json, address, wanted, headers):
        number = number_of(row, "number")
        jobs = _jobs(listed(row, address, "jobs"), environ)
        if number == own and this.name is not None:
            this = ThisJob(this.name, frozenset(it.name for it in jobs) - {this.name})
        if number < own:
            run_id = run_id_of(str(row.get("id")), environ)
            look = partial(this.ending, jobs)
            yield EarlierRun(f"build {number}", (run_id,), str(row.get("commit")), look)


def _jobs(rows: list[Row], environ: Mapping[str, str]) -> list[JobOfRun]:
    """Read the jobs that may be of this step: a key names it, whatever its label says."""
    key = environ.get("BUILDKITE_STEP_KEY", "").strip()
    jobs = []
    for row in rows:
        if row.get("type") == "script" and (not key or row.get("step_key") == key):
            words = {
                "BUILDKITE_STEP_KEY": row.get("step_key"),
                "BUILDKITE_LABEL": row.get("name"),
                "BUILDKITE_PARALLEL_JOB": row.get("parallel_group_index"),
            }
            told = {name: str(word) for name, word in words.items() if word is not None}
            jobs.append(JobOfRun(step_of(told), _ending(row)))
    return jobs


def _ending(row: Row) -> Ending:
    if row.get("state") == "canceled" and row.get("started_at"):
        return Ending.IN_DOUBT
    return _ENDINGS.get(str(row.get("state")), Ending.NOT_TESTED)
