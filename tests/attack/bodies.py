# SPDX-License-Identifier: Apache-2.0
"""Bodies that cost far more than their bytes, and the largest legal reports, several at once."""

import asyncio
import gzip
import json
from collections.abc import Sequence

import aiohttp

from hwci.wire import limits
from tests.attack.scene import Attack, Scene
from tests.support.running import report

AT_ONCE = 8
PATH = "/api/ci/run-report"
HEADERS = {"Content-Type": "application/json"}
MILLION = 1_000_000
TAKEN, REFUSED, LATER = 204, {400, 413}, 503


def _with(extra: str) -> bytes:
    return json.dumps(report(extra="?")).replace('"?"', extra).encode()


def _bombs() -> Sequence[bytes]:
    """Return small bodies of gzip with many names twice, many names, values, and faults."""
    names = ",".join(f'"{number:x}":0' for number in range(MILLION))
    unique = ",".join(f'"{number:x}":0' for number in range(MILLION // 2 - 100))
    files = {"sha": "b" * 40, "subject": "", "files": [""] * limits.FILES_MAX}
    faults = {"base_sha": None, "commits": [files] * limits.COMMITS_MAX}
    plain = (
        _with("[" + '{"a":1,"a":1},' * 600_000 + "0]"),
        _with("{" + names + "}"),
        _with("{" + unique + "}"),
        _with("[" + "[]," * (MILLION // 2 - 100) + "[]]"),
        json.dumps(report(changes=faults)).encode(),
    )
    return [gzip.compress(body, 6) for body in plain]


def largest(number: int) -> bytes:
    """Return a legal report of 31 MiB, of another run each."""
    files = [f"{place:04}".ljust(60, "x") for place in range(limits.FILES_MAX)]
    commits = [
        {"sha": f"{place + number * 1_000:040x}", "subject": "s", "files": files}
        for place in range(limits.COMMITS_MAX)
    ]
    changes = {"base_sha": None, "commits": commits}
    return json.dumps(report(run_id=number, changes=changes), separators=(",", ":")).encode()


UNCLOSED = b'{"a":1,"a":1,"' + b'\\"' * ((limits.BODY_BYTES - 14) // 2)
"""Names twice, and text that does not end, of nothing but quotes: who is not known may send it."""


async def _bodies(scene: Scene) -> None:
    bombs = await asyncio.to_thread(_bombs)
    legal = await asyncio.to_thread(largest, 1)
    async with scene.attacker.asking(scene.url, headers={**scene.attacker.key, **HEADERS}) as http:
        answers = await asyncio.gather(*(_sent(http, legal, {}) for _ in range(AT_ONCE)))
        assert {*answers} <= {TAKEN, LATER}, answers
        assert TAKEN in answers, answers
        for path in ("/api/auth/login", PATH):
            answers = await asyncio.gather(
                *(_sent(http, UNCLOSED, {}, path) for _ in range(AT_ONCE))
            )
            assert {*answers} <= REFUSED, answers
        for bomb in bombs:
            coded = {"Content-Encoding": "gzip"}
            answers = await asyncio.gather(*(_sent(http, bomb, coded) for _ in range(AT_ONCE)))
            assert {*answers} <= REFUSED | {TAKEN, LATER}, answers


async def _sent(
    http: aiohttp.ClientSession, body: bytes, headers: dict[str, str], path: str = PATH
) -> int:
    async with http.post(path, data=body, headers=headers) as answer:
        return answer.status


ATTACK = Attack(_bodies, seconds=300.0)
