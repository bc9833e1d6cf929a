# SPDX-License-Identifier: Apache-2.0
"""The types of a client's resources: `make docs` writes this file from `hwci.wire.endpoints`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Unpack
from uuid import UUID

from hwci.client._aio import AsyncFollowing
from hwci.client._call import Id
from hwci.client._resources import AsyncListing, Listing
from hwci.client._sync import Following
from hwci.client.calls import (
    BisectionFields,
    BoxesFields,
    BoxHealthFields,
    BoxNotesFields,
    BoxTableFields,
    CausesFields,
    DaysFields,
    FailuresFields,
    FlakyFields,
    FlakyHistoryFields,
    IncidentsFields,
    LostResolvedFields,
    MergePlanFields,
    MergeRunsFields,
    MergesFields,
    MetricsFields,
    OneBoxFields,
    OneCommitFields,
    OneTestFields,
    OthersFields,
    OwnOrganizationsFields,
    PageFields,
    PeriodFields,
    PlanFields,
    ProductsFields,
    RankedHistoryFields,
    ResolvedFields,
    RunsFields,
    SuiteConfigsFields,
    SuspectsFields,
    TableFields,
    TestNamesFields,
)
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
from hwci.contract.vocabulary import Role, WebhookEvent, WebhookForm
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
from hwci.wire.analysis.causes import ReviewsBody
from hwci.wire.analysis.explanations import UnsentChanges
from hwci.wire.base import HealthAnswer
from hwci.wire.boxes import BoxInstallAnswer, InstalledBox
from hwci.wire.job_keys import JobKeyAnswer
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration
from hwci.wire.runs import RunEvents, RunHead
from hwci.wire.sso import SsoProviders
from hwci.wire.trusts import TrustAnswer
from hwci.wire.webhooks import CreatedWebhook, DeliveryAnswer, WebhookAnswer
from hwci.wire.wheels import WheelAnswer

class Merges:
    def announce(self, body: MergeAnnouncement) -> None:
        """Announce a merge; the same identity again changes nothing."""

    def list(self, **query: Unpack[MergeRunsFields]) -> Listing[AnnouncedMerge]:
        """Announced merges, each with the runs that checked it or tell why none did."""

    def unchecked(self, **query: Unpack[MergeRunsFields]) -> Listing[ExplainedMerge]:
        """Merges not checked on hardware, each with the one cause of it."""

    def plan(self, **query: Unpack[MergePlanFields]) -> MergePlan:
        """The runs that would check these merges in the least board time."""

class Runs:
    def report(self, body: RunReport) -> None:
        """Report a hardware test run; the same identity again replaces the report."""

    def list(self, **query: Unpack[RunsFields]) -> Listing[Run]:
        """List run records, latest start first."""

    def follow(self, run_id: Id | None = None, last_event_id: str | None = None) -> Following:
        """Follow runs as server-sent events; `Last-Event-ID` resumes."""

    def get(self, run_id: Id, /) -> RunDetail:
        """Show one run record with all that was reported of it."""

class SuiteConfigs:
    def put(self, body: SuiteConfiguration) -> None:
        """Describe a product's files; an earlier configuration is replaced."""

    def list(self, **query: Unpack[SuiteConfigsFields]) -> Listing[SuiteConfig]:
        """List suite configurations as sent."""

    def plan(self, body: SuiteConfiguration, **query: Unpack[PlanFields]) -> SuiteConfigPlan:
        """Show what a suite configuration would change if it were sent; nothing is kept."""

class JobKeys:
    def exchange(self, org_id: UUID, token: str) -> JobKeyAnswer:
        """Exchange a CI job's token, once, for a key that works as a CI key for minutes."""

class Account:
    def register(
        self,
        email: str,
        password: str,
        name: str | None = None,
        organization: str | None = None,
        invite_token: str | None = None,
        session: SessionMode | None = None,
    ) -> SignedIn:
        """Register, by the operator's policy, and sign in."""

    def login(
        self,
        email: str,
        password: str,
        session: SessionMode | None = None,
        device_token: str | None = None,
    ) -> SignedIn:
        """Sign in with e-mail and password."""

    def refresh(
        self, refresh_token: str | None = None, session: SessionMode | None = None
    ) -> TokenPair:
        """Exchange a refresh token for a new pair; used twice, all sessions of its user end."""

    def logout(self, refresh_token: str | None = None, session: SessionMode | None = None) -> None:
        """End a sign-in, its access tokens too."""

    def me(self, **query: Unpack[OwnOrganizationsFields]) -> Me:
        """Show the caller and their organizations."""

    def change_password(self, current_password: str, new_password: str) -> SessionsEnded:
        """Change my password; all my other sessions end."""

    def reset_password(self, reset_token: str, new_password: str) -> None:
        """Set a new password by a reset link, once; all sessions of its user end."""

