# SPDX-License-Identifier: Apache-2.0
"""The types of the client's calls: `make docs` writes this file from `hwci.wire.endpoints`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Required, TypedDict, Unpack
from uuid import UUID

from hwci.client._call import Call, Id
from hwci.contract.boxes.benches import Benches, OneBox
from hwci.contract.boxes.boxes import Box, BoxNote
from hwci.contract.ci_systems import SigningSystem
from hwci.contract.failures.causes import Cause
from hwci.contract.failures.explanations import Explanation, Gaps
from hwci.contract.failures.failures import (
    Failure,
    FailureEvidence,
    ResolvedFailure,
    ReviewedFailures,
)
from hwci.contract.failures.incidents import Incident
from hwci.contract.failures.lost_boards import LostBoardCounts
from hwci.contract.flaky.bisection import Bisection
from hwci.contract.flaky.flaky_history import FlakyHistories
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.flaky.one_test import OneTest
from hwci.contract.flaky.suspects import AnsweredTest, RatedTest, SuspectedTest
from hwci.contract.known_failures import KnownFailure, KnownTest
from hwci.contract.page.metrics import MetricsPage, SuiteConfigPlan, Trend
from hwci.contract.periods.days import Days
from hwci.contract.periods.digest import Digest
from hwci.contract.periods.times_to_fix import TimesToFix
from hwci.contract.periods.trends import Trends
from hwci.contract.runs.merges import AnnouncedMerge, CheckedMerge, ExplainedMerge, Merge, MergePlan
from hwci.contract.runs.one_commit import OneCommit
from hwci.contract.runs.products import Product, SuiteConfig
from hwci.contract.runs.runs import OpenedRun, Run, RunDetail
from hwci.contract.scope import TestName
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import (
    FailureClass,
    Label,
    RankBy,
    Role,
    RunEnding,
    RunStatus,
    WebhookEvent,
    WebhookForm,
)
from hwci.wire.accounts import (
    AuditEntryAnswer,
    CiKeyAnswer,
    CreatedCiKey,
    CreatedReaderKey,
    InviteAnswer,
    KeyProduct,
    Me,
    MemberAnswer,
    NewKeepDays,
    OrganizationAnswer,
    OwnReaderKey,
    ReaderKeyAnswer,
    ReceivedInvite,
    SentInvite,
    SessionAnswer,
    SessionMode,
    SessionsEnded,
    SignedIn,
    TokenPair,
)
from hwci.wire.analysis.causes import OfTable, ReviewsBody
from hwci.wire.analysis.explanations import UnsentChanges
from hwci.wire.base import HealthAnswer
from hwci.wire.boxes import BoxInstallAnswer, InstalledBox
from hwci.wire.job_keys import JobKeyAnswer
from hwci.wire.queries import Detail
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration
from hwci.wire.runs import RunEvents, RunHead
from hwci.wire.sso import SsoProviders
from hwci.wire.trusts import TrustAnswer
from hwci.wire.webhooks import CreatedWebhook, DeliveryAnswer, WebhookAnswer
from hwci.wire.wheels import WheelAnswer

class OwnOrganizationsFields(TypedDict, total=False):
    page: int | None

class PageFields(TypedDict, total=False):
    page: int | None
    limit: int | None

class BoxesFields(TypedDict, total=False):
    box_key: str | None
    branch: str | None
    sha: str | None
    repo_key: str | None
    suite: str | None
    page: int | None
    limit: int | None
    reported: bool | None

class BoxNotesFields(TypedDict, total=False):
    box_key: str | None
    page: int | None
    limit: int | None

class RunsFields(TypedDict, total=False):
    box_key: str | None
    page: int | None
    limit: int | None
    repo_key: str | None
    suite: str | None
    branch: str | None
    sha: str | None
    ci_run: int | None
    status: RunStatus | None
    ending: RunEnding | None
    hello_ok: bool | None
    test_id: str | None
    retry_pass: bool | None
    failed_attempt: bool | None
    start: datetime | None
    end: datetime | None

class ProductsFields(TypedDict, total=False):
    repo_key: str | None
    suite: str | None
    page: int | None
    limit: int | None
    unassigned: bool | None

class SuiteConfigsFields(TypedDict, total=False):
    repo_key: str | None
    suite: str | None
    page: int | None
    limit: int | None

class PlanFields(TypedDict, total=False):
    page: int | None
    limit: int | None
    days: int | None
    as_of: datetime | None

class MetricsFields(TypedDict, total=False):
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    limit: int | None

class PeriodFields(TypedDict, total=False):
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None

class MergesFields(TypedDict, total=False):
    branch: str | None
    sha: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    search: str | None
    sort: str | None

class MergeRunsFields(TypedDict, total=False):
    box_key: str | None
    branch: str | None
    sha: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    search: str | None
    sort: str | None

class ResolvedFields(TypedDict, total=False):
    box_key: str | None
    branch: str | None
    sha: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    search: str | None
    sort: str | None

class OthersFields(TypedDict, total=False):
    box_key: str | None
    branch: str | None
    sha: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    search: str | None
    sort: str | None
    failure_class: FailureClass | None

class FlakyFields(TypedDict, total=False):
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    search: str | None
    sort: str | None
    broken: bool | None
    flaked: bool | None

class FlakyHistoryFields(TypedDict, total=False):
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    search: str | None
    sort: str | None
    broken: bool | None
    flaked: bool | None
    zone: str | None

class FailuresFields(TypedDict, total=False):
    box_key: str | None
    branch: str | None
    sha: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    search: str | None
    sort: str | None
    label: Label | None
    test_id: str | None
    known: bool | None

class MergePlanFields(TypedDict, total=False):
    box_key: str | None
    branch: str | None
    sha: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None

class BoxHealthFields(TypedDict, total=False):
    branch: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None

class OneBoxFields(TypedDict, total=False):
    box_key: Required[str]
    branch: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    zone: str | None

class SuspectsFields(TypedDict, total=False):
    branch: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    search: str | None
    sort: str | None
    broken: bool | None
    flaked: bool | None
    rank_by: RankBy | None
    detail: Detail | None

class RankedHistoryFields(TypedDict, total=False):
    branch: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    search: str | None
    sort: str | None
    broken: bool | None
    flaked: bool | None
    rank_by: RankBy | None
    zone: str | None

class CausesFields(TypedDict, total=False):
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    table: OfTable | None
    failure_class: FailureClass | None
    to_review: bool | None
    reviewed: bool | None
    search: str | None
    lost_board: bool | None

class LostResolvedFields(TypedDict, total=False):
    box_key: str | None
    branch: str | None
    sha: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    search: str | None
    sort: str | None
    table: OfTable | None
    failure_class: FailureClass | None

class TableFields(TypedDict, total=False):
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None

class IncidentsFields(TypedDict, total=False):
    box_key: str | None
    branch: str | None
    sha: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None
    label: Label | None

class BisectionFields(TypedDict, total=False):
    box_key: str | None
    repo_key: Required[str]
    suite: Required[str]
    as_of: datetime | None
    start: datetime | None
    days: int | None
    test_id: Required[str]
    good: str | None
    bad: str | None
    boxes: int | None

class OneTestFields(TypedDict, total=False):
    repo_key: Required[str]
    suite: Required[str]
    as_of: datetime | None
    start: datetime | None
    days: int | None
    zone: str | None
    test_id: Required[str]

class TestNamesFields(TypedDict, total=False):
    box_key: str | None
    branch: str | None
    sha: str | None
    repo_key: str | None
    suite: str | None
    page: int | None
    limit: int | None
    search: str | None

class OneCommitFields(TypedDict, total=False):
    repo_key: Required[str]
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    sha: Required[str]

class DaysFields(TypedDict, total=False):
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    zone: str | None

class BoxTableFields(TypedDict, total=False):
    box_key: str | None
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    start: datetime | None
    days: int | None
    page: int | None
    limit: int | None

def announce_merge(body: MergeAnnouncement) -> Call[None]:
    """Announce a merge; the same identity again changes nothing."""

def report_run(body: RunReport) -> Call[None]:
    """Report a hardware test run; the same identity again replaces the report."""

def put_suite_config(body: SuiteConfiguration) -> Call[None]:
    """Describe a product's files; an earlier configuration is replaced."""

