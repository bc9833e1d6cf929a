# SPDX-License-Identifier: Apache-2.0
"""Where a branch stood before the push that started a run (spec, "Run report": `covers_shas`).

A merge that a run covers counts as checked. So this module prefers an unknown push to one
that reaches back over another: the run then covers its own commit, with a note. The sources are a
person, then the CI's variable for the push, then the list of its builds: the branch stood at the
build before this one, whatever its result. Not so the base of the changes, which is where
this job last *tested*, nor Jenkins' `GIT_PREVIOUS_COMMIT`: it passes over builds that go on, that
were replaced by newer ones, or that ended before their checkout.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from hwci.ci.job import Job
from hwci.ci.systems import api_of
from hwci.ci.systems.api import ApiError, GetJson
from hwci.contract.vocabulary import Trigger
from hwci.said import short
from hwci.wire.hashes import names_a_commit

LOOKED_AT = 50
"""Builds before this one that are looked at: who builds an old commit again builds one of these."""


@dataclass(frozen=True, slots=True)
class Before:
    """`commit` None: it is not known, or no push started the run. `built`: commits of the builds
    before; what they had is of their pushes. `notes`: for people.
    """

    commit: str | None = None
    built: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def stood_before(job: Job, get_json: GetJson) -> Before:
    """Find where the branch of a job stood. The job knows its commit."""
    before = job.before_sha
    if before is not None and before != job.previous_sha:
        return Before(before.value)
    if job.value("trigger") != Trigger.MERGE or job.pushed_shas:
        return Before()
    return _by_builds(job, get_json)


def _by_builds(job: Job, get_json: GetJson) -> Before:
    """Ask the CI for its builds, where each push to a branch is among them."""
    api = api_of(job)
    if api is None or not api.lists_pushes:
        return _unknown(job, "it is not known where the branch stood before it")
    title = api.title
    if missing := api.missing_variables(job):
        return _unknown(job, f"{title} was not asked where the branch stood before it", missing)
    try:
        runs = islice(api.runs_before(job, get_json), LOOKED_AT)
        shas = [run.sha.strip().lower() for run in runs]
    except ApiError as fault:
        return _unknown(job, f"{title} did not return the build before this one ({fault})")
    except ValueError:
        return _unknown(
            job, f"{title} was not asked for the build before this one: it needs numbers"
        )
    return _before(job, title, shas)


def _before(job: Job, title: str, shas: Sequence[str]) -> Before:
    """Read the commits of the builds before, the newest first. A commit that is built again was
    pushed before its first build.
    """
    sha = job.value("sha").lower()
    again = [
        place for place, begin in enumerate(shas) if names_a_commit(begin) and sha.startswith(begin)
    ]
    others = shas[again[-1] + 1 :] if again else shas
    if not others:
        return _unknown(job, f"{title} lists no build of another commit before this one")
    if not names_a_commit(others[0]):
        return _unknown(job, f"{title} does not name the commit of the build before this one")
    return Before(others[0], tuple(filter(names_a_commit, others)))


def _unknown(job: Job, why: str, lacking: Sequence[str] = ()) -> Before:
    return Before(notes=covers_less(job, why, lacking))


def covers_less(job: Job, why: str, lacking: Sequence[str] = ()) -> tuple[str, ...]:
    """Return why a run covers no more of its push than its own commit, and what to do about it."""
    fix = f"set {' and '.join(lacking)}, or set" if lacking else "set"
    covered = f"Of its push the run covers only {short(job.value('sha'))}, as {why}"
    return (f"{covered}: {fix} --before-sha or --covers-shas.",)
