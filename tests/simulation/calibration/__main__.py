# SPDX-License-Identifier: Apache-2.0
"""Write docs/calibration.md: `make calibration`."""

import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from time import monotonic

from tests.simulation.calibration import (
    bands,
    benches,
    bisection,
    boards,
    commits,
    fixes,
    flaky_tests,
    incidents,
    lost,
    onsets,
    shares,
    statements,
)
from tests.simulation.calibration.asked import asked

PARTS = (
    onsets,
    flaky_tests,
    fixes,
    benches,
    shares,
    incidents,
    bands,
    lost,
    bisection,
    statements,
    commits,
    boards,
)
PAGE = Path(__file__).parents[3] / "docs/calibration.md"

_HEAD = """\
# Calibration

How good the answers beside the rules are ([ADR 0009](adr/0009-answers-beside-the-rules.md)), on
simulated benches whose causes are known (`tests/simulation/fleet.py`). `make calibration` writes
this page: it computes every figure again, from the same seeds.
"""


def main() -> None:
    """Compute the parts beside each other, tell when each is done, and write the page."""
    begun = monotonic()
    with ProcessPoolExecutor() as pool:
        computed = {pool.submit(module.part): module.__name__ for module in PARTS}
        for part in as_completed(computed):
            seconds = monotonic() - begun
            sys.stderr.write(f"{computed[part]}: done after {seconds:,.0f} s\n")
        parts = [part.result() for part in computed]
    lines = [line for part in parts for line in part.lines]
    page = "\n".join([_HEAD, asked(lines), *(part.text for part in parts)])
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
