# SPDX-License-Identifier: Apache-2.0
"""300 guesses at one password from one address, 100 at once; a new device elsewhere signs in."""

import asyncio
from collections import Counter

from tests.attack.scene import Attack, Scene
from tests.support.running import PASSWORD

GUESSES, AT_ONCE, ROUNDS = 300, 100, 3
OF_ONE_ADDRESS = 10


async def _guess(scene: Scene) -> str:
    guesses: Counter[int] = Counter()
    new_devices: Counter[int] = Counter()
    email = scene.victim.email
    async with scene.attacker.asking(scene.url) as http, scene.victim.asking(scene.url) as owner:

        async def guess(number: int) -> None:
            body = {"email": email, "password": f"wrong password {number}"}
            async with http.post("/api/auth/login", json=body) as answer:
                guesses[answer.status] += 1

        for start in range(0, GUESSES, AT_ONCE):
            await asyncio.gather(*(guess(start + number) for number in range(AT_ONCE)))
            body = {"email": email, "password": PASSWORD}
            async with owner.post("/api/auth/login", json=body) as answer:
                new_devices[answer.status] += 1
    figure = (
        f"{guesses[401]} of {GUESSES} guesses were tried, and a new device elsewhere signed in"
        f" {new_devices[200]} of {ROUNDS} times"
    )
    assert guesses[401] <= OF_ONE_ADDRESS, figure
    assert new_devices == {200: ROUNDS}, figure
    return figure


ATTACK = Attack(
    _guess,
    seconds=20.0,
    before="32 of 300, and a new device elsewhere signed in 0 of 3 times, at 1dfd5083",
    environment={"HWCI_AUTH_RATE_LIMIT": "1000/minute"},
)
