# SPDX-License-Identifier: Apache-2.0
"""Memory that a server does not need any more is the system's again (ADR 0008)."""

import subprocess
import sys
from pathlib import Path

from hwci.server.memory import give_memory_back, trim_memory

_MIB = 1024 * 1024
_LARGE, _SMALL, _BETWEEN = 2 * _MIB, 100_000, 5_000
_TAKEN = 100 * _MIB


def test_large_blocks_are_given_back_though_small_ones_between_them_stay() -> None:
    before, held, left = _measured(_LARGE)

    assert held > before + 80 * _MIB
    assert left < before + 20 * _MIB


def test_small_blocks_are_given_back_by_a_trim() -> None:
    before, held, left = _measured(_SMALL, "trim")

    assert held > before + 80 * _MIB
    assert left < before + 20 * _MIB


def _measured(size: int, *trim: str) -> tuple[int, int, int]:
    """Return what a process holds before it takes blocks of this size, with them, and after it has
    let them go: a small one stays behind each.
    """
    command = [sys.executable, __file__, str(size), *trim]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    before, held, left = map(int, output.split())
    return before, held, left


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


if __name__ == "__main__":
    size = int(sys.argv[1])
    give_memory_back()
    before = _resident()
    bytes([1]) * (2 * _LARGE)  # from this glibc would learn to keep what is smaller
    blocks, between = [], []
    for _ in range(_TAKEN // size):
        blocks.append(bytes([1]) * size)
        between.append(bytes([1]) * _BETWEEN)
    held = _resident()
    del blocks
    if "trim" in sys.argv:
        trim_memory()
    sys.stdout.write(f"{before} {held} {_resident()}\n")
