# SPDX-License-Identifier: Apache-2.0
"""Every endpoint of the server, one function each: a function returns a `Call`, a shell sends it.

This module decides paths, queries and bodies (spec, "Endpoints"; contract). It sends nothing.
Arguments that break the field rules raise `InvalidCallError` here, before anything is sent. Streams
of events are not calls: see `hwci.client.following`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NotRequired, TypedDict, TypeVar, Unpack

from hwci.analysis.flaky.suspects import RankBy
from hwci.client import _call
from hwci.client._call import Call, Credential, Id, body_of, org_path, query_of, segment, written
from hwci.engine.vocabulary import FailureClass, Label, Role, RunStatus
from hwci.wire import accounts, boxes, limits, reports, runs, sso
from hwci.wire.accounts import SignedIn
from hwci.wire.analysis.benches import BenchesAnswer
from hwci.wire.analysis.bisection import BisectionQuery, ProgressAnswer
from hwci.wire.analysis.box_trends import BoxTrendAnswer
from hwci.wire.analysis.causes import CauseAnswer, CausesQuery, OfTable, ReviewedAnswer, ReviewsBody
from hwci.wire.analysis.days import DaysAnswer, DaysQuery
from hwci.wire.analysis.explanations import ExplanationAnswer, GapsAnswer, UnsentBody, UnsentChanges
from hwci.wire.analysis.flaky_history import FlakyHistories, FlakyHistoryQuery
from hwci.wire.analysis.incidents import IncidentAnswer, IncidentsQuery
from hwci.wire.analysis.lost_boards import LostBoardsAnswer, LostResolvedQuery
from hwci.wire.analysis.merges import (
    AnnouncedMergeAnswer,
    ExplainedMergeAnswer,
    MergePlanAnswer,
)
from hwci.wire.analysis.one_box import OneBoxAnswer, OneBoxQuery
from hwci.wire.analysis.one_test import OneTestAnswer, OneTestQuery, TestNameAnswer, TestNamesQuery
from hwci.wire.analysis.suspects import InFewWords, RankedTestAnswer, SuspectAnswer
from hwci.wire.analysis.times_to_fix import TimesToFixAnswer
from hwci.wire.analysis.trends import TrendsAnswer
from hwci.wire.base import HealthAnswer, ListPage
from hwci.wire.failures import (
    FailureAnswer,
    FailureEvidence,
    ResolvedFailureAnswer,
    ReviewNote,
)
from hwci.wire.metrics import (
    CheckedMergeAnswer,
    FlakyTestAnswer,
    MetricsPage,
    ProductAnswer,
    SuiteConfigAnswer,
    SuiteConfigPlan,
    TrendAnswer,
    UncheckedMerge,
)
from hwci.wire.queries import (
    BoxesQuery,
    BoxNotesQuery,
    BoxTableQuery,
    FailuresQuery,
    FlakyQuery,
    MergePlanQuery,
    MergeRunsQuery,
    MergesQuery,
    MetricsQuery,
    OthersQuery,
    OwnOrganizationsQuery,
    PageQuery,
    PeriodQuery,
    PlanQuery,
    ProductsQuery,
    ResolvedQuery,
    SuiteConfigsQuery,
    SuspectsQuery,
)
from hwci.wire.wheels import WheelAnswer

T = TypeVar("T")


def _listing(path: str, answer: type[T], page: int, limit: int) -> Call[T]:
    """Ask for a page of a list."""
    return Call("GET", path, answer, 200, query=query_of(PageQuery, page=page, limit=limit))


# Accounts: sign-in, single sign-on as far as a program takes part in it, password and sessions


def _public(
    path: str, answer: type[T] | None, body: bytes, status: int = 200, *, repeatable: bool = False
) -> Call[T]:
    """Return a call that needs no credential, as it signs in, or holds one in its body."""
    return Call("POST", path, answer, status, Credential.NONE, body=body, repeatable=repeatable)


def register(
    email: str,
    password: str,
    name: str | None = None,
    organization: str | None = None,
    invite_token: str | None = None,
) -> Call[SignedIn]:
    """Create a user, and with `organization` an organization that the user owns."""
    body = body_of(
        accounts.Registration,
        email=email,
        password=password,
        name=name,
        organization=organization,
        invite_token=invite_token,
    )
    return _public("/api/auth/register", SignedIn, body, 201)


def login(email: str, password: str, *, device_token: str | None = None) -> Call[SignedIn]:
    """Obtain an access token. `device_token`: what an earlier sign-in to this account answered on
    this device. Others who guess the password do not hold up a device that shows it.
    """
    shown = {} if device_token is None else {"device_token": device_token}
    body = body_of(accounts.Login, email=email, password=password, **shown)
    return _public("/api/auth/login", SignedIn, body)


def refresh(refresh_token: str) -> Call[accounts.TokenPair]:
    """Exchange a refresh token for a new pair; the server takes each token once.

    Not repeatable: a second use of the token would end every session of the user.
    """
    body = body_of(accounts.Refresh, refresh_token=refresh_token)
    return _public("/api/auth/refresh", accounts.TokenPair, body)


def logout(refresh_token: str) -> Call[None]:
    """End the session of a refresh token."""
    body = body_of(accounts.Logout, refresh_token=refresh_token)
    return _public("/api/auth/logout", None, body, 204, repeatable=True)


def me(page: int | None = None) -> Call[accounts.Me]:
    """Ask who the caller is. `page`: of their organizations, 100 at a time."""
    query = query_of(OwnOrganizationsQuery, page=page)
    return Call("GET", "/api/auth/me", accounts.Me, 200, query=query)


def health() -> Call[HealthAnswer]:
    """Ask whether the process answers."""
    return Call("GET", "/healthz", HealthAnswer, 200, credential=Credential.NONE)


def wheel() -> Call[WheelAnswer]:
    """Ask where the wheel is that the server runs from."""
    return Call("GET", "/api/wheel", WheelAnswer, 200, credential=Credential.NONE)


_SESSIONS = "/api/auth/sessions"


def change_password(current_password: str, new_password: str) -> Call[accounts.SessionsEnded]:
    """Change the caller's password; all other sessions of the caller end.

    Not repeatable: once it is changed, the current password is another.
    """
    words = {"current_password": current_password, "new_password": new_password}
    body = body_of(accounts.PasswordChange, **words)
    path = "/api/auth/password"
    return Call("POST", path, accounts.SessionsEnded, 200, body=body, repeatable=False)


def reset_password(reset_token: str, new_password: str) -> Call[None]:
    """Set a new password by a reset link of the operator; it works once."""
    body = body_of(accounts.PasswordReset, reset_token=reset_token, new_password=new_password)
    return _public("/api/auth/reset", None, body, 204)


def list_sessions(
    page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.SessionAnswer]]:
    """List the caller's sessions, newest first."""
    return _listing(_SESSIONS, ListPage[accounts.SessionAnswer], page, limit)


