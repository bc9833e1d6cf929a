# SPDX-License-Identifier: Apache-2.0
"""A soak station that reports its nights and asks which of its tests are flaky. What it reports
stays in the organization of the CI key, as the repository soak/power-board.
"""

import os
import sys
from datetime import UTC, datetime, timedelta

from hwci.client import (
    Client,
    FlakyTest,
    HwciError,
    Outcome,
    RunReport,
    TestItem,
    Trigger,
    Verdict,
    calls,
)

NEEDED = ("HWCI_URL", "HWCI_CI_KEY", "HWCI_READER_KEY")
REPOSITORY = "soak/power-board"
SUITE = "power-board"
STATION = "station-7"
AS_OF = datetime(2026, 3, 5, tzinfo=UTC)
# The commit under test of each night, and how each test ended after how many attempts.
NIGHTS = (
    ("1c" * 20, {"usb.reconnect": "pass 2", "rail_5v.ripple": "pass 1", "fan.spin_up": "fail 3"}),
    ("1c" * 20, {"usb.reconnect": "pass 1", "rail_5v.ripple": "fail 1", "fan.spin_up": "fail 3"}),
    ("2d" * 20, {"usb.reconnect": "pass 2", "rail_5v.ripple": "pass 1", "fan.spin_up": "fail 3"}),
)


def report(night: int) -> RunReport:
    sha, results = NIGHTS[night]
    started_at = AS_OF - timedelta(days=len(NIGHTS) - night, hours=3)
    return RunReport(
        repo_key=REPOSITORY,
        workflow="soak",
        suite=SUITE,
        run_id=100 + night,
        run_attempt=1,
        trigger=Trigger.NIGHTLY,
        branch="main",
        sha=sha,
        started_at=started_at,
        ended_at=started_at + timedelta(hours=2),
        conclusion="failure",
        hello_ok=True,
        box_key=STATION,
        tests=[test_item(test_id, *result.split()) for test_id, result in results.items()],
    )


def test_item(test_id: str, outcome: str, attempts: str) -> TestItem:
    return TestItem(
        id=test_id,
        outcome=Outcome(outcome),
        attempts=int(attempts),
        duration_s=60 * int(attempts),
        verdict=Verdict.DEVICE if outcome == "fail" else Verdict.UNKNOWN,
    )


def line(test: FlakyTest) -> str:
    text = f"{test.failed_attempts} of {test.attempts} attempts failed"
    if test.retry_passes:
        passes = "pass" if test.retry_passes == 1 else "passes"
        text += f", {test.retry_passes} {passes} on a retry"
    elif test.flaky_failures:
        text += ", on a commit that passed too"
    return f"  {test.flake_rate:5.1f}%  {test.test_id:<16}  {text}"


def main() -> int:
    if missing := [name for name in NEEDED if not os.environ.get(name)]:
        print(f"Set {', '.join(missing)}", file=sys.stderr)
        return 2
    url, key, reader = (os.environ[name] for name in NEEDED)
    print(f"Reporting to {url}, into the organization of HWCI_CI_KEY.", file=sys.stderr)
    try:
        with Client(url, ci_key=key, reader_key=reader) as client:
            for night in range(len(NIGHTS)):
                client.send(calls.report_run(report(night)))
            print(f"reported {len(NIGHTS)} runs of {REPOSITORY} on {STATION}")
            org_id = client.send(calls.own_reader_key()).organization.id
            asked = calls.flakiest_tests(
                org_id, days=30, repo_key=REPOSITORY, suite=SUITE, as_of=AS_OF
            )
            tests = list(client.items(asked))
    except HwciError as error:
        print(error, file=sys.stderr)
        return 1
    flaky = [test for test in tests if not test.broken]
    print(f"flaky in the 30 days before {AS_OF:%Y-%m-%d}:")
    print(*map(line, flaky), sep="\n")
    print("broken, as they never passed:")
    print(*(line(test) for test in tests if test.broken), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
