# SPDX-License-Identifier: Apache-2.0
"""All services of one server, and what they are made from."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import TypeVar

from hwci.server.clock import Clock, Evenness
from hwci.server.security.passwords import Passwords
from hwci.server.security.rate_limiter import RateLimiter
from hwci.server.security.sealing import Seals
from hwci.server.security.signing import Signer
from hwci.server.security.tokens import AccessTokens
from hwci.server.services.access import Access
from hwci.server.services.analysis.benches import Benches
from hwci.server.services.analysis.bisection import Bisections
from hwci.server.services.analysis.causes import Causes
from hwci.server.services.analysis.commits import Commits
from hwci.server.services.analysis.explanations import Explanations
from hwci.server.services.analysis.flaky_tests import FlakyTests
from hwci.server.services.analysis.fleet import Fleet
from hwci.server.services.analysis.incidents import Incidents
from hwci.server.services.analysis.lost_boards import LostBoards
from hwci.server.services.analysis.merges import MergeAnalysis
from hwci.server.services.analysis.page_figures import PageFigures
from hwci.server.services.analysis.quarantine import Quarantine
from hwci.server.services.analysis.tests import Tests
from hwci.server.services.analysis.trends import Trends
from hwci.server.services.audit import AuditLog
from hwci.server.services.boxes import Boxes
from hwci.server.services.ci_metrics.decisions import Decisions
from hwci.server.services.ci_metrics.ingest import Ingest
from hwci.server.services.ci_metrics.metrics import Metrics
from hwci.server.services.ci_metrics.reviews import Reviews
from hwci.server.services.health import Health
from hwci.server.services.jobs.sign_in import JobSignIn
from hwci.server.services.jobs.trusts import Trusts
from hwci.server.services.keeping import Keeping
from hwci.server.services.keys import Keys
from hwci.server.services.known_failures import KnownRules
from hwci.server.services.noticing import Noticing
from hwci.server.services.people.accounts import Accounts
from hwci.server.services.people.handover import Handover
from hwci.server.services.people.invitations import Invitations
from hwci.server.services.people.members import Members
from hwci.server.services.people.organizations import Organizations
from hwci.server.services.people.own_account import OwnAccount
from hwci.server.services.people.sso import Sso
from hwci.server.services.published_keys import Fetch
from hwci.server.services.quota import Quota
from hwci.server.services.rate_limits import RateLimits
from hwci.server.services.retention import Retention
from hwci.server.services.runs.live_runs import LiveRuns
from hwci.server.services.runs.records import Runs
from hwci.server.services.runs.streams import Streams
from hwci.server.services.shared_answers import SharedAnswers
from hwci.server.services.webhooks.sending import Post, Sending
from hwci.server.services.webhooks.watching import Watching
from hwci.server.services.webhooks.webhooks import Webhooks
from hwci.server.services.wheels import Wheels
from hwci.server.settings import Settings
from hwci.server.storage.ports import Storage
from hwci.server.storage.records import KeepDays

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one server."""

    access: Access
    accounts: Accounts
    audit: AuditLog
    benches: Benches
    bisections: Bisections
    boxes: Boxes
    commits: Commits
    decisions: Decisions
    explanations: Explanations
    flaky_tests: FlakyTests
    handover: Handover
    health: Health
    incidents: Incidents
    causes: Causes
    lost_boards: LostBoards
    ingest: Ingest
    invitations: Invitations
    job_sign_in: JobSignIn
    keeping: Keeping
    keys: Keys
    known_rules: KnownRules
    live_runs: LiveRuns
    members: Members
    merge_analysis: MergeAnalysis
    tests: Tests
    metrics: Metrics
    noticing: Noticing
    organizations: Organizations
    own_account: OwnAccount
    page_figures: PageFigures
    fleet: Fleet
    quarantine: Quarantine
    quota: Quota
    rate_limits: RateLimits
    retention: Retention
    reviews: Reviews
    runs: Runs
    sending: Sending
    shared_answers: SharedAnswers
    sso: Sso
    streams: Streams
    trends: Trends
    trusts: Trusts
    watching: Watching
    webhooks: Webhooks
    wheels: Wheels

    def bound(self, handler: Callable[..., Result]) -> Callable[..., Result]:
        """Return a method of a service's class bound to that service, a function as it is."""
        owner = handler.__qualname__.rpartition(".")[0]
        services = (getattr(self, field.name) for field in fields(self))
        service = next(
            (service for service in services if type(service).__qualname__ == owner), None
        )
        return handler if service is None else partial(handler, service)


@dataclass(frozen=True, slots=True)
class Tools:
    """What services are made from."""

    storage: Storage
    clock: Clock
    passwords: Passwords
    signer: Signer
    fetch: Fetch
    post: Post
    limiter: RateLimiter
    wheels: Wheels


def make_services(tools: Tools, settings: Settings) -> Services:
    """Return the services."""
    storage, clock, signer = tools.storage, tools.clock, tools.signer
    tokens = AccessTokens(signer)
    access = Access(storage, clock, tokens)
    seals = Seals(signer)
    evenness = Evenness(clock)
    most = KeepDays(
        settings.keep_reports_days_max,
        settings.keep_messages_days_max,
        settings.keep_logs_days_max,
    )
    return Services(
        access=access,
        accounts=Accounts(storage, clock, tools.passwords, tokens, settings.registration),
        audit=AuditLog(storage),
        benches=Benches(storage, clock),
        bisections=Bisections(storage, clock),
        boxes=Boxes(storage, clock),
        commits=Commits(storage, clock),
        decisions=Decisions(storage, clock),
        explanations=Explanations(storage, clock),
        flaky_tests=FlakyTests(storage, clock),
        handover=Handover(storage, clock, signer, tokens),
        health=Health(storage, tools.limiter),
        incidents=Incidents(storage, clock),
        causes=Causes(storage, clock),
        lost_boards=LostBoards(storage, clock),
        ingest=Ingest(storage, clock),
        invitations=Invitations(storage, clock, most),
        job_sign_in=JobSignIn(storage, clock, settings, tools.fetch),
        keeping=Keeping(storage, evenness, most),
        keys=Keys(storage, clock),
        known_rules=KnownRules(storage, clock),
        live_runs=LiveRuns(storage, clock),
        members=Members(storage, clock),
        merge_analysis=MergeAnalysis(storage, clock),
        tests=Tests(storage, clock),
        metrics=Metrics(storage, clock),
        noticing=Noticing(storage, clock),
        organizations=Organizations(storage, clock, most),
        own_account=OwnAccount(storage, clock, tools.passwords),
        page_figures=PageFigures(storage, clock),
        fleet=Fleet(storage, clock),
        quarantine=Quarantine(storage, clock),
        quota=Quota(storage, clock, settings),
        rate_limits=RateLimits(tools.limiter, settings),
        retention=Retention(storage, evenness),
        reviews=Reviews(storage, clock),
        runs=Runs(storage, clock),
        sending=Sending(storage, clock, seals, tools.post, settings.base_url),
        shared_answers=SharedAnswers(),
        sso=Sso(storage, clock, signer, tokens, settings, tools.fetch),
        streams=Streams(storage, clock, access),
        trends=Trends(storage, clock),
        trusts=Trusts(storage, clock, settings.ci_issuers),
        watching=Watching(storage, clock, seals),
        webhooks=Webhooks(storage, clock, seals),
        wheels=tools.wheels,
    )
