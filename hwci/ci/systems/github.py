# SPDX-License-Identifier: Apache-2.0
"""GitHub Actions. What its variables do not say stands in the file of the event that started the
run: which commit a pull request is about, and where a branch stood before the push. A branch of a
fork is `owner:branch`, as GitHub writes it: a fork's `main` is not ours.

Earlier runs: what a merge queue tries is listed under a branch of its own, and is a run on the
branch that it merges into. No variable holds the name of a job as the API lists it, with its matrix
and the workflow that calls it: it is that of the job that runs on this runner now. A job that was
skipped stays in the list, so one that is missing may have had another name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from heapq import merge
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hwci.ci.fields import ATTEMPT, RUN_ID
from hwci.ci.job import Job, Sourced
from hwci.ci.systems.api import (
    ApiError,
    GetJson,
    Row,
    at_path,
    get_json,
    number_of,
    only,
    pages,
)
from hwci.ci.systems.earlier import EarlierRun, EarlierRunsApi, Ending, JobOfRun, ThisJob
from hwci.ci.systems.identity import Identity
from hwci.ci.systems.system import (
    PULLS,
    QUEUE,
    TAGS,
    JobEnvironment,
    PrintedJob,
    Read,
    Reader,
    System,
    Tell,
    address,
    always,
    commit,
    is_not,
    is_set,
    merge_or_manual,
    on_one_line,
    sourced,
    started_by,
    variable,
    where,
)
from hwci.client.errors import JobTokenError
from hwci.contract.ci_systems import CiSystem
from hwci.contract.vocabulary import Trigger
from hwci.wire import limits
from hwci.wire.base import parse_time

EVENT = "GitHub's event file"
_PULLS = ("pull_request", "pull_request_target")
QUEUED = "merge_group"
"""The event of a run that tries a merge in a queue."""
_WORDS = {"push": Trigger.MERGE, QUEUED: Trigger.MERGE, "schedule": Trigger.NIGHTLY}


def _in_event(*path: str, read: Read = str) -> Reader:
    def reader(env: JobEnvironment) -> Sourced[Any] | None:
        text = at_path(env.event, *path)
        return sourced(text, EVENT, read) if isinstance(text, str) else None

    return reader


def _not_forced(env: JobEnvironment) -> bool:
    return at_path(env.event, "forced") is not True


def _pull_branch(env: JobEnvironment) -> Sourced[str] | None:
    """Return the branch of a pull request, with its owner if it is of another repository."""
    name = env.text("GITHUB_HEAD_REF")
    if not name:
        return None
    ours = at_path(env.event, "pull_request", "base", "repo", "full_name")
    theirs = at_path(env.event, "pull_request", "head", "repo", "full_name")
    label = at_path(env.event, "pull_request", "head", "label")
    if isinstance(label, str) and label and theirs != ours:
        return Sourced(label, EVENT)
    return Sourced(name, "GITHUB_HEAD_REF")


def _is_merged(env: JobEnvironment) -> bool:
    """Return whether a merge closed the pull request: then the run is one of the base branch."""
    of_pull = env.text("GITHUB_EVENT_NAME") in _PULLS
    closed = of_pull and at_path(env.event, "action") == "closed"
    return closed and at_path(env.event, "pull_request", "merged") is True


def _is_open(env: JobEnvironment) -> bool:
    """Return whether the run is of a pull request that is not merged."""
    return env.text("GITHUB_EVENT_NAME") in _PULLS and not _is_merged(env)


def _finished_branch(env: JobEnvironment) -> Sourced[str] | None:
    """Return the branch of the run that this one follows."""
    run = at_path(env.event, "workflow_run")
    name, theirs = at_path(run, "head_branch"), at_path(run, "head_repository", "full_name")
    if not isinstance(name, str) or not name:
        return None
    ours = at_path(env.event, "repository", "full_name") or env.text("GITHUB_REPOSITORY")
    if isinstance(theirs, str) and theirs != ours:
        return Sourced(f"{theirs.partition('/')[0]}:{name}", EVENT)
    return Sourced(name, EVENT)


def _finished_trigger(env: JobEnvironment) -> Sourced[Trigger] | None:
    """Return what started the run that this one follows."""
    word = at_path(env.event, "workflow_run", "event")
    if not isinstance(word, str):
        return None
    trigger = _WORDS.get(word, Trigger.MANUAL)
    return Sourced(merge_or_manual(trigger, (_finished_branch,), env), EVENT)


def _pull(env: JobEnvironment) -> Sourced[int] | None:
    """Return the number of the pull request of the run, or of the run that this one follows: GitHub
    names none of a fork there.
    """
    pulls = at_path(env.event, _FOLLOWS, "pull_requests")
    pull = only(pulls) if isinstance(pulls, list) else env.event
    return sourced(str(at_path(pull, "number")), EVENT, RUN_ID)


def _failed_before(env: JobEnvironment) -> Sourced[int] | None:
    """Return the run that this one follows, if that failed. One that passed is most often a build,
    which every box waits for: that says nothing of a box.
    """
    run = at_path(env.event, "workflow_run")
    if at_path(run, "conclusion") not in _FAILED:
        return None
    return sourced(str(at_path(run, "id")), EVENT, RUN_ID)


def _unqueued(name: str) -> str:
    """Return the branch that a merge queue merges into; any other branch is itself."""
    match = QUEUE.fullmatch(name)
    return match["branch"] if match else name


def _attempt(env: JobEnvironment) -> Sourced[int] | None:
    """Return the attempt. Gitea, Forgejo and act call each run the first attempt, if any."""
    attempt = sourced(env.text("GITHUB_RUN_ATTEMPT"), "GITHUB_RUN_ATTEMPT", ATTEMPT)
    alike = any(env.text(name) for name in ("ACT", "GITEA_ACTIONS", "FORGEJO_ACTIONS"))
    return None if attempt is not None and alike and attempt.value == 1 else attempt


def _pushed(env: JobEnvironment) -> Sourced[tuple[str, ...]] | None:
    commits = at_path(env.event, "commits")
    listed = [at_path(item, "id") for item in commits] if isinstance(commits, list) else []
    shas = [sha for item in listed if isinstance(item, str) and (sha := commit(item))]
    return Sourced(tuple(shas[-limits.COVERS_MAX :]), EVENT) if shas else None


# Earlier runs

_FAILED = ("failure", "timed_out")
_ENDINGS = {"success": Ending.TESTED} | dict.fromkeys(_FAILED, Ending.IN_DOUBT)
"""By the conclusion of a job. Any other was skipped, was cancelled before it came to a runner, or
still runs."""

_WITHOUT_JOBS = frozenset({"skipped", "startup_failure", "action_required"})
"""Conclusions of runs of which no job ran."""

_DONE = ("success", "failure")
"""Conclusions of steps that ended."""

_FOLLOWS = "workflow_run"
_ELSEWHERE = frozenset({_FOLLOWS, "issue_comment"})
"""Events whose runs are listed under the default branch and its head, whatever they test."""


@dataclass(frozen=True, slots=True)
class _Actions:
    address: str
    headers: Mapping[str, str]
    get_json: GetJson

    def runs(self, file: str, query: Mapping[str, str]) -> Iterator[Row]:
        """List runs of a workflow. Those that still run count: a job of one may have ended."""
        address = f"{self.address}/workflows/{quote(file, '')}/runs"
        query = {**query, "exclude_pull_requests": "true"}
        return pages(self.get_json, address, query, self.headers, "workflow_runs")

    def runs_on(self, branch: str, file: str, *, queued: bool) -> Iterator[Row]:
        """List the runs of a workflow on a branch, the newest first; if `queued`, also those that
        tried what was to be merged into it.
        """
        lists = [self.runs(file, {"branch": branch})]
        if queued:
            lists.append(self.runs(file, {"event": QUEUED}))
        for row in merge(*lists, key=lambda row: -number_of(row, "id")):
            if row.get("event") != QUEUED or _unqueued(str(row.get("head_branch"))) == branch:
                yield row

    def jobs(self, run: int, attempts: str) -> list[Row]:
        """List the jobs of a run, of `all` its attempts or of the `latest`."""
        address = f"{self.address}/runs/{run}/jobs"
        return list(pages(self.get_json, address, {"filter": attempts}, self.headers, "jobs"))


def _runs(job: Job, token: str, get_json: GetJson) -> Iterator[EarlierRun]:
    environ = job.environ
    if environ.get("GITHUB_EVENT_NAME") == _FOLLOWS:
        raise ApiError("GitHub does not list which commit a run tested that follows another")
    own = int(environ["GITHUB_RUN_ID"])
    api, repository = environ["GITHUB_API_URL"].rstrip("/"), environ["GITHUB_REPOSITORY"]
    headers = {"Authorization": f"Bearer {token}"}
    actions = _Actions(f"{api}/repos/{repository}/actions", headers, get_json)

    @cache
    def this_job() -> ThisJob:
        return _this_job(actions.jobs(own, "latest"), environ.get("RUNNER_NAME"))

    def ending(row: Row, number: int) -> Ending:
        if row.get("conclusion") in _WITHOUT_JOBS:
            return Ending.NOT_TESTED
        this = this_job()
        return this.ending([_job(job, this.name) for job in actions.jobs(number, "all")])

    # A branch of a fork is `owner:branch`; the API lists it by its name alone.
    owner, _, branch = str(job.value("branch")).rpartition(":")
    file = environ["GITHUB_WORKFLOW_REF"].partition("@")[0].rpartition("/")[2]
    # A queue stands before few branches, and lists what it tries for all of them together.
    queued = job.queued or job.is_of_a_merge_branch()
    for row in actions.runs_on(branch, file, queued=queued):
        theirs = str(at_path(row, "head_repository", "full_name"))
        of_branch = theirs.partition("/")[0] == owner if owner else theirs == repository
        number = number_of(row, "id")
        if of_branch and number < own:
            sha = "" if row.get("event") in _ELSEWHERE else str(row.get("head_sha"))
            yield EarlierRun(f"run {number}", (number,), sha, partial(ending, row, number))


def _this_job(rows: list[Row], runner: str | None) -> ThisJob:
    """Find this job among those of its run: the one that runs on this runner, which runs no other
    at the same time.
    """
    running = (row for row in rows if row.get("status") != "completed")
    job = only([row for row in running if runner and row.get("runner_name") == runner])
    if job is None:
        return ThisJob(None)
    others = frozenset(str(row.get("name")) for row in rows if row is not job)
    steps = _steps(job, "status", "in_progress")
    return ThisJob(str(job.get("name")), others, steps[0] if len(steps) == 1 else None)


def _job(row: Row, own: str | None) -> JobOfRun:
    """Read a job. A skipped one may stand for several: `hil` for each `hil (…)` of a matrix and
    each `hil / …` of a workflow that it would have called, and `hil on ${{ matrix.board }}` for
    each board.
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
    """Return the names of the steps of a job that are in one of some states."""
    steps = row.get("steps")
    rows = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    return [str(step.get("name")) for step in rows if step.get(key) in values]


