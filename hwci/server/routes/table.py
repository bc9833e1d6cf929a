# SPDX-License-Identifier: Apache-2.0
"""The route table: every route there is (spec, "Endpoints"; contract). The router and the OpenAPI
document are made from it. The types of a row's handler decide what it takes and returns
(`http/route.py`).
"""

from uuid import UUID

from hwci.engine.vocabulary import ReviewAction
from hwci.server.http.route import Call, Handler, OwnLimit, Route, Who
from hwci.server.http.streams import server_sent_events, web_socket
from hwci.server.routes import sign_in, single_sign_on
from hwci.server.routes.analysis import ANALYSIS
from hwci.server.routes.openapi import with_document
from hwci.server.services.access import Member
from hwci.server.services.audit import AuditLog
from hwci.server.services.boxes import Boxes
from hwci.server.services.ci_metrics.ingest import Ingest
from hwci.server.services.ci_metrics.metrics import Metrics
from hwci.server.services.ci_metrics.reviews import Reviews
from hwci.server.services.health import Health
from hwci.server.services.keys import Keys
from hwci.server.services.people.accounts import Accounts
from hwci.server.services.people.invitations import Invitations
from hwci.server.services.people.members import Members
from hwci.server.services.people.organizations import Organizations
from hwci.server.services.people.own_account import OwnAccount
from hwci.server.services.people.sso import Sso
from hwci.server.services.runs.live_runs import LiveRuns
from hwci.server.services.runs.records import Runs
from hwci.server.services.wheels import Wheels
from hwci.wire import limits
from hwci.wire.failures import ResolvedFailureAnswer, ReviewNote

ANYONE, USER, MEMBER, ADMIN = Who.ANYONE, Who.USER, Who.MEMBER, Who.ADMIN
READER = Who.READER


def _review(action: ReviewAction | None) -> Handler:
    async def review(
        call: Call, member: Member, failure_id: UUID | None, body: ReviewNote
    ) -> ResolvedFailureAnswer:
        return await call.services.reviews.review(member, failure_id, action, body)

    return review


# fmt: off
_CI_REPORTS = (
    Route(
        "POST", "/api/ci/merge-announce", Who.CI_KEY, Ingest.announce,
        "Announce a merge; the same identity again changes nothing", status=204
    ),
    Route(
        "POST", "/api/ci/run-report", Who.CI_KEY, Ingest.report,
        "Report a hardware test run; the same identity again replaces the report",
        body_bytes=limits.RUN_REPORT_BYTES, status=204
    ),
    Route(
        "PUT", "/api/ci/suite-config", Who.CI_KEY, Ingest.configure,
        "Describe a product's files; an earlier configuration is replaced",
        body_bytes=limits.SUITE_CONFIG_BYTES, status=204
    ),
)

