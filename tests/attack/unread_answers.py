# SPDX-License-Identifier: Apache-2.0
"""Answers that nobody reads: 300 connections of a stranger, and a reader key at 100 requests."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from tests.attack.aborted_downloads import MIB, ask_for, large_run, wheel_path
from tests.attack.probe import LEFT_BYTES, resident
from tests.attack.scene import Attack, Scene

STRANGERS, READS = 300, 100
REST_SECONDS = 3.0


async def _unread(scene: Scene) -> str:
    before = resident(scene.process.pid)
    paths = [await wheel_path(scene), "/", "/orgs/x/metrics"]
    async with _peak(scene) as strangers:
        with ExitStack() as lines:
            for number in range(STRANGERS):
                await ask_for(scene, lines, paths[number % len(paths)] if number % 2 else paths[0])
            await asyncio.sleep(REST_SECONDS)
    key, run = await _reader_key(scene), await large_run(scene)
    async with _peak(scene) as reader:
        with ExitStack() as lines:
            opened = [
                await ask_for(scene, lines, run, f"X-API-Key: {key}\r\n") for _ in range(READS)
            ]
            await asyncio.sleep(REST_SECONDS)
            answered = sum(map(_is_answered, opened))
    added = max(strangers) - before
    assert added < LEFT_BYTES, f"unread answers to strangers added {added / MIB:.0f} MiB"
    return (
        f"{STRANGERS} unread answers to strangers: {before / MIB:.0f} to {max(strangers) / MIB:.0f}"
        f" MiB; {READS} run details asked for by a reader key, {answered} of them begun: at most"
        f" {max(reader) / MIB:.0f} MiB"
    )


def _is_answered(line: socket.socket) -> bool:
    """Return whether an answer has begun, which may be a refusal."""
    try:
        return line.recv(12, socket.MSG_PEEK) == b"HTTP/1.1 200"
    except OSError:
        return False


@asynccontextmanager
async def _peak(scene: Scene) -> AsyncIterator[list[int]]:
    """Yield what the server holds, again and again."""
    seen = [0]

    async def look() -> None:
        while True:
            seen.append(resident(scene.process.pid))
            await asyncio.sleep(0.1)

    looking = asyncio.create_task(look())
    try:
        yield seen
    finally:
        looking.cancel()


async def _reader_key(scene: Scene) -> str:
    attacker = scene.attacker
    async with (
        attacker.asking(scene.url, headers=attacker.bearer) as http,
        http.post(attacker.path("reader-keys"), json={"name": "unread"}) as answer,
    ):
        assert answer.status == 201, await answer.text()
        return str((await answer.json())["apiKey"])


ATTACK = Attack(
    _unread,
    seconds=60.0,
    before="114 to 327 MiB; at most 1,165 MiB, and 724 after a minute, at 1dfd5083",
)
