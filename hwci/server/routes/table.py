# SPDX-License-Identifier: Apache-2.0
"""The route table: what answers each endpoint; beside the rules, each subject has its own part of
it (`ANSWERS`). The router is made from it; what an endpoint takes and returns stands in
`hwci.wire.endpoints`.
"""

from collections.abc import Mapping
from uuid import UUID

from hwci.contract.failures.failures import ResolvedFailure
from hwci.contract.vocabulary import ReviewAction
from hwci.server.http.call import Call, Handler
from hwci.server.http.streams import server_sent_events, web_socket
from hwci.server.routes import openapi, project_schema, sign_in, single_sign_on
from hwci.server.services.access import Member
from hwci.server.services.analysis import (
    benches,
    bisection,
    causes,
    commits,
    explanations,
    flaky_tests,
    fleet,
    incidents,
    lost_boards,
    merges,
    page_figures,
    quarantine,
    tests,
    trends,
)
from hwci.server.services.audit import AuditLog
from hwci.server.services.boxes import Boxes
from hwci.server.services.ci_metrics.ingest import Ingest
from hwci.server.services.ci_metrics.metrics import Metrics
from hwci.server.services.ci_metrics.reviews import Reviews
from hwci.server.services.health import Health
from hwci.server.services.jobs.sign_in import JobSignIn
from hwci.server.services.jobs.trusts import Trusts
from hwci.server.services.keys import Keys
from hwci.server.services.known_failures import KnownRules
from hwci.server.services.people.accounts import Accounts
from hwci.server.services.people.invitations import Invitations
from hwci.server.services.people.members import Members
from hwci.server.services.people.organizations import Organizations
from hwci.server.services.people.own_account import OwnAccount
from hwci.server.services.people.sso import Sso
from hwci.server.services.runs.live_runs import LiveRuns
from hwci.server.services.runs.records import Runs
from hwci.server.services.webhooks.webhooks import Webhooks
from hwci.server.services.wheels import Wheels
from hwci.wire.endpoint import Endpoint
from hwci.wire.endpoints import (
    accounts,
    boxes,
    ci,
    health,
    known_failures,
    metrics,
    organizations,
    runs,
    webhooks,
)
from hwci.wire.failures import ReviewNote


def _review(action: ReviewAction | None) -> Handler:
    async def review(
        call: Call, member: Member, failure_id: UUID | None, body: ReviewNote
    ) -> ResolvedFailure:
        return await call.services.reviews.review(member, failure_id, action, body)

    return review


