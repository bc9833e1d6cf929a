# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port says what each method promises
"""Storage that is not kept: the same promises as on disk, but that of surviving the process.

This module decides the identities of semantics 1.5 in the plainest way, and derives nothing: its
history is the engine's definition over all facts. A transaction works on a copy that takes the
place of the state when it ends well, so one that raises leaves no trace and readers see no half.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from hwci.engine.facts import Announcement, Facts, Product, Report, Review, SuiteConfig
from hwci.engine.full import FullHistory
from hwci.engine.history import History
from hwci.engine.parts import Ended, ended_by
from hwci.engine.vocabulary import Role
from hwci.server.errors import ClashError
from hwci.server.storage.location import MEMORY
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import (
    NOBODY,
    AuditEntry,
    CiKey,
    Membership,
    Organization,
    RefreshToken,
    Session,
    Slice,
    User,
)
from hwci.server.storage.threads import Threads

Item = TypeVar("Item")
Result = TypeVar("Result")

AnnouncementKey = tuple[str, str | None, str]
ReportKey = tuple[str, int, int, str]


@dataclass(frozen=True, slots=True)
class Sent:
    """What one organization's CI and people sent, by identity."""

    announcements: dict[AnnouncementKey, Announcement] = field(default_factory=dict)
    reports: dict[ReportKey, Report] = field(default_factory=dict)
    configs: dict[Product, tuple[SuiteConfig, datetime]] = field(default_factory=dict)
    reviews: dict[UUID, Review] = field(default_factory=dict)
    audit: list[AuditEntry] = field(default_factory=list)

    def copy(self) -> "Sent":
        return Sent(
            dict(self.announcements),
            dict(self.reports),
            dict(self.configs),
            dict(self.reviews),
            list(self.audit),
        )

    def facts(self) -> Facts:
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
    organizations: dict[UUID, Organization] = field(default_factory=dict)
    memberships: dict[tuple[UUID, UUID], tuple[Role, datetime]] = field(default_factory=dict)
    sessions: dict[UUID, Session] = field(default_factory=dict)
    refresh_tokens: dict[bytes, RefreshToken] = field(default_factory=dict)
    ci_keys: dict[tuple[UUID, UUID], CiKey] = field(default_factory=dict)
    sent: dict[UUID, Sent] = field(default_factory=dict)
    versions: dict[UUID, int] = field(default_factory=dict)

    def copy(self) -> "State":
        return State(
            dict(self.users),
            dict(self.organizations),
            dict(self.memberships),
            dict(self.sessions),
            dict(self.refresh_tokens),
            dict(self.ci_keys),
            {org_id: sent.copy() for org_id, sent in self.sent.items()},
            dict(self.versions),
        )


