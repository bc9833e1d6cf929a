# SPDX-License-Identifier: Apache-2.0
"""Which reports saw a commit: by their `sha`, or in their `covers_shas` (semantics, 9.1).

This module decides what counts as a sighting, and gives those of every commit from all reports at
once: the definition. It does not know which of them check a merge (`merges.py`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from hwci.engine.facts import Announcement, Report
from hwci.engine.parts import ci_run_id


class Sighting(NamedTuple):
    """A report whose `sha` or `covers_shas` holds a merge: what decides whether it checks it."""

    suite: str
    hello_ok: bool
    has_tests: bool


@dataclass(frozen=True, slots=True)
class Merge:
    """An announcement with the distinct sightings of its commit in its repository."""

    announcement: Announcement
    sightings: frozenset[Sighting]


class SightedRun(NamedTuple):
    """A report that saw a commit, and the commit that it tested. Those of a repository compare as
    reports do wherever the rules say "earliest" (semantics, 5.1).
    """

    started_at: datetime
    run_id: int
    run_attempt: int
    box_key: str
    ci_run_id: int
    sha: str
    sighting: Sighting


class Sightings:
    """Every sighting of one organization, indexed once from its reports."""

    def __init__(self, reports: Iterable[Report]) -> None:
        self._reports = reports

    def of(self, repo_key: str, sha: str) -> Sequence[SightedRun]:
        """Give the reports that saw a commit, in any order."""
        return self._by_commit.get((repo_key, sha), ())

    @cached_property
    def _by_commit(self) -> Mapping[tuple[str, str], Sequence[SightedRun]]:
        found: dict[tuple[str, str], list[SightedRun]] = defaultdict(list)
        for report in self._reports:
            for sha in {report.sha, *report.covers_shas}:
                found[report.repo_key, sha].append(_sighted(report))
        return found


def _sighted(report: Report) -> SightedRun:
    return SightedRun(
        started_at=report.started_at,
        run_id=report.run_id,
        run_attempt=report.run_attempt,
        box_key=report.box_key,
        ci_run_id=ci_run_id(report),
        sha=report.sha,
        sighting=Sighting(report.suite, report.hello_ok, bool(report.tests)),
    )