def exchange_job_token(org_id: UUID, token: str) -> Call[JobKeyAnswer]:
    """Exchange a CI job's token, once, for a key that works as a CI key for minutes."""

def register(
    email: str,
    password: str,
    name: str | None = None,
    organization: str | None = None,
    invite_token: str | None = None,
    session: SessionMode | None = None,
) -> Call[SignedIn]:
    """Register, by the operator's policy, and sign in."""

def login(
    email: str, password: str, session: SessionMode | None = None, device_token: str | None = None
) -> Call[SignedIn]:
    """Sign in with e-mail and password."""

def refresh(
    refresh_token: str | None = None, session: SessionMode | None = None
) -> Call[TokenPair]:
    """Exchange a refresh token for a new pair; used twice, all sessions of its user end."""

def logout(refresh_token: str | None = None, session: SessionMode | None = None) -> Call[None]:
    """End a sign-in, its access tokens too."""

def me(**query: Unpack[OwnOrganizationsFields]) -> Call[Me]:
    """Show the caller and their organizations."""

def change_password(current_password: str, new_password: str) -> Call[SessionsEnded]:
    """Change my password; all my other sessions end."""

def reset_password(reset_token: str, new_password: str) -> Call[None]:
    """Set a new password by a reset link, once; all sessions of its user end."""

