# SPDX-License-Identifier: Apache-2.0
"""Order of commits on a branch: by first mention (semantics, 3).

This module decides in which order one report mentions its commits, and which place a branch gives
to each. It does not know what ran on a commit or how it ended: `hello_ok` is not asked.
"""

from collections.abc import Iterable
from typing import NamedTuple

from hwci.engine.facts import Report
from hwci.engine.history import Place

_BASE, _COVERED, _LISTED, _TESTED = range(4)


class Mention(NamedTuple):
    """A commit of a report. `tested`: it is the report's `sha` or in its `covers_shas`."""

    sha: str
    place: Place
    tested: bool


def mentions(report: Report) -> list[Mention]:
    """Give every distinct commit of a report once, by its last mention, in order of place."""
    at = report.started_at
    last: dict[str, Place] = {}
    changes = report.changes
    if changes is not None and changes.base_sha is not None:
        last[changes.base_sha] = Place(at, _BASE, 0, changes.base_sha)
    for position, sha in enumerate(report.covers_shas):
        last[sha] = Place(at, _COVERED, position, sha)
    for position, commit in enumerate(changes.commits if changes is not None else ()):
        last[commit.sha] = Place(at, _LISTED, position, commit.sha)
    last[report.sha] = Place(at, _TESTED, 0, report.sha)
    tested = {report.sha, *report.covers_shas}
    return [Mention(place.sha, place, place.sha in tested) for place in sorted(last.values())]


def first_places(reports: Iterable[Report]) -> dict[str, Place]:
    """Give the place of each commit on a branch, from all reports of that branch."""
    places: dict[str, Place] = {}
    for report in reports:
        for mention in mentions(report):
            known = places.get(mention.sha)
            if known is None or mention.place < known:
                places[mention.sha] = mention.place
    return places