# The page of a job


def _show_summary(
    environ: Mapping[str, str], text: str, warnings: Sequence[str], tell: Tell
) -> None:
    for warning in warnings:
        tell(f"::warning title=hwci::{on_one_line(warning, percent='%25')}")
    path = environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8") as page:
            page.write(text)


# The description


_event_is = partial(is_set, "GITHUB_EVENT_NAME")
_is_tag = is_set("GITHUB_REF_TYPE", "tag")
_of_pull = partial(_in_event, "pull_request")
_OWN_RUNNER = is_not("RUNNER_ENVIRONMENT", "github-hosted")
"""A runner that GitHub hosts has another name each time, and no board."""

_BRANCH = (
    where(_event_is(_FOLLOWS), _finished_branch),
    where(_is_merged, _of_pull("base", "ref")),
    _pull_branch,
    variable("GITHUB_REF_NAME"),
)


def _follows_pull(env: JobEnvironment) -> bool:
    """Return whether the run that this one follows is of a pull request."""
    return at_path(env.event, "workflow_run", "event") in _PULLS


def _merged_trigger(env: JobEnvironment) -> Sourced[Trigger]:
    return Sourced(merge_or_manual(Trigger.MERGE, _BRANCH, env), EVENT)


_JOB = """\
# .github/workflows/hil.yml; HWCI_CI_KEY is a secret of the repository
name: hil
on:
  push:
    branches: [{main}] # the default branch; others would run twice, as pull requests too
  pull_request:
  merge_group:
permissions:
  contents: read
  actions: read # to find the run before this one
env:
  HWCI_URL: {url}
  HWCI_CI_KEY: ${{ secrets.HWCI_CI_KEY }}
  HWCI_WHEEL: {wheel}
  GITHUB_TOKEN: ${{ github.token }}
jobs:
  announce:
    if: github.event_name == 'push' && github.ref_name == github.event.repository.default_branch
    continue-on-error: true
    runs-on: ubuntu-latest # {reach}
    steps:
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0
      - run: {install}
      - run: {hwci} merge-announce
  hil:
    runs-on: [self-hosted, bench-1] # {box} runner
    # In a matrix, as its jobs may run on one bench:
    # env:
    #   HWCI_RUN_ID: ${{ github.run_id }}${{ strategy.job-index }}
    steps:
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0
      - run: |
          {install_or_go_on}
      # {needs}
      - run: |
          {tests}
"""


