# SPDX-License-Identifier: Apache-2.0
"""Which merges the job of this command announces: one per product whose suite a merge starts (spec,
"CI report endpoints", rule 4; semantics, 1.8). A job of something else than a merge announces
nothing, unless its caller names the commit himself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwci.cli import bodies
from hwci.cli.job import Here, JobFlags, here
from hwci.cli.render import note
from hwci.engine.patterns import PathList
from hwci.engine.vocabulary import Trigger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.ci.job import Job
    from hwci.ci.project import Product
    from hwci.wire.reports import MergeAnnouncement

PEOPLE = ("-", "HWCI_")
"""How a flag and a variable of ours begin: what they say, a person said."""


def announcements(flags: JobFlags) -> list[MergeAnnouncement]:
    """Give what is to be announced.

    Raises:
        CommandError: wrong usage: a field is missing or breaks its rule.
    """
    place = here(flags)
    nothing = _no_merge(place.job)
    if nothing is not None:
        note(f"Nothing is announced: {nothing}.")
        return []
    return [_announcement(place.job, suite) for suite in _suites(place)]


def _announcement(job: Job, suite: str | None) -> MergeAnnouncement:
    from hwci.wire.reports import MergeAnnouncement

    fields = ("repo_key", "sha", "branch", "merged_at")
    said = {name: job.value(name) for name in fields}
    return bodies.from_flags(MergeAnnouncement, {**said, "suite": suite})


def _no_merge(job: Job) -> str | None:
    """Say why this job is not of a merge; None: it is, or nobody says that it is not."""
    if _said_by_people(job, "sha"):
        return None
    trigger = job.fields["trigger"]
    if trigger.by != "default" and trigger.value is not Trigger.MERGE:
        return f"this job is of no merge, says {trigger.by}; HWCI_TRIGGER=merge says otherwise"
    return "a merge queue only tries this merge" if job.queued else None


def _said_by_people(job: Job, field: str) -> bool:
    return field in job.fields and job.fields[field].by.startswith(PEOPLE)


def _suites(place: Here) -> Sequence[str | None]:
    """Give the products that a merge starts; None stands for whichever product checks it."""
    if _said_by_people(place.job, "suite"):
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
    from hwci.ci.changes import touched

    job, sha = place.job, place.job.value("sha")
    before = job.before_sha.value if job.before_sha else None
    paths = touched(place.repository, sha, before) if place.repository and sha else None
    if paths is None:
        note("note: The files of the merge are not known: each product is announced.")
    return paths
