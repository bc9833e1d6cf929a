# SPDX-License-Identifier: Apache-2.0
"""Which merges the job of this command announces: one per product whose suite a merge starts (spec,
"CI report endpoints", rule 4; semantics, 1.8). A job of something else than a merge announces
nothing, unless its caller names the commit himself; nor does one of a branch that is none of those
that are merged into, where its caller names these, or nobody says what started it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwci.cli.reporting import bodies, needs
from hwci.cli.reporting.job import PEOPLE, Here, JobFlags, here
from hwci.cli.terminal.render import note
from hwci.engine.patterns import PathList
from hwci.engine.vocabulary import Trigger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.ci.job import Job
    from hwci.ci.project import Product
    from hwci.wire.reports import MergeAnnouncement

ONLY_THE_LAST = (
    "Nobody tells what was pushed: only what its last commit, a merge, brought is looked at, and "
    "no commit that was pushed with it"
)


def announcements(flags: JobFlags) -> list[MergeAnnouncement]:
    """Give what is to be announced.

    Raises:
        ExplainedError: wrong usage: a field is missing or breaks its rule.
    """
    place = here(flags)
    nothing = _no_merge(place.job)
    for line in place.without() if nothing is None else place.unread():
        note(f"warning: {line}.")
    if nothing is not None:
        note(f"Nothing is announced: {nothing}.")
        return []
    if place.git_fault is not None and _needs_git(place):
        note(f"warning: {place.no_git()}.")
    _see_that_it_is_whole(place.job)
    return [_announcement(place.job, suite) for suite in _suites(place)]


def _needs_git(place: Here) -> bool:
    """Tell whether git would say what nobody else does: which commit, or what the merge touched."""
    products = place.project.products if place.project else ()
    known = {"sha", "merged_at"} <= set(place.job.fields)
    return not known or any(product.trigger_paths for product in products)


def _see_that_it_is_whole(job: Job) -> None:
    """See that all is told that an announcement needs.

    Raises:
        ExplainedError: wrong usage: it is not.
    """
    missing = [name for name in needs.of_merge() if name not in job.fields]
    if missing:
        raise needs.lacking("announcement", missing)


def _announcement(job: Job, suite: str | None) -> MergeAnnouncement:
    from hwci.wire.reports import MergeAnnouncement

    said = {name: job.value(name) for name in needs.of_merge()}
    return bodies.from_job(MergeAnnouncement, {**said, "suite": suite}, job.fields)


def _no_merge(job: Job) -> str | None:
    """Say why this job is not of a merge; None: it is, or nobody says that it is not."""
    from hwci.ci.sourced import DEFAULT

    elsewhere = None if job.is_of_a_merge_branch() else _elsewhere(job)
    if elsewhere is not None and "merge_branches" in job.fields:
        return elsewhere
    if _said_by_people(job, "sha"):
        return None
    trigger = job.fields["trigger"]
    if trigger.source == DEFAULT:
        return elsewhere
    if trigger.value is not Trigger.MERGE:
        return (
            f"this job is of no merge: its trigger is {trigger.value}, as {trigger.source} says. "
            "If it is of one, set HWCI_TRIGGER=merge, or name its branch by --merge-branches"
        )
    return "a merge queue only tries this merge" if job.queued else None


def _elsewhere(job: Job) -> str:
    """Say that nothing is merged into the branch of this job."""
    from hwci.ci.sourced import DEFAULT

    into = job.merge_branches
    names = " and ".join(into.value)
    who = (
        f"nobody says which branch is, so {names} are taken for it"
        if into.source == DEFAULT
        else f"merges go to {names}, as {into.source} says"
    )
    fix = "If it is, name it by --merge-branches (or HWCI_MERGE_BRANCHES)"
    return f"{job.value('branch')} is no branch that is merged into: {who}. {fix}"


def _said_by_people(job: Job, field: str) -> bool:
    return field in job.fields and job.fields[field].source.startswith(PEOPLE)


def _suites(place: Here) -> Sequence[str | None]:
    """Give the products that a merge starts; None stands for whichever product checks it."""
    if _said_by_people(place.job, "suite"):
        if (doubt := place.doubt()) is not None:
            note(f"warning: {doubt.what}. {doubt.fix}.")
        return [place.job.value("suite")]
    if place.project is None or not place.project.products:
        return [None]
    products = [product for product in place.project.products if product.merge_trigger]
    paths = _touched(place) if any(product.trigger_paths for product in products) else ()
    started = [product.suite for product in products if _starts(product, paths)]
    if not started:
        note("Nothing is announced: the merge starts no product of hwci.toml.")
    return started


def _starts(product: Product, paths: Sequence[str] | None) -> bool:
    """A merge whose files are not known starts every product: none is lost."""
    if not product.trigger_paths or paths is None:
        return True
    trigger = PathList.parse(product.trigger_paths)
    return any(trigger.matches(path) for path in paths)


def _touched(place: Here) -> Sequence[str] | None:
    """Give the files of the merge; None, and a note: they are not known."""
    from hwci.ci.git.changes import PUSH_FIX, FilesUnknownError, Push, touched

    job = place.job
    push = Push(job.before_sha.value if job.before_sha else None, job.pushed_shas, job.batched)
    if place.repository is None:
        why = ""  # a warning says it
    else:
        try:
            paths = touched(place.repository, job.value("sha"), push)
            if push.before is None and not push.list_to(job.value("sha")):
                note(f"note: {ONLY_THE_LAST}. {PUSH_FIX}.")
            return paths
        except FilesUnknownError as fault:
            why = f": {fault}. {fault.fix}".rstrip(". ")
    note(f"note: The files of the merge are not known, so each product is announced{why}.")
    return None
