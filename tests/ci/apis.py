# SPDX-License-Identifier: Apache-2.0
"""What the APIs of the CI systems answer about a few runs, in the shape that their documentation
gives: each has a build job and a job `hil`, which is the one that asks.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hwci.ci.detect import find_job
from hwci.ci.job import Job, Sourced
from hwci.ci.reporting.base import find_base
from hwci.ci.reporting.under_test import series_of
from hwci.ci.systems.api import get_json
from hwci.ci.systems.buildkite import run_id_of
from hwci.client.store import PastRuns, ReportedRun
from tests.ci.answering import Answering, answering
from tests.support.recorded import recorded

OLD, NEWER, LATER = ("a" * 40, "b" * 40, "d" * 40)
TOKEN = "t0ken"
ENDED = "as the test says"

Row = dict[str, Any]

# GitHub

GITHUB = "/repos/acme/firmware/actions"
GITHUB_RUNS = f"{GITHUB}/workflows/hil.yml/runs"
GITHUB_OWN = 19543210987


def github_run(number: int, sha: str, conclusion: str | None = "success", **more: Any) -> Row:
    theirs = {"head_repository": {"full_name": "acme/firmware"}, "event": "push"}
    status = "in_progress" if conclusion is None else "completed"
    return (
        {"id": number, "head_sha": sha, "status": status, "conclusion": conclusion} | theirs | more
    )


def github_job(name: str, conclusion: str | None, runner: str = "bench-1", **more: Any) -> Row:
    ran = conclusion not in {"skipped", "cancelled"}
    return {
        "name": name,
        "status": "in_progress" if conclusion is None else "completed",
        "conclusion": conclusion,
        "runner_name": runner if ran else None,
        "run_attempt": 1,
        "steps": [],
        **more,
    }


def github_jobs(*jobs: Row) -> Row:
    return {"total_count": len(jobs), "jobs": list(jobs)}


def github_jobs_path(run: int) -> str:
    return f"{GITHUB}/runs/{run}/jobs"


BUILT = github_job("build", "success", "GitHub Actions 7")
THIS_GITHUB_JOB = {github_jobs_path(GITHUB_OWN): github_jobs(BUILT, github_job("hil", None))}

# GitLab

GITLAB = "/projects/88/pipelines"


def gitlab_job(number: int, status: str, name: str = "hil 1/3", **more: Any) -> Row:
    return {"id": number, "name": name, "status": status, "stage": "test", **more}


def gitlab_jobs_path(pipeline: int) -> str:
    return f"{GITLAB}/{pipeline}/jobs"


# Azure

AZURE = "/acme/firmware/_apis/build/builds"
AZURE_OWN = 90210
AZURE_JOB_ID = "12f1170f-54f2-53f3-20dd-22fc7dff55f9"


def azure_build(number: int, sha: str, result: str | None = "succeeded") -> Row:
    status = "inProgress" if result is None else "completed"
    return {"id": number, "sourceVersion": sha, "status": status, "result": result}


def azure_record(
    name: str, result: str | None, kind: str = "Job", parent: str | None = None, **more: Any
) -> Row:
    return {
        "id": f"{kind} {name}",
        "parentId": parent,
        "type": kind,
        "name": name,
        "identifier": f"test.{name}.__default" if kind == "Job" else None,
        "state": "inProgress" if result is None else "completed",
        "result": result,
        "workerName": "bench-1" if result not in {"skipped", "canceled"} else None,
        "attempt": 1,
        **more,
    }


def azure_timeline(*records: Row) -> Row:
    return {"records": [azure_record("test", "succeeded", "Stage"), *records]}


def azure_path(build: int) -> str:
    return f"{AZURE}/{build}/timeline"


THIS_AZURE_JOB = {
    azure_path(AZURE_OWN): azure_timeline(
        azure_record("build", "succeeded"), azure_record("hil", None, id=AZURE_JOB_ID)
    )
}


def azure_jobs(result: str) -> Row:
    return azure_timeline(azure_record("build", "succeeded"), azure_record("hil", result))


# Buildkite

BUILDKITE = "/v2/organizations/acme/pipelines/firmware-hil/builds"
BUILD = "0193a7e2-0000-4c43-9d66-6b2fbcf2ad5d"
OLD_BUILD = "0193a7e1-0000-4c43-9d66-6b2fbcf2ad5d"


def buildkite_job(key: str | None, state: str, name: str = "Tests", **more: Any) -> Row:
    return {"type": "script", "step_key": key, "name": name, "state": state, **more}


def buildkite_build(
    number: int, sha: str, state: str, *jobs: Row, uuid: str = "0193a7e3"
) -> dict[str, Any]:
    every = [buildkite_job("build", "passed", "Firmware"), {"type": "waiter"}, *jobs]
    return {"id": uuid, "number": number, "commit": sha, "state": state, "jobs": every}


# Each of them


@dataclass(frozen=True)
class Api:
    """`variable`, `path`: where a job finds the address. `passed`, `failed`: its words for a job.
    `name`: of the newer run. `newer`, `old`: the ids by which a bench reports these two.
    """

    environ: Mapping[str, str]
    variable: str
    path: str
    secret: str
    passed: str
    failed: str
    name: str
    newer: int
    old: int
    answers: Mapping[str, object]


BUILDKITE_STEP = {"BUILDKITE_STEP_KEY": "hil", "BUILDKITE_LABEL": "Tests"}
BUILDKITE_JOB = recorded("buildkite-webhook") | BUILDKITE_STEP

# In each an old run passed, a newer one ended as the test says, and one after it was cancelled.
APIS: Mapping[str, Api] = {
    "GitHub's API": Api(
        recorded("github-push"),
        "GITHUB_API_URL",
        "",
        "GITHUB_TOKEN",
        "success",
        "failure",
        "run 19543210940",
        19543210940,
        19543210930,
        {
            GITHUB_RUNS: {
                "workflow_runs": [
                    github_run(19543210999, LATER),
                    github_run(GITHUB_OWN, LATER, None),
                    github_run(19543210950, LATER, "cancelled"),
                    github_run(19543210940, NEWER, ENDED),
                    github_run(19543210930, OLD),
                ]
            },
            **THIS_GITHUB_JOB,
            github_jobs_path(19543210950): github_jobs(BUILT, github_job("hil", "cancelled")),
            github_jobs_path(19543210940): github_jobs(BUILT, github_job("hil", ENDED)),
            github_jobs_path(19543210930): github_jobs(BUILT, github_job("hil", "success")),
        },
    ),
    "GitLab's API": Api(
        recorded("gitlab-push"),
        "CI_API_V4_URL",
        "",
        "GITLAB_TOKEN",
        "success",
        "failed",
        "job 41",
        41,
        31,
        {
            GITLAB: [
                {"id": 4712, "sha": LATER},
                {"id": 4711, "sha": LATER},
                {"id": 4710, "sha": LATER},
                {"id": 4709, "sha": NEWER},
                {"id": 4708, "sha": OLD},
            ],
            gitlab_jobs_path(4710): [gitlab_job(50, "success", "lint"), gitlab_job(51, "canceled")],
            gitlab_jobs_path(4709): [gitlab_job(41, ENDED)],
            gitlab_jobs_path(4708): [gitlab_job(31, "success")],
        },
    ),
    "Azure's API": Api(
        recorded("azure-ci"),
        "SYSTEM_COLLECTIONURI",
        "/acme/",
        "SYSTEM_ACCESSTOKEN",
        "succeeded",
        "failed",
        "build 90208",
        90208,
        90207,
        {
            AZURE: {
                "value": [
                    azure_build(90211, LATER),
                    azure_build(AZURE_OWN, LATER, None),
                    azure_build(90209, LATER, "canceled"),
                    azure_build(90208, NEWER, ENDED),
                    azure_build(90207, OLD),
                ]
            },
            **THIS_AZURE_JOB,
            azure_path(90209): azure_jobs("canceled"),
            azure_path(90208): azure_jobs(ENDED),
            azure_path(90207): azure_jobs("succeeded"),
        },
    ),
    "Buildkite's API": Api(
        BUILDKITE_JOB,
        "",
        "",
        "BUILDKITE_API_TOKEN",
        "passed",
        "failed",
        "build 55",
        run_id_of(BUILD, BUILDKITE_JOB),
        run_id_of(OLD_BUILD, BUILDKITE_JOB),
        {
            BUILDKITE: [
                buildkite_build(58, LATER, "passed", buildkite_job("hil", "passed")),
                buildkite_build(57, LATER, "running", buildkite_job("hil", "running")),
                buildkite_build(56, LATER, "canceled", buildkite_job("hil", "canceled")),
                buildkite_build(55, NEWER, ENDED, buildkite_job("hil", ENDED), uuid=BUILD),
                buildkite_build(54, OLD, "passed", buildkite_job("hil", "passed"), uuid=OLD_BUILD),
            ]
        },
    ),
}


def history(title: str, *runs: tuple[str, str | None]) -> dict[str, Any]:
    """Return the answers of an API where each run before this one, the newest first, succeeded on a
    commit, with a job `hil` that ended so; None: without such a job.
    """
    return _HISTORIES[title](
        [(number, *run) for number, run in zip(_BEFORE[title], runs, strict=False)]
    )


_BEFORE = {
    "GitHub's API": range(GITHUB_OWN - 1, 0, -1),
    "GitLab's API": range(4710, 0, -1),
    "Azure's API": range(AZURE_OWN - 1, 0, -1),
    "Buildkite's API": range(56, 0, -1),
}
_Run = tuple[int, str, str | None]


def _github(runs: list[_Run]) -> dict[str, Any]:
    rows = [github_run(number, sha) for number, sha, _ in runs]
    jobs = {
        github_jobs_path(number): github_jobs(BUILT, *([github_job("hil", ended)] if ended else []))
        for number, _, ended in runs
    }
    return {GITHUB_RUNS: {"workflow_runs": rows}, **THIS_GITHUB_JOB, **jobs}


def _gitlab(runs: list[_Run]) -> dict[str, Any]:
    jobs = {
        gitlab_jobs_path(number): [
            gitlab_job(number * 10, "success", "build"),
            *([gitlab_job(number * 10 + 1, ended)] if ended else []),
        ]
        for number, _, ended in runs
    }
    return {GITLAB: [{"id": number, "sha": sha} for number, sha, _ in runs], **jobs}


def _azure(runs: list[_Run]) -> dict[str, Any]:
    built = azure_record("build", "succeeded")
    timelines = {
        azure_path(number): azure_timeline(built, *([azure_record("hil", ended)] if ended else []))
        for number, _, ended in runs
    }
    builds = [azure_build(number, sha) for number, sha, _ in runs]
    return {AZURE: {"value": builds}, **THIS_AZURE_JOB, **timelines}


def _buildkite(runs: list[_Run]) -> dict[str, Any]:
    own = buildkite_build(57, LATER, "running", buildkite_job("hil", "running"))
    builds = [
        buildkite_build(
            number,
            sha,
            "passed",
            *([buildkite_job("hil", ended)] if ended else []),
            uuid=f"{number}",
        )
        for number, sha, ended in runs
    ]
    return {BUILDKITE: [own, *builds]}


_HISTORIES: Mapping[str, Callable[[list[_Run]], dict[str, Any]]] = {
    "GitHub's API": _github,
    "GitLab's API": _gitlab,
    "Azure's API": _azure,
    "Buildkite's API": _buildkite,
}


def answers_of(title: str, ended: str | None = None) -> dict[str, Any]:
    """Return the answers of an API. `ended`: how this job of the newer run did; None: well."""
    text = json.dumps(APIS[title].answers).replace(ENDED, ended or APIS[title].passed)
    return dict(json.loads(text))


def asking(server: Answering) -> Any:
    """Buildkite's address is known to all: asked here instead."""
    return lambda address, headers: get_json(
        address.replace("https://api.buildkite.com", server.address), headers
    )


def job_of(server: Answering, title: str, *, token: bool = True, **more: str) -> Job:
    """Return the job that asks, with the address of the server."""
    api = APIS[title]
    environ = {**api.environ, **({api.secret: TOKEN} if token else {}), **more}
    if api.variable:
        environ[api.variable] = server.address + api.path
    return find_job({}, environ, None, None)


def knowing(job: Job, *runs: tuple[int, str, bool]) -> PastRuns:
    """Return what a bench knows that reported runs of a job's series: each by its number and its
    commit, and whether it tested.
    """
    series = series_of(job)
    assert series is not None
    return PastRuns(series, tuple(ReportedRun(*run) for run in runs))


# What is found

Found = tuple[Sourced[str | None], tuple[str, ...]]


def find(title: str, answers: dict[str, Any], **more: str) -> Found:
    """Find the base of the job that asks an API which answers so."""
    with answering(answers) as server:
        return find_base(job_of(server, title, token=True, **more), PastRuns(), asking(server))


def by(title: str, sha: str) -> Found:
    """Return the base that an API confirmed."""
    return Sourced(sha, title), ()


def doubted(found: Found) -> str:
    """Return the note of a base that is not known."""
    base, (note,) = found
    assert base == Sourced(None, "default")
    return note
