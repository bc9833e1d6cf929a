# SPDX-License-Identifier: Apache-2.0
"""Downloads that a stranger and a reader break off: of the wheel, and of a run with large changes."""

import asyncio
import json
import socket
import struct
from contextlib import closing

from tests.attack.bodies import HEADERS, PATH, largest
from tests.attack.probe import resident
from tests.attack.scene import Attack, Scene

WHEELS, RUNS, AT_ONCE = 200, 20, 10
TAKEN_BYTES = 64 * 1024
RESET = struct.pack("ii", 1, 0)
"""A connection is closed by a reset, and what is on the way is lost."""
MIB = 1024**2


async def _abort(scene: Scene) -> str:
    before = resident(scene.process.pid)
    wheel = await _wheel(scene)
    for _ in range(WHEELS // AT_ONCE):
        await asyncio.gather(*(_begin_and_leave(scene, wheel) for _ in range(AT_ONCE)))
    after_wheels = resident(scene.process.pid)
    run = await _large_run(scene)
    held = [resident(scene.process.pid)]
    for _ in range(RUNS):
        await _begin_and_leave(scene, run, scene.attacker.bearer["Authorization"])
        held.append(resident(scene.process.pid))
    await asyncio.sleep(1)
    figure = (
        f"{WHEELS} aborted wheels: {before / MIB:.0f} to {after_wheels / MIB:.0f} MiB;"
        f" then {RUNS} aborted run details: {held[0] / MIB:.0f}, at most {max(held) / MIB:.0f},"
        f" then {resident(scene.process.pid) / MIB:.0f} MiB"
    )
    assert after_wheels < before + 50 * MIB, figure
    return figure


async def _wheel(scene: Scene) -> str:
    async with scene.attacker.asking(scene.url) as http, http.get("/api/wheel") as answer:
        return str((await answer.json())["path"])


async def _large_run(scene: Scene) -> str:
    """Report a run whose changes are the largest; return the path of its detail."""
    attacker = scene.attacker
    body = await asyncio.to_thread(largest, 1)
    async with attacker.asking(scene.url) as http:
        async with http.post(PATH, data=body, headers={**attacker.key, **HEADERS}) as answer:
            assert answer.status == 204, answer.status
        async with http.get(attacker.path("runs"), headers=attacker.bearer) as answer:
            listed = json.loads(await answer.read())
    return attacker.path(f"runs/{listed['items'][0]['id']}")


async def _begin_and_leave(scene: Scene, path: str, who: str = "") -> None:
    """Ask, take the beginning of the answer, and leave."""
    loop = asyncio.get_running_loop()
    with closing(socket.socket()) as line:
        line.setblocking(False)
        line.bind((scene.attacker.address, 0))
        await loop.sock_connect(line, ("127.0.0.1", scene.port))
        signed = f"Authorization: {who}\r\n" if who else ""
        await loop.sock_sendall(line, f"GET {path} HTTP/1.1\r\nHost: x\r\n{signed}\r\n".encode())
        taken = 0
        while taken < TAKEN_BYTES:
            chunk = await loop.sock_recv(line, TAKEN_BYTES)
            assert chunk, "the server closed the connection"
            taken += len(chunk)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


ATTACK = Attack(_abort, seconds=60.0)
