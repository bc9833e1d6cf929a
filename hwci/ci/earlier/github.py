# SPDX-License-Identifier: Apache-2.0
"""Earlier runs of a GitHub workflow, and the jobs of each, of all its attempts. What a merge queue
tries is listed under a branch of its own, and is a run on the branch that it merges into.

No variable holds the name of a job as the API lists it, with its matrix and the workflow that calls
it: it is that of the job that runs on this runner now. A job that was skipped stays in the list, so
one that is not there may have had another name.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from heapq import merge
from urllib.parse import quote

from hwci.ci.earlier.answers import Row, inside, number_of, only, pages
from hwci.ci.earlier.runs import EarlierRun, Ending, JobOfRun, ThisJob
from hwci.ci.job import Job
from hwci.ci.systems.api import ApiError, GetJson
from hwci.ci.systems.github import QUEUED, unqueued

_ENDINGS = {
    "success": Ending.TESTED,
    "failure": Ending.IN_DOUBT,
    "timed_out": Ending.IN_DOUBT,
}
"""By the conclusion of a job. One of any other was skipped, was cancelled before it came to a
runner, or goes on.
"""

_WITHOUT_JOBS = frozenset({"skipped", "startup_failure", "action_required"})
"""Conclusions of runs of which no job ran."""

_DONE = ("success", "failure")
"""Conclusions of steps that came to their end."""

_FOLLOWS = "workflow_run"
"""A run that follows another is listed under the default branch and its head, whatever it tests."""


@dataclass(frozen=True, slots=True)
class _Actions:
    address: str
    headers: Mapping[str, str]
    get_json: GetJson

    def runs(self, file: str, wanted: Mapping[str, str]) -> Iterator[Row]:
        """List runs of a workflow, also those that go on: a job of one of these may have ended."""
        address = f"{self.address}/workflows/{quote(file, '')}/runs"
        wanted = {**wanted, "exclude_pull_requests": "true"}
        return pages(self.get_json, address, wanted, self.headers, "workflow_runs")

    def runs_on(self, branch: str, file: str, *, queued: bool) -> Iterator[Row]:
        """List the runs of a workflow on a branch, the newest first. `queued`: and those that tried
        what was to be merged into it.
        """
        lists = [self.runs(file, {"branch": branch})]
        if queued:
            lists.append(self.runs(file, {"event": QUEUED}))
        for row in merge(*lists, key=lambda row: -number_of(row, "id")):
            if row.get("event") != QUEUED or unqueued(str(row.get("head_branch"))) == branch:
                yield row

    def jobs(self, run: int, attempts: str) -> list[Row]:
        """List the jobs of a run, of `all` its attempts or of the `latest`."""
        address = f"{self.address}/runs/{run}/jobs"
        return list(pages(self.get_json, address, {"filter": attempts}, self.headers, "jobs"))


def runs(job: Job, token: str, get_json: GetJson) -> Iterator[EarlierRun]:
    """Give the runs before the one of a job, the newest first."""
    environ = job.environ
    if environ.get("GITHUB_EVENT_NAME") == _FOLLOWS:
        raise ApiError("GitHub does not list which commit a run tested that follows another")
    own = int(environ["GITHUB_RUN_ID"])
    address = (
        f"{environ['GITHUB_API_URL'].rstrip('/')}/repos/{environ['GITHUB_REPOSITORY']}/actions"
    )
    actions = _Actions(address, {"Authorization": f"Bearer {token}"}, get_json)

    @cache
    def this_job() -> ThisJob:
        return _recognized(actions.jobs(own, "latest"), environ.get("RUNNER_NAME"))

    def ending(row: Row, number: int) -> Ending:
        if row.get("conclusion") in _WITHOUT_JOBS:
            return Ending.NOT_TESTED
        this = this_job()
        return this.ending([_job(it, this.name) for it in actions.jobs(number, "all")])

    # A branch of a fork is `owner:branch`; the API lists it by its name alone.
    owner, _, branch = str(job.value("branch")).rpartition(":")
    file = environ["GITHUB_WORKFLOW_REF"].partition("@")[0].rpartition("/")[2]
    # A queue stands before few branches, and lists what it tries for all of them together.
    queued = job.queued or job.is_of_a_merge_branch()
    for row in actions.runs_on(branch, file, queued=queued):
        theirs = str(inside(row, "head_repository", "full_name"))
        of_branch = (
            theirs.partition("/")[0] == owner if owner else theirs == environ["GITHUB_REPOSITORY"]
        )
        number = number_of(row, "id")
        if of_branch and number < own:
            sha = "" if row.get("event") == _FOLLOWS else str(row.get("head_sha"))
            yield EarlierRun(f"run {number}", (number,), sha, partial(ending, row, number))


def _recognized(rows: list[Row], runner: str | None) -> ThisJob:
    """Find this job among those of its run: the one that runs on this runner, which runs no other
    at the same time.
    """
    here = [row for row in rows if row.get("status") != "completed" and _is_on(row, runner)]
    found = only(here)
    if found is None:
        return ThisJob(None)
    others = frozenset(str(row.get("name")) for row in rows if row is not found)
    steps = _steps(found, "status", "in_progress")
    return ThisJob(str(found.get("name")), others, steps[0] if len(steps) == 1 else None)


def _is_on(row: Row, runner: str | None) -> bool:
    return bool(runner) and row.get("runner_name") == runner


def _job(row: Row, own: str | None) -> JobOfRun:
    """Read a job. One that was skipped has not been told apart yet: `hil` stands for each
    `hil (…)` of a matrix and each `hil / …` of a workflow that it would have called, and
    `hil on ${{ matrix.board }}` for each board.
    """
    name = str(row.get("name"))
    if own is not None and row.get("conclusion") == "skipped" and _may_stand_for(name, own):
        return JobOfRun(own, Ending.NOT_TESTED)
    if row.get("conclusion") == "cancelled" and row.get("runner_name"):
        return JobOfRun(name, Ending.IN_DOUBT, done=_steps(row, "conclusion", *_DONE))
    ending = _ENDINGS.get(str(row.get("conclusion")), Ending.NOT_TESTED)
    return JobOfRun(name, ending, _steps(row, "conclusion", "skipped"))


def _may_stand_for(skipped: str, own: str) -> bool:
    fixed = map(re.escape, re.split(r"\$\{\{.*?\}\}", skipped))
    return re.fullmatch(rf"{'.*'.join(fixed)}(?: \(.*| / .*)?", own) is not None


def _steps(row: Row, key: str, *values: str) -> list[str]:
    """Give the names of the steps of a job that are in one of some states."""
    steps = row.get("steps")
    rows = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    return [str(step.get("name")) for step in rows if step.get(key) in values]
