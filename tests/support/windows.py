# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the module `msvcrt` of Windows, for tests that take away what only POSIX has. Like
the original it keeps one handle of a file from another, also of the same process.
"""

import fcntl
from types import ModuleType

MSVCRT = ModuleType("msvcrt")
_HOW = {"LK_UNLCK": fcntl.LOCK_UN, "LK_NBLCK": fcntl.LOCK_EX | fcntl.LOCK_NB}
_flock = fcntl.flock


def _locking(handle: int, mode: str, _bytes: int) -> None:
    try:
        _flock(handle, _HOW[mode])
    except BlockingIOError as fault:
        raise PermissionError(*fault.args) from fault


vars(MSVCRT).update({name: name for name in _HOW}, locking=_locking)
