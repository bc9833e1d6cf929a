# SPDX-License-Identifier: Apache-2.0
"""Which merges ran on hardware (spec, tile "Merges checked on hardware"; semantics, 9.1).

This module decides whether a run checked a merge. The branch of a run and whether it began before
the merge do not matter.
"""

from collections.abc import Iterable

from hwci.contract.runs.merges import Merge
from hwci.engine.facts import Report
from hwci.engine.history import SightedRun, Sighting


def count_checks(announcement: Merge, runs: Iterable[SightedRun]) -> int:
    """Count the runs that checked a merge, "at any time, on any branch"."""
    return sum(checks(run.sighting, announcement) for run in runs)


def commits_checked(report: Report) -> frozenset[str]:
    """Return the commits whose merges a report checks, those of its product and those of none."""
    sighting = Sighting(report.suite, report.hello_ok, bool(report.tests))
    if not _checks_any(sighting):
        return frozenset()
    return frozenset((report.sha, *report.covers_shas))


def in_order(announcements: Iterable[Merge]) -> list[Merge]:
    """Return a table of merges: the newest first, then by repository, product and commit."""
    rows = sorted(announcements, key=lambda merge: (merge.repo_key, merge.suite or "", merge.sha))
    rows.sort(key=lambda merge: merge.merged_at, reverse=True)
    return rows


def checks(sighting: Sighting, announcement: Merge) -> bool:
    """Whether a report that holds the merge's commit checks it: one "that reached the hardware with
    at least one test, of its product if it names one".
    """
    return _checks_any(sighting) and is_of_product(sighting, announcement)


def is_of_product(sighting: Sighting, announcement: Merge) -> bool:
    """Whether a report is of the product that the merge names, or the merge names none."""
    return announcement.suite in {None, sighting.suite}


def _checks_any(sighting: Sighting) -> bool:
    return sighting.hello_ok and sighting.has_tests
