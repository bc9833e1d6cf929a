# SPDX-License-Identifier: Apache-2.0
"""How long `hwci` takes to start, as a multiple of what importing typer takes. The starts take
turns, so that a busy moment of the machine meets all of them. Prints what it measured; judges
nothing.
"""

import statistics
import subprocess
import sys
import time

ROUNDS = 15
TYPER = ("-c", "import typer")
STARTS = (
    TYPER,
    *(
        ("-c", "from hwci.cli.main import main; main()", *arguments)
        for arguments in (["--help"], ["--version"], ["metric"], ["keys"], ["report-run", "--help"])
    ),
)


def main() -> None:
    """Measure and print."""
    times: dict[tuple[str, ...], list[float]] = {start: [] for start in STARTS}
    for _ in range(ROUNDS):
        for start, taken in times.items():
            taken.append(_seconds(start))
    typer = statistics.median(times[TYPER])
    for start, taken in times.items():
        name = " ".join(("hwci", *start[2:])) if start != TYPER else "import typer"
        median = statistics.median(taken)
        print(f"{name:24}{median * 1000:5.0f} ms, {median / typer:.2f} times typer")


def _seconds(start: tuple[str, ...]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *start], capture_output=True, check=False)  # noqa: S603 - ours
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
