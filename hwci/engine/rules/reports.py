# SPDX-License-Identifier: Apache-2.0
"""What one report says: the commits that it mentions, and in which order (semantics, 3), the
changes that it carries (5.1), and the parts that it replaces (1.9).

This module decides the place of a commit on a branch, and which report is earlier than another. It
does not know what ran on a commit or how it ended: `hello_ok` plays no role here.
"""

from collections.abc import Iterable
from typing import NamedTuple

from hwci.contract.runs.commits import ChangeList
from hwci.engine.facts import Report
from hwci.engine.history import Place, ReportOrder

_BASE, _COVERED, _LISTED, _TESTED = range(4)


class Mention(NamedTuple):
    """A commit that a report mentions. `tested`: it is its `sha` or among its `covers_shas`."""

    sha: str
    place: Place
    tested: bool


def mentions(report: Report) -> list[Mention]:
    """Return every commit of a report once, in order of place.

    "A report mentions `changes.base_sha`, then each of `covers_shas`, then each of
    `changes.commits`, then its own `sha`; a commit that it mentions more than once counts by the
    last."
    """
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
    """Return the place of each commit: "the smallest over all reports of the branch"."""
    places: dict[str, Place] = {}
    for report in reports:
        for mention in mentions(report):
            places[mention.sha] = min(mention.place, places.get(mention.sha, mention.place))
    return places


def report_order(report: Report) -> ReportOrder:
    """Return what decides which of two reports is earlier (semantics, 5.1)."""
    return ReportOrder(report.started_at, report.run_id, report.run_attempt, report.box_key)


def carried_changes(report: Report) -> ChangeList | None:
    """Return the changes of a report, if it carries any: "Changes whose base is the report's own
    commit say nothing about that commit and count as if the report carried none".
    """
    changes = report.changes
    return None if changes is None or changes.base_sha == report.sha else changes


class ReplacedParts(NamedTuple):
    """Parts that a report removes: of its repository, attempt and box, numbered above `above`."""

    run_id: int
    above: int


def replaced_parts(report: Report) -> ReplacedParts | None:
    """Return the parts that a report removes: "Part 1 sent again with fewer parts removes those
    beyond". A report that was not cut is one part.
    """
    if not report.is_first_part:
        return None
    return ReplacedParts(report.ci_run_id, 1 if report.part_of is None else report.part_of.parts)