def list_sessions(**query: Unpack[PageFields]) -> Call[ListPage[SessionAnswer]]:
    """List my sessions."""

def end_other_sessions() -> Call[SessionsEnded]:
    """End all my sessions but this one, their access tokens too."""

def end_session(session_id: Id, /) -> Call[None]:
    """End one of my sessions, its access tokens too."""

def sso_providers() -> Call[SsoProviders]:
    """List the providers of single sign-on."""

def exchange_sso_code(code: str, verifier: str) -> Call[SignedIn]:
    """Exchange the code that a loopback address was given for a sign-in, once."""

def list_orgs(**query: Unpack[PageFields]) -> Call[ListPage[OrganizationAnswer]]:
    """List my organizations."""

def create_org(name: str) -> Call[OrganizationAnswer]:
    """Create an organization; the caller owns it."""

def get_org(org_id: Id, /) -> Call[OrganizationAnswer]:
    """Show an organization."""

def change_org(org_id: Id, /, keep_days: NewKeepDays) -> Call[OrganizationAnswer]:
    """Set for how many days an organization keeps what it was sent."""

def delete_org(org_id: Id, /) -> Call[OrganizationAnswer]:
    """Delete an organization: it closes at once, and all of it goes 7 days later."""

def undelete_org(org_id: Id, /) -> Call[OrganizationAnswer]:
    """Undo the deletion of an organization."""

def audit_log(org_id: Id, /, **query: Unpack[PageFields]) -> Call[ListPage[AuditEntryAnswer]]:
    """List the audit log: who did what, newest first."""

def list_members(org_id: Id, /, **query: Unpack[PageFields]) -> Call[ListPage[MemberAnswer]]:
    """List the members of an organization."""

def change_member(org_id: Id, user_id: Id, /, role: Role) -> Call[MemberAnswer]:
    """Change a member's role; only an owner makes or unmakes owners, the last owner stays."""

def remove_member(org_id: Id, user_id: Id, /) -> Call[None]:
    """Leave, or as owner or admin remove a member, at once; the last owner stays."""

def invite(org_id: Id, /, email: str, role: Role) -> Call[InviteAnswer]:
    """Invite someone, with an account or without; the token is only in this answer."""

def list_sent_invites(org_id: Id, /, **query: Unpack[PageFields]) -> Call[ListPage[SentInvite]]:
    """List the open invitations of an organization."""

def withdraw_invite(org_id: Id, invite_id: Id, /) -> Call[None]:
    """Withdraw an open invitation."""

def list_invites(**query: Unpack[PageFields]) -> Call[ListPage[ReceivedInvite]]:
    """List the open invitations of my e-mail."""

def accept_invite(invite_id: Id, /, invite_token: str | None = None) -> Call[OrganizationAnswer]:
    """Accept an invitation: with its token, or after single sign-on."""

def decline_invite(invite_id: Id, /) -> Call[None]:
    """Decline an invitation."""

def create_ci_key(org_id: Id, /, name: str) -> Call[CreatedCiKey]:
    """Create a CI key; its value is only in this answer."""

def list_ci_keys(org_id: Id, /, **query: Unpack[PageFields]) -> Call[ListPage[CiKeyAnswer]]:
    """List CI keys, never their value."""

def revoke_ci_key(org_id: Id, key_id: Id, /) -> Call[None]:
    """Revoke a CI key at once."""