def end_session(session_id: Id) -> Call[None]:
    """End one of the caller's sessions, at once."""
    return Call("DELETE", f"{_SESSIONS}/{segment(session_id)}", None, 204)


def end_other_sessions() -> Call[accounts.SessionsEnded]:
    """End all sessions of the caller but this one, at once."""
    return Call("DELETE", _SESSIONS, accounts.SessionsEnded, 200)


def sso_providers() -> Call[sso.SsoProviders]:
    """List the providers of single sign-on."""
    return Call("GET", "/api/auth/sso", sso.SsoProviders, 200, credential=Credential.NONE)


def exchange_sso_code(code: str, verifier: str) -> Call[SignedIn]:
    """Exchange the code that a loopback address was given for a sign-in, once."""
    body = body_of(sso.SsoExchange, code=code, verifier=verifier)
    return _public("/api/auth/sso/token", SignedIn, body)


# Organizations, their members, invitations, keys and audit log


def list_orgs(
    page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.OrganizationAnswer]]:
    """List the caller's organizations."""
    return _listing("/api/orgs", ListPage[accounts.OrganizationAnswer], page, limit)


def create_org(name: str) -> Call[accounts.OrganizationAnswer]:
    """Create an organization that the caller owns."""
    body = body_of(accounts.NewOrganization, name=name)
    return Call("POST", "/api/orgs", accounts.OrganizationAnswer, 201, body=body, repeatable=False)


def get_org(org_id: Id) -> Call[accounts.OrganizationAnswer]:
    """Ask for one organization."""
    return Call("GET", org_path(org_id), accounts.OrganizationAnswer, 200)


def create_ci_key(org_id: Id, name: str) -> Call[accounts.CreatedCiKey]:
    """Create a CI key: the answer is the only one that ever holds it."""
    body = body_of(accounts.NewCiKey, name=name)
    path = f"{org_path(org_id)}/ci-keys"
    return Call("POST", path, accounts.CreatedCiKey, 201, body=body, repeatable=False)


def list_ci_keys(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.CiKeyAnswer]]:
    """List the CI keys, never their values."""
    return _listing(f"{org_path(org_id)}/ci-keys", ListPage[accounts.CiKeyAnswer], page, limit)


def revoke_ci_key(org_id: Id, key_id: Id) -> Call[None]:
    """Revoke a CI key, at once; again changes nothing."""
    return Call("DELETE", f"{org_path(org_id)}/ci-keys/{segment(key_id)}", None, 204)


def create_reader_key(
    org_id: Id, name: str, products: Sequence[accounts.KeyProduct] | None = None
) -> Call[accounts.CreatedReaderKey]:
    """Create a reader key, of all products or of some: the answer is the only one that ever holds
    it. Servers before this one have none.
    """
    body = body_of(accounts.NewReaderKey, name=name, products=products)
    path = f"{org_path(org_id)}/reader-keys"
    return Call("POST", path, accounts.CreatedReaderKey, 201, body=body, repeatable=False)


def list_reader_keys(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.ReaderKeyAnswer]]:
    """List the reader keys, never their values."""
    path = f"{org_path(org_id)}/reader-keys"
    return _listing(path, ListPage[accounts.ReaderKeyAnswer], page, limit)


def own_reader_key() -> Call[accounts.OwnReaderKey]:
    """Ask which organization and products the reader key of this client reads. Servers before this
    one do not show it.
    """
    return Call("GET", "/api/reader-key", accounts.OwnReaderKey, 200, Credential.READER_KEY)


