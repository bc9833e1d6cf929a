# SPDX-License-Identifier: Apache-2.0
"""Run what could depend on the day on twelve days of a year: `python -m tests.clocks [MONTH …]`.

On each day all that touches the demonstration (marked `demo`) runs once, and what compares with the
time of day (marked `clock`) at two hours, so that each hour of a day is tried. The machine's clock
is moved by `faketime` (Debian's package of this name): all processes of a test share one offset,
and measure durations by the real clock. A browser under it spins; there the demonstration alone is
moved (`tests/support/moved.py`), and its server and its pages with it.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hwci.server.clock import system_clock

YEAR = 2028
DAYS = (
    (1, 1),  # a new year
    (2, 29),  # a leap day
    (3, 26),  # clocks go forward in Europe
    (4, 2),  # and back in New Zealand, from where tests in a browser look
    (5, 15),
    (6, 30),
    (7, 31),
    (8, 16),
    (9, 24),  # forward in New Zealand
    (10, 29),  # back in Europe
    (11, 23),
    (12, 31),
)
MINUTES = 30
IN_BROWSER = ("-n", "2", "--dist", "loadfile", "-m", "demo", "tests/web")
MARKS = ("pytest.mark.clock", "pytest.mark.demo")
HERE = Path(__file__).parent


def moments(number: int) -> tuple[datetime, datetime]:
    """Return the two moments of the day of this number."""
    month, day = DAYS[number]
    first = datetime(YEAR, month, day, 2 * number, MINUTES, tzinfo=UTC)
    return first, first + timedelta(hours=1)


def marked() -> list[str]:
    """Return the test files, but for those in a browser, that hold one of the marks."""
    files = (path for path in HERE.rglob("test_*.py") if HERE / "web" not in path.parents)
    return sorted(str(path) for path in files if any(mark in path.read_text() for mark in MARKS))


def passed(moment: datetime, arguments: Iterable[str], before: Sequence[str] = ()) -> bool:
    """Run these tests with the demonstration at this moment; return whether they passed."""
    done = subprocess.run(
        [*before, sys.executable, "-m", "pytest", "-q", *arguments],
        env={
            **os.environ,
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DEMO_AT": moment.isoformat(),
        },
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stdout.strip().splitlines()[-1:]
    where = "" if before else ", in a browser"
    print(f"{moment:%a %Y-%m-%d %H:%M} UTC{where}: {''.join(last) or done.stderr}", flush=True)
    if done.returncode:
        print(done.stdout, flush=True)
    return done.returncode == 0


def faketime(moment: datetime) -> list[str]:
    """Return what to put before a command whose clock shows this moment."""
    offset = round((moment - system_clock()).total_seconds())
    return ["faketime", "-f", f"{offset:+d}"]


def outside_of_a_browser(numbers: Sequence[int]) -> bool:
    """Run what needs no browser on the days of these numbers; return whether all passed."""
    files, results = marked(), []
    for number in numbers:
        first, second = moments(number)
        results.append(passed(first, ("-m", "clock or demo", *files), faketime(first)))
        results.append(passed(second, ("-m", "clock", *files), faketime(second)))
    return all(results)


def in_a_browser(numbers: Sequence[int]) -> bool:
    """Run what needs one; return whether all passed."""
    results = [passed(moments(number)[0], IN_BROWSER) for number in numbers]
    return all(results)


def main(months: Sequence[int]) -> int:
    """Run the tests on the days of these months; return 1 when some failed."""
    numbers = [number for number, (month, _) in enumerate(DAYS) if month in months]
    sides = (outside_of_a_browser, in_a_browser)  # which waits for it half of its time
    with ThreadPoolExecutor(len(sides)) as threads:
        results = list(threads.map(lambda side: side(numbers), sides))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main([int(month) for month in sys.argv[1:]] or range(1, 13)))