def create_reader_key(
    org_id: Id, /, name: str, products: Sequence[KeyProduct] | None = None
) -> Call[CreatedReaderKey]:
    """Create a reader key; its value is only in this answer."""

def list_reader_keys(org_id: Id, /, **query: Unpack[PageFields]) -> Call[ListPage[ReaderKeyAnswer]]:
    """List reader keys, never their value."""

def own_reader_key() -> Call[OwnReaderKey]:
    """Show what the reader key of the request reads."""

def revoke_reader_key(org_id: Id, key_id: Id, /) -> Call[None]:
    """Revoke a reader key at once."""

def list_trusts(org_id: Id, /, **query: Unpack[PageFields]) -> Call[ListPage[TrustAnswer]]:
    """List the repositories whose CI jobs may sign in."""

def create_trust(
    org_id: Id,
    /,
    system: SigningSystem,
    repository: str,
    issuer: str | None = None,
    repository_id: str | None = None,
    branch: str | None = None,
    environment: str | None = None,
) -> Call[TrustAnswer]:
    """Let the CI jobs of a repository sign in without a secret."""

def remove_trust(org_id: Id, trust_id: Id, /) -> Call[None]:
    """Let them sign in no more; the keys of their jobs end at once."""

def list_boxes(org_id: Id, /, **query: Unpack[BoxesFields]) -> Call[ListPage[Box]]:
    """List the boxes of an organization."""

def create_box(org_id: Id, /, name: str) -> Call[BoxInstallAnswer]:
    """Create a box; the token that installs it once is only in this answer."""

def rename_box(org_id: Id, box_id: Id, /, name: str) -> Call[None]:
    """Rename a box; its key goes on, and reports keep the name that they have."""

def remove_box(org_id: Id, box_id: Id, /) -> Call[None]:
    """Remove a box: its key stops at once, and what it reported stays."""

def new_install_token(org_id: Id, box_id: Id, /) -> Call[BoxInstallAnswer]:
    """Make a token for a new install of a box; its key works until then."""

def list_box_notes(org_id: Id, /, **query: Unpack[BoxNotesFields]) -> Call[ListPage[BoxNote]]:
    """List what people did to boxes, latest first."""

def add_box_note(
    org_id: Id, /, box_key: str, text: str, at: datetime | None = None
) -> Call[BoxNote]:
    """Note what was done to a box; from then on it is compared as a new box."""

def remove_box_note(org_id: Id, note_id: Id, /) -> Call[None]:
    """Remove a note of a box."""

def install_box(install_token: str) -> Call[InstalledBox]:
    """Exchange an install token for the box's key; an earlier key of the box stops working."""

def heartbeat() -> Call[None]:
    """Stay online, and keep the box's live runs alive."""

def open_run(body: RunHead) -> Call[OpenedRun]:
    """Open a live run; it is lost after 10 minutes without event or heartbeat."""

def feed_run(run_id: Id, /, body: RunEvents) -> Call[None]:
    """Report which tests of a live run began or ended."""

def list_webhooks(org_id: Id, /, **query: Unpack[PageFields]) -> Call[ListPage[WebhookAnswer]]:
    """List webhooks, never their address or secret."""

def create_webhook(
    org_id: Id,
    /,
    address: str,
    form: WebhookForm | None = None,
    events: Sequence[WebhookEvent] | None = None,
    repo_key: str | None = None,
    suite: str | None = None,
    unchecked_hours: int | None = None,
    silent_hours: int | None = None,
) -> Call[CreatedWebhook]:
    """Create a webhook; the secret that signs is only in this answer."""

def change_webhook(
    org_id: Id,
    webhook_id: Id,
    /,
    address: str | None = None,
    events: Sequence[WebhookEvent] | None = None,
    unchecked_hours: int | None = None,
    silent_hours: int | None = None,
    enabled: bool | None = None,
) -> Call[WebhookAnswer]:
    """Change a webhook; its secret stays."""

def remove_webhook(org_id: Id, webhook_id: Id, /) -> Call[None]:
    """Remove a webhook; nothing more is sent to it."""

def list_deliveries(
    org_id: Id, webhook_id: Id, /, **query: Unpack[PageFields]
) -> Call[ListPage[DeliveryAnswer]]:
    """List what a webhook was sent, newest first."""

