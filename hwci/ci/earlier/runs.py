# SPDX-License-Identifier: Apache-2.0
"""What came of this job in an earlier run, by the jobs that the run had (semantics, 6.6).

A run that succeeded need not have tested: its job at the bench may have been skipped. One that
failed may have tested: another of its jobs failed. This module decides what the jobs of a run say
of the one that asks; which words a system has for them stands in its module.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum


class Ending(Enum):
    """What is known of the tests of a job. Of several attempts, the first of these counts."""

    TESTED = "it succeeded, so what it was to test was tested"
    IN_DOUBT = (
        "it may have ended before its tests: a failure, a lost bench, a person who cancelled it"
    )
    NOT_TESTED = "it was skipped, or cancelled before it began, or goes on"


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """`name`: as people find it there. `run_ids`: by any of which a report may call it. `sha`: ""
    where the API does not tell what was tested. `ending` may ask; it raises AskError.
    """

    name: str
    run_ids: tuple[int, ...]
    sha: str
    ending: Callable[[], Ending]


@dataclass(frozen=True, slots=True)
class JobOfRun:
    """A job of a run. `name`: what it is recognized by. `skipped`: names of steps of it that did
    not run, where the system tells. `done`: of a job that was cancelled, those that came to their
    end, where the system tells.
    """

    name: str
    ending: Ending
    skipped: Collection[str] = ()
    done: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class ThisJob:
    """The job that asks. `name` None: it is not recognized. `others`: the jobs beside it. `step`:
    the one that runs now.
    """

    name: str | None
    others: Collection[str] = ()
    step: str | None = None

    def ending(self, jobs: Collection[JobOfRun]) -> Ending:
        """Tell what came of this job in a run that had these jobs, or these that may be it."""
        alone = self.name is None and len(jobs) == 1
        own = {self._of(job) for job in jobs if alone or job.name == self.name}
        if own:
            return next(ending for ending in Ending if ending in own)
        # A job that ran and that this run does not have may be this one by an earlier name.
        strange = any(
            job.ending is not Ending.NOT_TESTED and job.name not in self.others for job in jobs
        )
        return Ending.IN_DOUBT if strange else Ending.NOT_TESTED

    def _of(self, job: JobOfRun) -> Ending:
        """A job may succeed with its steps skipped: then this one, which reports, was, too. A job
        that was cancelled before this step reported nothing.
        """
        if job.ending is Ending.TESTED and self.step in job.skipped:
            return Ending.IN_DOUBT
        if job.done is not None and self.step is not None and self.step not in job.done:
            return Ending.NOT_TESTED
        return job.ending
