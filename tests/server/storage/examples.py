# SPDX-License-Identifier: Apache-2.0
"""Plain values for the contract suite: one of each kind, altered with `dataclasses.replace`."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hwci.contract.ci_systems import SigningSystem
from hwci.contract.failures.failures import Review
from hwci.contract.people import Actor
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.runs.merges import Merge
from hwci.contract.runs.products import Links, Targets
from hwci.contract.vocabulary import (
    DeliveryStatus,
    Outcome,
    ReviewAction,
    Role,
    Trigger,
    Verdict,
    WebhookEvent,
    WebhookForm,
)
from hwci.engine.facts import FailureKey, Lane, Product, Report, StoredReview, SuiteConfig, TestItem
from hwci.server.storage.records import (
    AuditEntry,
    Box,
    CiKey,
    Delivery,
    Identity,
    Invite,
    JobKey,
    LiveRun,
    Offer,
    Ongoing,
    Organization,
    ReaderKey,
    RefreshToken,
    RunHead,
    Session,
    Trust,
    User,
    Webhook,
    box_note,
    known_failure,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ACME = Organization(UUID(int=1), "Acme", ci_metrics_enabled=False, created_at=NOON)
OTHER = Organization(
    UUID(int=2), "Other", ci_metrics_enabled=True, created_at=NOON + timedelta(days=1)
)
ADA = User(UUID(int=11), "Ada@example.org", "ada@example.org", "Ada", "$argon2id$hash", NOON)
BOB = User(UUID(int=12), "bob@example.org", "bob@example.org", "", "$argon2id$other", NOON)
SESSION = Session(UUID(int=21), ADA.id, NOON, "Firefox on Linux")
TOKEN = RefreshToken(b"digest", SESSION.id, ADA.id, NOON + timedelta(days=7))
IDENTITY = Identity("https://id.example.org", "248289761001", ADA.id, NOON)
OFFER = Offer(ACME.id, "new@example.org", Role.ADMIN, ADA.id)
INVITE = Invite(UUID(int=71), b"invite", OFFER, NOON, NOON + timedelta(days=7))
SET_UP = Invite(UUID(int=72), b"set-up", None, NOON, NOON + timedelta(days=1))
KEY = CiKey(UUID(int=31), ACME.id, "nightly", b"key digest", NOON)
READER_KEY = ReaderKey(
    UUID(int=32), ACME.id, "wall", b"key digest", NOON, products=(Product("fw", "hil"),)
)
TRUST = Trust(
    id=UUID(int=33),
    org_id=ACME.id,
    system=SigningSystem.GITLAB,
    issuer="https://gitlab.example",
    repository="acme/größer",
    repository_id="74",
    owner_id=None,
    branch="release/*",
    environment=None,
    created_at=NOON,
)
JOB_KEY = JobKey(
    *(UUID(int=34), ACME.id, TRUST.id, b"job digest", b"token digest", NOON),
    expires_at=NOON + timedelta(minutes=15),
    kept_until=NOON + timedelta(days=1),
)
BOX = Box(UUID(int=51), ACME.id, "b1", NOON, b"install", NOON + timedelta(hours=24))
BOX_NOTE = box_note(ACME.id, "b1", NOON, "größer", Actor(ADA.id, "Ada"))
KNOWN = known_failure(
    ACME.id,
    ("boot*", "größer", None),
    "FW-7",
    NOON + timedelta(days=9),
    NOON,
    Actor(ADA.id, "Ada"),
)
WEBHOOK = Webhook(
    id=UUID(int=81),
    org_id=ACME.id,
    host="chat.example",
    sealed=b"sealed",
    form=WebhookForm.SLACK,
    events=(WebhookEvent.SILENT, WebhookEvent.REAL_BUG),
    repo_key="fw",
    suite=None,
    unchecked_hours=8,
    silent_hours=2,
    enabled=True,
    created_at=NOON,
)
DELIVERY = Delivery(
    *(ACME.id, WEBHOOK.id, UUID(int=82), WebhookEvent.SILENT, "box b1", NOON),
    data={"text": "größer"},
    status=DeliveryStatus.WAITING,
    attempts=0,
    due_at=NOON,
)
ONGOING = Ongoing(
    *(ACME.id, WEBHOOK.id, WebhookEvent.WORSE, "größer", NOON),
    data={"members": ["b1"]},
)
ENTRY = AuditEntry(UUID(int=41), NOON, ADA.id, "confirm", "failure", {"reason": "größer"})

PASS = TestItem("boot", Outcome.PASS, 1, 0.25)
FAIL = TestItem(
    *("flash", Outcome.FAIL, 3, 1 / 3, Verdict.DEVICE, "CRC 0x1f\nüber", "0483:Ä1"),
    "https://ci.example/7/flash.log",
)
CHANGES = ChangeList("aaaaaaa", (Commit("bbbbbbb", "Fix the bus", NOON, ("fw/a.c",)),))
REPORT = Report(
    repo_key="fw",
    workflow="nightly",
    suite="hil",
    run_id=7,
    run_attempt=1,
    trigger=Trigger.NIGHTLY,
    branch="main",
    sha="bbbbbbb",
    started_at=NOON,
    ended_at=NOON + timedelta(minutes=5),
    conclusion="failure",
    hello_ok=True,
    box_key="b1",
    tests=(PASS, FAIL),
    covers_shas=("bbbbbbb", "ccccccc"),
    changes=CHANGES,
    ci_run=42,
    ci_url="https://ci.example/7",
    rerun_of=5,
)
ANNOUNCEMENT = Merge("fw", None, "bbbbbbb", "main", NOON, "https://ci.example/6")
CONFIG = SuiteConfig(
    "fw",
    "hil",
    ("fw/**",),
    ("hil/**",),
    trigger_paths=("fw/**",),
    links=Links(commit="https://git/{sha}"),
    targets=Targets(merges_checked=95.5),
)
FAILURE = FailureKey(Lane("fw", "hil", "flash", "b1", "main"), "bbbbbbb")
REVIEW = StoredReview(FAILURE, Review(ReviewAction.CONFIRM, Actor(ADA.id, "Ada"), NOON))
RUN_HEAD = RunHead(
    "fw",
    "hil",
    "nightly",
    7,
    1,
    "b1",
    Trigger.NIGHTLY,
    "main",
    "bbbbbbb",
    NOON,
    42,
    "https://ci.example/7",
)
LIVE_RUN = LiveRun(
    UUID(int=61), ACME.id, BOX.id, RUN_HEAD, ("bbbbbbb", "ccccccc"), CHANGES, last_seen_at=NOON
)
