# SPDX-License-Identifier: Apache-2.0
"""Which merges ran on hardware (spec, tile "Merges checked on hardware"; semantics, 9.1).

This module decides whether a run checked a merge, and which was the first that did. It does not
know on which branch a run was, nor whether it began before the merge: neither counts.
"""

from collections.abc import Iterable

from hwci.engine.facts import Announcement
from hwci.engine.sightings import Merge, SightedRun, Sighting


def is_checked(merge: Merge) -> bool:
    """Whether a run checked the merge, at any time and on any branch."""
    return any(_checks(sighting, merge.announcement) for sighting in merge.sightings)


def first_check(announcement: Announcement, runs: Iterable[SightedRun]) -> SightedRun:
    """Give the earliest of the runs that checked a merge, which is checked."""
    return min(run for run in runs if _checks(run.sighting, announcement))


def _checks(sighting: Sighting, announcement: Announcement) -> bool:
    """Whether a run that saw a merge's commit checks the merge.

    Spec: "when it reached the hardware (`hello_ok` true), recorded at least one test, and tested
    the merge commit or a push (`covers_shas`) that included it".
    """
    of_product = announcement.suite in {None, sighting.suite}
    return sighting.hello_ok and sighting.has_tests and of_product
