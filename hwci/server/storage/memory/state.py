# SPDX-License-Identifier: Apache-2.0
"""Everything that is kept in memory, at one moment."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from hwci.engine.facts import Announcement, Facts, Product, Report, Review, SuiteConfig
from hwci.engine.vocabulary import Role
from hwci.server.storage.audit_chain import AuditRow
from hwci.server.storage.records import (
    Box,
    Event,
    Identity,
    Invite,
    Key,
    LiveRun,
    LiveTest,
    Organization,
    RefreshToken,
    SentKind,
    Session,
    User,
)

AnnouncementKey = tuple[str, str | None, str]
ReportKey = tuple[str, int, int, str]


@dataclass(frozen=True, slots=True)
class Sent:
    """What one organization's CI and people sent, by identity."""

    announcements: dict[AnnouncementKey, Announcement] = field(default_factory=dict)
    reports: dict[ReportKey, Report] = field(default_factory=dict)
    configs: dict[Product, tuple[SuiteConfig, datetime]] = field(default_factory=dict)
    reviews: dict[UUID, Review] = field(default_factory=dict)
    replaced: list[tuple[SentKind, datetime]] = field(default_factory=list)

    def copy(self) -> "Sent":
        """Return a copy that can be changed independently."""
        return Sent(
            dict(self.announcements),
            dict(self.reports),
            dict(self.configs),
            dict(self.reviews),
            list(self.replaced),
        )

    def facts(self) -> Facts:
        """Return the engine's facts."""
        return Facts(
            announcements=tuple(self.announcements.values()),
            reports=tuple(self.reports.values()),
            configs={product: config for product, (config, _) in self.configs.items()},
            reviews={review.key: review for review in self.reviews.values()},
        )


@dataclass(slots=True)
class State:
    """Everything, at one moment."""

    users: dict[UUID, User] = field(default_factory=dict)
    resets: dict[UUID, tuple[bytes, datetime]] = field(default_factory=dict)
    organizations: dict[UUID, Organization] = field(default_factory=dict)
    memberships: dict[tuple[UUID, UUID], tuple[Role, datetime]] = field(default_factory=dict)
    sessions: dict[UUID, Session] = field(default_factory=dict)
    refresh_tokens: dict[bytes, RefreshToken] = field(default_factory=dict)
    identities: dict[tuple[str, str], Identity] = field(default_factory=dict)
    invites: dict[bytes, Invite] = field(default_factory=dict)
    keys: dict[tuple[UUID, UUID], Key] = field(default_factory=dict)
    boxes: dict[tuple[UUID, UUID], Box] = field(default_factory=dict)
    live_runs: dict[tuple[UUID, UUID], LiveRun] = field(default_factory=dict)
    live_tests: dict[tuple[UUID, UUID, str], LiveTest] = field(default_factory=dict)
    events: dict[UUID, tuple[Event, ...]] = field(default_factory=dict)
    sent: dict[UUID, Sent] = field(default_factory=dict)
    versions: dict[UUID, int] = field(default_factory=dict)
    audit: list[AuditRow] = field(default_factory=list)

    def copy(self) -> "State":
        """Return a copy that can be changed independently."""
        return State(
            dict(self.users),
            dict(self.resets),
            dict(self.organizations),
            dict(self.memberships),
            dict(self.sessions),
            dict(self.refresh_tokens),
            dict(self.identities),
            dict(self.invites),
            dict(self.keys),
            dict(self.boxes),
            dict(self.live_runs),
            dict(self.live_tests),
            dict(self.events),
            {org_id: sent.copy() for org_id, sent in self.sent.items()},
            dict(self.versions),
            list(self.audit),
        )
