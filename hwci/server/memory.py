# SPDX-License-Identifier: Apache-2.0
"""Gives memory that the server has freed back to the system (ADR 0008).

This module knows glibc alone: elsewhere it does nothing.
"""

import ctypes
from contextlib import suppress

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE_BYTES, _ARENAS = 256 * 1024, 2


def give_memory_back() -> None:
    """Have glibc give a large block back to the system as soon as it is freed, and share small ones
    among threads. By itself it learns to keep large blocks, and what lies between them stays.
    """
    with suppress(OSError, AttributeError):
        allocator = ctypes.CDLL("libc.so.6")
        allocator.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        allocator.mallopt(_M_ARENA_MAX, _ARENAS)


def trim_memory() -> None:
    """Give small blocks back that are free now, which glibc keeps. It takes some milliseconds."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
