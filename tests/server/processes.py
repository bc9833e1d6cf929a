# SPDX-License-Identifier: Apache-2.0
"""`hwci serve` as a process of its own."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Service:
    """A server process."""

    process: asyncio.subprocess.Process
    port: int


@asynccontextmanager
async def service(database: Path) -> AsyncIterator[Service]:
    """Start a server process; it is killed if it has not ended."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hwci", "serve", "--quiet", "--port", "0"),
        env={**os.environ, "HWCI_DATABASE": str(database), "HWCI_RATE_LIMIT": "off"},
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, line
        yield Service(process, int(found[1]))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
