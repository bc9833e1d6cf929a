# SPDX-License-Identifier: Apache-2.0
"""Write docs/calibration.md: `make calibration`."""

from pathlib import Path

from tests.simulation.calibration import (
    benches,
    bisection,
    fixes,
    flaky_tests,
    incidents,
    lost,
    onsets,
    shares,
    statements,
)
from tests.simulation.calibration.asked import asked

PARTS = (onsets, flaky_tests, fixes, benches, shares, incidents, lost, bisection, statements)
PAGE = Path(__file__).parents[3] / "docs/calibration.md"

_HEAD = """\
# Calibration

How good the answers beside the rules are ([ADR 0009](adr/0009-answers-beside-the-rules.md)), on
simulated benches whose causes are known (`tests/simulation/fleet.py`). `make calibration` writes
this page: it computes every figure again, from the same seeds.
"""

parts = [one.part() for one in PARTS]
lines = [line for part in parts for line in part.lines]
PAGE.write_text("\n".join([_HEAD, asked(lines), *(part.text for part in parts)]), encoding="utf-8")