def revoke_reader_key(org_id: Id, key_id: Id) -> Call[None]:
    """Revoke a reader key, at once; again changes nothing."""
    return Call("DELETE", f"{org_path(org_id)}/reader-keys/{segment(key_id)}", None, 204)


def audit_log(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.AuditEntryAnswer]]:
    """List who did what, newest first."""
    path = f"{org_path(org_id)}/audit-log"
    return _listing(path, ListPage[accounts.AuditEntryAnswer], page, limit)


_RECEIVED = "/api/invites"


def list_members(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.MemberAnswer]]:
    """List the members."""
    return _listing(_members(org_id), ListPage[accounts.MemberAnswer], page, limit)


def change_member(org_id: Id, user_id: Id, role: Role) -> Call[accounts.MemberAnswer]:
    """Change a member's role."""
    body = body_of(accounts.RoleChange, role=role)
    path = f"{_members(org_id)}/{segment(user_id)}"
    return Call("PATCH", path, accounts.MemberAnswer, 200, body=body)


def remove_member(org_id: Id, user_id: Id) -> Call[None]:
    """Remove a member, or leave oneself."""
    path = f"{_members(org_id)}/{segment(user_id)}"
    return Call("DELETE", path, None, 204, repeatable=False)


def invite(org_id: Id, email: str, role: Role) -> Call[accounts.InviteAnswer]:
    """Invite someone: the answer is the only one that ever holds the token."""
    body = body_of(accounts.NewInvite, email=email, role=role)
    return Call("POST", _sent(org_id), accounts.InviteAnswer, 201, body=body, repeatable=False)


def list_sent_invites(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.SentInvite]]:
    """List the open invitations of an organization."""
    return _listing(_sent(org_id), ListPage[accounts.SentInvite], page, limit)


def withdraw_invite(org_id: Id, invite_id: Id) -> Call[None]:
    """Withdraw an open invitation."""
    path = f"{_sent(org_id)}/{segment(invite_id)}"
    return Call("DELETE", path, None, 204, repeatable=False)


def list_invites(
    page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.ReceivedInvite]]:
    """List one's own open invitations."""
    return _listing(_RECEIVED, ListPage[accounts.ReceivedInvite], page, limit)


def accept_invite(
    invite_id: Id, invite_token: str | None = None
) -> Call[accounts.OrganizationAnswer]:
    """Accept an invitation. Without its token this works after single sign-on only."""
    body = body_of(accounts.Acceptance, invite_token=invite_token)
    path = f"{_RECEIVED}/{segment(invite_id)}/accept"
    return Call("POST", path, accounts.OrganizationAnswer, 200, body=body, repeatable=False)


def decline_invite(invite_id: Id) -> Call[None]:
    """Decline an invitation."""
    path = f"{_RECEIVED}/{segment(invite_id)}/decline"
    return Call("POST", path, None, 204, repeatable=False)


def _sent(org_id: Id) -> str:
    return f"{org_path(org_id)}/invites"


def _members(org_id: Id) -> str:
    return f"{org_path(org_id)}/members"


# Boxes, as people manage them and as they report themselves, and run records


class CommitFilters(TypedDict, total=False):
    """What narrows a list to a branch, or to a commit by its first digits."""

    branch: str | None
    sha: str | None


class WhereFilters(CommitFilters, total=False):
    """What narrows a list to a box, a branch or a commit. A server before this one refuses them."""

    box_key: str | None


class ProductFilters(TypedDict, total=False):
    """What narrows a list to a repository, or to a product."""

    repo_key: str | None
    suite: str | None


class BoxFilters(WhereFilters, ProductFilters, total=False):
    """What narrows the list of boxes: those that ran a product, a branch or a commit."""


def list_boxes(
    org_id: Id,
    page: int = 1,
    limit: int = limits.PAGE_LIMIT_DEFAULT,
    *,
    reported: bool = False,
    **wanted: Unpack[BoxFilters],
) -> Call[ListPage[boxes.BoxAnswer]]:
    """List the boxes. `reported`: also those that only reports name, without an id."""
    others = {"reported": True} if reported else {}
    query = query_of(BoxesQuery, page=page, limit=limit, **others, **wanted)
    return Call("GET", _boxes(org_id), ListPage[boxes.BoxAnswer], 200, query=query)


def create_box(org_id: Id, name: str) -> Call[boxes.BoxInstallAnswer]:
    """Create a box: the answer is the only one that ever holds its install token."""
    body = body_of(boxes.NewBox, name=name)
    return Call("POST", _boxes(org_id), boxes.BoxInstallAnswer, 201, body=body, repeatable=False)


def rename_box(org_id: Id, box_id: Id, name: str) -> Call[None]:
    """Rename a box; its key goes on, and reports keep the name that they have."""
    body = body_of(boxes.BoxChange, name=name)
    return Call("PATCH", f"{_boxes(org_id)}/{segment(box_id)}", None, 204, body=body)


def remove_box(org_id: Id, box_id: Id) -> Call[None]:
    """Remove a box: its key stops at once, and what it reported stays."""
    return Call("DELETE", f"{_boxes(org_id)}/{segment(box_id)}", None, 204)


