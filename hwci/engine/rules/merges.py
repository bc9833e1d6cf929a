# SPDX-License-Identifier: Apache-2.0
"""Which merges ran on hardware (spec, tile "Merges checked on hardware"; semantics, 9.1).

This module decides whether a run checked a merge, and which run was the first to. The branch of a
run and whether it began before the merge do not matter.
"""

from collections.abc import Iterable

from hwci.engine.facts import Announcement
from hwci.engine.history import Merge, SightedRun, Sighting


def is_checked(merge: Merge) -> bool:
    """Whether a run checked the merge, "at any time, on any branch"."""
    return any(checks(sighting, merge.announcement) for sighting in merge.sightings)


def first_check(announcement: Announcement, runs: Iterable[SightedRun]) -> SightedRun:
    """Return the earliest of the runs that checked a merge; at least one did."""
    return min(run for run in runs if checks(run.sighting, announcement))


def checks(sighting: Sighting, announcement: Announcement) -> bool:
    """Whether a report that holds the merge's commit checks it: one "that reached the hardware with
    at least one test, of its product if it names one".
    """
    return sighting.hello_ok and sighting.has_tests and is_of_product(sighting, announcement)


def is_of_product(sighting: Sighting, announcement: Announcement) -> bool:
    """Whether a report is of the product that the merge names, or the merge names none."""
    return announcement.suite in {None, sighting.suite}
