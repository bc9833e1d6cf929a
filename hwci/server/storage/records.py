# SPDX-License-Identifier: Apache-2.0
"""What storage keeps beside the engine's facts: accounts, keys and the audit log, as values.

Secrets stand here only as digests. All times are aware and in UTC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

from hwci.engine.vocabulary import Role

Item = TypeVar("Item")

NOBODY = UUID(int=0)
"""The id of no record: looking for it asks whether a store answers."""


@dataclass(frozen=True, slots=True)
class User:
    """A person. `email` is kept as given; `email_key` is its folded form and is unique."""

    id: UUID
    email: str
    email_key: str
    name: str
    password_hash: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Organization:
    """A tenant: everything belongs to one (semantics, 1.1)."""

    id: UUID
    name: str
    ci_metrics_enabled: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Membership:
    """A user's role in an organization."""

    organization: Organization
    role: Role
    joined_at: datetime


@dataclass(frozen=True, slots=True)
class Session:
    """A sign-in, through all its rotations. `ended_at` cuts its tokens of both kinds."""

    id: UUID
    user_id: UUID
    created_at: datetime
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RefreshToken:
    """A refresh token of a session, as a digest. A used one stays known, so that a second use is
    seen to be one.
    """

    digest: bytes
    session_id: UUID
    user_id: UUID
    expires_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CiKey:
    """A CI key. The key itself is nowhere: only its digest is kept."""

    id: UUID
    org_id: UUID
    name: str
    digest: bytes
    created_at: datetime
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what to what, and when."""

    id: UUID
    at: datetime
    actor_id: UUID
    actor_name: str
    action: str
    target: str
    details: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Slice(Generic[Item]):
    """A page of a list and the number of all its items."""

    items: Sequence[Item]
    total: int