ROUTES: Mapping[Endpoint, Handler] = {
    ci.ANNOUNCE_MERGE: Ingest.announce,
    ci.REPORT_RUN: Ingest.report,
    ci.PUT_SUITE_CONFIG: Ingest.configure,
    ci.EXCHANGE_JOB_TOKEN: JobSignIn.exchange,
    accounts.REGISTER: sign_in.register,
    accounts.LOGIN: sign_in.login,
    accounts.REFRESH: sign_in.refresh,
    accounts.LOGOUT: sign_in.logout,
    accounts.ME: Accounts.me,
    accounts.CHANGE_PASSWORD: sign_in.change_password,
    accounts.RESET_PASSWORD: OwnAccount.reset_password,
    accounts.LIST_SESSIONS: OwnAccount.sessions,
    accounts.END_OTHER_SESSIONS: OwnAccount.end_others,
    accounts.END_SESSION: OwnAccount.end_session,
    accounts.SSO_PROVIDERS: Sso.providers,
    accounts.SSO_LOGIN: single_sign_on.login,
    accounts.SSO_LOGIN_INVITED: single_sign_on.login_invited,
    accounts.SSO_CALLBACK: single_sign_on.callback,
    accounts.SSO_WAITING: single_sign_on.waiting,
    accounts.SSO_CONFIRM: single_sign_on.confirm,
    accounts.EXCHANGE_SSO_CODE: single_sign_on.exchange,
    organizations.LIST_ORGS: Organizations.of,
    organizations.CREATE_ORG: Organizations.create,
    organizations.GET_ORG: Organizations.show,
    organizations.CHANGE_ORG: Organizations.change,
    organizations.DELETE_ORG: Organizations.delete,
    organizations.UNDELETE_ORG: Organizations.undelete,
    organizations.AUDIT_LOG: AuditLog.listed,
    organizations.LIST_MEMBERS: Members.listed,
    organizations.CHANGE_MEMBER: Members.change,
    organizations.REMOVE_MEMBER: Members.remove,
    organizations.INVITE: Invitations.invite,
    organizations.LIST_SENT_INVITES: Invitations.sent,
    organizations.WITHDRAW_INVITE: Invitations.withdraw,
    organizations.LIST_INVITES: Invitations.received,
    organizations.ACCEPT_INVITE: Invitations.accept,
    organizations.DECLINE_INVITE: Invitations.decline,
    organizations.CREATE_CI_KEY: Keys.create_ci_key,
    organizations.LIST_CI_KEYS: Keys.ci_keys,
    organizations.REVOKE_CI_KEY: Keys.revoke_ci_key,
    organizations.CREATE_READER_KEY: Keys.create_reader_key,
    organizations.LIST_READER_KEYS: Keys.reader_keys,
    organizations.OWN_READER_KEY: Keys.own_reader_key,
    organizations.REVOKE_READER_KEY: Keys.revoke_reader_key,
    organizations.LIST_TRUSTS: Trusts.listed,
    organizations.CREATE_TRUST: Trusts.create,
    organizations.REMOVE_TRUST: Trusts.remove,
    boxes.LIST_BOXES: Boxes.listed,
    boxes.CREATE_BOX: Boxes.create,
    boxes.RENAME_BOX: Boxes.rename,
    boxes.REMOVE_BOX: Boxes.remove,
    boxes.NEW_INSTALL_TOKEN: Boxes.install_token,
    boxes.LIST_BOX_NOTES: Boxes.notes,
    boxes.ADD_BOX_NOTE: Boxes.add_note,
    boxes.REMOVE_BOX_NOTE: Boxes.remove_note,
    boxes.INSTALL_BOX: Boxes.install,
    boxes.HEARTBEAT: Boxes.heartbeat,
    boxes.OPEN_RUN: LiveRuns.open,
    boxes.FEED_RUN: LiveRuns.feed,
    webhooks.LIST_WEBHOOKS: Webhooks.listed,
    webhooks.CREATE_WEBHOOK: Webhooks.create,
    webhooks.CHANGE_WEBHOOK: Webhooks.change,
    webhooks.REMOVE_WEBHOOK: Webhooks.remove,
    webhooks.LIST_DELIVERIES: Webhooks.deliveries,
    webhooks.RESEND_DELIVERY: Webhooks.resend,
    known_failures.LIST_KNOWN_FAILURES: KnownRules.listed,
    known_failures.ADD_KNOWN_FAILURE: KnownRules.add,
    known_failures.REMOVE_KNOWN_FAILURE: KnownRules.remove,
    # The streams come before `{runId}`: the router takes the first that fits.
    runs.LIST_RUNS: Runs.listed,
    runs.FOLLOW_RUNS: server_sent_events,
    runs.SOCKET_RUNS: web_socket,
    runs.GET_RUN: Runs.show,
    metrics.LIST_PRODUCTS: Metrics.products,
    metrics.LIST_SUITE_CONFIGS: Metrics.configs,
    metrics.PLAN_SUITE_CONFIG: Metrics.plan,
    metrics.METRICS: Metrics.page,
    metrics.TREND: Metrics.trend,
    metrics.UNCHECKED_MERGES: Metrics.unchecked_merges,
    metrics.CHECKED_MERGES: Metrics.checked_merges,
    metrics.REAL_BUGS: Metrics.real_bugs,
    metrics.OTHER_FAILURES: Metrics.other_failures,
    metrics.FLAKIEST_TESTS: Metrics.flakiest_tests,
    metrics.FLAKY_HISTORY: Metrics.flaky_history,
    metrics.LIST_FAILURES: Metrics.failures,
    metrics.GET_FAILURE: Metrics.evidence,
    metrics.CONFIRM_FAILURE: _review(ReviewAction.CONFIRM),
    metrics.DISMISS_FAILURE: _review(ReviewAction.DISMISS),
    metrics.RESET_FAILURE: _review(None),
    metrics.REVIEW_FAILURES: Reviews.together,
    **merges.ANSWERS,
    **benches.ANSWERS,
    **explanations.ANSWERS,
    **flaky_tests.ANSWERS,
    **fleet.ANSWERS,
    **causes.ANSWERS,
    **lost_boards.ANSWERS,
    **quarantine.ANSWERS,
    **incidents.ANSWERS,
    **trends.ANSWERS,
    **bisection.ANSWERS,
    **tests.ANSWERS,
    **commits.ANSWERS,
    **page_figures.ANSWERS,
    health.WHEEL: Wheels.current,
    health.HEALTH: Health.alive,
    health.READY: Health.ready,
    health.OPENAPI: openapi.show,
    health.PROJECT_SCHEMA: project_schema.show,
}
