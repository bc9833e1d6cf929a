# SPDX-License-Identifier: Apache-2.0
"""Single sign-on through the certified provider, with its own login and consent pages; skipped
where Node or its packages cannot be installed.
"""

from collections.abc import Iterator

import pytest

from tests.server.single_sign_on import CALLBACK, LOGIN, who
from tests.support.browsing import browsing
from tests.support.held_port import held_port
from tests.support.providers import certified_provider, sso_file
from tests.support.running import RunningServer, running_in_thread


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("certified")
    with held_port() as port:
        issuer = f"http://127.0.0.1:{port}"
        with (
            running_in_thread(folder, sso_file=sso_file(folder, acme=issuer)) as found,
            certified_provider(folder, issuer, found.url + CALLBACK),
        ):
            yield found


async def test_a_person_who_consents_comes_back_signed_in(server: RunningServer) -> None:
    async with browsing(login="cora", password="any") as browser:
        stop = await browser.open(server.url + LOGIN)

        assert stop.url == f"{server.url}/"
        user = who(server, browser)["user"]
    assert (user["email"], user["name"]) == ("cora@certified.example.org", "Cora Certified")


async def test_a_replayed_callback_is_refused(server: RunningServer) -> None:
    async with browsing(login="cora", password="any") as browser:
        stop = await browser.open(server.url + LOGIN, until=CALLBACK)
        assert "iss=" in stop.url, "this provider names itself"
        ticket = browser.cookies()["hwci_sso"].value
        await browser.open(stop.url)
        browser.http.cookie_jar.update_cookies({"hwci_sso": ticket})
        replayed = await browser.open(stop.url)

    assert replayed.message == (401, "Acme gave no proof of who you are; sign in again")
