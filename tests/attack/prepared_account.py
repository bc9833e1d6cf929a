# SPDX-License-Identifier: Apache-2.0
"""An admin registers somebody else's e-mail, and waits for its owner's first single sign-on.

The server of the scene has no provider, so this one is another.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp

from hwci.server.settings import Registration
from tests.attack.scene import Attack, Scene
from tests.support.browsing import browsing
from tests.support.providers import mock_provider, sso_file
from tests.support.running import RunningServer, running_in_thread

VICTIM = {"sub": "vera", "email": "vera@corp.example", "email_verified": True}
STRANGER = {"email": VICTIM["email"], "password": "what the stranger chose"}


async def _prepare(_: Scene) -> str:
    with tempfile.TemporaryDirectory() as folder, mock_provider(VICTIM) as issuer:
        file = sso_file(Path(folder), acme=issuer)
        serving = running_in_thread(Path(folder), registration=Registration.INVITE, sso_file=file)
        with serving as server:
            opened = await _attacked(server)
    assert not opened, f"afterwards the stranger still has: {', '.join(opened)}"
    return "nothing that the stranger prepared opens anything"


async def _attacked(server: RunningServer) -> list[str]:
    """Prepare the account, and let its owner come; return what of the stranger's works then."""
    org = f"/api/orgs/{server.org_id}"
    async with aiohttp.ClientSession(server.url) as http:

        async def post(path: str, body: object, headers: Mapping[str, str]) -> Any:
            async with http.post(path, json=body, headers=headers) as answer:
                return await answer.json() if answer.status in {200, 201} else None

        async def opens(path: str, headers: Mapping[str, str]) -> bool:
            async with http.get(path, headers=headers) as answer:
                return answer.status == 200

        admin = {"Authorization": f"Bearer {server.admin_token}"}
        invitation = {"email": VICTIM["email"], "role": "admin"}
        invited = await post(f"{org}/invites", invitation, admin)
        body = {**STRANGER, "inviteToken": invited["inviteToken"]}
        prepared = await post("/api/auth/register", body, {})
        bearer = {"Authorization": f"Bearer {prepared['accessToken']}"}
        key = await post(f"{org}/reader-keys", {"name": "kept"}, bearer)

        async with browsing(sub=str(VICTIM["sub"])) as browser:
            stop = await browser.open(f"{server.url}/api/auth/sso/acme/login")
            assert stop.url == f"{server.url}/", stop.body
        token = {"refreshToken": prepared["refreshToken"]}
        works = {
            "the password": await post("/api/auth/login", STRANGER, {}) is not None,
            "the sign-in": await opens("/api/auth/me", bearer),
            "its renewal": await post("/api/auth/refresh", token, {}) is not None,
            "a key": await opens("/api/reader-key", {"X-API-Key": key["apiKey"]}),
        }
    return [what for what, does in works.items() if does]


ATTACK = Attack(
    _prepare,
    seconds=60.0,
    before="the password, the sign-in, its renewal and a key worked at 1dfd5083",
)