class Sessions:
    def list(self, **query: Unpack[PageFields]) -> Listing[SessionAnswer]:
        """List my sessions."""

    def end_others(self) -> SessionsEnded:
        """End all my sessions but this one, their access tokens too."""

    def end(self, session_id: Id, /) -> None:
        """End one of my sessions, its access tokens too."""

class Sso:
    def providers(self) -> SsoProviders:
        """List the providers of single sign-on."""

    def exchange(self, code: str, verifier: str) -> SignedIn:
        """Exchange the code that a loopback address was given for a sign-in, once."""

class Orgs:
    def list(self, **query: Unpack[PageFields]) -> Listing[OrganizationAnswer]:
        """List my organizations."""

    def create(self, name: str) -> OrganizationAnswer:
        """Create an organization; the caller owns it."""

    def get(self) -> OrganizationAnswer:
        """Show an organization."""

    def change(self, keep_days: NewKeepDays) -> OrganizationAnswer:
        """Set for how many days an organization keeps what it was sent."""

    def delete(self) -> OrganizationAnswer:
        """Delete an organization: it closes at once, and all of it goes 7 days later."""

    def undelete(self) -> OrganizationAnswer:
        """Undo the deletion of an organization."""

    def audit_log(self, **query: Unpack[PageFields]) -> Listing[AuditEntryAnswer]:
        """List the audit log: who did what, newest first."""

class Members:
    def list(self, **query: Unpack[PageFields]) -> Listing[MemberAnswer]:
        """List the members of an organization."""

    def change(self, user_id: Id, /, role: Role) -> MemberAnswer:
        """Change a member's role; only an owner makes or unmakes owners, the last owner stays."""

    def remove(self, user_id: Id, /) -> None:
        """Leave, or as owner or admin remove a member, at once; the last owner stays."""

class Invites:
    def send(self, email: str, role: Role) -> InviteAnswer:
        """Invite someone, with an account or without; the token is only in this answer."""

    def sent(self, **query: Unpack[PageFields]) -> Listing[SentInvite]:
        """List the open invitations of an organization."""

    def withdraw(self, invite_id: Id, /) -> None:
        """Withdraw an open invitation."""

    def received(self, **query: Unpack[PageFields]) -> Listing[ReceivedInvite]:
        """List the open invitations of my e-mail."""

    def accept(self, invite_id: Id, /, invite_token: str | None = None) -> OrganizationAnswer:
        """Accept an invitation: with its token, or after single sign-on."""

    def decline(self, invite_id: Id, /) -> None:
        """Decline an invitation."""

class CiKeys:
    def create(self, name: str) -> CreatedCiKey:
        """Create a CI key; its value is only in this answer."""

    def list(self, **query: Unpack[PageFields]) -> Listing[CiKeyAnswer]:
        """List CI keys, never their value."""

    def revoke(self, key_id: Id, /) -> None:
        """Revoke a CI key at once."""

class ReaderKeys:
    def create(self, name: str, products: Sequence[KeyProduct] | None = None) -> CreatedReaderKey:
        """Create a reader key; its value is only in this answer."""

    def list(self, **query: Unpack[PageFields]) -> Listing[ReaderKeyAnswer]:
        """List reader keys, never their value."""

    def own(self) -> OwnReaderKey:
        """Show what the reader key of the request reads."""

    def revoke(self, key_id: Id, /) -> None:
        """Revoke a reader key at once."""

class Trusts:
    def list(self, **query: Unpack[PageFields]) -> Listing[TrustAnswer]:
        """List the repositories whose CI jobs may sign in."""

    def create(
        self,
        system: SigningSystem,
        repository: str,
        issuer: str | None = None,
        repository_id: str | None = None,
        branch: str | None = None,
        environment: str | None = None,
    ) -> TrustAnswer:
        """Let the CI jobs of a repository sign in without a secret."""

    def remove(self, trust_id: Id, /) -> None:
        """Let them sign in no more; the keys of their jobs end at once."""

