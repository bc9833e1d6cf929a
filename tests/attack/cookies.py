# SPDX-License-Identifier: Apache-2.0
"""A hundred thousand cookies of one name in a request, of a device and of a sign-in, by anybody."""

import asyncio
import json
import os
from pathlib import Path

from tests.attack.scene import Attack, Scene

FIELDS, FIELD_BYTES = 120, 8_000  # as many headers, and as long, as the server takes
TIMES = 3
CPU_SECONDS = 1.0
_TICKS = os.sysconf("SC_CLK_TCK")


async def _send(scene: Scene) -> str:
    """Sign in and out with them, a few times; return what one such request cost at most."""
    person = {"email": scene.victim.email, "password": "not this one"}
    devices, sign_ins = _fields("hwci_device=.;"), _fields("hwci_rt=.;")
    requests = [("login", devices, person), ("logout", sign_ins, dict[str, str]())]
    most = 0.0
    for what, cookies, body in requests * TIMES:
        before = _processor_seconds(scene.process.pid)
        status = await _post(scene, what, cookies, {**body, "session": "cookie"})
        assert status in {b"401", b"204"}, f"{what} was answered {status!r}"
        most = max(most, _processor_seconds(scene.process.pid) - before)
    assert most < CPU_SECONDS, f"one request cost {most:.1f} s of the processor"
    count = sum(field.count("=") for field in sign_ins)
    return f"a request with {count:,} cookies costs {most:.2f} s of the processor at most"


def _fields(cookie: str) -> list[str]:
    return [cookie * (FIELD_BYTES // len(cookie))] * FIELDS


async def _post(scene: Scene, what: str, cookies: list[str], body: object) -> bytes:
    """Return the status of a request of a browser that brings cookies."""
    reader, line = await asyncio.open_connection(
        "127.0.0.1", scene.port, local_addr=(scene.attacker.address, 0)
    )
    text = json.dumps(body)
    head = "".join(f"Cookie: {field}\r\n" for field in cookies)
    line.write(
        f"POST /api/auth/{what} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}"
        f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
    )
    answer = await reader.read()
    line.close()
    return answer[9:12]


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


ATTACK = Attack(_send, seconds=60.0, before="5.8 s at 1dfd5083")