def new_install_token(org_id: Id, box_id: Id) -> Call[boxes.BoxInstallAnswer]:
    """Make a token for a new install of a box; earlier tokens stop working."""
    path = f"{_boxes(org_id)}/{segment(box_id)}/install-token"
    return Call("POST", path, boxes.BoxInstallAnswer, 201, repeatable=False)


def list_box_notes(
    org_id: Id,
    box_key: str | None = None,
    page: int = 1,
    limit: int = limits.PAGE_LIMIT_DEFAULT,
) -> Call[ListPage[boxes.BoxNoteAnswer]]:
    """List what people did to a box, or to all, latest first."""
    query = query_of(BoxNotesQuery, box_key=box_key, page=page, limit=limit)
    return Call("GET", _box_notes(org_id), ListPage[boxes.BoxNoteAnswer], 200, query=query)


def add_box_note(
    org_id: Id, box_key: str, text: str, at: datetime | None = None
) -> Call[boxes.BoxNoteAnswer]:
    """Note what was done to a box. `at`: when; now, if left out."""
    body = body_of(boxes.NewBoxNote, box_key=box_key, text=text, at=at)
    return Call("POST", _box_notes(org_id), boxes.BoxNoteAnswer, 201, body=body, repeatable=False)


def remove_box_note(org_id: Id, note_id: Id) -> Call[None]:
    """Remove a note of a box."""
    return Call("DELETE", f"{_box_notes(org_id)}/{segment(note_id)}", None, 204)


def install_box(install_token: str) -> Call[boxes.InstalledBox]:
    """Exchange an install token, once, for the box's key."""
    body = body_of(boxes.InstallBox, install_token=install_token)
    return _public("/api/boxes/install", boxes.InstalledBox, body, 201)


def heartbeat() -> Call[None]:
    """Keep the box online, and its live runs alive."""
    return Call("POST", "/api/box/heartbeat", None, 204, credential=Credential.BOX_KEY)


def open_run(body: runs.RunHead) -> Call[runs.OpenedRun]:
    """Open a live run; the same run again keeps its id."""
    path, signed = "/api/box/runs", Credential.BOX_KEY
    return Call("POST", path, runs.OpenedRun, 201, signed, body=written(body))


def feed_run(run_record_id: Id, body: runs.RunEvents) -> Call[None]:
    """Report which tests of a live run began or ended."""
    path = f"/api/box/runs/{segment(run_record_id)}/events"
    return Call("POST", path, None, 204, Credential.BOX_KEY, body=written(body))


def _boxes(org_id: Id) -> str:
    return f"{org_path(org_id)}/boxes"


def _box_notes(org_id: Id) -> str:
    return f"{org_path(org_id)}/box-notes"


class RunFilters(TypedDict, total=False):
    """What narrows the list of runs, and the page of it. `sha` is the beginning of a commit,
    `ci_run` the number that the CI shows. `retry_pass` and `failed_attempt` ask for a test's own,
    and need `test_id`. Runs that began from `start` to `end`, both included: the API calls them
    `from` and `to`.
    """

    repo_key: str | None
    suite: str | None
    branch: str | None
    box_key: str | None
    sha: str | None
    ci_run: int | None
    status: RunStatus | None
    hello_ok: bool | None
    test_id: str | None
    retry_pass: bool | None
    failed_attempt: bool | None
    start: datetime | None
    end: datetime | None
    page: int
    limit: int


def _read(path: str, answer: type[T], query: tuple[tuple[str, str], ...] = ()) -> Call[T]:
    """Return a call that a reader key may make, too."""
    return Call("GET", path, answer, 200, Credential.READER, query)


def list_runs(org_id: Id, **wanted: Unpack[RunFilters]) -> Call[ListPage[runs.RunAnswer]]:
    """List run records, latest start first."""
    query = query_of(runs.RunsQuery, **wanted)
    return _read(f"{org_path(org_id)}/runs", ListPage[runs.RunAnswer], query)


def get_run(org_id: Id, run_record_id: Id) -> Call[runs.RunDetail]:
    """Ask for one run record with its tests and changes."""
    return _read(f"{org_path(org_id)}/runs/{segment(run_record_id)}", runs.RunDetail)


# The metrics page, its tables, failures and their review


class BisectionFilters(TypedDict):
    """Which product is bisected, by which of its runs."""

    repo_key: str
    suite: str
    box_key: NotRequired[str | None]
    boxes: NotRequired[int]
    days: NotRequired[int]
    as_of: NotRequired[datetime | None]
    start: NotRequired[datetime | None]


class Beginning(TypedDict, total=False):
    """Where a period begins, in place of `days`; it needs `as_of`, its end."""

    start: datetime | None


class TableFilters(Beginning, total=False):
    """What narrows a table: its period, its products, and the page of it."""

    days: int
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    page: int
    limit: int


class WhereTable(TableFilters, WhereFilters, total=False):
    """What narrows a table whose rows have a box, a branch and a commit."""


class BoxTable(TableFilters, total=False):
    """What narrows a table with a row for each box."""

    box_key: str | None


class CausesTable(TableFilters, total=False):
    """What narrows the causes."""

    lost_board: bool | None


class PlanFilters(BoxTable, total=False):
    """What narrows the merge plan: to merges of a branch, and to runs on a box."""

    branch: str | None