class Boxes:
    def list(self, **query: Unpack[BoxesFields]) -> Listing[Box]:
        """List the boxes of an organization."""

    def create(self, name: str) -> BoxInstallAnswer:
        """Create a box; the token that installs it once is only in this answer."""

    def rename(self, box_id: Id, /, name: str) -> None:
        """Rename a box; its key goes on, and reports keep the name that they have."""

    def remove(self, box_id: Id, /) -> None:
        """Remove a box: its key stops at once, and what it reported stays."""

    def new_install_token(self, box_id: Id, /) -> BoxInstallAnswer:
        """Make a token for a new install of a box; its key works until then."""

    def install(self, install_token: str) -> InstalledBox:
        """Exchange an install token for the box's key; an earlier key of the box stops working."""

    def heartbeat(self) -> None:
        """Stay online, and keep the box's live runs alive."""

    def health(self, **query: Unpack[BoxHealthFields]) -> Benches:
        """Boxes: which one fails more than the others on the same commits, and how each fares."""

    def show(self, **query: Unpack[OneBoxFields]) -> OneBox:
        """One box: how it compares, its shares beside the others', what failed on it alone."""

class BoxNotes:
    def list(self, **query: Unpack[BoxNotesFields]) -> Listing[BoxNote]:
        """List what people did to boxes, latest first."""

    def add(self, box_key: str, text: str, at: datetime | None = None) -> BoxNote:
        """Note what was done to a box; from then on it is compared as a new box."""

    def remove(self, note_id: Id, /) -> None:
        """Remove a note of a box."""

class LiveRuns:
    def open(self, body: RunHead) -> OpenedRun:
        """Open a live run; it is lost after 10 minutes without event or heartbeat."""

    def feed(self, run_id: Id, /, body: RunEvents) -> None:
        """Report which tests of a live run began or ended."""

class Webhooks:
    def list(self, **query: Unpack[PageFields]) -> Listing[WebhookAnswer]:
        """List webhooks, never their address or secret."""

    def create(
        self,
        address: str,
        form: WebhookForm | None = None,
        events: Sequence[WebhookEvent] | None = None,
        repo_key: str | None = None,
        suite: str | None = None,
        unchecked_hours: int | None = None,
        silent_hours: int | None = None,
    ) -> CreatedWebhook:
        """Create a webhook; the secret that signs is only in this answer."""

    def change(
        self,
        webhook_id: Id,
        /,
        address: str | None = None,
        events: Sequence[WebhookEvent] | None = None,
        unchecked_hours: int | None = None,
        silent_hours: int | None = None,
        enabled: bool | None = None,
    ) -> WebhookAnswer:
        """Change a webhook; its secret stays."""

    def remove(self, webhook_id: Id, /) -> None:
        """Remove a webhook; nothing more is sent to it."""

    def deliveries(self, webhook_id: Id, /, **query: Unpack[PageFields]) -> Listing[DeliveryAnswer]:
        """List what a webhook was sent, newest first."""

    def resend(self, webhook_id: Id, delivery_id: Id, /) -> None:
        """Send an event to a webhook again."""

class KnownFailures:
    def list(self, **query: Unpack[PageFields]) -> Listing[KnownFailure]:
        """List the rules by which failures are known, the first made first."""

    def add(
        self,
        ticket: str,
        until: datetime,
        test_id: str | None = None,
        message: str | None = None,
        box_key: str | None = None,
    ) -> KnownFailure:
        """Call failures known until a time, those of before too; no label and no count changes."""

    def remove(self, rule_id: Id, /) -> None:
        """Remove a rule: its failures are known no more."""

    def quarantine(self, **query: Unpack[TableFields]) -> Listing[KnownTest]:
        """Tests with known failures, and which of them must not be put into quarantine."""

class Products:
    def list(self, **query: Unpack[ProductsFields]) -> Listing[Product]:
        """List the known products."""

class Metrics:
    def page(self, **query: Unpack[MetricsFields]) -> MetricsPage:
        """Open the metrics page: four tiles and the first rows of four tables."""

    def trend(self, **query: Unpack[PeriodFields]) -> Trend:
        """The four tiles over time: at most 90 slots of equal width."""

    def unchecked_merges(self, **query: Unpack[MergesFields]) -> Listing[Merge]:
        """List the announced merges that no run checked."""

    def checked_merges(self, **query: Unpack[MergeRunsFields]) -> Listing[CheckedMerge]:
        """Merges checked on hardware, each with the run that checked it first."""

    def real_bugs(self, **query: Unpack[ResolvedFields]) -> Listing[ResolvedFailure]:
        """List the resolved failures that were real firmware bugs."""

    def other_failures(self, **query: Unpack[OthersFields]) -> Listing[ResolvedFailure]:
        """List the other resolved failures, each with its reason."""

    def flakiest_tests(self, **query: Unpack[FlakyFields]) -> Listing[FlakyTest]:
        """Flakiest tests."""

    def flaky_history(self, **query: Unpack[FlakyHistoryFields]) -> FlakyHistories:
        """Flakiest tests over time and boxes, in the slots of the trend."""

    def trends(self, **query: Unpack[PeriodFields]) -> Trends:
        """The tiles against the period before."""

    def by_day(self, **query: Unpack[DaysFields]) -> Days:
        """The tiles by the calendar days of a time zone, each share with its interval."""

    def times_to_fix(self, **query: Unpack[BoxTableFields]) -> Listing[TimesToFix]:
        """How long failures took until they were seen, and fixed, by product and box."""

    def digest(self, **query: Unpack[PeriodFields]) -> Digest:
        """A period in a few lines: what broke, was fixed, is flaky, was not run, fell silent."""

