# SPDX-License-Identifier: Apache-2.0
"""A refresh token that was used is used again after each new sign-in of its person."""

from tests.attack.scene import Attack, Scene
from tests.support.running import PASSWORD

TIMES = 20


async def _reuse(scene: Scene) -> str:
    """Sign in as the attacker's own person, again and again; return how many of that ended."""
    person = {"email": scene.attacker.email, "password": PASSWORD}
    async with scene.attacker.asking(scene.url) as http:

        async def signed_in() -> dict[str, str]:
            async with http.post("/api/auth/login", json=person) as answer:
                return dict(await answer.json())

        async def use(token: str) -> int:
            async with http.post("/api/auth/refresh", json={"refreshToken": token}) as answer:
                return answer.status

        stolen = (await signed_in())["refreshToken"]
        assert await use(stolen) == 200
        assert await use(stolen) == 401
        ended = 0
        for _ in range(TIMES):
            own = await signed_in()
            assert await use(stolen) == 401
            bearer = {"Authorization": f"Bearer {own['accessToken']}"}
            async with http.get("/api/auth/me", headers=bearer) as answer:
                ended += answer.status == 401
    assert ended == 0, f"{ended} of {TIMES} later sign-ins were ended by a used token"
    return f"{ended} of {TIMES} later sign-ins were ended by a used token"


ATTACK = Attack(_reuse, seconds=60.0, before="20 of 20 at 1dfd5083")
