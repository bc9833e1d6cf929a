# SPDX-License-Identifier: Apache-2.0
"""What must be kept of all that was sent, in the plainest way (semantics, 1.5 and 1.9): the
reference that a database is compared with.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hwci.contract.runs.merges import Merge
from hwci.engine.facts import Facts, Product, Report, StoredReview, SuiteConfig, TestItem
from hwci.engine.full_history import FullHistory
from hwci.engine.history import Scope
from hwci.server.storage.records import Kept as Kind
from tests.server.storage.histories import EVER


class Kept:
    """What one organization sent and reviewed; its methods are those of a `Writer`."""

    def __init__(self) -> None:
        self.announcements: dict[tuple[str, str | None, str], Merge] = {}
        self.reports: list[Report] = []
        self.configs: dict[Product, SuiteConfig] = {}
        self.reviews: dict[UUID, StoredReview] = {}

    def announce(self, _org_id: UUID, announcement: Merge, _at: datetime) -> None:
        identity = (announcement.repo_key, announcement.suite, announcement.sha)
        self.announcements.setdefault(identity, announcement)

    def put_report(self, _org_id: UUID, report: Report, _at: datetime) -> None:
        self.reports = keep(self.reports, report)

    def put_config(self, _org_id: UUID, config: SuiteConfig, _at: datetime) -> None:
        self.configs[Product(config.repo_key, config.suite)] = config

    def put_review(self, _org_id: UUID, failure_id: UUID, review: StoredReview) -> None:
        number = max((kept.number for kept in self.reviews.values()), default=0) + 1
        self.reviews[failure_id] = replace(review, number=number)

    def drop_reviews(self, _org_id: UUID, failure_ids: Sequence[UUID]) -> None:
        for failure_id in failure_ids:
            self.reviews.pop(failure_id, None)

    def drop_aged(self, org_id: UUID, kind: Kind, before: datetime, _most: int) -> int:
        """Delete all at once, of reports that arrived long before."""
        if kind is not Kind.REPORTS:
            self.reports = [
                replace(one, tests=tuple([_less(test, kind) for test in one.tests]))
                if one.started_at < before
                else one
                for one in self.reports
            ]
            return 0
        failed = self._failures(org_id)
        self.reports = [one for one in self.reports if one.started_at >= before]
        self.drop_reviews(org_id, [*failed - self._failures(org_id)])
        self.announcements = {
            identity: merge
            for identity, merge in self.announcements.items()
            if merge.merged_at >= before
        }
        return 0

    def _failures(self, org_id: UUID) -> set[UUID]:
        return {one.id for one in self.history(org_id).failures(Scope(), EVER)}

    def facts(self, _org_id: UUID) -> Facts:
        return Facts(
            announcements=tuple(self.announcements.values()),
            reports=tuple(self.reports),
            configs=dict(self.configs),
            reviews={review.key: review for review in self.reviews.values()},
        )

    def history(self, org_id: UUID) -> FullHistory:
        return FullHistory(org_id, self.facts(org_id))


def _less(test: TestItem, kind: Kind) -> TestItem:
    return replace(test, message=None) if kind is Kind.MESSAGES else replace(test, log_url=None)


def keep(kept: list[Report], report: Report) -> list[Report]:
    """Return the reports that are kept after one more."""
    last = 1 if report.part_of is None else report.part_of.parts
    ends = part_number(report) <= 1
    gone = [
        other
        for other in kept
        if identity(other) == identity(report)
        or (ends and run_of(other) == run_of(report) and part_number(other) > last)
    ]
    return kept if gone == [report] else [*(one for one in kept if one not in gone), report]


def identity(report: Report) -> tuple[str, int, int, str]:
    return (report.repo_key, report.run_id, report.run_attempt, report.box_key)


def part_number(report: Report) -> int:
    return 0 if report.part_of is None else report.part_of.part


def run_of(report: Report) -> tuple[str, int, int, str]:
    run_id = report.run_id if report.part_of is None else report.part_of.run_id
    return (report.repo_key, run_id, report.run_attempt, report.box_key)
