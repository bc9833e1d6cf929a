# SPDX-License-Identifier: Apache-2.0
"""What Python's memory is made of lies in large pages, and none is held for that (ADR 0102)."""

import mmap
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hwci.server.app.process import use_large_pages

_MIB = 1024 * 1024
_HELD = 40 * _MIB
_SPARSE = 64 * _MIB


def _knows_how() -> bool:
    """Return whether this Linux does it when a program asks (6.1)."""
    version = tuple(map(int, os.uname().release.split(".")[:2]))
    return Path("/sys/kernel/mm/transparent_hugepage").exists() and version >= (6, 1)


@pytest.mark.skipif(not _knows_how(), reason="this Linux has no large pages on demand")
def test_memory_in_use_is_moved_and_what_is_hardly_used_stays() -> None:
    found = subprocess.run([sys.executable, __file__], check=True, capture_output=True, text=True)
    large, held, held_then = map(int, found.stdout.split())

    assert large > _HELD / 2
    assert held_then < held + _SPARSE / 4


def _bytes_of(what: str) -> int:
    found = re.search(
        rf"^{what}: +(\d+) kB$", Path("/proc/self/smaps_rollup").read_text(), re.MULTILINE
    )
    assert found is not None
    return int(found[1]) * 1024


if __name__ == "__main__":
    kept = [bytes([1]) * 400 for _ in range(_HELD // 400)]
    sparse = mmap.mmap(-1, _SPARSE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, _SPARSE, _MIB):
        sparse[at] = 1
    before = _bytes_of("Rss")
    use_large_pages()
    sys.stdout.write(f"{_bytes_of('AnonHugePages')} {before} {_bytes_of('Rss')}\n")