class SearchFilters(TableFilters, total=False):
    """What else narrows a table of the metrics page or the list of failures, and puts it in order:
    `sort` is a column as the answer names it, with `-` in front for descending.
    """

    search: str | None
    sort: str | None


class MergeSearch(SearchFilters, CommitFilters, total=False):
    """What narrows a table of merges, and puts it in order."""


class WhereSearch(SearchFilters, WhereFilters, total=False):
    """What narrows a table whose rows have a box, and puts it in order."""


class FlakyFilters(SearchFilters, total=False):
    """What else narrows "Flakiest tests"."""

    flaked: bool | None


def list_products(
    org_id: Id,
    page: int = 1,
    limit: int = limits.PAGE_LIMIT_DEFAULT,
    *,
    unassigned: bool = False,
    **wanted: Unpack[ProductFilters],
) -> Call[ListPage[ProductAnswer]]:
    """List the products that reports name. `unassigned`: also the repositories of which a merge was
    announced without a suite.
    """
    others = {"unassigned": True} if unassigned else {}
    query = query_of(ProductsQuery, page=page, limit=limit, **others, **wanted)
    return _read(f"{org_path(org_id)}/products", ListPage[ProductAnswer], query)


def list_suite_configs(
    org_id: Id,
    page: int = 1,
    limit: int = limits.PAGE_LIMIT_DEFAULT,
    **wanted: Unpack[ProductFilters],
) -> Call[ListPage[SuiteConfigAnswer]]:
    """List the suite configurations as sent."""
    query = query_of(SuiteConfigsQuery, page=page, limit=limit, **wanted)
    return _read(f"{org_path(org_id)}/suite-configs", ListPage[SuiteConfigAnswer], query)


def plan_suite_config(
    org_id: Id,
    body: reports.SuiteConfiguration,
    days: int = limits.PLAN_DAYS_DEFAULT,
    as_of: datetime | None = None,
    page: int = 1,
    limit: int = limits.PAGE_LIMIT_DEFAULT,
) -> Call[SuiteConfigPlan]:
    """Ask which failures a configuration would class otherwise, were it sent."""
    query = query_of(PlanQuery, days=days, as_of=as_of, page=page, limit=limit)
    path = f"{org_path(org_id)}/suite-configs/plan"
    return Call("POST", path, SuiteConfigPlan, 200, query=query, body=written(body))


def metrics(
    org_id: Id,
    days: int = limits.DAYS_DEFAULT,
    repo_key: str | None = None,
    suite: str | None = None,
    as_of: datetime | None = None,
    limit: int = limits.PAGE_LIMIT_DEFAULT,
    **begin: Unpack[Beginning],
) -> Call[MetricsPage]:
    """Ask for the metrics page: the tiles, and `limit` rows of each table."""
    query = query_of(
        MetricsQuery,
        days=days,
        repo_key=repo_key,
        suite=suite,
        as_of=as_of,
        limit=limit,
        **begin,
    )
    return _read(f"{org_path(org_id)}/ci-metrics", MetricsPage, query)


def trend(
    org_id: Id,
    days: int = limits.DAYS_DEFAULT,
    repo_key: str | None = None,
    suite: str | None = None,
    as_of: datetime | None = None,
    **begin: Unpack[Beginning],
) -> Call[TrendAnswer]:
    """Ask for the tiles over time: one slot a day, and at most 90."""
    query = query_of(PeriodQuery, days=days, repo_key=repo_key, suite=suite, as_of=as_of, **begin)
    return _read(f"{org_path(org_id)}/ci-metrics/trend", TrendAnswer, query)


def box_health(
    org_id: Id,
    days: int = limits.DAYS_DEFAULT,
    repo_key: str | None = None,
    suite: str | None = None,
    as_of: datetime | None = None,
    **begin: Unpack[Beginning],
) -> Call[BenchesAnswer]:
    """Ask which box fails more than the others on the same commits, and how each fares. Servers
    before this one do not tell, and answer 404.
    """
    query = query_of(PeriodQuery, days=days, repo_key=repo_key, suite=suite, as_of=as_of, **begin)
    return _read(f"{org_path(org_id)}/ci-analysis/boxes", BenchesAnswer, query)


def one_box(
    org_id: Id,
    box_key: str,
    days: int = limits.DAYS_DEFAULT,
    repo_key: str | None = None,
    suite: str | None = None,
    as_of: datetime | None = None,
    **begin: Unpack[Beginning],
) -> Call[OneBoxAnswer]:
    """Ask how one box compares, what its shares are beside the others', what failed on it alone."""
    query = query_of(
        OneBoxQuery,
        box_key=box_key,
        days=days,
        repo_key=repo_key,
        suite=suite,
        as_of=as_of,
        **begin,
    )
    return _read(f"{org_path(org_id)}/ci-analysis/box", OneBoxAnswer, query)


class DaysFilters(Beginning, total=False):
    """Which days are shown, and the zone in which they begin at midnight."""

    days: int
    as_of: datetime | None
    zone: str


def one_test(
    org_id: Id, repo_key: str, suite: str, test_id: str, **period: Unpack[DaysFilters]
) -> Call[OneTestAnswer]:
    """Ask what one test did on each box and day, and what a retry gave."""
    query = query_of(OneTestQuery, repo_key=repo_key, suite=suite, test_id=test_id, **period)
    return _read(f"{org_path(org_id)}/ci-analysis/test", OneTestAnswer, query)


