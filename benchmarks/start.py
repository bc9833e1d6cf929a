# SPDX-License-Identifier: Apache-2.0
"""How long `hwci` takes to start, as a multiple of what importing typer takes. The starts take
turns, so that a busy moment of the machine meets all of them. Judges nothing.
"""

import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.figure import Figure, milliseconds, ratio

ROUNDS = 15
TYPER = ("-c", "import typer")
STARTS = (
    TYPER,
    *(
        ("-c", "from hwci.cli.main import main; main()", *arguments)
        for arguments in (["--help"], ["--version"], ["metric"], ["keys"], ["report-run", "--help"])
    ),
)


def figures() -> Iterator[Figure]:
    """Measure each start."""
    times: dict[tuple[str, ...], list[float]] = {start: [] for start in STARTS}
    for _ in range(ROUNDS):
        for start, taken in times.items():
            taken.append(_seconds(start))
    typer = times.pop(TYPER)
    for start, taken in times.items():
        yield Figure(
            f"`{' '.join(('hwci', *start[2:]))}` against `import typer`",
            f"{ratio(taken, typer):.2f}",
            f"{milliseconds(taken)} against {milliseconds(typer)}",
        )


def _seconds(start: tuple[str, ...]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *start], capture_output=True, check=False)  # noqa: S603 - ours
    return time.perf_counter() - began
