# SPDX-License-Identifier: Apache-2.0
"""Earlier builds of an Azure pipeline, and the jobs that stand in the timeline of each.

A job is known by its identifier, which holds its stage and its matrix and is the same in each
attempt and build. Jobs that a condition skips are there as skipped, or not at all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from urllib.parse import quote, urlencode

from hwci.ci.earlier.answers import PER_PAGE, Row, inside, listed, number_of, only
from hwci.ci.earlier.runs import EarlierRun, Ending, JobOfRun, ThisJob
from hwci.ci.job import Job
from hwci.ci.systems.api import ApiError, GetJson

_VERSION = "7.0"
_ENDINGS = {
    "succeeded": Ending.TESTED,
    "succeededWithIssues": Ending.IN_DOUBT,  # a task failed, and the job went on
    "failed": Ending.IN_DOUBT,
    "abandoned": Ending.IN_DOUBT,  # its agent was lost
}
"""By the result of a job. One of any other was skipped, was canceled before it came to an agent, or
goes on.
"""

_DONE = frozenset({"succeeded", "succeededWithIssues", "failed"})
"""Results of steps that came to their end."""

_NOT_BEGUN = frozenset({"notStarted", "postponed"})
_RAN = frozenset({"succeeded", "partiallySucceeded"})


@dataclass(frozen=True, slots=True)
class _Builds:
    address: str
    headers: Mapping[str, str]
    get_json: GetJson

    def listed(self, definition: str, branch: str) -> Iterator[Row]:
        """List the builds of a pipeline on a branch, also those that go on: a job of one of these
        may have ended, and each says where the branch stood.
        """
        wanted = {
            "definitions": definition,
            "branchName": branch,
            "queryOrder": "queueTimeDescending",
            "$top": str(PER_PAGE),
            "api-version": _VERSION,
        }
        answer = self.get_json(f"{self.address}?{urlencode(wanted)}", self.headers)
        rows = listed(answer, self.address, "value")
        yield from rows
        if len(rows) >= PER_PAGE:
            raise ApiError(f"{self.address} lists more than {PER_PAGE}")

    def timeline(self, build: int) -> list[Row]:
        """Give the records of a build; one that never began has none."""
        address = f"{self.address}/{build}/timeline"
        answer = self.get_json(f"{address}?{urlencode({'api-version': _VERSION})}", self.headers)
        return [] if answer is None else listed(answer, address, "records")


def runs(job: Job, token: str, get_json: GetJson) -> Iterator[EarlierRun]:
    """Give the builds before the one of a job, the newest first."""
    environ = job.environ
    project = quote(environ["SYSTEM_TEAMPROJECT"], "")
    address = f"{environ['SYSTEM_COLLECTIONURI'].rstrip('/')}/{project}/_apis/build/builds"
    builds = _Builds(address, {"Authorization": f"Bearer {token}"}, get_json)
    own = int(environ["BUILD_BUILDID"])

    @cache
    def this_job() -> ThisJob:
        return _recognized(builds.timeline(own), environ)

    def ending(number: int, row: Row) -> Ending:
        if row.get("status") in _NOT_BEGUN:
            return Ending.NOT_TESTED
        this, records = this_job(), builds.timeline(number)
        if not records and row.get("result") in _RAN:
            return Ending.IN_DOUBT
        jobs = [_job(row, records) for row in records if row.get("type") == "Job"]
        # What a build lacks, its conditions left out: only what cannot be told apart is in doubt.
        return this.ending([it for it in jobs if this.name in {None, it.name}])

    for row in builds.listed(environ["SYSTEM_DEFINITIONID"], environ["BUILD_SOURCEBRANCH"]):
        number = number_of(row, "id")
        if number < own:
            # A pull request is built as a merge that is on no branch: its own head was tested.
            sha = inside(row, "triggerInfo", "pr.sourceSha") or row.get("sourceVersion")
            yield EarlierRun(f"build {number}", (number,), str(sha), partial(ending, number, row))


def _recognized(records: list[Row], environ: Mapping[str, str]) -> ThisJob:
    """Find this job among those of its build: by its id, else as the one that its agent runs."""
    jobs = [row for row in records if row.get("type") == "Job"]
    by_id = [row for row in jobs if row.get("id") == environ.get("SYSTEM_JOBID", "")]
    agent = environ.get("AGENT_NAME", "")
    running = [row for row in jobs if row.get("state") != "completed"]
    found = only(by_id) or only([row for row in running if agent == row.get("workerName")])
    if found is None:
        return ThisJob(None)
    step = only([row for row in _steps(found, records) if row.get("state") == "inProgress"])
    return ThisJob(_name(found), step=None if step is None else str(step.get("name")))


def _job(row: Row, records: list[Row]) -> JobOfRun:
    """Read a job. What came of attempts before its last one is kept elsewhere."""
    ending = _ENDINGS.get(str(row.get("result")), Ending.NOT_TESTED)
    attempt, steps = row.get("attempt"), _steps(row, records)
    if ending is Ending.NOT_TESTED and isinstance(attempt, int) and attempt > 1:
        ending = Ending.IN_DOUBT
    elif row.get("result") == "canceled" and row.get("workerName"):
        done = [str(it.get("name")) for it in steps if it.get("result") in _DONE]
        return JobOfRun(_name(row), Ending.IN_DOUBT, done=done)
    skipped = [it for it in steps if it.get("result") == "skipped"]
    return JobOfRun(_name(row), ending, [str(it.get("name")) for it in skipped])


def _name(row: Row) -> str:
    return str(row.get("identifier") or row.get("name"))


def _steps(job: Row, records: list[Row]) -> list[Row]:
    tasks = (row for row in records if row.get("type") == "Task")
    return [row for row in tasks if row.get("parentId") == job.get("id")]
