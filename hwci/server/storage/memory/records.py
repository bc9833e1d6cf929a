# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method
"""What CI and people sent, in memory, after the identities of semantics 1.5."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hwci.engine.facts import Announcement, Facts, Product, Report, Review, SuiteConfig
from hwci.engine.full_history import FullHistory
from hwci.engine.history import Decision, Episode, History, Listing
from hwci.engine.rules.reports import ReplacedParts, replaced_parts
from hwci.server.storage.memory.lists import slice_of
from hwci.server.storage.memory.state import ReportKey, Sent, State
from hwci.server.storage.records import SentKind


class MemoryRecords:
    """What CI and people sent, of one state."""

    _check_time: Callable[[], None]

    def __init__(self, state: State) -> None:
        self._state = state

    def _sent(self, org_id: UUID) -> Sent:
        return self._state.sent.get(org_id, Sent())

    def _kept(self, org_id: UUID) -> Sent:
        return self._state.sent.setdefault(org_id, Sent())

    def _changing(self, org_id: UUID) -> Sent:
        """Return what is kept, for a change."""
        self._state.versions[org_id] = self.version(org_id) + 1
        return self._kept(org_id)

    def history(self, org_id: UUID) -> History:
        return FullHistory(org_id, self.facts(org_id), self._check_time)

    def version(self, org_id: UUID) -> int:
        return self._state.versions.get(org_id, 0)

    def facts(self, org_id: UUID) -> Facts:
        return self._sent(org_id).facts()

    def repositories(self, org_id: UUID) -> Iterator[tuple[str, str | None]]:
        sent = self._sent(org_id)
        heads = (run.head for run in self._state.live_runs.values() if run.org_id == org_id)
        for named in (sent.reports.values(), sent.configs, heads, sent.announcements.values()):
            yield from ((one.repo_key, one.suite) for one in named)

    def box_names(self, org_id: UUID) -> Iterator[str]:
        yield from (one.name for one in self._state.boxes.values() if one.org_id == org_id)
        live = self._state.live_runs.values()
        yield from (run.head.box_key for run in live if run.org_id == org_id)
        yield from (report.box_key for report in self._sent(org_id).reports.values())

    def configs(
        self, org_id: UUID, offset: int, limit: int
    ) -> Listing[tuple[SuiteConfig, datetime]]:
        by_product = sorted(self._sent(org_id).configs.items())
        found = sorted((row for _, row in by_product), key=lambda row: row[1], reverse=True)
        return slice_of(found, offset, limit)

    def reports(self, org_id: UUID) -> Iterator[tuple[Report, datetime | None]]:
        yield from ((report, None) for report in self._sent(org_id).reports.values())

    def announcements(self, org_id: UUID) -> Iterator[tuple[Announcement, datetime | None]]:
        yield from ((one, None) for one in self._sent(org_id).announcements.values())

    def holds(
        self,
        org_id: UUID,
        sent: Report | Announcement,
        arrived_at: datetime | None,  # noqa: ARG002 - here no time of arrival is known
    ) -> bool:
        kept = self._sent(org_id)
        if isinstance(sent, Report):
            return _identity(sent) in kept.reports
        return (sent.repo_key, sent.suite, sent.sha) in kept.announcements

    def announce(self, org_id: UUID, announcement: Announcement, at: datetime) -> None:
        identity = (announcement.repo_key, announcement.suite, announcement.sha)
        sent = self._changing(org_id)
        if sent.announcements.setdefault(identity, announcement) != announcement:
            sent.replaced.append((SentKind.ANNOUNCEMENT, at))

    def put_report(self, org_id: UUID, report: Report, at: datetime) -> None:
        sent = self._changing(org_id)
        ended = replaced_parts(report)
        gone = {
            identity: stored
            for identity, stored in sent.reports.items()
            if identity == _identity(report) or _is_among(stored, report, ended)
        }
        if list(gone.values()) == [report]:
            return
        for identity in gone:
            del sent.reports[identity]
            sent.replaced.append((SentKind.REPORT, at))
        sent.reports[_identity(report)] = report

    def rebuild(self, org_id: UUID) -> None:
        """Nothing is derived here; as on disk, the history gets a new version."""
        self._changing(org_id)

    def put_config(self, org_id: UUID, config: SuiteConfig, at: datetime) -> None:
        sent, product = self._changing(org_id), Product(config.repo_key, config.suite)
        if sent.configs.get(product, (config, at))[0] != config:
            sent.replaced.append((SentKind.CONFIGURATION, at))
        sent.configs[product] = (config, at)

    def keep_decisions(
        self, org_id: UUID, version: int, decided: Sequence[tuple[Episode, Decision]]
    ) -> None:
        """A history of all facts decides anew each time."""

    def replaced(self, org_id: UUID, before: datetime) -> Mapping[SentKind, int]:
        return Counter(kind for kind, at in self._sent(org_id).replaced if at < before)

    def drop_replaced(self, org_id: UUID, before: datetime) -> None:
        kept = self._kept(org_id).replaced
        kept[:] = [one for one in kept if one[1] >= before]

    def put_review(self, org_id: UUID, failure_id: UUID, review: Review) -> None:
        reviews = self._changing(org_id).reviews
        number = max((kept.number for kept in reviews.values()), default=0) + 1
        reviews[failure_id] = replace(review, number=number)

    def drop_reviews(self, org_id: UUID, failure_ids: Sequence[UUID]) -> None:
        reviews = self._changing(org_id).reviews
        for failure_id in failure_ids:
            reviews.pop(failure_id, None)


def _identity(report: Report) -> ReportKey:
    return (report.repo_key, report.run_id, report.run_attempt, report.box_key)


def _is_among(stored: Report, report: Report, ended: ReplacedParts | None) -> bool:
    """Whether a stored report is among the parts that a new one removes."""
    part = stored.part_of
    return (
        ended is not None
        and part is not None
        and (part.run_id, stored.repo_key, stored.run_attempt, stored.box_key)
        == (ended.run_id, report.repo_key, report.run_attempt, report.box_key)
        and part.part > ended.above
    )