class Failures:
    def list(self, **query: Unpack[FailuresFields]) -> Listing[Failure]:
        """List failures that have an item in the period, with their labels."""

    def get(self, failure_id: Id, /) -> FailureEvidence:
        """Show one failure with its evidence."""

    def confirm(
        self, failure_id: Id, /, note: str | None = None, issue: str | None = None
    ) -> ResolvedFailure:
        """Count a resolved failure as a real firmware bug."""

    def dismiss(
        self, failure_id: Id, /, note: str | None = None, issue: str | None = None
    ) -> ResolvedFailure:
        """Move a real firmware bug to the other list."""

    def reset(
        self, failure_id: Id, /, note: str | None = None, issue: str | None = None
    ) -> ResolvedFailure:
        """Restore the automatic label of a reviewed failure."""

    def review(self, body: ReviewsBody) -> ReviewedFailures:
        """Confirm, dismiss and reset several failures, all or none."""

    def explain(self, failure_id: Id, /) -> Explanation:
        """Show which single edits would give a failure another class."""

    def explain_with_git(self, failure_id: Id, /, unsent: Sequence[UnsentChanges]) -> Explanation:
        """The same, with what git has of changes that runs did not send; nothing is kept."""

    def gaps(self, **query: Unpack[PeriodFields]) -> Gaps:
        """What CI leaves out, and how many ambiguous failures it would decide."""

class Tests:
    def flaky(
        self, **query: Unpack[SuspectsFields]
    ) -> Listing[SuspectedTest | AnsweredTest | RatedTest]:
        """Flaky tests: since which commit, on which boxes, and how sure."""

    def flaky_history(self, **query: Unpack[RankedHistoryFields]) -> FlakyHistories:
        """The same tests over time, on each box."""

    def bisection(self, **query: Unpack[BisectionFields]) -> Bisection:
        """Which commit broke a test, how sure that is, and the run that tells most about it."""

    def show(self, **query: Unpack[OneTestFields]) -> OneTest:
        """One test over time on each box: how often it failed, and what a retry gave."""

    def list(self, **query: Unpack[TestNamesFields]) -> Listing[TestName]:
        """List the tests that reports name."""

class Causes:
    def list(self, **query: Unpack[CausesFields]) -> Listing[Cause]:
        """Resolved failures by cause: what one commit broke and one fixed, as one."""

class LostBoards:
    def count(self, **query: Unpack[PeriodFields]) -> LostBoardCounts:
        """How many resolved failures lie in runs that lost their board, and which."""

    def resolved(self, **query: Unpack[LostResolvedFields]) -> Listing[ResolvedFailure]:
        """The same as rows of the tables of resolved failures."""

    def failures(self, **query: Unpack[FailuresFields]) -> Listing[Failure]:
        """All failures in runs that lost their board, as `ci-failures` lists them."""

class Incidents:
    def list(self, **query: Unpack[IncidentsFields]) -> Listing[Incident]:
        """Failures that one cause explains, as one: tests by boxes, the commits that began it."""

class Commits:
    def show(self, **query: Unpack[OneCommitFields]) -> OneCommit:
        """One commit: on which boxes it ran, and what caused each of its failures."""

class Server:
    def wheel(self) -> WheelAnswer:
        """Show the wheel of hwci that this server runs from, and the hash to pin."""

    def health(self) -> HealthAnswer:
        """Is the process alive?."""

