# SPDX-License-Identifier: Apache-2.0
"""Since when a run counts what changed: the commit of the last earlier run of its workflow and
branch that tested (spec, "Run report"; semantics, 6.6).

This module decides who is believed: a person, the CI's own API, the CI's variable, what this
machine remembers; else nothing is known. A run that this machine knows to have lost its bench is
passed over, whoever names it: what it did not test is still under test.
"""

import re

from hwci.ci.asking import Ask, AskError
from hwci.ci.earlier_runs import EarlierRun, api_of
from hwci.ci.job import Job
from hwci.ci.state import Lane, State
from hwci.ci.told import Told

STATE_FILE = "state file"
NOBODY = "default"

_HASH = re.compile(r"[0-9a-f]{7,64}")


def lane_of(job: Job) -> Lane | None:
    """Give the lane of a job; None where nobody told what it is part of."""
    names = [job.value(name) for name in ("repo_key", "workflow", "branch")]
    return Lane(*names) if all(names) else None


def find_base(job: Job, state: State, ask: Ask) -> tuple[Told[str | None], tuple[str, ...]]:
    """Find the base of a job, and what people should know of the search."""
    said = job.fields.get("base_sha")
    if said is not None:
        return Told(_commit(said.value), said.by), ()
    lane = lane_of(job)
    found, notes = _from_api(job, state, lane, ask)
    found = found or _from_variable(job, state, lane) or _from_state(job, state, lane)
    return found or Told(None, NOBODY), notes


def _from_api(
    job: Job, state: State, lane: Lane | None, ask: Ask
) -> tuple[Told[str | None] | None, tuple[str, ...]]:
    asked = api_of(job)
    if asked is None:
        return None, ()
    api, token = asked
    try:
        tested = (run for run in api.runs(job, token, ask) if _tested(run, state, lane))
        sha = next((sha for run in tested if (sha := _commit(run.sha))), None)
    except AskError as fault:
        return None, (f"The run before this one was not asked for: {fault}.",)
    except ValueError:
        return None, (f"The run before this one was not asked for: {api.title} needs numbers.",)
    return (Told(sha, api.title) if sha else None), ()


def _tested(run: EarlierRun, state: State, lane: Lane | None) -> bool:
    """Tell whether a run tested: as this machine knows, else by how it ended."""
    known = [state.reached(lane, run_id) for run_id in run.run_ids] if lane else []
    return next((reached for reached in known if reached is not None), run.ended)


def _from_variable(job: Job, state: State, lane: Lane | None) -> Told[str | None] | None:
    previous = job.previous_sha
    sha = _commit(previous.value) if previous else None
    if previous is None or sha is None or (lane is not None and state.was_lost(lane, sha)):
        return None
    return Told(sha, previous.by)


def _from_state(job: Job, state: State, lane: Lane | None) -> Told[str | None] | None:
    run_id = job.value("run_id")
    if lane is None or run_id is None:
        return None
    # What came before a first attempt that ran elsewhere is not known here.
    if (job.value("run_attempt") or 1) > 1 and not state.knows(lane, run_id):
        return None
    sha = state.last_tested(lane, run_id)
    return Told(sha, STATE_FILE) if sha else None


def _commit(text: str) -> str | None:
    """Read a commit. A hash of zeros stands for none, and a name is not known to be the same."""
    sha = text.strip().lower()
    return sha if _HASH.fullmatch(sha) and sha.strip("0") else None
