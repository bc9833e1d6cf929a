# SPDX-License-Identifier: Apache-2.0
"""1,000 guesses at one password, each from an address of its own, twenty at a time."""

import asyncio
from collections import Counter

from tests.attack.scene import Attack, Scene
from tests.support.running import PASSWORD

GUESSES, AT_ONCE = 1_000, 20
TRIES_AN_HOUR = 100


async def _guess(scene: Scene) -> None:
    statuses: Counter[int] = Counter()
    async with scene.attacker.asking(scene.url) as http:
        first = {"email": scene.victim.email, "password": PASSWORD}
        async with http.post("/api/auth/login", json=first) as answer:
            device = (await answer.json())["deviceToken"]

        async def guess(number: int) -> None:
            body = {"email": scene.victim.email, "password": f"wrong password {number}"}
            address = {"X-Forwarded-For": f"203.0.{number // 200}.{number % 200 + 1}"}
            async with http.post("/api/auth/login", json=body, headers=address) as answer:
                statuses[answer.status] += 1

        for start in range(0, GUESSES, AT_ONCE):
            await asyncio.gather(*(guess(start + number) for number in range(AT_ONCE)))
        own = {**first, "deviceToken": device}
        async with http.post("/api/auth/login", json=own) as answer:
            assert answer.status == 200, f"the owner's device was answered {answer.status}"
    assert statuses[401] <= TRIES_AN_HOUR, f"{statuses[401]} guesses were tried"
    assert statuses.total() == GUESSES


ATTACK = Attack(
    _guess,
    seconds=60.0,
    environment={"HWCI_AUTH_RATE_LIMIT": "", "HWCI_TRUSTED_PROXIES": "127.0.0.66"},
)