class AsyncMerges:
    async def announce(self, body: MergeAnnouncement) -> None:
        """Announce a merge; the same identity again changes nothing."""

    async def list(self, **query: Unpack[MergeRunsFields]) -> AsyncListing[AnnouncedMerge]:
        """Announced merges, each with the runs that checked it or tell why none did."""

    async def unchecked(self, **query: Unpack[MergeRunsFields]) -> AsyncListing[ExplainedMerge]:
        """Merges not checked on hardware, each with the one cause of it."""

    async def plan(self, **query: Unpack[MergePlanFields]) -> MergePlan:
        """The runs that would check these merges in the least board time."""

class AsyncRuns:
    async def report(self, body: RunReport) -> None:
        """Report a hardware test run; the same identity again replaces the report."""

    async def list(self, **query: Unpack[RunsFields]) -> AsyncListing[Run]:
        """List run records, latest start first."""

    async def follow(
        self, run_id: Id | None = None, last_event_id: str | None = None
    ) -> AsyncFollowing:
        """Follow runs as server-sent events; `Last-Event-ID` resumes."""

    async def get(self, run_id: Id, /) -> RunDetail:
        """Show one run record with all that was reported of it."""

class AsyncSuiteConfigs:
    async def put(self, body: SuiteConfiguration) -> None:
        """Describe a product's files; an earlier configuration is replaced."""

    async def list(self, **query: Unpack[SuiteConfigsFields]) -> AsyncListing[SuiteConfig]:
        """List suite configurations as sent."""

    async def plan(self, body: SuiteConfiguration, **query: Unpack[PlanFields]) -> SuiteConfigPlan:
        """Show what a suite configuration would change if it were sent; nothing is kept."""

class AsyncJobKeys:
    async def exchange(self, org_id: UUID, token: str) -> JobKeyAnswer:
        """Exchange a CI job's token, once, for a key that works as a CI key for minutes."""

class AsyncAccount:
    async def register(
        self,
        email: str,
        password: str,
        name: str | None = None,
        organization: str | None = None,
        invite_token: str | None = None,
        session: SessionMode | None = None,
    ) -> SignedIn:
        """Register, by the operator's policy, and sign in."""

    async def login(
        self,
        email: str,
        password: str,
        session: SessionMode | None = None,
        device_token: str | None = None,
    ) -> SignedIn:
        """Sign in with e-mail and password."""

    async def refresh(
        self, refresh_token: str | None = None, session: SessionMode | None = None
    ) -> TokenPair:
        """Exchange a refresh token for a new pair; used twice, all sessions of its user end."""

    async def logout(
        self, refresh_token: str | None = None, session: SessionMode | None = None
    ) -> None:
        """End a sign-in, its access tokens too."""

    async def me(self, **query: Unpack[OwnOrganizationsFields]) -> Me:
        """Show the caller and their organizations."""

    async def change_password(self, current_password: str, new_password: str) -> SessionsEnded:
        """Change my password; all my other sessions end."""

    async def reset_password(self, reset_token: str, new_password: str) -> None:
        """Set a new password by a reset link, once; all sessions of its user end."""

class AsyncSessions:
    async def list(self, **query: Unpack[PageFields]) -> AsyncListing[SessionAnswer]:
        """List my sessions."""

    async def end_others(self) -> SessionsEnded:
        """End all my sessions but this one, their access tokens too."""

    async def end(self, session_id: Id, /) -> None:
        """End one of my sessions, its access tokens too."""

class AsyncSso:
    async def providers(self) -> SsoProviders:
        """List the providers of single sign-on."""

    async def exchange(self, code: str, verifier: str) -> SignedIn:
        """Exchange the code that a loopback address was given for a sign-in, once."""

class AsyncOrgs:
    async def list(self, **query: Unpack[PageFields]) -> AsyncListing[OrganizationAnswer]:
        """List my organizations."""

    async def create(self, name: str) -> OrganizationAnswer:
        """Create an organization; the caller owns it."""

    async def get(self) -> OrganizationAnswer:
        """Show an organization."""

    async def change(self, keep_days: NewKeepDays) -> OrganizationAnswer:
        """Set for how many days an organization keeps what it was sent."""

    async def delete(self) -> OrganizationAnswer:
        """Delete an organization: it closes at once, and all of it goes 7 days later."""

    async def undelete(self) -> OrganizationAnswer:
        """Undo the deletion of an organization."""

    async def audit_log(self, **query: Unpack[PageFields]) -> AsyncListing[AuditEntryAnswer]:
        """List the audit log: who did what, newest first."""

class AsyncMembers:
    async def list(self, **query: Unpack[PageFields]) -> AsyncListing[MemberAnswer]:
        """List the members of an organization."""

    async def change(self, user_id: Id, /, role: Role) -> MemberAnswer:
        """Change a member's role; only an owner makes or unmakes owners, the last owner stays."""

    async def remove(self, user_id: Id, /) -> None:
        """Leave, or as owner or admin remove a member, at once; the last owner stays."""

