# SPDX-License-Identifier: Apache-2.0
"""Run the tests that read the clock at every hour of three days: `python -m tests.clocks [HOUR …]`.

A test reads the clock when it compares what it sees with the time of day: it is marked `clock`. The
days are the last of a year, a leap day, and the day on which European clocks go forward. Needs
`faketime` (Debian's package of this name). All processes of a test share one offset, and measure
durations by the real clock.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hwci.server.clock import system_clock

DAYS = (
    datetime(2027, 12, 31, tzinfo=UTC),
    datetime(2028, 2, 29, tzinfo=UTC),
    datetime(2027, 3, 28, tzinfo=UTC),
)
MINUTES = 30
MARK = "pytest.mark.clock"
TESTS = sorted(
    str(path) for path in Path(__file__).parent.rglob("test_*.py") if MARK in path.read_text()
)


def main(hours: Sequence[int]) -> int:
    """Run the tests at these hours of each day; return 1 when some failed."""
    failed = 0
    for day in DAYS:
        for hour in hours:
            moment = day + timedelta(hours=hour, minutes=MINUTES)
            offset = round((moment - system_clock()).total_seconds())
            run = subprocess.run(
                [
                    *("faketime", "-f", f"{offset:+d}"),
                    *(sys.executable, "-m", "pytest", "-q", *TESTS),
                ],
                env={**os.environ, "FAKETIME_DONT_FAKE_MONOTONIC": "1"},
                capture_output=True,
                text=True,
                check=False,
            )
            failed += run.returncode != 0
            last = run.stdout.strip().splitlines()[-1:]
            print(f"{moment:%Y-%m-%d %H:%M} UTC: {''.join(last) or run.stderr.strip()}", flush=True)
            if run.returncode:
                print(run.stdout, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main([int(hour) for hour in sys.argv[1:]] or range(24)))
