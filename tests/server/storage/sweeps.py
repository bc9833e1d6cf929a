# SPDX-License-Identifier: Apache-2.0
"""What tests of the server's sweeps share: a clock that stands, and a sweep that is killed."""

import asyncio
import signal
import sys
from datetime import datetime

from hwci.server.clock import Evenness
from hwci.server.storage.location import Location

CHILD = """
import asyncio, os, signal, sys
from importlib import import_module
from datetime import datetime
from pathlib import Path
from uuid import UUID
from hwci.server.storage.location import Location
from hwci.server.storage.opening import open_storage
from hwci.server.storage.records import Kept

address, key, driver, left = *sys.argv[1:4], int(sys.argv[4])
work = eval(f"lambda w: {sys.argv[5]}")
connections = import_module(f"hwci.server.storage.{driver}.connections")
plain = connections.Connection.execute

def execute(self, statement, *values):
    global left
    done = plain(self, statement, *values)
    if statement.lstrip().startswith(("DELETE", "UPDATE")):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
    return done

connections.Connection.execute = execute

async def main():
    storage = open_storage(Location(address, Path(key)))
    while await storage.write(work):
        pass

asyncio.run(main())
"""
"""Takes turns as long as there is more, and kills itself within one."""


class At(Evenness):
    """A clock that is never wrong, and stands."""

    def __init__(self, now: datetime) -> None:
        super().__init__(lambda: now)

    def look(self) -> datetime:
        return self._clock()


async def kill_within(where: Location, steps: int, turn: str) -> None:
    """Take turns in a process that is killed after so many statements that change rows. `turn`:
    Python, of a writer `w`; true if there is more.
    """
    driver = "sqlite" if where.file else "postgresql"
    key = str(where.secret_key_file or where.written)
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CHILD, where.written, key, driver, str(steps), turn)
    )
    assert await child.wait() == -signal.SIGKILL
