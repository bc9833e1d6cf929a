# SPDX-License-Identifier: Apache-2.0
"""Which program this is, for what it prints: the command that starts it, and what lets a shell find
it by the name `hwci`.
"""

import shlex
import shutil
import sys
from pathlib import Path


def this_program() -> str:
    """Return the command that starts this program from any folder."""
    return shlex.join(_words())


def way_to_hwci() -> list[str]:
    """Return the line by which a shell finds this program as `hwci`, and each other program where
    it found it before; none if it finds an `hwci`.
    """
    if shutil.which("hwci") is not None:
        return []
    return [f'export PATH="$PATH":{shlex.quote(str(Path(_words()[0]).parent))}']


def _words() -> list[str]:
    program = Path(sys.argv[0]).absolute()
    return [str(program)] if program.name == "hwci" else [sys.executable, "-m", "hwci"]
