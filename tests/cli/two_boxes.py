# SPDX-License-Identifier: Apache-2.0
"""A server to which two boxes reported, one of which fails."""

from datetime import timedelta

import pytest

from hwci.cli.terminal import options
from tests.support.asking import ask, ci_key
from tests.support.running import RunningServer, report

TESTS = ("boot", "i2c", "radio", "spi")
COMMITS = 12
SAYS = "fails where bench-1 never does (12 of 48 against 0 of 48 on the same commits)"


@pytest.fixture(scope="module")
def with_reports(server: RunningServer) -> RunningServer:
    """A server to which two boxes reported the same commits, a minute after each other; only
    bench-2 fails, and only `i2c`.
    """
    start = options.now() - timedelta(hours=1)
    for number in range(2 * COMMITS):
        box = f"bench-{number % 2 + 1}"
        bad = number % 2 == 1
        tests = [
            {"id": one, "outcome": "fail" if bad and one == "i2c" else "pass"} for one in TESTS
        ]
        body = report(
            run_id=number,
            sha=f"{number // 2:07x}",
            box_key=box,
            started_at=(start + timedelta(minutes=number // 2)).isoformat(),
            tests=[one | {"attempts": 1, "duration_s": 1} for one in tests],
        )
        reply = ask(server.url, "POST", "/api/ci/run-report", ci_key(server.ci_key), json_body=body)
        assert reply.status == 204, reply
    return server
