# SPDX-License-Identifier: Apache-2.0
"""Earlier runs of a job as the API of its CI system lists them, and what became of the job in each
(semantics, 6.6).

A run that succeeded need not have tested: its job at the bench may have been skipped. One that
failed may have tested: another of its jobs failed. A CI system knows how a job ended, not whether
it reached the hardware. This module decides what the jobs of a run say of the job that asks; the
words that a system has for them are in its module.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import Enum

from hwci.ci.fields import BY_NAME
from hwci.ci.job import Job
from hwci.ci.systems.api import GetJson, with_request_limit

REQUESTS = 15
"""Of one search: lists, this run, and a dozen of those before it."""


class Ending(Enum):
    """How the tests of a job ended. Of several attempts, the first of these counts."""

    TESTED = "it succeeded, so its tests ran"
    IN_DOUBT = (
        "it may have ended before its tests: a failure, a lost bench, a person who cancelled it"
    )
    NOT_TESTED = "it was skipped, or cancelled before it began, or still runs"


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """`name`: as people find it there. `run_ids`: a report may use any of them. `sha`: "" if the
    API does not name the commit that was tested. `ending` may make requests; it raises ApiError.
    """

    name: str
    run_ids: tuple[int, ...]
    sha: str
    ending: Callable[[], Ending]


@dataclass(frozen=True, slots=True)
class EarlierRunsApi:
    """The API that lists earlier runs. `tokens`, `needs`: variables; one of the tokens and all of
    the others have to be set. `runs` yields the newest first; it raises ApiError. `lists_pushes`:
    the list holds a build for each push to the branch, and no variable names the commit before.
    For the guide: the `rights` that a token needs, and what a job is `known_by`.
    """

    title: str
    tokens: tuple[str, ...]
    needs: tuple[str, ...]
    runs: Callable[[Job, str, GetJson], Iterator[EarlierRun]]
    rights: str
    known_by: str
    lists_pushes: bool = False

    def missing_variables(self, job: Job) -> tuple[str, ...]:
        """Return the variables that have to be set before a request for a job can be made."""
        token = () if any(map(job.environ.get, self.tokens)) else self.tokens[:1]
        branch = () if job.value("branch") else (BY_NAME["branch"].variable,)
        return (*token, *(name for name in self.needs if not job.environ.get(name)), *branch)

    def runs_before(self, job: Job, get_json: GetJson) -> Iterator[EarlierRun]:
        """Yield the runs before that of a job, the newest first. No variable may be missing.

        Raises:
            ApiError: there is no answer, or too many requests were made.
            ValueError: a variable is not a number.
        """
        token = next(filter(None, map(job.environ.get, self.tokens)))
        return self.runs(job, token, with_request_limit(get_json, REQUESTS))


@dataclass(frozen=True, slots=True)
class JobOfRun:
    """A job of a run. `name`: what it is recognized by. `skipped`: its steps that did not run, if
    known. `done`: the steps that ended in a job that was cancelled, None if unknown.
    """

    name: str
    ending: Ending
    skipped: Collection[str] = ()
    done: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class ThisJob:
    """The job that asks. `name`: None if it is not recognized. `others`: the jobs beside it.
    `step`: the one that runs now.
    """

    name: str | None
    others: Collection[str] = ()
    step: str | None = None

    def ending(self, jobs: Collection[JobOfRun]) -> Ending:
        """Return how this job ended in a run with these jobs, or with these that may be it."""
        alone = self.name is None and len(jobs) == 1
        own = {self._ending_of(job) for job in jobs if alone or job.name == self.name}
        if own:
            return next(ending for ending in Ending if ending in own)
        # A job that ran and that this run does not have may be this one by an earlier name.
        strange = any(
            job.ending is not Ending.NOT_TESTED and job.name not in self.others for job in jobs
        )
        return Ending.IN_DOUBT if strange else Ending.NOT_TESTED

    def _ending_of(self, job: JobOfRun) -> Ending:
        """A job may succeed with its steps skipped, this one, which reports, among them. A job that
        was cancelled before this step reported nothing.
        """
        if job.ending is Ending.TESTED and self.step in job.skipped:
            return Ending.IN_DOUBT
        if job.done is not None and self.step is not None and self.step not in job.done:
            return Ending.NOT_TESTED
        return job.ending