_ACCOUNTS = (
    Route(
        "POST", "/api/auth/register", ANYONE, sign_in.register,
        "Register, by the operator's policy, and sign in", own_limit=OwnLimit.REGISTER, status=201,
        also=(403, 409)
    ),
    Route(
        "POST", "/api/auth/login", ANYONE, sign_in.login,
        "Sign in with e-mail and password", own_limit=OwnLimit.LOGIN, also=(401, 403)
    ),
    Route(
        "POST", "/api/auth/refresh", ANYONE, sign_in.refresh,
        "Exchange a refresh token for a new pair; used twice, all sessions of its user end",
        own_limit=OwnLimit.REFRESH, also=(401, 403)
    ),
    Route(
        "POST", "/api/auth/logout", ANYONE, sign_in.logout,
        "End a sign-in, its access tokens too", status=204, also=(403,)
    ),
    Route("GET", "/api/auth/me", USER, Accounts.me, "Show the caller and their organizations"),
    Route(
        "POST", "/api/auth/password", USER, sign_in.change_password,
        "Change my password; all my other sessions end", own_limit=OwnLimit.LOGIN, also=(409,)
    ),
    Route(
        "POST", "/api/auth/reset", ANYONE, OwnAccount.reset_password,
        "Set a new password by a reset link, once; all sessions of its user end",
        own_limit=OwnLimit.LOGIN, status=204, also=(403,)
    ),
    Route("GET", "/api/auth/sessions", USER, OwnAccount.sessions, "List my sessions"),
    Route(
        "DELETE", "/api/auth/sessions", USER, OwnAccount.end_others,
        "End all my sessions but this one, their access tokens too"
    ),
    Route(
        "DELETE", "/api/auth/sessions/{sessionId}", USER, OwnAccount.end_session,
        "End one of my sessions, its access tokens too", status=204, also=(404,)
    ),
    Route("GET", "/api/auth/sso", ANYONE, Sso.providers, "List the providers of single sign-on"),
    Route(
        "GET", "/api/auth/sso/{provider}/login", ANYONE, single_sign_on.login,
        "Send the browser to a provider to sign in", status=302, also=(401, 404)
    ),
    Route(
        "POST", "/api/auth/sso/{provider}/login", ANYONE, single_sign_on.login_invited,
        "Begin to sign in at a provider with an invitation; return where the browser goes",
        own_limit=OwnLimit.REGISTER, also=(401, 403, 404)
    ),
    Route(
        "GET", "/api/auth/sso/{provider}/callback", ANYONE, single_sign_on.callback,
        "Take the browser back from a provider, signed in", status=302, also=(401, 403, 404)
    ),
    Route(
        "GET", "/api/auth/sso/command-line", ANYONE, single_sign_on.waiting,
        "Show which command line waits for the sign-in of this browser", also=(401,)
    ),
    Route(
        "POST", "/api/auth/sso/command-line", ANYONE, single_sign_on.confirm,
        "Say whether that command line gets the sign-in; return where the browser goes",
        also=(401, 403)
    ),
    Route(
        "POST", "/api/auth/sso/token", ANYONE, single_sign_on.exchange,
        "Exchange the code that a loopback address was given for a sign-in, once", also=(401, 403)
    ),
)

_ORGANIZATIONS = (
    Route("GET", "/api/orgs", USER, Organizations.of, "List my organizations"),
    Route(
        "POST", "/api/orgs", USER, Organizations.create,
        "Create an organization; the caller owns it", status=201, also=(409,)
    ),
    Route("GET", "/api/orgs/{orgId}", MEMBER, Organizations.show, "Show an organization"),
    Route(
        "GET", "/api/orgs/{orgId}/audit-log", ADMIN, AuditLog.listed,
        "List the audit log: who did what, newest first"
    ),
    Route(
        "GET", "/api/orgs/{orgId}/members", MEMBER, Members.listed,
        "List the members of an organization"
    ),
    Route(
        "PATCH", "/api/orgs/{orgId}/members/{userId}", ADMIN, Members.change,
        "Change a member's role; only an owner makes or unmakes owners, the last owner stays",
        also=(409,)
    ),
    Route(
        "DELETE", "/api/orgs/{orgId}/members/{userId}", MEMBER, Members.remove,
        "Leave, or as owner or admin remove a member, at once; the last owner stays", status=204,
        also=(403, 409)
    ),
    Route(
        "POST", "/api/orgs/{orgId}/invites", ADMIN, Invitations.invite,
        "Invite someone, with an account or without; the token is only in this answer",
        status=201, also=(409,)
    ),
    Route(
        "GET", "/api/orgs/{orgId}/invites", ADMIN, Invitations.sent,
        "List the open invitations of an organization"
    ),
    Route(
        "DELETE", "/api/orgs/{orgId}/invites/{inviteId}", ADMIN, Invitations.withdraw,
        "Withdraw an open invitation", status=204
    ),
    Route(
        "GET", "/api/invites", USER, Invitations.received, "List the open invitations of my e-mail"
    ),
    Route(
        "POST", "/api/invites/{inviteId}/accept", USER, Invitations.accept,
        "Accept an invitation: with its token, or after single sign-on", also=(403, 404)
    ),
    Route(
        "POST", "/api/invites/{inviteId}/decline", USER, Invitations.decline,
        "Decline an invitation", status=204, also=(404,)
    ),
    Route(
        "POST", "/api/orgs/{orgId}/ci-keys", ADMIN, Keys.create_ci_key,
        "Create a CI key; its value is only in this answer", status=201
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-keys", MEMBER, Keys.ci_keys, "List CI keys, never their value"
    ),
    Route(
        "DELETE", "/api/orgs/{orgId}/ci-keys/{keyId}", ADMIN, Keys.revoke_ci_key,
        "Revoke a CI key at once", status=204
    ),
    Route(
        "POST", "/api/orgs/{orgId}/reader-keys", ADMIN, Keys.create_reader_key,
        "Create a reader key; its value is only in this answer", status=201
    ),
    Route(
        "GET", "/api/orgs/{orgId}/reader-keys", MEMBER, Keys.reader_keys,
        "List reader keys, never their value"
    ),
    Route(
        "GET", "/api/reader-key", Who.READER_KEY, Keys.own_reader_key,
        "Show what the reader key of the request reads"
    ),
    Route(
        "DELETE", "/api/orgs/{orgId}/reader-keys/{keyId}", ADMIN, Keys.revoke_reader_key,
        "Revoke a reader key at once", status=204
    ),
)