def list_tests(
    org_id: Id,
    repo_key: str | None = None,
    suite: str | None = None,
    search: str | None = None,
    page: int = 1,
    limit: int = limits.PAGE_LIMIT_DEFAULT,
    **where: Unpack[WhereFilters],
) -> Call[ListPage[TestNameAnswer]]:
    """List the tests that reports name. Servers before this one do not tell, and answer 404."""
    asked = {"repo_key": repo_key, "suite": suite, "search": search, "page": page, "limit": limit}
    query = query_of(TestNamesQuery, **asked, **where)
    return _read(f"{org_path(org_id)}/ci-analysis/tests", ListPage[TestNameAnswer], query)


def unchecked_merges(org_id: Id, **table: Unpack[MergeSearch]) -> Call[ListPage[UncheckedMerge]]:
    """List the merges not checked on hardware."""
    path = f"{org_path(org_id)}/ci-metrics/unchecked-merges"
    return _read(path, ListPage[UncheckedMerge], query_of(MergesQuery, **table))


def checked_merges(org_id: Id, **table: Unpack[WhereSearch]) -> Call[ListPage[CheckedMergeAnswer]]:
    """List the merges checked on hardware, each with the run that checked it first."""
    path = f"{org_path(org_id)}/ci-metrics/checked-merges"
    query = query_of(MergeRunsQuery, **table)
    return _read(path, ListPage[CheckedMergeAnswer], query)


def real_bugs(org_id: Id, **table: Unpack[WhereSearch]) -> Call[ListPage[ResolvedFailureAnswer]]:
    """List the real firmware bugs caught."""
    path = f"{org_path(org_id)}/ci-metrics/real-bugs"
    query = query_of(ResolvedQuery, **table)
    return _read(path, ListPage[ResolvedFailureAnswer], query)


def other_failures(
    org_id: Id, failure_class: FailureClass | None = None, **table: Unpack[WhereSearch]
) -> Call[ListPage[ResolvedFailureAnswer]]:
    """List the other resolved failures, with reason, or those of one class."""
    path = f"{org_path(org_id)}/ci-metrics/other-failures"
    query = query_of(OthersQuery, failure_class=failure_class, **table)
    return _read(path, ListPage[ResolvedFailureAnswer], query)


def flakiest_tests(
    org_id: Id, broken: bool | None = None, **table: Unpack[FlakyFilters]
) -> Call[ListPage[FlakyTestAnswer]]:
    """List the flakiest tests, the highest rate first; `broken` False: none that are broken."""
    query = query_of(FlakyQuery, broken=broken, **table)
    path = f"{org_path(org_id)}/ci-metrics/flakiest-tests"
    return _read(path, ListPage[FlakyTestAnswer], query)


def flaky_history(
    org_id: Id, broken: bool | None = None, zone: str | None = None, **table: Unpack[FlakyFilters]
) -> Call[FlakyHistories]:
    """List the same tests over time and boxes, in the slots of the trend, or by the days of
    a time zone.
    """
    query = query_of(FlakyHistoryQuery, broken=broken, zone=zone, **table)
    path = f"{org_path(org_id)}/ci-metrics/flakiest-tests/history"
    return _read(path, FlakyHistories, query)


def list_merges(org_id: Id, **table: Unpack[WhereSearch]) -> Call[ListPage[AnnouncedMergeAnswer]]:
    """List the announced merges, each with the runs that checked it or tell why none did. Servers
    before this one do not tell, and answer 404.
    """
    path = f"{org_path(org_id)}/ci-analysis/merges"
    return _read(path, ListPage[AnnouncedMergeAnswer], query_of(MergeRunsQuery, **table))


def explain_unchecked_merges(
    org_id: Id, **table: Unpack[WhereSearch]
) -> Call[ListPage[ExplainedMergeAnswer]]:
    """List the merges not checked on hardware, each with the cause."""
    path = f"{org_path(org_id)}/ci-analysis/unchecked-merges"
    return _read(path, ListPage[ExplainedMergeAnswer], query_of(MergeRunsQuery, **table))


def plan_merges(
    org_id: Id, sha: str | None = None, **table: Unpack[PlanFilters]
) -> Call[MergePlanAnswer]:
    """Ask for the runs that would check the merges not checked on hardware; `sha`: those of a
    commit, by its first digits.
    """
    path = f"{org_path(org_id)}/ci-analysis/merge-plan"
    return _read(path, MergePlanAnswer, query_of(MergePlanQuery, sha=sha, **table))


def suspects(
    org_id: Id,
    broken: bool | None = None,
    rank_by: RankBy = RankBy.FLAKE_RATE,
    **table: Unpack[FlakyFilters],
) -> Call[ListPage[SuspectAnswer]]:
    """List the same tests with what their runs suggest: since when, on which boxes, how sure."""
    query = query_of(SuspectsQuery, broken=broken, rank_by=rank_by, **table)
    return _read(f"{org_path(org_id)}/ci-analysis/flaky-tests", ListPage[SuspectAnswer], query)


