# SPDX-License-Identifier: Apache-2.0
"""What CI reports. Each call may be repeated: the server knows its identity (spec, rule 3).

They stand apart from the other calls, whose questions and answers a reporter does not load.
"""

from pydantic import BaseModel

from hwci.client._call import Call, Credential, Method
from hwci.client._writing import written
from hwci.wire import reports

RUN_REPORT = "/api/ci/run-report"
MERGE_ANNOUNCE = "/api/ci/merge-announce"


def announce_merge(body: reports.MergeAnnouncement) -> Call[None]:
    """Announce a merge."""
    return _ci("POST", MERGE_ANNOUNCE, body)


def report_run(body: reports.RunReport) -> Call[None]:
    """Report one attempt of a run on one box."""
    return _ci("POST", RUN_REPORT, body)


def put_suite_config(body: reports.SuiteConfiguration) -> Call[None]:
    """Send which files of a product are its firmware and which its harness."""
    return _ci("PUT", "/api/ci/suite-config", body)


def _ci(method: Method, path: str, body: BaseModel) -> Call[None]:
    return Call(method, path, None, 204, credential=Credential.CI_KEY, body=written(body))
