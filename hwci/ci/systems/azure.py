# SPDX-License-Identifier: Apache-2.0
"""Azure Pipelines. Its hosted agents have another name each time, and no board.

Earlier builds: a job is known by its identifier, which holds its stage and its matrix and is the
same in each attempt and build. Jobs that a condition skips are listed as skipped, or not at all.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from urllib.parse import quote, urlencode

from hwci.ci.fields import ATTEMPT, RUN_ID
from hwci.ci.job import Job
from hwci.ci.systems.api import PER_PAGE, ApiError, GetJson, Row, at_path, listed, number_of, only
from hwci.ci.systems.earlier import EarlierRun, EarlierRunsApi, Ending, JobOfRun, ThisJob
from hwci.ci.systems.system import (
    PULLS,
    TAGS,
    JobEnvironment,
    PrintedJob,
    System,
    Tell,
    address,
    always,
    commit,
    is_not,
    is_set,
    on_one_line,
    started_by,
    variable,
    where,
    without,
)
from hwci.contract.ci_systems import CiSystem
from hwci.contract.vocabulary import Trigger
from hwci.wire.base import parse_time


def _is_ours(env: JobEnvironment) -> bool:
    """A fork's branch is named by the number of its pull request: its `main` is not ours."""
    return env.text("SYSTEM_PULLREQUEST_ISFORK").lower() != "true"


# Earlier builds

_VERSION = "7.0"
_ENDINGS = {
    "succeeded": Ending.TESTED,
    "succeededWithIssues": Ending.IN_DOUBT,  # a task failed, and the job went on
    "failed": Ending.IN_DOUBT,
    "abandoned": Ending.IN_DOUBT,  # its agent was lost
}
"""By the result of a job. Any other was skipped, was canceled before it came to an agent, or still
runs."""

_DONE = frozenset({"succeeded", "succeededWithIssues", "failed"})
"""Results of steps that ended."""

_NOT_BEGUN = frozenset({"notStarted", "postponed"})
_RAN = frozenset({"succeeded", "partiallySucceeded"})


@dataclass(frozen=True, slots=True)
class _Builds:
    address: str
    headers: Mapping[str, str]
    get_json: GetJson

    def listed(self, definition: str, branch: str) -> Iterator[Row]:
        """Yield the builds of a pipeline on a branch. Those that still run count: a job of one may
        have ended, and each says where the branch stood.
        """
        query = {
            "definitions": definition,
            "branchName": branch,
            "queryOrder": "queueTimeDescending",
            "$top": str(PER_PAGE),
            "api-version": _VERSION,
        }
        answer = self.get_json(f"{self.address}?{urlencode(query)}", self.headers)
        rows = listed(answer, self.address, "value")
        yield from rows
        if len(rows) >= PER_PAGE:
            raise ApiError(f"{self.address} lists more than {PER_PAGE}")

    def timeline(self, build: int) -> list[Row]:
        """Return the records of a build; one that never began has none."""
        address = f"{self.address}/{build}/timeline"
        answer = self.get_json(f"{address}?{urlencode({'api-version': _VERSION})}", self.headers)
        return [] if answer is None else listed(answer, address, "records")


def _runs(job: Job, token: str, get_json: GetJson) -> Iterator[EarlierRun]:
    environ = job.environ
    project = quote(environ["SYSTEM_TEAMPROJECT"], "")
    address = f"{environ['SYSTEM_COLLECTIONURI'].rstrip('/')}/{project}/_apis/build/builds"
    builds = _Builds(address, {"Authorization": f"Bearer {token}"}, get_json)
    own = int(environ["BUILD_BUILDID"])

    @cache
    def this_job() -> ThisJob:
        return _this_job(builds.timeline(own), environ)

    def ending(number: int, row: Row) -> Ending:
        if row.get("status") in _NOT_BEGUN:
            return Ending.NOT_TESTED
        this, records = this_job(), builds.timeline(number)
        if not records and row.get("result") in _RAN:
            return Ending.IN_DOUBT
        jobs = [_job(row, records) for row in records if row.get("type") == "Job"]
        # What a build lacks, its conditions left out: only what cannot be recognized is in doubt.
        return this.ending([job for job in jobs if this.name in {None, job.name}])

    for row in builds.listed(environ["SYSTEM_DEFINITIONID"], environ["BUILD_SOURCEBRANCH"]):
        number = number_of(row, "id")
        if number < own:
            # A pull request is built as a merge that is on no branch: its own head was tested.
            sha = at_path(row, "triggerInfo", "pr.sourceSha") or row.get("sourceVersion")
            yield EarlierRun(f"build {number}", (number,), str(sha), partial(ending, number, row))


def _this_job(records: list[Row], environ: Mapping[str, str]) -> ThisJob:
    """Find this job among those of its build: by its id, else as the one that its agent runs."""
    jobs = [row for row in records if row.get("type") == "Job"]
    by_id = [row for row in jobs if row.get("id") == environ.get("SYSTEM_JOBID", "")]
    agent = environ.get("AGENT_NAME", "")
    running = [row for row in jobs if row.get("state") != "completed"]
    job = only(by_id) or only([row for row in running if agent == row.get("workerName")])
    if job is None:
        return ThisJob(None)
    step = only([row for row in _steps(job, records) if row.get("state") == "inProgress"])
    return ThisJob(_name(job), step=None if step is None else str(step.get("name")))