def suspects_in_few_words(
    org_id: Id,
    broken: bool | None = None,
    rank_by: RankBy = RankBy.FLAKE_RATE,
    **table: Unpack[FlakyFilters],
) -> Call[ListPage[InFewWords]]:
    """List the same tests in few words: whether one fails now, or whom to suspect."""
    query = query_of(SuspectsQuery, broken=broken, rank_by=rank_by, **table)
    return _read(f"{org_path(org_id)}/ci-analysis/flaky-tests/answers", ListPage[InFewWords], query)


def ranked_tests(
    org_id: Id, broken: bool | None = None, **table: Unpack[FlakyFilters]
) -> Call[ListPage[RankedTestAnswer]]:
    """List the flakiest tests by the lower end of the interval of their rate."""
    query = query_of(FlakyQuery, broken=broken, **table)
    return _read(f"{org_path(org_id)}/ci-analysis/ranked-tests", ListPage[RankedTestAnswer], query)


def ranked_history(
    org_id: Id, broken: bool | None = None, zone: str | None = None, **table: Unpack[FlakyFilters]
) -> Call[FlakyHistories]:
    """List these tests over time and boxes, in the slots of the trend, or by the days of
    a time zone.
    """
    query = query_of(FlakyHistoryQuery, broken=broken, zone=zone, **table)
    path = f"{org_path(org_id)}/ci-analysis/ranked-tests/history"
    return _read(path, FlakyHistories, query)


def bisection(
    org_id: Id, test_id: str, good: str | None, bad: str | None, **asked: Unpack[BisectionFilters]
) -> Call[ProgressAnswer]:
    """Ask which commit broke a test, and which runs tell most about it; with neither commit,
    between those that its runs suggest.
    """
    query = query_of(BisectionQuery, test_id=test_id, good=good, bad=bad, **asked)
    return _read(f"{org_path(org_id)}/ci-analysis/bisection", ProgressAnswer, query)


def box_trends(org_id: Id, **table: Unpack[BoxTable]) -> Call[ListPage[BoxTrendAnswer]]:
    """List how the shares of each product and box changed against the period before."""
    path = f"{org_path(org_id)}/ci-analysis/box-trends"
    return _read(path, ListPage[BoxTrendAnswer], query_of(BoxTableQuery, **table))


def times_to_fix(org_id: Id, **table: Unpack[BoxTable]) -> Call[ListPage[TimesToFixAnswer]]:
    """List how long failures took until they were seen, and fixed: by product and box."""
    path = f"{org_path(org_id)}/ci-analysis/times-to-fix"
    return _read(path, ListPage[TimesToFixAnswer], query_of(BoxTableQuery, **table))


def list_incidents(
    org_id: Id, label: Label | None = None, **table: Unpack[WhereTable]
) -> Call[ListPage[IncidentAnswer]]:
    """List the incidents: failures that one cause explains, pending and resolved ones."""
    path = f"{org_path(org_id)}/ci-analysis/incidents"
    query = query_of(IncidentsQuery, label=label, **table)
    return _read(path, ListPage[IncidentAnswer], query)


def list_causes(
    org_id: Id,
    table: OfTable | None = None,
    failure_class: FailureClass | None = None,
    to_review: bool = False,
    search: str | None = None,
    reviewed: bool = False,
    **page: Unpack[CausesTable],
) -> Call[ListPage[CauseAnswer]]:
    """List the resolved failures of the period by cause; `to_review`: those without a review,
    `reviewed`: those with one, `lost_board`: those in runs that lost their board.
    """
    asked: dict[str, object] = {"table": table, "failure_class": failure_class}
    asked |= {"to_review": to_review, "reviewed": reviewed or None}
    query = query_of(CausesQuery, search=search, **asked, **page)
    return _read(f"{org_path(org_id)}/ci-analysis/causes", ListPage[CauseAnswer], query)


def lost_boards(
    org_id: Id,
    days: int = limits.DAYS_DEFAULT,
    repo_key: str | None = None,
    suite: str | None = None,
    as_of: datetime | None = None,
    **begin: Unpack[Beginning],
) -> Call[LostBoardsAnswer]:
    """Ask how many resolved failures lie in runs that lost their board, and which."""
    query = query_of(PeriodQuery, days=days, repo_key=repo_key, suite=suite, as_of=as_of, **begin)
    return _read(_lost_boards(org_id), LostBoardsAnswer, query)


def lost_resolved(
    org_id: Id,
    table: OfTable | None = None,
    failure_class: FailureClass | None = None,
    **page: Unpack[WhereSearch],
) -> Call[ListPage[ResolvedFailureAnswer]]:
    """List the resolved failures that lie in runs that lost their board, of one table or both."""
    query = query_of(LostResolvedQuery, table=table, failure_class=failure_class, **page)
    path = f"{_lost_boards(org_id)}/resolved"
    return _read(path, ListPage[ResolvedFailureAnswer], query)


def lost_failures(
    org_id: Id,
    label: Label | None = None,
    test_id: str | None = None,
    **table: Unpack[WhereSearch],
) -> Call[ListPage[FailureAnswer]]:
    """List the failures that lie in runs that lost their board, as `list_failures` lists all."""
    query = query_of(FailuresQuery, label=label, test_id=test_id, **table)
    return _read(f"{_lost_boards(org_id)}/failures", ListPage[FailureAnswer], query)


