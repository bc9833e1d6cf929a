# SPDX-License-Identifier: Apache-2.0
"""Run the tests that read the clock at every hour of three days: `python -m tests.clocks [HOUR …]`.

A test reads the clock when it compares what it sees with the time of day: it is marked `clock`. The
days are the last of a year, a leap day, and the day on which European clocks go forward. Tests in a
browser take longer: they run at five hours of the first of them, and their pages alone have the
moved clock. Needs `faketime` (Debian's package of this name). All processes of a test share one
offset, and measure durations by the real clock.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hwci.server.clock import system_clock

DAYS = (
    datetime(2027, 12, 31, tzinfo=UTC),
    datetime(2028, 2, 29, tzinfo=UTC),
    datetime(2027, 3, 28, tzinfo=UTC),
)
MINUTES = 30
IN_BROWSER_AT = (0, 6, 12, 18, 23)
AT_ONCE = 2
MARK = "pytest.mark.clock"
HERE = Path(__file__).parent


def marked(*folders: str) -> list[str]:
    """Return the test files of these folders that hold the mark."""
    found = (path for folder in folders for path in (HERE / folder).rglob("test_*.py"))
    return sorted(str(path) for path in found if MARK in path.read_text())


def moments(days: Sequence[datetime], hours: Iterable[int]) -> list[datetime]:
    """Return a moment within each of these hours of each day."""
    return [day + timedelta(hours=hour, minutes=MINUTES) for day in days for hour in hours]


def run(moment: datetime, files: Sequence[str]) -> bool:
    """Run the marked tests of these files at this moment; return whether they passed."""
    offset = round((moment - system_clock()).total_seconds())
    done = subprocess.run(
        [
            *("faketime", "-f", f"{offset:+d}"),
            *(sys.executable, "-m", "pytest", "-q", "-m", "clock", *files),
        ],
        env={**os.environ, "FAKETIME_DONT_FAKE_MONOTONIC": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stdout.strip().splitlines()[-1:]
    print(f"{moment:%Y-%m-%d %H:%M} UTC: {''.join(last) or done.stderr.strip()}", flush=True)
    if done.returncode:
        print(done.stdout, flush=True)
    return done.returncode == 0


def main(hours: Sequence[int]) -> int:
    """Run the tests at these hours of each day; return 1 when some failed."""
    folders = [path.name for path in HERE.iterdir() if path.is_dir() and path.name != "web"]
    files, in_browser = marked(*folders), marked("web")
    with ThreadPoolExecutor(AT_ONCE) as threads:
        passed = list(threads.map(lambda one: run(one, files), moments(DAYS, hours)))
    browsed = moments(DAYS[:1], (hour for hour in hours if hour in IN_BROWSER_AT))
    passed += [run(one, in_browser) for one in browsed]  # a browser takes both cores
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main([int(hour) for hour in sys.argv[1:]] or range(24)))