_BOXES = (
    Route(
        "GET", "/api/orgs/{orgId}/boxes", MEMBER, Boxes.listed, "List the boxes of an organization"
    ),
    Route(
        "POST", "/api/orgs/{orgId}/boxes", ADMIN, Boxes.create,
        "Create a box; the token that installs it once is only in this answer",
        status=201, also=(409,)
    ),
    Route(
        "PATCH", "/api/orgs/{orgId}/boxes/{boxId}", ADMIN, Boxes.rename,
        "Rename a box; its key goes on, and reports keep the name that they have", status=204,
        also=(409,)
    ),
    Route(
        "DELETE", "/api/orgs/{orgId}/boxes/{boxId}", ADMIN, Boxes.remove,
        "Remove a box: its key stops at once, and what it reported stays", status=204
    ),
    Route(
        "POST", "/api/orgs/{orgId}/boxes/{boxId}/install-token", ADMIN, Boxes.install_token,
        "Make a token for a new install of a box; its key works until then", status=201
    ),
    Route(
        "GET", "/api/orgs/{orgId}/box-notes", MEMBER, Boxes.notes,
        "List what people did to boxes, latest first"
    ),
    Route(
        "POST", "/api/orgs/{orgId}/box-notes", ADMIN, Boxes.add_note,
        "Note what was done to a box; from then on it is compared as a new box", status=201,
        also=(404, 409)
    ),
    Route(
        "DELETE", "/api/orgs/{orgId}/box-notes/{noteId}", ADMIN, Boxes.remove_note,
        "Remove a note of a box", status=204
    ),
    Route(
        "POST", "/api/boxes/install", ANYONE, Boxes.install,
        "Exchange an install token for the box's key; an earlier key of the box stops working",
        status=201, also=(401,)
    ),
    Route(
        "POST", "/api/box/heartbeat", Who.BOX, Boxes.heartbeat,
        "Stay online, and keep the box's live runs alive", status=204
    ),
    Route(
        "POST", "/api/box/runs", Who.BOX, LiveRuns.open,
        "Open a live run; it is lost after 10 minutes without event or heartbeat",
        body_bytes=limits.RUN_REPORT_BYTES, status=201, also=(409,)
    ),
    Route(
        "POST", "/api/box/runs/{runId}/events", Who.BOX, LiveRuns.feed,
        "Report which tests of a live run began or ended", body_bytes=limits.RUN_EVENTS_BYTES,
        status=204, also=(404, 409)
    ),
)