# The identity of a job

_TOKEN_URL, _TOKEN_SECRET = "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"


def _id_token(environ: Mapping[str, str], audience: str) -> str:
    address = f"{environ[_TOKEN_URL]}&audience={quote(audience, safe='')}"
    try:
        answer = get_json(address, {"Authorization": f"bearer {environ[_TOKEN_SECRET]}"})
    except ApiError as fault:
        raise JobTokenError(f"GitHub gives the job no token: {fault}") from fault
    return str(at_path(answer, "value") or "")


SYSTEM = System(
    name=CiSystem.GITHUB,
    title="GitHub Actions",
    variable="GITHUB_ACTIONS",
    event_path="GITHUB_EVENT_PATH",
    may_queue=_event_is("push", QUEUED, _FOLLOWS),
    readers={
        "repo_key": (variable("GITHUB_REPOSITORY"),),
        "workflow": (variable("GITHUB_WORKFLOW"),),
        "run_id": (variable("GITHUB_RUN_ID", RUN_ID),),
        "run_attempt": (_attempt,),
        # The same for all of a matrix, and for each call of a workflow.
        "job": (variable("GITHUB_JOB"),),
        "sha": (
            where(_is_merged, _of_pull("merge_commit_sha", read=commit)),
            where(_event_is(*_PULLS), _of_pull("head", "sha", read=commit)),
            where(_event_is(_FOLLOWS), _in_event(_FOLLOWS, "head_sha", read=commit)),
            variable("GITHUB_SHA", commit),
        ),
        # The merge of a pull request with its target; where a run follows another, its firmware.
        "built": (where(_event_is("pull_request", _FOLLOWS), variable("GITHUB_SHA", commit)),),
        "branch": _BRANCH,
        "kind": (
            where(_is_tag, always(TAGS)),
            where(_is_open, always(PULLS)),
            where(_follows_pull, always(PULLS)),
        ),
        "trigger": (
            where(_event_is(_FOLLOWS), _finished_trigger),
            where(_is_tag, always(Trigger.MANUAL, "GITHUB_REF_TYPE")),
            where(_event_is(QUEUED), always(Trigger.MERGE, "GITHUB_EVENT_NAME")),
            where(_is_merged, _merged_trigger),
            started_by("GITHUB_EVENT_NAME", _WORDS, _BRANCH),
        ),
        "box_key": (where(_OWN_RUNNER, variable("RUNNER_NAME")),),
        "ci_url": (
            address(
                "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}"
                "/attempts/{GITHUB_RUN_ATTEMPT}"
            ),
        ),
        "rerun_of": (where(_event_is(_FOLLOWS), _failed_before),),
        "merged_at": (
            where(_event_is("push"), _in_event("head_commit", "timestamp", read=parse_time)),
            where(_is_merged, _of_pull("merged_at", read=parse_time)),
        ),
        "default_branch": (_in_event("repository", "default_branch"),),
        "before_sha": (
            where(_not_forced, _in_event("before", read=commit)),
            _in_event(QUEUED, "base_sha", read=commit),
        ),
        "pushed_shas": (_pushed,),
        "pull": (_pull,),
        "queued": (where(_event_is(QUEUED), always(value=True, source="GITHUB_EVENT_NAME")),),
    },
    job=PrintedJob(".github/workflows/**", _JOB, host="github.com"),
    guide={
        "run_id": "of the run",
        "run_attempt": "counted",
        "rerun_of": "after a failed `workflow_run`",
        "merge": "push, merge group",
        "nightly": "schedule",
        "covers_shas": "yes",
        "box_key": "runner",
        "ci_url": "of the run",
    },
    show_summary=_show_summary,
    api=EarlierRunsApi(
        title="GitHub's API",
        tokens=("GITHUB_TOKEN", "GH_TOKEN"),
        needs=("GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_WORKFLOW_REF", "GITHUB_RUN_ID"),
        runs=_runs,
        rights="`permissions: actions: read`",
        known_by="the runner it runs on, then its name",
    ),
    identity=Identity(
        (_TOKEN_URL, _TOKEN_SECRET), "give the job `permissions: id-token: write`", _id_token
    ),
)