def resend_delivery(org_id: Id, webhook_id: Id, delivery_id: Id, /) -> Call[None]:
    """Send an event to a webhook again."""

def list_known_failures(org_id: Id, /, **query: Unpack[PageFields]) -> Call[ListPage[KnownFailure]]:
    """List the rules by which failures are known, the first made first."""

def add_known_failure(
    org_id: Id,
    /,
    ticket: str,
    until: datetime,
    test_id: str | None = None,
    message: str | None = None,
    box_key: str | None = None,
) -> Call[KnownFailure]:
    """Call failures known until a time, those of before too; no label and no count changes."""

def remove_known_failure(org_id: Id, rule_id: Id, /) -> Call[None]:
    """Remove a rule: its failures are known no more."""

def list_runs(org_id: Id, /, **query: Unpack[RunsFields]) -> Call[ListPage[Run]]:
    """List run records, latest start first."""

def get_run(org_id: Id, run_id: Id, /) -> Call[RunDetail]:
    """Show one run record with all that was reported of it."""

def list_products(org_id: Id, /, **query: Unpack[ProductsFields]) -> Call[ListPage[Product]]:
    """List the known products."""

def list_suite_configs(
    org_id: Id, /, **query: Unpack[SuiteConfigsFields]
) -> Call[ListPage[SuiteConfig]]:
    """List suite configurations as sent."""

def plan_suite_config(
    org_id: Id, /, body: SuiteConfiguration, **query: Unpack[PlanFields]
) -> Call[SuiteConfigPlan]:
    """Show what a suite configuration would change if it were sent; nothing is kept."""

def metrics(org_id: Id, /, **query: Unpack[MetricsFields]) -> Call[MetricsPage]:
    """Open the metrics page: four tiles and the first rows of four tables."""

def trend(org_id: Id, /, **query: Unpack[PeriodFields]) -> Call[Trend]:
    """The four tiles over time: at most 90 slots of equal width."""

def unchecked_merges(org_id: Id, /, **query: Unpack[MergesFields]) -> Call[ListPage[Merge]]:
    """List the announced merges that no run checked."""

def checked_merges(org_id: Id, /, **query: Unpack[MergeRunsFields]) -> Call[ListPage[CheckedMerge]]:
    """Merges checked on hardware, each with the run that checked it first."""

def real_bugs(org_id: Id, /, **query: Unpack[ResolvedFields]) -> Call[ListPage[ResolvedFailure]]:
    """List the resolved failures that were real firmware bugs."""

def other_failures(org_id: Id, /, **query: Unpack[OthersFields]) -> Call[ListPage[ResolvedFailure]]:
    """List the other resolved failures, each with its reason."""

def flakiest_tests(org_id: Id, /, **query: Unpack[FlakyFields]) -> Call[ListPage[FlakyTest]]:
    """Flakiest tests."""

def flaky_history(org_id: Id, /, **query: Unpack[FlakyHistoryFields]) -> Call[FlakyHistories]:
    """Flakiest tests over time and boxes, in the slots of the trend."""

def list_failures(org_id: Id, /, **query: Unpack[FailuresFields]) -> Call[ListPage[Failure]]:
    """List failures that have an item in the period, with their labels."""

def get_failure(org_id: Id, failure_id: Id, /) -> Call[FailureEvidence]:
    """Show one failure with its evidence."""

def confirm_failure(
    org_id: Id, failure_id: Id, /, note: str | None = None, issue: str | None = None
) -> Call[ResolvedFailure]:
    """Count a resolved failure as a real firmware bug."""

def dismiss_failure(
    org_id: Id, failure_id: Id, /, note: str | None = None, issue: str | None = None
) -> Call[ResolvedFailure]:
    """Move a real firmware bug to the other list."""

def reset_failure(
    org_id: Id, failure_id: Id, /, note: str | None = None, issue: str | None = None
) -> Call[ResolvedFailure]:
    """Restore the automatic label of a reviewed failure."""

def review_failures(org_id: Id, /, body: ReviewsBody) -> Call[ReviewedFailures]:
    """Confirm, dismiss and reset several failures, all or none."""

def list_merges(org_id: Id, /, **query: Unpack[MergeRunsFields]) -> Call[ListPage[AnnouncedMerge]]:
    """Announced merges, each with the runs that checked it or tell why none did."""

