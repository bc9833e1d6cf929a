# SPDX-License-Identifier: Apache-2.0
"""Write docs/calibration.md: `make calibration`."""

from pathlib import Path

from tests.simulation.calibration import benches, bisection, flaky_tests, incidents

PARTS = (flaky_tests.part, benches.part, incidents.part, bisection.part)
PAGE = Path(__file__).parents[3] / "docs/calibration.md"

_HEAD = """\
# Calibration

How good the answers beside the rules are ([ADR 0063](adr/0063-answers-beside-the-rules.md)), on
simulated benches whose causes are known (`tests/simulation/fleet.py`). `make calibration` writes
this page: it computes every figure anew, from the same seeds.
"""

PAGE.write_text("\n".join([_HEAD, *(part() for part in PARTS)]), encoding="utf-8")
