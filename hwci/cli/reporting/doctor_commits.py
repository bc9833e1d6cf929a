# SPDX-License-Identifier: Apache-2.0
"""What would keep a report from saying of commits what it could: the checkout, the run and the push
before this one. It asks what a report would get_json, and decides nothing of it: see `hwci.ci`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hwci.cli.reporting.finding import Finding, State
from hwci.wire.hashes import short

if TYPE_CHECKING:
    from hwci.ci.reporting import JobContext
    from hwci.ci.state import State as Memory
    from hwci.ci.systems.api import GetJson


def checkout(place: JobContext) -> Finding:
    """Look at the clone."""
    if place.repository is None:
        fix = place.git_fault.fix if place.git_fault else ""
        return Finding("git", State.WARN, f"{place.git_fault}: reports say no changes", fix)
    if place.repository.head() is None:
        what = "no commit is checked out: reports say no changes"
        return Finding("git", State.WARN, what, "Check out the commit under test")
    if place.repository.cut():
        what = "the clone is shallow: changes since the last run may not be known"
        fix = "Fetch all history (actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0)"
        return Finding("git", State.WARN, what, fix)
    if (changed := place.changed()) is not None:
        return Finding("git", State.WARN, changed.what, changed.fix)
    return Finding("git", State.OK, "the whole history is here")


def before(place: JobContext) -> list[Finding]:
    """Look for the run and the push before this one, as a report would: it asks the CI's own API,
    mostly with a token that the job has to be given. A job without a box only announces merges.
    """
    from hwci.ci.state import State as Memory
    from hwci.ci.state import state_folder
    from hwci.ci.systems.api import for_one_report, get_json

    job = place.job
    if place.repository is None or job.faults or not {"sha", "box_key"} <= job.fields.keys():
        return []  # said already: no report is made, or it tells no changes
    asked = for_one_report(get_json)
    return [*_base(place, Memory(state_folder(os.environ)), asked), *_push(place, asked)]


def _base(place: JobContext, memory: Memory, asked: GetJson) -> list[Finding]:
    from hwci.ci.reporting.under_test import base_of

    base, notes = base_of(place.job, memory, asked)
    if notes:
        return [_doubtful(place, note.removesuffix(".")) for note in notes]
    what = "none that tested is known yet"
    if base.value is not None:
        what = f"changes count from {short(base.value)}, told by {base.source}"
    return [Finding("earlier run", State.OK, what)]


def _doubtful(place: JobContext, note: str) -> Finding:
    """Part what a note says from what a person can do about it, where something is to be done."""
    from hwci.ci.reporting.base import BASE_FIX

    what = note.removesuffix(f": {BASE_FIX}")
    fix = "" if what == note else _with_token(place, BASE_FIX)
    return Finding("earlier run", State.WARN, what, fix)


def _push(place: JobContext, asked: GetJson) -> list[Finding]:
    from hwci.ci.reporting.push import stood_before

    if place.job.value("covers_shas") is not None:
        return []
    parted = (
        note.removesuffix(".").rpartition(": ") for note in stood_before(place.job, asked).notes
    )
    return [Finding("push", State.WARN, what, _sentence(fix)) for what, _, fix in parted]


def _with_token(place: JobContext, fix: str) -> str:
    """Say first what the CI's API is not told that could answer."""
    from hwci.ci.systems import api_of

    api = api_of(place.job)
    lacking = api.missing_variables(place.job) if api else ()
    return _sentence(f"set {' and '.join(lacking)}, or {fix}" if lacking else fix)


def _sentence(fix: str) -> str:
    return fix[0].upper() + fix[1:]
