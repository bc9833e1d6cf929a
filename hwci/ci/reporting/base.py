# SPDX-License-Identifier: Apache-2.0
"""Since when a run counts what changed: the commit of the last earlier run of its workflow, branch
and product that tested (spec, "Run report"; semantics, 6.6).

This module decides the order of sources: a person, the CI's own API, the CI's variable, what this
machine remembers; else the base is unknown. An earlier run counts if this job succeeded in it by
the CI, or if this machine remembers that it tested. One that this machine knows to have lost its
bench is skipped, whatever its source: what it did not test is still under test. One in which this
job failed, and that this machine does not know, is in doubt: it does not count, and a note names
it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hwci.ci.fields import BY_NAME
from hwci.ci.job import Job, Sourced, job_run_id, product_run_id
from hwci.ci.systems import api_of
from hwci.ci.systems.api import ApiError, GetJson
from hwci.ci.systems.earlier import EarlierRun, Ending
from hwci.client.store import PastRuns, ReportedRun
from hwci.said import short
from hwci.wire.hashes import names_a_commit

RUN_KEPT_HERE = "the run before, kept on this bench"
NOBODY = "default"
BASE_FIX = "keep the folder HWCI_STATE_DIR from job to job, or set --base-sha"
"""How a note ends of a base that is not known: what a person can do about it."""

_RUN_ID = BY_NAME["run_id"]


@dataclass(frozen=True, slots=True)
class _Doubt:
    """A source that does not know. `sure`: the last commit that it knows to have been tested."""

    why: str
    sure: str | None = None

    def note(self, base: Sourced[str | None]) -> str:
        """Return the note for people, with what counts instead."""
        if base.value is None:
            return f"{self.why}. So it is not known since when changes are under test: {BASE_FIX}."
        return f"{self.why}. So changes count from {short(base.value)} ({base.source})."


@dataclass(frozen=True, slots=True)
class _Search:
    job: Job
    past: PastRuns
    get_json: GetJson

    def came_of(self, run: EarlierRun) -> tuple[Ending, str | None]:
        """Return whether a run tested, and on which commit: from this machine, else from the CI."""
        for reported in self._known(run):
            if reported is not None:
                return Ending.TESTED if reported.hello_ok else Ending.NOT_TESTED, reported.sha
        sha = _commit(run.sha)
        if sha is not None and self._has_numbers_of_its_own():
            if self.past.was_tested(sha):
                return Ending.TESTED, sha
            if self.past.was_lost(sha):
                return Ending.NOT_TESTED, sha
        return run.ending(), sha

    def _known(self, run: EarlierRun) -> Iterator[ReportedRun | None]:
        """Return what this machine remembers of a run, by the CI's number, by that of its product,
        and by those of this job.
        """
        if self.past.series is not None:
            for number in run.run_ids:
                for run_id in (number, product_run_id(number, self.past.series.suite)):
                    yield self.past.reported(run_id)
                    if self.job.name is not None:
                        yield self.past.reported(job_run_id(run_id, self.job.name))

    def _has_numbers_of_its_own(self) -> bool:
        """Return whether a person numbers the runs: then this machine knows earlier ones, which the
        CI calls otherwise, by their commits only.
        """
        run_id = self.job.fields.get("run_id")
        return run_id is not None and run_id.source in {_RUN_ID.flag, _RUN_ID.variable}


_Answer = Sourced[str | None] | _Doubt | None


def find_base(
    job: Job, past: PastRuns, get_json: GetJson
) -> tuple[Sourced[str | None], tuple[str, ...]]:
    """Find the base of a job, and what people should know of the search."""
    named = job.fields.get("base_sha")
    if named is not None:
        return Sourced(_commit(named.value), named.source), ()
    search, doubts = _Search(job, past, get_json), list[_Doubt]()
    for source in (_from_api, _from_variable):  # who is asked before this machine
        answer = source(search)
        if isinstance(answer, Sourced):
            return answer, ()
        if answer is not None:
            doubts.append(answer)
    # A machine that did not see the last run that tested for sure does not see all of them.
    sees_all = all(doubt.sure is None or search.past.was_tested(doubt.sure) for doubt in doubts)
    base = (_from_state(search) if sees_all else None) or Sourced(None, NOBODY)
    if base.value is None and not doubts:
        doubts = [*_unasked(job)]
    return base, tuple(doubt.note(base) for doubt in doubts)


def _unasked(job: Job) -> Iterator[_Doubt]:
    """Return the doubt that the CI's API was not asked, as variables are missing."""
    api = api_of(job)
    if api is not None and (lacking := api.missing_variables(job)):
        what = f"{api.title} was not asked which run tested before this one"
        yield _Doubt(f"{what}: that needs {' and '.join(lacking)}")


def _from_api(search: _Search) -> _Answer:
    api = api_of(search.job)
    if api is None or api.missing_variables(search.job):
        return None
    try:
        return _last_tested(search, api.title, api.runs_before(search.job, search.get_json))
    except ApiError as fault:
        return _Doubt(f"{api.title} did not return the run before this one: {fault}")
    except ValueError:
        return _Doubt(f"{api.title} was not asked for the run before this one: it needs numbers")


def _last_tested(search: _Search, title: str, runs: Iterable[EarlierRun]) -> _Answer:
    """Return the last of the runs that tested, the newest first; a doubt if one that may have
    tested, on another commit, came after it.
    """
    unclear: list[tuple[EarlierRun, str | None]] = []
    sure: str | None = None
    for run in runs:
        ending, sha = search.came_of(run)
        if ending is Ending.TESTED and sha is not None:
            sure = sha
            break
        if ending is not Ending.NOT_TESTED:
            unclear.append((run, sha))
    doubtful = next((run for run, sha in unclear if sha is None or sha != sure), None)
    if doubtful is None:
        return Sourced(sure, title) if sure else None
    commit = short(doubtful.sha) or "a commit that it does not name"
    return _Doubt(
        f"{title} does not show what {doubtful.name} on {commit} tested, if anything", sure
    )


def _from_variable(search: _Search) -> _Answer:
    previous = search.job.previous_sha
    sha = _commit(previous.value) if previous else None
    if previous is None or sha is None or search.past.was_lost(sha):
        return None
    succeeded = search.job.succeeded_sha
    sure = _commit(succeeded.value) if succeeded else None
    if sha == sure or search.past.was_tested(sha):
        return Sourced(sha, previous.source)
    named = f"the run on {short(sha)} tested, if anything"
    return _Doubt(f"{previous.source} does not show what {named}", sure)


def _from_state(search: _Search) -> Sourced[str | None] | None:
    run_id = search.job.value("run_id")
    if run_id is None:
        return None
    # What came before a first attempt that ran elsewhere is not known here.
    if (search.job.value("run_attempt") or 1) > 1 and search.past.reported(run_id) is None:
        return None
    sha = search.past.last_tested(run_id)
    return Sourced(sha, RUN_KEPT_HERE) if sha else None


def _commit(text: str) -> str | None:
    """Read a commit. A hash of zeros stands for none, and a name is not known to be the same."""
    sha = text.strip().lower()
    return sha if names_a_commit(sha) else None
