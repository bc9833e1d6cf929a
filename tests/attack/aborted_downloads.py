# SPDX-License-Identifier: Apache-2.0
"""Downloads that are broken off: of the wheel by a stranger, and of a run with large changes."""

import asyncio
import socket
import struct
from contextlib import ExitStack

from tests.attack.bodies import HEADERS, PATH, largest
from tests.attack.probe import LEFT_BYTES, resident
from tests.attack.scene import Attack, Scene

WHEELS, RUNS, AT_ONCE = 200, 12, 10
TAKEN_BYTES = 64 * 1024
RECEIVED_BYTES = 16 * 1024
"""What the system of a caller takes that the caller does not read."""
RESET = struct.pack("ii", 1, 0)
"""A connection is closed by a reset, and what is on the way is lost."""
MIB = 1024**2


async def _abort(scene: Scene) -> str:
    before = resident(scene.process.pid)
    wheel = await wheel_path(scene)
    for _ in range(WHEELS // AT_ONCE):
        await asyncio.gather(*(_begin_and_leave(scene, wheel) for _ in range(AT_ONCE)))
    after_wheels = resident(scene.process.pid)
    added = after_wheels - before
    assert added < LEFT_BYTES, f"{WHEELS} aborted wheels added {added / MIB:.0f} MiB"
    run, signed = await large_run(scene), signed_by_owner(scene)
    reported, most = resident(scene.process.pid), 0
    for _ in range(RUNS):
        await _begin_and_leave(scene, run, signed)
        most = max(most, resident(scene.process.pid))
    await asyncio.sleep(1)
    return (
        f"{WHEELS} aborted wheels: {before / MIB:.0f} to {after_wheels / MIB:.0f} MiB;"
        f" then {RUNS} aborted run details: {reported / MIB:.0f}, at most {most / MIB:.0f}, then"
        f" {resident(scene.process.pid) / MIB:.0f} MiB"
    )


async def wheel_path(scene: Scene) -> str:
    """Return the path of the server's wheel."""
    async with scene.attacker.asking(scene.url) as http, http.get("/api/wheel") as answer:
        return str((await answer.json())["path"])


async def large_run(scene: Scene) -> str:
    """Report a run whose changes are the largest; return the path of its detail."""
    attacker = scene.attacker
    body = await asyncio.to_thread(largest, 1)
    async with attacker.asking(scene.url) as http:
        async with http.post(PATH, data=body, headers={**attacker.key, **HEADERS}) as answer:
            assert answer.status == 204, answer.status
        async with http.get(attacker.path("runs"), headers=attacker.bearer) as answer:
            listed = await answer.json()
    return attacker.path(f"runs/{listed['items'][0]['id']}")


def signed_by_owner(scene: Scene) -> str:
    """Return the header of the attacker's owner, as it is sent."""
    return f"Authorization: {scene.attacker.bearer['Authorization']}\r\n"


async def ask_for(scene: Scene, lines: ExitStack, path: str, signed: str = "") -> socket.socket:
    """Send a request, and return its connection, of which nothing was read."""
    loop = asyncio.get_running_loop()
    line = lines.enter_context(socket.socket())
    line.setblocking(False)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_BYTES)
    line.bind((scene.attacker.address, 0))
    await loop.sock_connect(line, ("127.0.0.1", scene.port))
    await loop.sock_sendall(line, f"GET {path} HTTP/1.1\r\nHost: x\r\n{signed}\r\n".encode())
    return line


async def _begin_and_leave(scene: Scene, path: str, signed: str = "") -> None:
    """Ask, take the beginning of the answer, and leave."""
    loop, taken = asyncio.get_running_loop(), 0
    with ExitStack() as lines:
        line = await ask_for(scene, lines, path, signed)
        while taken < TAKEN_BYTES:
            chunk = await loop.sock_recv(line, TAKEN_BYTES)
            assert chunk, "the server closed the connection"
            taken += len(chunk)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


ATTACK = Attack(
    _abort,
    seconds=60.0,
    before="115 to 181 MiB; 190, at most 643, then 541 MiB, at 1dfd5083",
)