class MemoryAccounts:
    """People, organizations, sign-ins and keys of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def user(self, user_id: UUID) -> User | None:
        return self._state.users.get(user_id)

    def user_by_email(self, email_key: str) -> User | None:
        return _first(user for user in self._state.users.values() if user.email_key == email_key)

    def organization(self, org_id: UUID) -> Organization | None:
        return self._state.organizations.get(org_id)

    def membership(self, org_id: UUID, user_id: UUID) -> Membership | None:
        found = self._state.memberships.get((org_id, user_id))
        return None if found is None else Membership(self._state.organizations[org_id], *found)

    def memberships(self, user_id: UUID, offset: int, limit: int) -> Slice[Membership]:
        found = [
            Membership(self._state.organizations[org_id], *rest)
            for (org_id, member), rest in self._state.memberships.items()
            if member == user_id
        ]
        return _slice(_newest(found, lambda one: one.joined_at), offset, limit)

    def session(self, session_id: UUID) -> Session | None:
        return self._state.sessions.get(session_id)

    def refresh_token(self, digest: bytes) -> RefreshToken | None:
        return self._state.refresh_tokens.get(digest)

    def add_user(self, user: User) -> None:
        if self.user_by_email(user.email_key) is not None:
            raise ClashError("email")
        self._state.users[user.id] = user

    def add_organization(self, organization: Organization) -> None:
        self._state.organizations[organization.id] = organization

    def add_membership(self, org_id: UUID, user_id: UUID, role: Role, joined_at: datetime) -> None:
        if (org_id, user_id) in self._state.memberships:
            raise ClashError("user")
        self._state.memberships[org_id, user_id] = (role, joined_at)

    def set_ci_metrics(self, org_id: UUID, *, enabled: bool) -> bool:
        organization = self._state.organizations.get(org_id)
        if organization is None:
            return False
        self._state.organizations[org_id] = replace(organization, ci_metrics_enabled=enabled)
        return True

    def add_session(self, session: Session) -> None:
        self._state.sessions[session.id] = session

    def end_session(self, session_id: UUID, at: datetime) -> None:
        session = self._state.sessions.get(session_id)
        if session is not None and session.ended_at is None:
            self._state.sessions[session_id] = replace(session, ended_at=at)

    def end_sessions(self, user_id: UUID, at: datetime) -> None:
        for session in list(self._state.sessions.values()):
            if session.user_id == user_id:
                self.end_session(session.id, at)

    def add_refresh_token(self, token: RefreshToken) -> None:
        self._state.refresh_tokens[token.digest] = token

    def use_refresh_token(self, digest: bytes, at: datetime) -> bool:
        token = self.refresh_token(digest)
        if token is None or token.used_at is not None or token.expires_at <= at:
            return False
        session = self.session(token.session_id)
        if session is None or session.ended_at is not None:
            return False
        self._state.refresh_tokens[digest] = replace(token, used_at=at)
        return True

    def drop_refresh_tokens(self, user_id: UUID, expired_at: datetime) -> None:
        for token in list(self._state.refresh_tokens.values()):
            if token.user_id == user_id and token.expires_at <= expired_at:
                del self._state.refresh_tokens[token.digest]

    def ci_key_by_digest(self, digest: bytes) -> CiKey | None:
        return _first(key for key in self._state.ci_keys.values() if key.digest == digest)

    def ci_keys(self, org_id: UUID, offset: int, limit: int) -> Slice[CiKey]:
        found = [key for key in self._state.ci_keys.values() if key.org_id == org_id]
        return _slice(_newest(found, lambda one: one.created_at), offset, limit)

    def add_ci_key(self, key: CiKey) -> None:
        self._state.ci_keys[key.org_id, key.id] = key

    def revoke_ci_key(self, org_id: UUID, key_id: UUID, at: datetime) -> CiKey | None:
        key = self._state.ci_keys.get((org_id, key_id))
        if key is not None and key.revoked_at is None:
            key = replace(key, revoked_at=at)
            self._state.ci_keys[org_id, key_id] = key
        return key

    def touch_ci_key(self, org_id: UUID, key_id: UUID, at: datetime) -> None:
        key = self._state.ci_keys.get((org_id, key_id))
        if key is not None:
            latest = at if key.last_used_at is None else max(key.last_used_at, at)
            self._state.ci_keys[org_id, key_id] = replace(key, last_used_at=latest)


class MemoryRecords:
    """What CI and people sent, of one state, and the audit log."""

    def __init__(self, state: State) -> None:
        self._state = state

    def _sent(self, org_id: UUID) -> Sent:
        return self._state.sent.get(org_id, Sent())

    def _kept(self, org_id: UUID) -> Sent:
        return self._state.sent.setdefault(org_id, Sent())

    def _changing(self, org_id: UUID) -> Sent:
        """Give what is kept, to change what its history tells."""
        self._state.versions[org_id] = self.version(org_id) + 1
        return self._kept(org_id)

    def history(self, org_id: UUID) -> History:
        return FullHistory(org_id, self.facts(org_id))

    def version(self, org_id: UUID) -> int:
        return self._state.versions.get(org_id, 0)

    def facts(self, org_id: UUID) -> Facts:
        return self._sent(org_id).facts()

    def configs(self, org_id: UUID, offset: int, limit: int) -> Slice[tuple[SuiteConfig, datetime]]:
        by_product = sorted(self._sent(org_id).configs.items())
        found = sorted((row for _, row in by_product), key=lambda row: row[1], reverse=True)
        return _slice(found, offset, limit)

    def announce(self, org_id: UUID, announcement: Announcement) -> None:
        identity = (announcement.repo_key, announcement.suite, announcement.sha)
        self._changing(org_id).announcements.setdefault(identity, announcement)

    def put_report(self, org_id: UUID, report: Report) -> None:
        reports = self._changing(org_id).reports
        ended = ended_by(report)
        for identity, stored in list(reports.items()):
            if identity == _identity(report) or _is_among(stored, report, ended):
                del reports[identity]
        reports[_identity(report)] = report

    def rebuild(self, org_id: UUID) -> None:
        """Nothing is derived here; as on disk, the state is numbered anew."""
        self._changing(org_id)

    def put_config(self, org_id: UUID, config: SuiteConfig, at: datetime) -> None:
        self._changing(org_id).configs[Product(config.repo_key, config.suite)] = (config, at)

    def put_review(self, org_id: UUID, failure_id: UUID, review: Review) -> None:
        reviews = self._changing(org_id).reviews
        number = max((kept.number for kept in reviews.values()), default=0) + 1
        reviews[failure_id] = replace(review, number=number)

    def drop_reviews(self, org_id: UUID, failure_ids: Sequence[UUID]) -> None:
        reviews = self._changing(org_id).reviews
        for failure_id in failure_ids:
            reviews.pop(failure_id, None)

    def audit_log(self, org_id: UUID, offset: int, limit: int) -> Slice[AuditEntry]:
        return _slice(_newest(self._sent(org_id).audit, lambda one: one.at), offset, limit)

    def add_audit(self, org_id: UUID, entry: AuditEntry) -> None:
        self._kept(org_id).audit.append(entry)


class MemoryTransaction(MemoryAccounts, MemoryRecords):
    """A `Writer` over one state."""


class MemoryStorage(Storage):
    """Storage in this process's memory: one writer at a time, readers on the last state."""

    def __init__(self) -> None:
        self._state = State()
        self._writing = Threads("hwci-writer", MEMORY)
        self._reading = Threads("hwci-reader", MEMORY)
        self._looking_up = Threads("hwci-look-up", MEMORY)

    async def read(self, work: Callable[[Reader], Result], *, short: bool = False) -> Result:
        threads = self._looking_up if short else self._reading
        return await threads.run(lambda: work(MemoryTransaction(self._state)))

    async def write(self, work: Callable[[Writer], Result]) -> Result:
        return await self._writing.run(lambda: self._write(work))

    async def ready(self) -> None:
        await self.read(lambda reader: reader.organization(NOBODY), short=True)

    async def close(self) -> None:
        for threads in (self._looking_up, self._reading, self._writing):
            await asyncio.to_thread(threads.close)

    def _write(self, work: Callable[[Writer], Result]) -> Result:
        state = self._state.copy()
        result = work(MemoryTransaction(state))
        self._state = state
        return result


def _identity(report: Report) -> ReportKey:
    return (report.repo_key, report.run_id, report.run_attempt, report.box_key)


def _is_among(stored: Report, report: Report, ended: Ended | None) -> bool:
    """Whether a stored report is among the parts that a new one ends."""
    part = stored.part_of
    return (
        ended is not None
        and part is not None
        and (part.run_id, stored.repo_key, stored.run_attempt, stored.box_key)
        == (ended.run_id, report.repo_key, report.run_attempt, report.box_key)
        and part.part > ended.above
    )


def _first(found: Iterable[Item]) -> Item | None:
    return next(iter(found), None)


def _newest(found: Iterable[Item], time: Callable[[Item], datetime]) -> list[Item]:
    """Sort newest first; of equal times, the one added last."""
    newest = list(found)
    newest.reverse()
    newest.sort(key=time, reverse=True)
    return newest


def _slice(found: Sequence[Item], offset: int, limit: int) -> Slice[Item]:
    return Slice(list(found[offset : offset + limit]), len(found))