def _lost_boards(org_id: Id) -> str:
    return f"{org_path(org_id)}/ci-analysis/lost-boards"


def list_failures(
    org_id: Id,
    label: Label | None = None,
    test_id: str | None = None,
    **table: Unpack[WhereSearch],
) -> Call[ListPage[FailureAnswer]]:
    """List every failure of the period with its label, or those of one label or one test."""
    query = query_of(FailuresQuery, label=label, test_id=test_id, **table)
    return _read(f"{org_path(org_id)}/ci-failures", ListPage[FailureAnswer], query)


def get_failure(org_id: Id, failure_id: Id) -> Call[FailureEvidence]:
    """Ask for one failure with its evidence."""
    return _read(_failure(org_id, failure_id), FailureEvidence)


def explain_failure(org_id: Id, failure_id: Id) -> Call[ExplanationAnswer]:
    """Ask which single edits would give a failure another class."""
    return _read(_explanation(org_id, failure_id), ExplanationAnswer)


def explain_failure_with_git(
    org_id: Id, failure_id: Id, unsent: Sequence[UnsentChanges]
) -> Call[ExplanationAnswer]:
    """Ask the same, with what git has of changes that runs did not send."""
    body = body_of(UnsentBody, unsent=unsent)
    path = _explanation(org_id, failure_id)
    return Call("POST", path, ExplanationAnswer, 200, Credential.READER, body=body)


def _explanation(org_id: Id, failure_id: Id) -> str:
    return f"{org_path(org_id)}/ci-analysis/failures/{segment(failure_id)}"


def list_gaps(
    org_id: Id,
    days: int = limits.DAYS_DEFAULT,
    repo_key: str | None = None,
    suite: str | None = None,
    as_of: datetime | None = None,
    **begin: Unpack[Beginning],
) -> Call[GapsAnswer]:
    """Ask what CI leaves out, and how many ambiguous failures it would decide."""
    query = query_of(PeriodQuery, days=days, repo_key=repo_key, suite=suite, as_of=as_of, **begin)
    return _read(f"{org_path(org_id)}/ci-analysis/gaps", GapsAnswer, query)


def metrics_by_day(
    org_id: Id,
    days: int = limits.DAYS_DEFAULT,
    repo_key: str | None = None,
    suite: str | None = None,
    as_of: datetime | None = None,
    zone: str = "UTC",
    **begin: Unpack[Beginning],
) -> Call[DaysAnswer]:
    """Ask for the tiles by the calendar days of a time zone, each share with its interval."""
    query = query_of(
        DaysQuery,
        days=days,
        repo_key=repo_key,
        suite=suite,
        as_of=as_of,
        zone=zone,
        **begin,
    )
    return _read(f"{org_path(org_id)}/ci-analysis/days", DaysAnswer, query)


def trends(
    org_id: Id,
    days: int = limits.DAYS_DEFAULT,
    repo_key: str | None = None,
    suite: str | None = None,
    as_of: datetime | None = None,
    **begin: Unpack[Beginning],
) -> Call[TrendsAnswer]:
    """Ask how the tiles changed against the period before."""
    query = query_of(PeriodQuery, days=days, repo_key=repo_key, suite=suite, as_of=as_of, **begin)
    return _read(f"{org_path(org_id)}/ci-analysis/trends", TrendsAnswer, query)


def confirm_failure(
    org_id: Id, failure_id: Id, note: str | None = None, issue: str | None = None
) -> Call[ResolvedFailureAnswer]:
    """Count a resolved failure as a real firmware bug."""
    return _review(org_id, failure_id, "confirm", note, issue)


def dismiss_failure(
    org_id: Id, failure_id: Id, note: str | None = None, issue: str | None = None
) -> Call[ResolvedFailureAnswer]:
    """Move a real firmware bug to the other list."""
    return _review(org_id, failure_id, "dismiss", note, issue)


def reset_failure(
    org_id: Id, failure_id: Id, note: str | None = None, issue: str | None = None
) -> Call[ResolvedFailureAnswer]:
    """Restore the automatic label of a reviewed failure."""
    return _review(org_id, failure_id, "reset", note, issue)


def review_failures(org_id: Id, body: ReviewsBody) -> Call[ReviewedAnswer]:
    """Review several failures in this order, all or none."""
    path = f"{org_path(org_id)}/ci-reviews"
    return Call("POST", path, ReviewedAnswer, 200, body=written(body), repeatable=False)


def _review(
    org_id: Id, failure_id: Id, action: str, note: str | None, issue: str | None
) -> Call[ResolvedFailureAnswer]:
    # Not repeatable: the second of two confirmations is refused with 409 (semantics, 8.1).
    path = f"{_failure(org_id, failure_id)}/{action}"
    body = body_of(ReviewNote, note=note, issue=issue) if note or issue else None
    return Call("POST", path, ResolvedFailureAnswer, 200, body=body, repeatable=False)


def _failure(org_id: Id, failure_id: Id) -> str:
    return f"{org_path(org_id)}/ci-failures/{segment(failure_id)}"


# What CI reports

announce_merge = _call.announce_merge
report_run = _call.report_run
put_suite_config = _call.put_suite_config