def explain_unchecked_merges(
    org_id: Id, /, **query: Unpack[MergeRunsFields]
) -> Call[ListPage[ExplainedMerge]]:
    """Merges not checked on hardware, each with the one cause of it."""

def plan_merges(org_id: Id, /, **query: Unpack[MergePlanFields]) -> Call[MergePlan]:
    """The runs that would check these merges in the least board time."""

def box_health(org_id: Id, /, **query: Unpack[BoxHealthFields]) -> Call[Benches]:
    """Boxes: which one fails more than the others on the same commits, and how each fares."""

def one_box(org_id: Id, /, **query: Unpack[OneBoxFields]) -> Call[OneBox]:
    """One box: how it compares, its shares beside the others', what failed on it alone."""

def explain_failure(org_id: Id, failure_id: Id, /) -> Call[Explanation]:
    """Show which single edits would give a failure another class."""

def explain_failure_with_git(
    org_id: Id, failure_id: Id, /, unsent: Sequence[UnsentChanges]
) -> Call[Explanation]:
    """The same, with what git has of changes that runs did not send; nothing is kept."""

def list_gaps(org_id: Id, /, **query: Unpack[PeriodFields]) -> Call[Gaps]:
    """What CI leaves out, and how many ambiguous failures it would decide."""

def suspects(
    org_id: Id, /, **query: Unpack[SuspectsFields]
) -> Call[ListPage[SuspectedTest | AnsweredTest | RatedTest]]:
    """Flaky tests: since which commit, on which boxes, and how sure."""

def suspects_history(org_id: Id, /, **query: Unpack[RankedHistoryFields]) -> Call[FlakyHistories]:
    """The same tests over time, on each box."""

def list_causes(org_id: Id, /, **query: Unpack[CausesFields]) -> Call[ListPage[Cause]]:
    """Resolved failures by cause: what one commit broke and one fixed, as one."""

def lost_boards(org_id: Id, /, **query: Unpack[PeriodFields]) -> Call[LostBoardCounts]:
    """How many resolved failures lie in runs that lost their board, and which."""

def lost_resolved(
    org_id: Id, /, **query: Unpack[LostResolvedFields]
) -> Call[ListPage[ResolvedFailure]]:
    """The same as rows of the tables of resolved failures."""

def lost_failures(org_id: Id, /, **query: Unpack[FailuresFields]) -> Call[ListPage[Failure]]:
    """All failures in runs that lost their board, as `ci-failures` lists them."""

def quarantine(org_id: Id, /, **query: Unpack[TableFields]) -> Call[ListPage[KnownTest]]:
    """Tests with known failures, and which of them must not be put into quarantine."""

def list_incidents(org_id: Id, /, **query: Unpack[IncidentsFields]) -> Call[ListPage[Incident]]:
    """Failures that one cause explains, as one: tests by boxes, the commits that began it."""

def trends(org_id: Id, /, **query: Unpack[PeriodFields]) -> Call[Trends]:
    """The tiles against the period before."""

def bisection(org_id: Id, /, **query: Unpack[BisectionFields]) -> Call[Bisection]:
    """Which commit broke a test, how sure that is, and the run that tells most about it."""

def one_test(org_id: Id, /, **query: Unpack[OneTestFields]) -> Call[OneTest]:
    """One test over time on each box: how often it failed, and what a retry gave."""

def list_tests(org_id: Id, /, **query: Unpack[TestNamesFields]) -> Call[ListPage[TestName]]:
    """List the tests that reports name."""

def one_commit(org_id: Id, /, **query: Unpack[OneCommitFields]) -> Call[OneCommit]:
    """One commit: on which boxes it ran, and what caused each of its failures."""

def metrics_by_day(org_id: Id, /, **query: Unpack[DaysFields]) -> Call[Days]:
    """The tiles by the calendar days of a time zone, each share with its interval."""

def times_to_fix(org_id: Id, /, **query: Unpack[BoxTableFields]) -> Call[ListPage[TimesToFix]]:
    """How long failures took until they were seen, and fixed, by product and box."""

def digest(org_id: Id, /, **query: Unpack[PeriodFields]) -> Call[Digest]:
    """A period in a few lines: what broke, was fixed, is flaky, was not run, fell silent."""

def wheel() -> Call[WheelAnswer]:
    """Show the wheel of hwci that this server runs from, and the hash to pin."""

def health() -> Call[HealthAnswer]:
    """Is the process alive?."""
