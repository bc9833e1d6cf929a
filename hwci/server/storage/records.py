# SPDX-License-Identifier: Apache-2.0
"""What storage keeps beside the engine's facts, as values: accounts, keys, boxes, live runs, events
and the audit log.

Secrets are here only as digests, or sealed. All times are aware and in UTC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid5

from hwci.contract.boxes.boxes import BoxNote
from hwci.contract.ci_systems import SigningSystem
from hwci.contract.known_failures import KnownFailure
from hwci.contract.people import Actor
from hwci.contract.runs.commits import ChangeList
from hwci.contract.vocabulary import (
    DeliveryStatus,
    Role,
    RunEnding,
    RunEventType,
    RunStatus,
    Trigger,
    WebhookEvent,
    WebhookForm,
)
from hwci.engine.facts import Product
from hwci.engine.history import Decision, Episode

NOBODY = UUID(int=0)
"""The id of no record: looking it up checks whether a store answers."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found. `damage`: what is not as it was written, in one line each. `stale`:
    derived values that a recomputation changes.
    """

    reports: int = 0
    damage: Sequence[str] = ()
    stale: Sequence[str] = ()


class Decided(dict[UUID, tuple[Episode, Decision]]):
    """What was decided about episodes of this version of a history, by the id of the episode."""

    def __init__(self, org_id: UUID, version: int) -> None:
        super().__init__()
        self.org_id, self.version = org_id, version


@dataclass(frozen=True, slots=True)
class User:
    """A person. `email` is kept as given; `email_key` is its folded form and is unique.
    `password_hash` None: they sign in through a provider only. `disabled_at`: when the operator
    disabled them. `proved`: the operator or a provider said whose the e-mail is. `notice`: what to
    tell them at their next sign-in.
    """

    id: UUID
    email: str
    email_key: str
    name: str
    password_hash: str | None
    created_at: datetime
    disabled_at: datetime | None = None
    proved: bool = False
    notice: str | None = None


class Kept(StrEnum):
    """What an organization may keep for a number of days."""

    REPORTS = "reports"
    MESSAGES = "messages"
    LOGS = "logs"


@dataclass(frozen=True, slots=True)
class KeepDays:
    """Days for which each of `Kept` is kept; None: for ever."""

    reports: int | None = None
    messages: int | None = None
    logs: int | None = None


@dataclass(frozen=True, slots=True)
class Counting:
    """After how many days something goes, and since when that counts."""

    days: int
    since: datetime


@dataclass(frozen=True, slots=True)
class Organization:
    """A tenant: everything belongs to one (semantics, 1.1). `erase_at`: it is deleted, and all of
    it goes then; None: it is not. `kept_since`: reports that began before it were deleted; None:
    none was.
    """

    id: UUID
    name: str
    ci_metrics_enabled: bool
    created_at: datetime
    erase_at: datetime | None = None
    keep_days: KeepDays = KeepDays()
    kept_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """The bytes that an organization sent: in an hour, counted since 1970, and in all."""

    hour: int
    hour_bytes: int
    all_bytes: int


@dataclass(frozen=True, slots=True)
class Membership:
    """A user's role in an organization."""

    organization: Organization
    role: Role
    joined_at: datetime


@dataclass(frozen=True, slots=True)
class OrganizationMember:
    """A user as a member of the organization that was asked for."""

    user: User
    role: Role
    joined_at: datetime


@dataclass(frozen=True, slots=True)
class Offer:
    """What an invitation offers, to whom and by whom."""

    org_id: UUID
    email_key: str
    role: Role
    inviter_id: UUID


@dataclass(frozen=True, slots=True)
class Invite:
    """An invitation, as the digest of its token. Without an offer: the set-up token of a service
    that has no user yet.
    """

    id: UUID
    digest: bytes
    offer: Offer | None
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """The id of a user at a provider of single sign-on."""

    issuer: str
    subject: str
    user_id: UUID
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Session:
    """A sign-in, through all its rotations. `ended_at` ends its tokens of both kinds. `client`: the
    kind of program that began it.
    """

    id: UUID
    user_id: UUID
    created_at: datetime
    client: str
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A sign-in that can be renewed, until its refresh token expires."""

    session: Session
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A sign-in, whose it is, and their membership in the organization that was asked for, if they
    have one.
    """

    session: Session
    user: User
    membership: Membership | None


@dataclass(frozen=True, slots=True)
class RefreshToken:
    """A refresh token of a session, as a digest. A used one stays known, so that a second use is
    recognized.
    """

    digest: bytes
    session_id: UUID
    user_id: UUID
    expires_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """A key of an organization, as a digest: the key itself is not kept."""

    id: UUID
    org_id: UUID
    name: str
    digest: bytes
    created_at: datetime
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CiKey(Key):
    """A key that CI reports with."""


@dataclass(frozen=True, slots=True)
class ReaderKey(Key):
    """A key that reads what CI reported: of these products, or of all if there are none."""

    products: tuple[Product, ...] = ()