# The streams come before `{runId}`: the router takes the first that fits.
_RUNS = (
    Route(
        "GET", "/api/orgs/{orgId}/runs", READER, Runs.listed, "List run records, latest start first"
    ),
    Route(
        "GET", "/api/orgs/{orgId}/runs/stream", READER, server_sent_events,
        "Follow runs as server-sent events; `Last-Event-ID` resumes", media="text/event-stream",
        also=(409,)
    ),
    Route(
        "GET", "/api/orgs/{orgId}/runs/ws", Who.FOLLOWER, web_socket,
        "Follow runs over a WebSocket, signed in by header or by the first frame", status=101,
        also=(409,)
    ),
    Route(
        "GET", "/api/orgs/{orgId}/runs/{runId}", READER, Runs.show,
        "Show one run record with all that was reported of it"
    ),
)

_METRICS = (
    Route(
        "GET", "/api/orgs/{orgId}/products", READER, Metrics.products,
        "List the known products", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/suite-configs", READER, Metrics.configs,
        "List suite configurations as sent", metrics=True
    ),
    Route(
        "POST", "/api/orgs/{orgId}/suite-configs/plan", MEMBER, Metrics.plan,
        "Show what a suite configuration would change if it were sent; nothing is kept",
        body_bytes=limits.SUITE_CONFIG_BYTES, metrics=True, reads=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-metrics", READER, Metrics.page,
        "Open the metrics page: four tiles and the first rows of four tables", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-metrics/trend", READER, Metrics.trend,
        "The four tiles over time: at most 90 slots of equal width", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-metrics/unchecked-merges", READER, Metrics.unchecked_merges,
        "Merges not checked on hardware", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-metrics/checked-merges", READER, Metrics.checked_merges,
        "Merges checked on hardware, each with the run that checked it first", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-metrics/real-bugs", READER, Metrics.real_bugs,
        "Real FW bugs caught", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-metrics/other-failures", READER, Metrics.other_failures,
        "Resolved by a bench or harness change, ambiguous or dismissed", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-metrics/flakiest-tests", READER, Metrics.flakiest_tests,
        "Flakiest tests", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-metrics/flakiest-tests/history", READER, Metrics.flaky_history,
        "Flakiest tests over time and boxes, in the slots of the trend", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-failures", READER, Metrics.failures,
        "List failures that have an item in the period, with their labels", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-failures/{failureId}", READER, Metrics.evidence,
        "Show one failure with its evidence", metrics=True
    ),
    Route(
        "POST", "/api/orgs/{orgId}/ci-failures/{failureId}/confirm", ADMIN,
        _review(ReviewAction.CONFIRM),
        "Count a resolved failure as a real firmware bug", metrics=True, bodiless=True, also=(409,)
    ),
    Route(
        "POST", "/api/orgs/{orgId}/ci-failures/{failureId}/dismiss", ADMIN,
        _review(ReviewAction.DISMISS),
        "Move a real firmware bug to the other list", metrics=True, bodiless=True, also=(409,)
    ),
    Route(
        "POST", "/api/orgs/{orgId}/ci-failures/{failureId}/reset", ADMIN, _review(None),
        "Restore the automatic label of a reviewed failure", metrics=True, bodiless=True,
        also=(409,)
    ),
    Route(
        "POST", "/api/orgs/{orgId}/ci-reviews", ADMIN, Reviews.together,
        "Confirm, dismiss and reset several failures, all or none", metrics=True, also=(404, 409)
    ),
)

_HEALTH = (
    Route(
        "GET", "/api/wheel", ANYONE, Wheels.current,
        "Show the wheel of hwci that this server runs from, and the hash to pin", also=(404,)
    ),
    Route("GET", "/healthz", ANYONE, Health.alive, "Is the process alive?"),
    Route(
        "GET", "/readyz", ANYONE, Health.ready,
        "Can the server serve? 503 when its database cannot be used"
    ),
)

# fmt: on

ROUTES: tuple[Route, ...] = with_document(
    (*_CI_REPORTS, *_ACCOUNTS, *_ORGANIZATIONS, *_BOXES, *_RUNS, *_METRICS, *ANALYSIS, *_HEALTH)
)