class AsyncInvites:
    async def send(self, email: str, role: Role) -> InviteAnswer:
        """Invite someone, with an account or without; the token is only in this answer."""

    async def sent(self, **query: Unpack[PageFields]) -> AsyncListing[SentInvite]:
        """List the open invitations of an organization."""

    async def withdraw(self, invite_id: Id, /) -> None:
        """Withdraw an open invitation."""

    async def received(self, **query: Unpack[PageFields]) -> AsyncListing[ReceivedInvite]:
        """List the open invitations of my e-mail."""

    async def accept(self, invite_id: Id, /, invite_token: str | None = None) -> OrganizationAnswer:
        """Accept an invitation: with its token, or after single sign-on."""

    async def decline(self, invite_id: Id, /) -> None:
        """Decline an invitation."""

class AsyncCiKeys:
    async def create(self, name: str) -> CreatedCiKey:
        """Create a CI key; its value is only in this answer."""

    async def list(self, **query: Unpack[PageFields]) -> AsyncListing[CiKeyAnswer]:
        """List CI keys, never their value."""

    async def revoke(self, key_id: Id, /) -> None:
        """Revoke a CI key at once."""

class AsyncReaderKeys:
    async def create(
        self, name: str, products: Sequence[KeyProduct] | None = None
    ) -> CreatedReaderKey:
        """Create a reader key; its value is only in this answer."""

    async def list(self, **query: Unpack[PageFields]) -> AsyncListing[ReaderKeyAnswer]:
        """List reader keys, never their value."""

    async def own(self) -> OwnReaderKey:
        """Show what the reader key of the request reads."""

    async def revoke(self, key_id: Id, /) -> None:
        """Revoke a reader key at once."""

class AsyncTrusts:
    async def list(self, **query: Unpack[PageFields]) -> AsyncListing[TrustAnswer]:
        """List the repositories whose CI jobs may sign in."""

    async def create(
        self,
        system: SigningSystem,
        repository: str,
        issuer: str | None = None,
        repository_id: str | None = None,
        branch: str | None = None,
        environment: str | None = None,
    ) -> TrustAnswer:
        """Let the CI jobs of a repository sign in without a secret."""

    async def remove(self, trust_id: Id, /) -> None:
        """Let them sign in no more; the keys of their jobs end at once."""

class AsyncBoxes:
    async def list(self, **query: Unpack[BoxesFields]) -> AsyncListing[Box]:
        """List the boxes of an organization."""

    async def create(self, name: str) -> BoxInstallAnswer:
        """Create a box; the token that installs it once is only in this answer."""

    async def rename(self, box_id: Id, /, name: str) -> None:
        """Rename a box; its key goes on, and reports keep the name that they have."""

    async def remove(self, box_id: Id, /) -> None:
        """Remove a box: its key stops at once, and what it reported stays."""

    async def new_install_token(self, box_id: Id, /) -> BoxInstallAnswer:
        """Make a token for a new install of a box; its key works until then."""

    async def install(self, install_token: str) -> InstalledBox:
        """Exchange an install token for the box's key; an earlier key of the box stops working."""

    async def heartbeat(self) -> None:
        """Stay online, and keep the box's live runs alive."""

    async def health(self, **query: Unpack[BoxHealthFields]) -> Benches:
        """Boxes: which one fails more than the others on the same commits, and how each fares."""

    async def show(self, **query: Unpack[OneBoxFields]) -> OneBox:
        """One box: how it compares, its shares beside the others', what failed on it alone."""

class AsyncBoxNotes:
    async def list(self, **query: Unpack[BoxNotesFields]) -> AsyncListing[BoxNote]:
        """List what people did to boxes, latest first."""

    async def add(self, box_key: str, text: str, at: datetime | None = None) -> BoxNote:
        """Note what was done to a box; from then on it is compared as a new box."""

    async def remove(self, note_id: Id, /) -> None:
        """Remove a note of a box."""

class AsyncLiveRuns:
    async def open(self, body: RunHead) -> OpenedRun:
        """Open a live run; it is lost after 10 minutes without event or heartbeat."""

    async def feed(self, run_id: Id, /, body: RunEvents) -> None:
        """Report which tests of a live run began or ended."""