@dataclass(frozen=True, slots=True)
class Trust:
    """A repository whose CI jobs may sign in to an organization. `issuer`: who signs their tokens.
    `repository_id`, `owner_id`: the ids that its name must have; None: those of its first job.
    `branch`, `environment`: patterns, None: any.
    """

    id: UUID
    org_id: UUID
    system: SigningSystem
    issuer: str
    repository: str
    repository_id: str | None
    owner_id: str | None
    branch: str | None
    environment: str | None
    created_at: datetime
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobKey:
    """A key of a CI job that signed in, by the digest of its value. `token`: that of the token that
    was exchanged for it, which is known until `kept_until`, so that it is taken once.
    """

    id: UUID
    org_id: UUID
    trust_id: UUID
    digest: bytes
    token: bytes
    created_at: datetime
    expires_at: datetime
    kept_until: datetime


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address of others that events of an organization are sent to. `sealed`: the address and
    the secret, which only a server can read; `host`: what is shown of the address. `repo_key` and
    `suite`: the product whose events it gets; None: all.
    """

    id: UUID
    org_id: UUID
    host: str
    sealed: bytes
    form: WebhookForm
    events: tuple[WebhookEvent, ...]
    repo_key: str | None
    suite: str | None
    unchecked_hours: int
    silent_hours: int
    enabled: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event on its way to a webhook. `id`: of the event. `about`: what it is about; events about
    one thing arrive in their order. `due_at`: when it is sent next; None: it is not sent any more.
    `error`: why the last attempt failed.
    """

    org_id: UUID
    webhook_id: UUID
    id: UUID
    event: WebhookEvent
    about: str
    at: datetime
    data: Mapping[str, object]
    status: DeliveryStatus
    attempts: int
    due_at: datetime | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Ongoing:
    """What a webhook was told of and is not over. `event`: what it was told; `name`: of the box, or
    the id of the incident; `since`: when that began; `data`: what is needed to know its end.
    """

    org_id: UUID
    webhook_id: UUID
    event: WebhookEvent
    name: str
    since: datetime
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Box:
    """A bench that may report with a key of its own. Its key and the token that installs it are
    digests; there is no `key_digest` before the first install, no `install_digest` after one.
    """

    id: UUID
    org_id: UUID
    name: str
    created_at: datetime
    install_digest: bytes | None = None
    install_expires_at: datetime | None = None
    key_digest: bytes | None = None
    last_seen_at: datetime | None = None


def box_note(org_id: UUID, box_key: str, at: datetime, text: str, by: Actor) -> BoxNote:
    """Return a note with its id: one note says the same of a box at one time."""
    return BoxNote(uuid5(org_id, repr((box_key, at.isoformat(), text))), box_key, at, text, by)


def known_failure(
    org_id: UUID,
    which: tuple[str | None, str | None, str | None],
    ticket: str,
    until: datetime,
    created_at: datetime,
    by: Actor,
) -> KnownFailure:
    """Return a rule with its id: one rule says the same until one time. `which`: test, message and
    box of the failures.
    """
    rule_id = uuid5(org_id, repr((which, ticket, until.isoformat())))
    return KnownFailure(rule_id, *which, ticket, until, created_at, by)


class SentKind(StrEnum):
    """What CI sends and something later may take the place of."""

    REPORT = "report"
    CONFIGURATION = "configuration"
    ANNOUNCEMENT = "announcement"


@dataclass(frozen=True, slots=True)
class RunHead:
    """What is known of a run from its start."""

    repo_key: str
    suite: str
    workflow: str
    run_id: int
    run_attempt: int
    box_key: str
    trigger: Trigger
    branch: str
    sha: str
    started_at: datetime
    ci_run: int | None = None
    ci_url: str | None = None


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run that a box opened and that is not reported yet. `lost`: its loss has its event."""

    id: UUID
    org_id: UUID
    box_id: UUID
    head: RunHead
    covers_shas: tuple[str, ...]
    changes: ChangeList | None
    last_seen_at: datetime
    lost: bool = False


@dataclass(frozen=True, slots=True)
class RunEnd:
    """What is known of a run only from its report."""

    ended_at: datetime
    conclusion: str
    hello_ok: bool


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which run records are asked for; None: any. `sha_start` is the beginning of a commit;
    `ci_run` the number that the CI shows, which is the run id where a report has no other;
    `hello_ok`, `ending` and `test_id` select runs with a report; `retry_pass` and `failed_attempt`
    are conditions on that test, and need `test_id`; `start` and `end` both belong to the period in
    which a run began.
    """

    repo_key: str | None = None
    suite: str | None = None
    branch: str | None = None
    box_key: str | None = None
    sha_start: str | None = None
    ci_run: int | None = None
    status: RunStatus | None = None
    ending: RunEnding | None = None
    hello_ok: bool | None = None
    test_id: str | None = None
    retry_pass: bool | None = None
    failed_attempt: bool | None = None
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Happening:
    """An event of a run before it has its number. `body` holds what JSON can."""

    at: datetime
    type: RunEventType
    run_id: UUID
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a run. `number` counts within its organization, without a gap, from 1."""

    number: int
    happening: Happening


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what to what, and when."""

    id: UUID
    at: datetime
    actor_id: UUID
    action: str
    target: str
    details: Mapping[str, object]
