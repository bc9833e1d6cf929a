# SPDX-License-Identifier: Apache-2.0
"""The three CI report endpoints (spec, "CI report endpoints"): 204 means that it is kept."""

from hwci.server.http.route import Call, Route, Who
from hwci.wire import limits
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration


async def merge_announce(call: Call) -> None:
    """Keep a merge announcement."""
    await call.services.ingest.announce(call.key, call.body(MergeAnnouncement))


async def run_report(call: Call) -> None:
    """Keep a run report."""
    await call.services.ingest.report(call.key, call.body(RunReport))


async def suite_config(call: Call) -> None:
    """Keep a suite configuration."""
    await call.services.ingest.configure(call.key, call.body(SuiteConfiguration))


ROUTES = (
    Route(
        "POST",
        "/api/ci/merge-announce",
        Who.CI_KEY,
        merge_announce,
        "Announce a merge; the same identity again changes nothing",
        body=MergeAnnouncement,
        status=204,
    ),
    Route(
        "POST",
        "/api/ci/run-report",
        Who.CI_KEY,
        run_report,
        "Report a hardware test run; the same identity again replaces the report",
        body=RunReport,
        body_bytes=limits.RUN_REPORT_BYTES,
        status=204,
    ),
    Route(
        "PUT",
        "/api/ci/suite-config",
        Who.CI_KEY,
        suite_config,
        "Describe a product's files; an earlier configuration is replaced",
        body=SuiteConfiguration,
        body_bytes=limits.SUITE_CONFIG_BYTES,
        status=204,
    ),
)
