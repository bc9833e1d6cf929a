# SPDX-License-Identifier: Apache-2.0
"""Buildkite. Its build numbers count per pipeline, so the run id is made of the build's own id and
of the step's name, as two steps may test on one box: a job that is retried keeps both. A branch of
a fork bears its owner's name already.

Earlier builds: each is listed with its jobs, retried ones too. A job is known by its step's key,
label and place among parallel ones, as in run ids.
"""

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from urllib.parse import quote

from hwci.ci.fields import RUN_ID, whole
from hwci.ci.job import Job, Sourced, hashed_run_id
from hwci.ci.systems.api import GetJson, Row, listed, number_of, pages
from hwci.ci.systems.earlier import EarlierRun, EarlierRunsApi, Ending, JobOfRun, ThisJob
from hwci.ci.systems.identity import Identity, printed_by
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
    slug,
    started_by,
    variable,
    where,
)
from hwci.contract.ci_systems import CiSystem
from hwci.contract.vocabulary import Trigger

_BRANCH = (variable("BUILDKITE_BRANCH"),)
_STEP = ("BUILDKITE_STEP_KEY", "BUILDKITE_LABEL", "BUILDKITE_PARALLEL_JOB")
"""What names a step, of a matrix or parallel too. Ids of steps are new in each build."""


def step_of(environ: Mapping[str, str]) -> str:
    """Return the name of a job's step, "" if it has neither key nor label."""
    return "/".join(filter(None, (environ.get(name, "").strip() for name in _STEP)))


def run_id_of(build: str, environ: Mapping[str, str]) -> int:
    """Return the run id of this step in a build."""
    return hashed_run_id("/".join(filter(None, (build, step_of(environ)))))


def _run_id(env: JobEnvironment) -> Sourced[int] | None:
    if not (build := env.text("BUILDKITE_BUILD_ID")):
        return None
    return Sourced(run_id_of(build, env.environ), "BUILDKITE_BUILD_ID and the step")


_count = whole(0)


def _attempt(retries: str) -> int:
    return _count(retries) + 1


def _conclusion(status: str) -> str:
    """Turn the exit status into Buildkite's own word for a job."""
    return "passed" if _count(status) == 0 else "failed"


# Earlier builds

_ADDRESS = "https://api.buildkite.com/v2/organizations"
_ENDINGS = {"passed": Ending.TESTED, "failed": Ending.IN_DOUBT, "timed_out": Ending.IN_DOUBT}
"""By the state of a job. Any other never began, or still runs."""


def _runs(job: Job, token: str, get_json: GetJson) -> Iterator[EarlierRun]:
    environ = job.environ
    organization = quote(environ["BUILDKITE_ORGANIZATION_SLUG"], "")
    pipeline = quote(environ["BUILDKITE_PIPELINE_SLUG"], "")
    address = f"{_ADDRESS}/{organization}/pipelines/{pipeline}/builds"
    query = {"branch": str(job.value("branch")), "include_retried_jobs": "true"}
    headers = {"Authorization": f"Bearer {token}"}
    own, this = int(environ["BUILDKITE_BUILD_NUMBER"]), ThisJob(step_of(environ) or None)
    for row in pages(get_json, address, query, headers):
        number = number_of(row, "number")
        jobs = _jobs(listed(row, address, "jobs"), environ)
        if number == own and this.name is not None:
            this = ThisJob(this.name, frozenset(job.name for job in jobs) - {this.name})
        if number < own:
            run_id = run_id_of(str(row.get("id")), environ)
            ending = partial(this.ending, jobs)
            yield EarlierRun(f"build {number}", (run_id,), str(row.get("commit")), ending)


def _jobs(rows: list[Row], environ: Mapping[str, str]) -> list[JobOfRun]:
    """Read the jobs that may be of this step: a key names it, whatever its label."""
    key = environ.get("BUILDKITE_STEP_KEY", "").strip()
    jobs = []
    for row in rows:
        if row.get("type") == "script" and (not key or row.get("step_key") == key):
            words = {
                "BUILDKITE_STEP_KEY": row.get("step_key"),
                "BUILDKITE_LABEL": row.get("name"),
                "BUILDKITE_PARALLEL_JOB": row.get("parallel_group_index"),
            }
            known = {name: str(word) for name, word in words.items() if word is not None}
            jobs.append(JobOfRun(step_of(known), _ending(row)))
    return jobs


def _ending(row: Row) -> Ending:
    if row.get("state") == "canceled" and row.get("started_at"):
        return Ending.IN_DOUBT
    return _ENDINGS.get(str(row.get("state")), Ending.NOT_TESTED)


