# SPDX-License-Identifier: Apache-2.0
"""Memory that a server does not need any more is the system's again (ADR 0106)."""

import subprocess
import sys
from pathlib import Path

from hwci.server.app.process import give_memory_back

_MIB = 1024 * 1024
_LARGE, _SMALL = 2 * _MIB, 100_000
_COUNT = 50


def test_large_blocks_are_given_back_though_small_ones_between_them_stay() -> None:
    found = subprocess.run([sys.executable, __file__], check=True, capture_output=True, text=True)
    before, held, left = map(int, found.stdout.split())

    assert held > before + 80 * _MIB
    assert left < before + 20 * _MIB


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


if __name__ == "__main__":
    give_memory_back()
    before = _resident()
    bytes([1]) * (2 * _LARGE)  # from this glibc would learn to keep what is smaller
    large, small = [], []
    for _ in range(_COUNT):
        large.append(bytes([1]) * _LARGE)
        small.append(bytes([1]) * _SMALL)
    held = _resident()
    del large
    sys.stdout.write(f"{before} {held} {_resident()}\n")
