# SPDX-License-Identifier: Apache-2.0
"""What the victim notices of an attack: how long its page and its reports take, how they are
answered, and how much memory the server holds.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import aiohttp

from tests.attack.scene import Scene, victim_report

PAGE_SECONDS, REPORT_SECONDS, MEMORY_BYTES = 1.0, 2.0, 400 * 1024 * 1024
"""What another tenant is promised at the 99th percentile, and the server's memory."""
REST_SECONDS, LEFT_BYTES = 60.0, 50 * 1024 * 1024
"""After so much rest the server holds no more than so many bytes above what it held before."""
PAUSE_SECONDS = 0.2
SAMPLE_SECONDS = 0.1
GIVE_UP_SECONDS = 60.0
_KIB = 1024


@dataclass
class Seen:
    """Seconds and statuses of the victim's requests, and the server's memory: before the attack,
    the most that was seen, and after a rest.
    """

    pages: list[float] = field(default_factory=list)
    reports: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    before: int = 0
    memory: int = 0
    after: int = 0

    def faults(self) -> list[str]:
        """Return what was promised and did not hold."""
        found = [
            f"{name} took {percentile(seconds, 99):.2f} s at the 99th percentile, more than {most}"
            for name, seconds, most in (
                ("a page", self.pages, PAGE_SECONDS),
                ("a report", self.reports, REPORT_SECONDS),
            )
            if percentile(seconds, 99) > most
        ]
        found += [
            f"{times} times the victim was answered {status}"
            for status, times in self.statuses.items()
            if status not in {"page 200", "report 204"}
        ]
        if self.memory > MEMORY_BYTES:
            found.append(f"the server held {self.memory / _KIB**2:.0f} MiB")
        if self.after > self.before + LEFT_BYTES:
            found.append(f"the server still held {self.after / _KIB**2:.0f} MiB after a rest")
        return found


def percentile(seconds: Sequence[float], percent: int) -> float:
    """Return the smallest value that so many per cent are not above; 0 of none."""
    ordered = sorted(seconds)
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else 0.0


@asynccontextmanager
async def probing(scene: Scene) -> AsyncIterator[Seen]:
    """Ask as the victim while the block runs."""
    seen = Seen()
    tasks = [asyncio.create_task(look(scene, seen)) for look in (_pages, _reports, _memory)]
    try:
        yield seen
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pages(scene: Scene, seen: Seen) -> None:
    victim = scene.victim
    async with victim.asking(scene.url, headers=victim.bearer) as http:
        for number in count():
            # Another number of days each time, so that no page is remembered.
            path = victim.path(f"ci-metrics?days={30 + number % 60}")
            await _timed(http.get(path), "page", seen.pages, seen)


async def _reports(scene: Scene, seen: Seen) -> None:
    victim = scene.victim
    async with victim.asking(scene.url, headers=victim.key) as http:
        for number in count(1_000):
            body = victim_report(number)
            await _timed(http.post("/api/ci/run-report", json=body), "report", seen.reports, seen)


async def _timed(
    asking: "aiohttp.client._RequestContextManager", what: str, times: list[float], seen: Seen
) -> None:
    begun = time.monotonic()
    try:
        async with asyncio.timeout(GIVE_UP_SECONDS), asking as answer:
            await answer.read()
            status = str(answer.status)
    except (aiohttp.ClientError, TimeoutError) as fault:
        status = type(fault).__name__
    except asyncio.CancelledError:
        times.append(time.monotonic() - begun)  # what was still waited for counts, too
        raise
    times.append(time.monotonic() - begun)
    seen.statuses[f"{what} {status}"] += 1
    await asyncio.sleep(PAUSE_SECONDS)


async def _memory(scene: Scene, seen: Seen) -> None:
    while True:
        seen.memory = max(seen.memory, resident(scene.process.pid))
        await asyncio.sleep(SAMPLE_SECONDS)


async def rested(scene: Scene, before: int) -> int:
    """Return what the server holds once it is near what it held before, or after the rest."""
    until = time.monotonic() + REST_SECONDS
    while (holds := resident(scene.process.pid)) > before + LEFT_BYTES:
        if time.monotonic() > until:
            break
        await asyncio.sleep(SAMPLE_SECONDS)
    return holds


def resident(pid: int) -> int:
    """Return the resident bytes of a process and those that it started. One that is about to be
    another program still has its parent's memory: it does not count twice.
    """
    found = 0
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        line = next((line for line in status.splitlines() if line.startswith("VmRSS:")), "0 0")
        found = int(line.split()[1]) * _KIB
        program = Path(f"/proc/{pid}/cmdline").read_bytes()
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                if Path(f"/proc/{child}/cmdline").read_bytes() != program:
                    found += resident(int(child))
    return found