class AsyncWebhooks:
    async def list(self, **query: Unpack[PageFields]) -> AsyncListing[WebhookAnswer]:
        """List webhooks, never their address or secret."""

    async def create(
        self,
        address: str,
        form: WebhookForm | None = None,
        events: Sequence[WebhookEvent] | None = None,
        repo_key: str | None = None,
        suite: str | None = None,
        unchecked_hours: int | None = None,
        silent_hours: int | None = None,
    ) -> CreatedWebhook:
        """Create a webhook; the secret that signs is only in this answer."""

    async def change(
        self,
        webhook_id: Id,
        /,
        address: str | None = None,
        events: Sequence[WebhookEvent] | None = None,
        unchecked_hours: int | None = None,
        silent_hours: int | None = None,
        enabled: bool | None = None,
    ) -> WebhookAnswer:
        """Change a webhook; its secret stays."""

    async def remove(self, webhook_id: Id, /) -> None:
        """Remove a webhook; nothing more is sent to it."""

    async def deliveries(
        self, webhook_id: Id, /, **query: Unpack[PageFields]
    ) -> AsyncListing[DeliveryAnswer]:
        """List what a webhook was sent, newest first."""

    async def resend(self, webhook_id: Id, delivery_id: Id, /) -> None:
        """Send an event to a webhook again."""

class AsyncKnownFailures:
    async def list(self, **query: Unpack[PageFields]) -> AsyncListing[KnownFailure]:
        """List the rules by which failures are known, the first made first."""

    async def add(
        self,
        ticket: str,
        until: datetime,
        test_id: str | None = None,
        message: str | None = None,
        box_key: str | None = None,
    ) -> KnownFailure:
        """Call failures known until a time, those of before too; no label and no count changes."""

    async def remove(self, rule_id: Id, /) -> None:
        """Remove a rule: its failures are known no more."""

    async def quarantine(self, **query: Unpack[TableFields]) -> AsyncListing[KnownTest]:
        """Tests with known failures, and which of them must not be put into quarantine."""

class AsyncProducts:
    async def list(self, **query: Unpack[ProductsFields]) -> AsyncListing[Product]:
        """List the known products."""

class AsyncMetrics:
    async def page(self, **query: Unpack[MetricsFields]) -> MetricsPage:
        """Open the metrics page: four tiles and the first rows of four tables."""

    async def trend(self, **query: Unpack[PeriodFields]) -> Trend:
        """The four tiles over time: at most 90 slots of equal width."""

    async def unchecked_merges(self, **query: Unpack[MergesFields]) -> AsyncListing[Merge]:
        """List the announced merges that no run checked."""

    async def checked_merges(self, **query: Unpack[MergeRunsFields]) -> AsyncListing[CheckedMerge]:
        """Merges checked on hardware, each with the run that checked it first."""

    async def real_bugs(self, **query: Unpack[ResolvedFields]) -> AsyncListing[ResolvedFailure]:
        """List the resolved failures that were real firmware bugs."""

    async def other_failures(self, **query: Unpack[OthersFields]) -> AsyncListing[ResolvedFailure]:
        """List the other resolved failures, each with its reason."""

    async def flakiest_tests(self, **query: Unpack[FlakyFields]) -> AsyncListing[FlakyTest]:
        """Flakiest tests."""

    async def flaky_history(self, **query: Unpack[FlakyHistoryFields]) -> FlakyHistories:
        """Flakiest tests over time and boxes, in the slots of the trend."""

    async def trends(self, **query: Unpack[PeriodFields]) -> Trends:
        """The tiles against the period before."""

    async def by_day(self, **query: Unpack[DaysFields]) -> Days:
        """The tiles by the calendar days of a time zone, each share with its interval."""

    async def times_to_fix(self, **query: Unpack[BoxTableFields]) -> AsyncListing[TimesToFix]:
        """How long failures took until they were seen, and fixed, by product and box."""

    async def digest(self, **query: Unpack[PeriodFields]) -> Digest:
        """A period in a few lines: what broke, was fixed, is flaky, was not run, fell silent."""