# The page of a job

_AGENT_SECONDS = 20


def _show_summary(environ: Mapping[str, str], text: str, warnings: Sequence[str], _: Tell) -> None:
    agent = shutil.which("buildkite-agent", path=environ.get("PATH"))
    if agent is None:
        return
    style = "warning" if warnings else "info"
    # One per job: the next would else replace that of the job before.
    context = f"hwci-{environ.get('BUILDKITE_JOB_ID', '')}"
    subprocess.run(  # noqa: S603 - no shell; the text goes through stdin
        [agent, "annotate", "--style", style, "--context", context],
        input=text.encode(errors="replace"),
        stdout=subprocess.DEVNULL,
        timeout=_AGENT_SECONDS,
        check=False,
    )


_JOB = """\
# .buildkite/pipeline.yml; HWCI_CI_KEY is a secret of the cluster, which agents give a job since \
3.106. If a hook of your
# agents sets it, leave "secrets" out.
secrets:
  - HWCI_CI_KEY
env:
  HWCI_URL: {url}
  HWCI_WHEEL: {wheel}
steps:
  - key: announce
    label: Announce the merge
    if: build.branch == pipeline.default_branch && build.source == "webhook"
    soft_fail: true
    agents:
      queue: hosted # {reach}
    command:
      - {install}
      - {hwci} merge-announce
  - key: hil
    label: Tests on the bench
    agents:
      queue: bench-1 # {box} agent
    command:
      - |
        {install_or_go_on}
      # {needs}
      - |
        {tests}
"""


# The identity of a job


def _id_token(environ: Mapping[str, str], audience: str) -> str:
    ids = ("--claim", "organization_id", "--claim", "pipeline_id")
    command = ("buildkite-agent", "oidc", "request-token", "--audience", audience, *ids)
    return printed_by(command, environ)


SYSTEM = System(
    name=CiSystem.BUILDKITE,
    title="Buildkite",
    variable="BUILDKITE",
    readers={
        "repo_key": (variable("BUILDKITE_REPO", slug),),
        "workflow": (variable("BUILDKITE_PIPELINE_SLUG"),),
        "run_id": (_run_id,),
        "ci_run": (variable("BUILDKITE_BUILD_NUMBER", RUN_ID),),
        "run_attempt": (variable("BUILDKITE_RETRY_COUNT", _attempt),),
        "sha": (variable("BUILDKITE_COMMIT", commit),),
        "branch": _BRANCH,
        "kind": (
            where(is_not("BUILDKITE_TAG", ""), always(TAGS)),
            where(is_not("BUILDKITE_PULL_REQUEST", "", "false"), always(PULLS)),
        ),
        "trigger": (
            where(
                is_not("BUILDKITE_PULL_REQUEST", "", "false"),
                always(Trigger.MANUAL, "BUILDKITE_PULL_REQUEST"),
            ),
            started_by(
                "BUILDKITE_SOURCE", {"webhook": Trigger.MERGE, "schedule": Trigger.NIGHTLY}, _BRANCH
            ),
        ),
        "conclusion": (variable("BUILDKITE_COMMAND_EXIT_STATUS", _conclusion),),
        "box_key": (variable("BUILDKITE_AGENT_NAME"),),
        "ci_url": (address("{BUILDKITE_BUILD_URL}#{BUILDKITE_JOB_ID}"),),
        "default_branch": (variable("BUILDKITE_PIPELINE_DEFAULT_BRANCH"),),
    },
    job=PrintedJob(".buildkite/**", _JOB, dollar="$$"),
    guide={
        "run_id": "from build and step",
        "run_attempt": "counted",
        "merge": "webhook",
        "nightly": "schedule",
        "covers_shas": "by its API",
        "box_key": "agent",
        "ci_url": "of the job",
        "conclusion": "in a hook",
    },
    show_summary=_show_summary,
    api=EarlierRunsApi(
        title="Buildkite's API",
        tokens=("BUILDKITE_API_TOKEN",),
        needs=("BUILDKITE_ORGANIZATION_SLUG", "BUILDKITE_PIPELINE_SLUG", "BUILDKITE_BUILD_NUMBER"),
        runs=_runs,
        rights="scope `read_builds`",
        known_by="the key and label of its step",
        lists_pushes=True,
    ),
    identity=Identity(
        ("BUILDKITE_AGENT_ACCESS_TOKEN",),
        "hand BUILDKITE_AGENT_ACCESS_TOKEN on to where hwci runs",
        _id_token,
    ),
)
