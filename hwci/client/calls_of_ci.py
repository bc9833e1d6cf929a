# SPDX-License-Identifier: Apache-2.0
"""What CI reports. Each call may be repeated: the server knows its identity (spec, rule 3).

They are separate from the other calls, whose questions and answers a reporter does not load.
"""

from hwci.client._call import Call, Credential, Method
from hwci.client._writing import written
from hwci.wire import reports

RUN_REPORT = "/api/ci/run-report"
MERGE_ANNOUNCE = "/api/ci/merge-announce"


def announce_merge(body: reports.MergeAnnouncement) -> Call[None]:
    """Announce a merge."""
    return call_of_ci(MERGE_ANNOUNCE, written(body))


def report_run(body: reports.RunReport) -> Call[None]:
    """Report one attempt of a run on one box."""
    return call_of_ci(RUN_REPORT, written(body))


def put_suite_config(body: reports.SuiteConfiguration) -> Call[None]:
    """Send which files of a product are its firmware and which its harness."""
    return call_of_ci("/api/ci/suite-config", written(body), "PUT")


def call_of_ci(
    path: str, body: bytes, method: Method = "POST", *, compressed: bool = False
) -> Call[None]:
    """Return the call that sends a body as it is."""
    ci = Credential.CI_KEY
    return Call(method, path, None, 204, credential=ci, body=body, compressed=compressed)
