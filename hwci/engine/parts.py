# SPDX-License-Identifier: Apache-2.0
"""Reports that are sent in parts, because they have more tests than one may hold (semantics, 1.9).

This module decides what the parts of a report are to each other: which run they are of, which one
counts as the run report, and which stored parts a new one puts an end to.
"""

from typing import NamedTuple

from hwci.engine.facts import Report


class Ended(NamedTuple):
    """Parts that are no more: those of a run, of the same repository, attempt and box, that have a
    number above this one.
    """

    run_id: int
    above: int


def ci_run_id(report: Report) -> int:
    """Give the run as CI knows it, for a part of a larger report too."""
    return report.run_id if report.part_of is None else report.part_of.run_id


def is_first(report: Report) -> bool:
    """Whether it stands for the whole: "Parts after the first are not counted"."""
    return report.part_of is None or report.part_of.part == 1


def ended_by(report: Report) -> Ended | None:
    """Give the parts that a report ends: "part 1 of a report sent again with fewer parts removes
    the parts beyond". One that is not in parts has one.
    """
    if not is_first(report):
        return None
    return Ended(ci_run_id(report), 1 if report.part_of is None else report.part_of.parts)