class AsyncFailures:
    async def list(self, **query: Unpack[FailuresFields]) -> AsyncListing[Failure]:
        """List failures that have an item in the period, with their labels."""

    async def get(self, failure_id: Id, /) -> FailureEvidence:
        """Show one failure with its evidence."""

    async def confirm(
        self, failure_id: Id, /, note: str | None = None, issue: str | None = None
    ) -> ResolvedFailure:
        """Count a resolved failure as a real firmware bug."""

    async def dismiss(
        self, failure_id: Id, /, note: str | None = None, issue: str | None = None
    ) -> ResolvedFailure:
        """Move a real firmware bug to the other list."""

    async def reset(
        self, failure_id: Id, /, note: str | None = None, issue: str | None = None
    ) -> ResolvedFailure:
        """Restore the automatic label of a reviewed failure."""

    async def review(self, body: ReviewsBody) -> ReviewedFailures:
        """Confirm, dismiss and reset several failures, all or none."""

    async def explain(self, failure_id: Id, /) -> Explanation:
        """Show which single edits would give a failure another class."""

    async def explain_with_git(
        self, failure_id: Id, /, unsent: Sequence[UnsentChanges]
    ) -> Explanation:
        """The same, with what git has of changes that runs did not send; nothing is kept."""

    async def gaps(self, **query: Unpack[PeriodFields]) -> Gaps:
        """What CI leaves out, and how many ambiguous failures it would decide."""

class AsyncTests:
    async def flaky(
        self, **query: Unpack[SuspectsFields]
    ) -> AsyncListing[SuspectedTest | AnsweredTest | RatedTest]:
        """Flaky tests: since which commit, on which boxes, and how sure."""

    async def flaky_history(self, **query: Unpack[RankedHistoryFields]) -> FlakyHistories:
        """The same tests over time, on each box."""

    async def bisection(self, **query: Unpack[BisectionFields]) -> Bisection:
        """Which commit broke a test, how sure that is, and the run that tells most about it."""

    async def show(self, **query: Unpack[OneTestFields]) -> OneTest:
        """One test over time on each box: how often it failed, and what a retry gave."""

    async def list(self, **query: Unpack[TestNamesFields]) -> AsyncListing[TestName]:
        """List the tests that reports name."""

class AsyncCauses:
    async def list(self, **query: Unpack[CausesFields]) -> AsyncListing[Cause]:
        """Resolved failures by cause: what one commit broke and one fixed, as one."""

class AsyncLostBoards:
    async def count(self, **query: Unpack[PeriodFields]) -> LostBoardCounts:
        """How many resolved failures lie in runs that lost their board, and which."""

    async def resolved(self, **query: Unpack[LostResolvedFields]) -> AsyncListing[ResolvedFailure]:
        """The same as rows of the tables of resolved failures."""

    async def failures(self, **query: Unpack[FailuresFields]) -> AsyncListing[Failure]:
        """All failures in runs that lost their board, as `ci-failures` lists them."""

class AsyncIncidents:
    async def list(self, **query: Unpack[IncidentsFields]) -> AsyncListing[Incident]:
        """Failures that one cause explains, as one: tests by boxes, the commits that began it."""

class AsyncCommits:
    async def show(self, **query: Unpack[OneCommitFields]) -> OneCommit:
        """One commit: on which boxes it ran, and what caused each of its failures."""

class AsyncServer:
    async def wheel(self) -> WheelAnswer:
        """Show the wheel of hwci that this server runs from, and the hash to pin."""

    async def health(self) -> HealthAnswer:
        """Is the process alive?."""

class Resources:
    merges: Merges
    runs: Runs
    suite_configs: SuiteConfigs
    job_keys: JobKeys
    account: Account
    sessions: Sessions
    sso: Sso
    orgs: Orgs
    members: Members
    invites: Invites
    ci_keys: CiKeys
    reader_keys: ReaderKeys
    trusts: Trusts
    boxes: Boxes
    box_notes: BoxNotes
    live_runs: LiveRuns
    webhooks: Webhooks
    known_failures: KnownFailures
    products: Products
    metrics: Metrics
    failures: Failures
    tests: Tests
    causes: Causes
    lost_boards: LostBoards
    incidents: Incidents
    commits: Commits
    server: Server

class AsyncResources:
    merges: AsyncMerges
    runs: AsyncRuns
    suite_configs: AsyncSuiteConfigs
    job_keys: AsyncJobKeys
    account: AsyncAccount
    sessions: AsyncSessions
    sso: AsyncSso
    orgs: AsyncOrgs
    members: AsyncMembers
    invites: AsyncInvites
    ci_keys: AsyncCiKeys
    reader_keys: AsyncReaderKeys
    trusts: AsyncTrusts
    boxes: AsyncBoxes
    box_notes: AsyncBoxNotes
    live_runs: AsyncLiveRuns
    webhooks: AsyncWebhooks
    known_failures: AsyncKnownFailures
    products: AsyncProducts
    metrics: AsyncMetrics
    failures: AsyncFailures
    tests: AsyncTests
    causes: AsyncCauses
    lost_boards: AsyncLostBoards
    incidents: AsyncIncidents
    commits: AsyncCommits
    server: AsyncServer
