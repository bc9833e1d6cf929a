# SPDX-License-Identifier: Apache-2.0
"""Which merges ran on hardware (spec, tile "Merges checked on hardware"; semantics, 9.1).

This module decides whether a run checked a merge. It does not know when or on which branch the run
was: neither counts.
"""

from hwci.engine.history import Merge


def is_checked(merge: Merge) -> bool:
    """Whether a run checked the merge, at any time and on any branch.

    Spec: "when it reached the hardware (`hello_ok` true), recorded at least one test, and tested
    the merge commit or a push (`covers_shas`) that included it".
    """
    suite = merge.announcement.suite
    return any(
        sighting.hello_ok and sighting.has_tests and suite in {None, sighting.suite}
        for sighting in merge.sightings
    )
