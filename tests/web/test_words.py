# SPDX-License-Identifier: Apache-2.0
"""Who reads the dashboard and the command line side by side reads times, durations and percentages
alike: both write the same words for the same value.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Page

import hwci.server.web
from hwci.cli.terminal import tables
from hwci.said import tenths

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
# The module is pure, and imports nothing: it needs no page around it.
SCRIPT = Path(hwci.server.web.__file__).with_name("static") / "js" / "format.js"
FORMAT = SCRIPT.read_text(encoding="utf-8").replace("export function", "function")
AGO = f"([now, ...all]) => {{ {FORMAT}; return all.map((one) => ago(now - one * 1000, now)); }}"
PERCENT = f"(all) => {{ {FORMAT}; return all.map(percent); }}"
DURATION = f"(all) => {{ {FORMAT}; return all.map((one) => duration(one, true)); }}"
SPANS = sorted(
    {
        *range(0, 400, 7),
        *(round(1.3**power) + more for power in range(75) for more in (-1, 0, 1)),
        *(days * 86_400 + more for days in (1, 2, 7, 14, 30, 45, 60, 365, 730) for more in (-1, 0)),
    }
)
TOOK = [
    *(hundredths / 100 for hundredths in range(0, 13_000, 7)),
    *(59.96, 60, 119.6, 3599.4, 3599.6, 3600, 3660, 7325.2, 86_399, 90_061),
]


def test_how_long_ago_something_was_is_shown_as_in_a_terminal(page: Page) -> None:
    result = page.evaluate(AGO, [NOW.timestamp() * 1000, *SPANS])

    assert result == [tables.ago(NOW - timedelta(seconds=span), NOW) for span in SPANS]


def test_how_long_a_test_took_is_shown_as_in_a_terminal(page: Page) -> None:
    result = page.evaluate(DURATION, TOOK)

    assert result == [tables.duration(took) for took in TOOK]
    assert {"12.3 s", "1 min", "2 h 2 min", "1 h 1 min"} <= set(result)


def test_a_percentage_is_rounded_as_in_a_terminal(page: Page) -> None:
    shares = [100 * part / total for total in range(1, 161) for part in range(total + 1)]

    assert page.evaluate(PERCENT, shares) == [f"{tenths(one)} %" for one in shares]
    assert f"{tenths(100 * 26 / 32)} %" == "81.3 %"