def _job(row: Row, records: list[Row]) -> JobOfRun:
    """Read a job. The results of attempts before its last one are not in its records."""
    ending = _ENDINGS.get(str(row.get("result")), Ending.NOT_TESTED)
    attempt, steps = row.get("attempt"), _steps(row, records)
    if ending is Ending.NOT_TESTED and isinstance(attempt, int) and attempt > 1:
        ending = Ending.IN_DOUBT
    elif row.get("result") == "canceled" and row.get("workerName"):
        done = [str(step.get("name")) for step in steps if step.get("result") in _DONE]
        return JobOfRun(_name(row), Ending.IN_DOUBT, done=done)
    skipped = [step for step in steps if step.get("result") == "skipped"]
    return JobOfRun(_name(row), ending, [str(step.get("name")) for step in skipped])


def _name(row: Row) -> str:
    return str(row.get("identifier") or row.get("name"))


def _steps(job: Row, records: list[Row]) -> list[Row]:
    tasks = (row for row in records if row.get("type") == "Task")
    return [row for row in tasks if row.get("parentId") == job.get("id")]


def _is_tag(env: JobEnvironment) -> bool:
    return env.text("BUILD_SOURCEBRANCH").startswith("refs/tags/")


# The page of a job


def _show_summary(
    environ: Mapping[str, str], text: str, warnings: Sequence[str], tell: Tell
) -> None:
    for warning in warnings:
        tell(f"##vso[task.logissue type=warning]{on_one_line(warning, percent='%AZP25')}")
    # The agent takes the file when the step has ended, and clears the folder after the job.
    folder = environ.get("AGENT_TEMPDIRECTORY")
    if folder:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=folder, prefix="hwci-", suffix=".md", delete=False
        ) as page:
            page.write(text)
        tell(f"##vso[task.uploadsummary]{page.name}")


_JOB = """\
# azure-pipelines.yml; HWCI_CI_KEY is a secret variable, which a step sees only if it is passed on
trigger:
  branches:
    include: [{main}]
variables:
  HWCI_URL: {url}
  HWCI_WHEEL: {wheel}
jobs:
  - job: announce
    condition: in(variables['Build.Reason'], 'IndividualCI', 'BatchedCI')
    continueOnError: true
    pool:
      vmImage: ubuntu-latest # {reach}
    steps:
      - checkout: self
        fetchDepth: 0
      - script: {install}
      - script: {hwci} merge-announce
        env:
          HWCI_CI_KEY: $(HWCI_CI_KEY)
  - job: hil
    pool:
      name: bench-1 # {box} agent
    steps:
      - checkout: self
        fetchDepth: 0
      - script: |
          {install_or_go_on}
      # {needs}
      - script: |
          {tests}
        env:
          HWCI_CI_KEY: $(HWCI_CI_KEY)
          SYSTEM_ACCESSTOKEN: $(System.AccessToken) # to find the builds before this one
"""


SYSTEM = System(
    name=CiSystem.AZURE,
    title="Azure Pipelines",
    variable="TF_BUILD",
    readers={
        "repo_key": (variable("BUILD_REPOSITORY_NAME"),),
        "workflow": (variable("BUILD_DEFINITIONNAME"),),
        "run_id": (variable("BUILD_BUILDID", RUN_ID),),
        "run_attempt": (variable("SYSTEM_JOBATTEMPT", ATTEMPT),),
        "job": (variable("SYSTEM_JOBIDENTIFIER"),),
        "sha": (
            variable("SYSTEM_PULLREQUEST_SOURCECOMMITID", commit),
            variable("BUILD_SOURCEVERSION", commit),
        ),
        "built": (variable("BUILD_SOURCEVERSION", commit),),
        "kind": (
            where(_is_tag, always(TAGS)),
            where(is_not("SYSTEM_PULLREQUEST_SOURCEBRANCH", ""), always(PULLS)),
        ),
        "branch": (
            where(_is_ours, variable("SYSTEM_PULLREQUEST_SOURCEBRANCH", without("refs/heads/"))),
            variable("BUILD_SOURCEBRANCH", without("refs/heads/", "refs/tags/", "refs/")),
        ),
        "trigger": (
            started_by(
                "BUILD_REASON",
                {
                    "IndividualCI": Trigger.MERGE,
                    "BatchedCI": Trigger.MERGE,
                    "Schedule": Trigger.NIGHTLY,
                },
                (variable("BUILD_SOURCEBRANCH", without("refs/heads/")),),
            ),
        ),
        "conclusion": (variable("AGENT_JOBSTATUS"),),
        "started_at": (variable("SYSTEM_PIPELINESTARTTIME", parse_time),),
        "box_key": (where(is_not("AGENT_ISSELFHOSTED", "0"), variable("AGENT_NAME")),),
        "ci_url": (
            address(
                "{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}"
                "&view=logs&j={SYSTEM_JOBID}"
            ),
        ),
        "batched": (
            where(is_set("BUILD_REASON", "BatchedCI"), always(value=True, source="BUILD_REASON")),
        ),
    },
    job=PrintedJob("azure-pipelines.yml", _JOB),
    guide={
        "run_id": "of the build",
        "run_attempt": "counted",
        "merge": "CI, batched CI",
        "nightly": "schedule",
        "covers_shas": "by its API",
        "box_key": "agent",
        "ci_url": "of the job",
        "conclusion": "yes",
    },
    show_summary=_show_summary,
    api=EarlierRunsApi(
        title="Azure's API",
        tokens=("SYSTEM_ACCESSTOKEN",),
        needs=(
            "SYSTEM_COLLECTIONURI",
            "SYSTEM_TEAMPROJECT",
            "SYSTEM_DEFINITIONID",
            "BUILD_BUILDID",
            "BUILD_SOURCEBRANCH",
        ),
        runs=_runs,
        rights="it is `$(System.AccessToken)`: View builds, as by default",
        known_by="its stage, job and matrix",
        lists_pushes=True,
    ),
)
