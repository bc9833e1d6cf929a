# SPDX-License-Identifier: Apache-2.0
"""This module decides the order of commits, the labels of failures and their groups (§3, §4, §8.2).

A lane is a test on a box on a branch: each is evaluated on its own. This module does not know why
a failure happened, nor any period.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from tests.reference.facts import Facts, FailureKey, Item, Report, Review

# (started_at of the mentioning report, way, index in the list, sha)
Place = tuple[datetime, int, int, str]
# (repo_key, suite, test id, box_key, branch)
Lane = tuple[str, str, str, str, str]

BASE, COVERED, CHANGED, TESTED = range(4)


@dataclass(frozen=True)
class Failure:
    """One (test, box, branch, commit) with its failing items, the first run first."""

    key: FailureKey
    hits: list[tuple[Report, Item]]

    @property
    def sha(self) -> str:
        return self.key[5]


@dataclass(frozen=True)
class Group:
    """Failures on several commits with no pass between them; resolved, or pending, as one."""

    lane: Lane
    failures: list[Failure]
    passed_before: str | None
    fix: str | None
    reviews: list[Review]

    @property
    def review(self) -> Review | None:
        """A group carries the review written last among its members' (§8.2)."""
        return max(self.reviews, key=lambda review: review.written, default=None)

    @property
    def label(self) -> str:
        """A reviewed group counts as resolved even when its fix is gone (§8.2)."""
        return "pending" if self.fix is None and not self.reviews else "resolved"

    @property
    def first_hit(self) -> tuple[Report, Item]:
        return self.failures[0].hits[0]


def mentions(report: Report) -> Iterator[tuple[str, int, int]]:
    """In this order: `base_sha`, `covers_shas`, `changes.commits`, `sha` (§3)."""
    if report.changes is not None and report.changes.base is not None:
        yield report.changes.base, BASE, 0
    for index, sha in enumerate(report.covers):
        yield sha, COVERED, index
    if report.changes is not None:
        for index, commit in enumerate(report.changes.commits):
            yield commit.sha, CHANGED, index
    yield report.sha, TESTED, 0


def places(facts: Facts, repo: str, branch: str) -> dict[str, Place]:
    """The place of each commit: the first time that a run on that branch mentioned it (§3)."""
    first: dict[str, Place] = {}
    for report in facts.reports.values():
        if (report.repo, report.branch) != (repo, branch):
            continue
        # A commit mentioned several times in one report counts by the last.
        here: dict[str, Place] = {}
        for sha, way, index in mentions(report):
            here[sha] = (report.started, way, index, sha)
        for sha, place in here.items():
            first[sha] = min(place, first.get(sha, place))
    return first


def lanes(facts: Facts) -> list[Lane]:
    """Every lane that ever failed, in order."""
    return sorted(
        {
            (report.repo, report.suite, item.test, report.box, report.branch)
            for report in facts.reports.values()
            for item in report.items
            if report.hello_ok and item.failed
        }
    )


def passing_reports(facts: Facts, lane: Lane, sha: str) -> list[Report]:
    """Reports in which a commit passed for a test on a box, on any branch and workflow (§4.2)."""
    repo, suite, test, box, _ = lane
    return [
        report
        for report in facts.reports.values()
        if report.hello_ok
        and (report.repo, report.suite, report.box, report.sha) == (repo, suite, box, sha)
        and any(item.test == test and not item.failed for item in report.items)
    ]


def failures_of(facts: Facts, lane: Lane) -> dict[str, Failure]:
    """The failures of a lane by commit (§4.1)."""
    repo, suite, test, box, branch = lane
    found: dict[str, Failure] = {}
    for report in sorted(facts.reports.values(), key=lambda report: report.order):
        here = (report.repo, report.suite, report.box, report.branch)
        if not report.hello_ok or here != (repo, suite, box, branch):
            continue
        for item in report.items:
            if item.test == test and item.failed:
                key = (*lane, report.sha)
                found.setdefault(report.sha, Failure(key, [])).hits.append((report, item))
    return found


def groups_and_flakes(facts: Facts, lane: Lane) -> tuple[list[Group], list[Failure]]:
    """Walk the commits that failed or passed in order of place (§4.4)."""
    failures = failures_of(facts, lane)
    where = places(facts, lane[0], lane[4])
    passed = {sha for sha in where if passing_reports(facts, lane, sha)}
    walk = sorted(passed | set(failures), key=lambda sha: where[sha])
    groups: list[Group] = []
    flakes: list[Failure] = []
    together: list[Failure] = []
    passed_before: str | None = None
    for index, sha in enumerate(walk):
        if sha not in passed:
            together.append(failures[sha])
            continue
        if together:
            groups.append(group(facts, lane, together, passed_before, sha))
            together = []
        if sha in failures and (*lane, sha) in facts.reviews:
            # A reviewed failure with a pass on its own commit stands alone: not a flake (§8.2).
            fix = next((later for later in walk[index + 1 :] if later in passed), None)
            groups.append(group(facts, lane, [failures[sha]], passed_before, fix))
        elif sha in failures:
            flakes.append(failures[sha])
        passed_before = sha
    if together:
        groups.append(group(facts, lane, together, passed_before, None))
    return groups, flakes


def group(
    facts: Facts, lane: Lane, failures: list[Failure], before: str | None, fix: str | None
) -> Group:
    reviews = [facts.reviews[one.key] for one in failures if one.key in facts.reviews]
    return Group(lane, failures, before, fix, reviews)
