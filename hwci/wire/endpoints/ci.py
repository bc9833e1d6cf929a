# SPDX-License-Identifier: Apache-2.0
"""What CI reports."""

from hwci.wire import limits
from hwci.wire.endpoint import Endpoint, OwnLimit, Who
from hwci.wire.job_keys import JobKeyAnswer, JobToken
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration

# fmt: off
ANNOUNCE_MERGE = Endpoint(
    "merges.announce", "POST", "/api/ci/merge-announce", Who.CI_KEY,
    "Announce a merge; the same identity again changes nothing", body=MergeAnnouncement, status=204,
    whole_body=True
)
REPORT_RUN = Endpoint(
    "runs.report", "POST", "/api/ci/run-report", Who.CI_KEY,
    "Report a hardware test run; the same identity again replaces the report", body=RunReport,
    status=204, body_bytes=limits.RUN_REPORT_BYTES, whole_body=True
)
PUT_SUITE_CONFIG = Endpoint(
    "suite_configs.put", "PUT", "/api/ci/suite-config", Who.CI_KEY,
    "Describe a product's files; an earlier configuration is replaced", body=SuiteConfiguration,
    status=204, body_bytes=limits.SUITE_CONFIG_BYTES, whole_body=True
)
EXCHANGE_JOB_TOKEN = Endpoint(
    "job_keys.exchange", "POST", "/api/ci/job-key", Who.ANYONE,
    "Exchange a CI job's token, once, for a key that works as a CI key for minutes",
    body=JobToken, answer=JobKeyAnswer, also=(401,), own_limit=OwnLimit.JOB_KEY, repeatable=False
)
# fmt: on
