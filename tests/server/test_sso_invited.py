# SPDX-License-Identifier: Apache-2.0
"""Somebody comes in by an invitation through a provider, as with a password, whatever that says of
their e-mail: it proves nothing, and opens no account that there is (contract, "Auth"; ADR 0017).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from hwci.server.app import serving as serving_at
from hwci.server.settings import Registration, Settings
from tests.server.crooked import Crooked, crooked_provider, of_now
from tests.server.single_sign_on import CALLBACK, LOGIN, refreshed, who
from tests.support.asking import Reply, ask, bearer
from tests.support.browsing import Browser, Stop, browsing
from tests.support.held_port import held_port
from tests.support.joining import invite, received
from tests.support.providers import sso_file
from tests.support.running import EMAIL, PASSWORD, Hands, RunningServer, running_in_thread

ADA = "ada@corp.example"


@pytest.fixture(scope="module")
def running() -> Iterator[Crooked]:
    with crooked_provider() as provider:
        yield provider


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def provider(running: Crooked, clock: Hands) -> Crooked:
    """A provider that says nothing of an e-mail."""
    running.straighten()
    of_now(running, clock)
    speak(running, "ada", email=ADA)
    return running


def speak(provider: Crooked, subject: str, **claims: Any) -> None:
    """Have the provider send this person next, with nothing of an e-mail but what `claims` has."""
    person = {"sub": subject, "email": None, "email_verified": None, "name": "Ada", **claims}
    provider.claims |= person
    provider.userinfo = person


@contextmanager
def serving(
    folder: Path, provider: Crooked, clock: Hands, policy: Registration
) -> Iterator[RunningServer]:
    file = sso_file(folder, acme=provider.url)
    with running_in_thread(folder, clock=clock, registration=policy, sso_file=file) as server:
        yield server


@pytest.fixture
def server(provider: Crooked, clock: Hands, tmp_path: Path) -> Iterator[RunningServer]:
    with serving(tmp_path, provider, clock, Registration.INVITE) as server:
        yield server


async def begin(browser: Browser, server: RunningServer, **body: str) -> tuple[int, Any]:
    """Begin as the set-up page does."""
    async with browser.http.post(server.url + LOGIN, json=body) as answer:
        return answer.status, await answer.json()


async def come(browser: Browser, server: RunningServer, email: str, token: str) -> Stop:
    status, begun = await begin(browser, server, email=email, inviteToken=token)
    assert status == 200, begun
    return await browser.open(begun["url"])


def invited(server: RunningServer, email: str = ADA, role: str = "member") -> str:
    return str(invite(server, server.token, email, role).json["inviteToken"])


def entries(server: RunningServer) -> list[str]:
    path = f"{server.org_url}/audit-log?limit=100"
    log = ask(server.url, "GET", path, bearer(server.token)).json["items"]
    return [entry["action"] for entry in log]


async def test_an_invitation_makes_the_account_and_the_membership_and_links_the_person(
    server: RunningServer,
) -> None:
    token = invited(server, role="admin")
    async with browsing() as browser:
        stop = await come(browser, server, ADA.upper(), token)
        assert stop.url == f"{server.url}/", stop.body
        first = who(server, browser)
    async with browsing() as browser:  # without the invitation
        await browser.open(server.url + LOGIN)
        second = who(server, browser)

    assert first["user"]["email"] == ADA.upper()
    assert first["user"]["name"] == "Ada"
    assert [(org["id"], org["role"]) for org in first["organizations"]] == [
        (str(server.org_id), "admin")
    ]
    assert second == first
    assert {"identity.linked", "member.added"} <= set(entries(server))


async def test_a_person_without_any_e_mail_at_the_provider_comes_in_by_an_invitation(
    provider: Crooked, server: RunningServer
) -> None:
    speak(provider, "robot")
    async with browsing() as browser:
        await come(browser, server, ADA, invited(server))
        assert who(server, browser)["user"]["email"] == ADA


async def test_an_invitation_is_used_once(provider: Crooked, server: RunningServer) -> None:
    token = invited(server)
    async with browsing() as browser:
        await come(browser, server, ADA, token)
    speak(provider, "eve", email=ADA)
    async with browsing() as browser:
        status, answer = await begin(browser, server, email=ADA, inviteToken=token)

    assert (status, answer["message"]) == (
        403,
        "The invitation is unknown, was used or withdrawn, or has expired; ask for a new one",
    )


async def test_two_sign_ins_that_began_with_one_invitation_make_one_account(
    provider: Crooked, server: RunningServer
) -> None:
    token = invited(server)
    async with browsing() as first, browsing() as second:
        _, begun = await begin(second, server, email=ADA, inviteToken=token)
        await come(first, server, ADA, token)
        speak(provider, "eve", email=ADA)
        stop = await second.open(begun["url"])

        assert stop.message[0] == 403
        assert "hwci_rt" not in second.cookies()


@pytest.mark.parametrize(
    ("email", "token", "reason"),
    [
        ("eve@corp.example", None, "The invitation is for another e-mail"),
        (ADA, "guess", "The invitation is unknown"),
    ],
)
async def test_an_invitation_is_for_the_e_mail_that_was_invited(
    provider: Crooked, server: RunningServer, email: str, token: str | None, reason: str
) -> None:
    async with browsing() as browser:
        body = {"email": email, "inviteToken": token or invited(server)}
        status, answer = await begin(browser, server, **body)

        assert status == 403
        assert answer["message"].startswith(reason)
        assert "hwci_sso" not in browser.cookies()
    assert provider.asked["/authorize"] == 0


async def test_an_invitation_opens_no_account_that_there_is(server: RunningServer) -> None:
    """Whoever invited the e-mail has the token."""
    token = invited(server)
    body = {"email": ADA, "password": PASSWORD, "inviteToken": token}
    assert ask(server.url, "POST", "/api/auth/register", json_body=body).status == 201
    org = ask(server.url, "POST", "/api/orgs", bearer(server.token), json_body={"name": "B"}).json
    again = ask(
        *(server.url, "POST", f"/api/orgs/{org['id']}/invites", bearer(server.token)),
        json_body={"email": ADA, "role": "member"},
    ).json["inviteToken"]
    async with browsing() as browser:
        status, answer = await begin(browser, server, email=ADA, inviteToken=again)

    assert status == 403
    assert "which an invitation does not open" in answer["message"]


async def test_who_was_invited_proved_nothing_to_who_proves_the_e_mail_later(
    provider: Crooked, server: RunningServer
) -> None:
    """A stranger who invited the e-mail and came through their own sign-in keeps nothing of it."""
    speak(provider, "stranger", email="stranger@elsewhere.example")
    async with browsing() as stranger:
        await come(stranger, server, ADA, invited(server))
        before = who(server, stranger)
        speak(provider, "ada", email=ADA, email_verified=True)
        async with browsing() as owner:
            await owner.open(server.url + LOGIN)
            after = who(server, owner)
        assert refreshed(server, stranger).status == 401
        speak(provider, "stranger", email="stranger@elsewhere.example")
        stop = await stranger.open(server.url + LOGIN)

    assert after["user"]["email"] == ADA
    assert after["user"]["id"] != before["user"]["id"]
    assert after["organizations"] == []
    assert stop.message == (403, "This account is disabled; ask the operator of this server")


async def test_who_came_by_an_invitation_needs_the_token_of_the_next(
    server: RunningServer,
) -> None:
    async with browsing() as browser:
        await come(browser, server, ADA, invited(server))
        token = refreshed(server, browser).json["accessToken"]
    org = ask(server.url, "POST", "/api/orgs", bearer(server.token), json_body={"name": "B"}).json
    path, body = f"/api/orgs/{org['id']}/invites", {"email": ADA, "role": "member"}
    assert ask(server.url, "POST", path, bearer(server.token), json_body=body).status == 201

    (waiting,) = received(server.url, token)
    assert waiting["needsToken"] is True


NOT_USED = "Your sign-in has an account here, so the invitation was not used"


def notice(browser: Browser) -> str:
    return unquote(browser.cookies()["hwci_notice"].value)


async def test_an_account_of_an_e_mail_that_counts_goes_before_the_invitation(
    provider: Crooked, server: RunningServer
) -> None:
    """At the first sign-in, which links it, as at the next."""
    speak(provider, "olga", email=EMAIL, email_verified=True)
    for _ in range(2):
        async with browsing() as browser:
            await come(browser, server, ADA, invited(server))

            assert who(server, browser)["user"]["email"] == EMAIL
            assert notice(browser).startswith(NOT_USED)
    async with browsing() as browser:
        await browser.open(server.url + LOGIN)
        assert "hwci_notice" not in browser.cookies(), "there was no invitation"


async def test_an_invitation_that_another_account_takes_no_part_in_is_told_beside_its_notice(
    provider: Crooked, server: RunningServer
) -> None:
    token = invited(server, email="ada.l@corp.example")
    body = {"email": "ada.l@corp.example", "password": PASSWORD, "inviteToken": token}
    assert ask(server.url, "POST", "/api/auth/register", json_body=body).status == 201
    speak(provider, "ada", email="ada.l@corp.example", email_verified=True)
    async with browsing() as browser:
        await come(browser, server, ADA, invited(server))

        assert "You have a new one" in notice(browser)
        assert f". {NOT_USED}" in notice(browser)


@pytest.mark.parametrize(
    ("stated", "needs_token"), [("ada.l@corp.example", True), (ADA, False), (ADA.upper(), False)]
)
async def test_an_invitation_counts_where_the_provider_verifies_an_e_mail(
    provider: Crooked, server: RunningServer, stated: str, needs_token: bool
) -> None:
    """It makes the account that was invited, and proves it if that is the verified e-mail."""
    speak(provider, "ada", email=stated, email_verified=True)
    async with browsing() as browser:
        stop = await come(browser, server, ADA, invited(server))
        assert stop.url == f"{server.url}/", stop.body
        assert "hwci_notice" not in browser.cookies()
        token = refreshed(server, browser).json["accessToken"]
    person = ask(server.url, "GET", "/api/auth/me", bearer(token)).json
    org = ask(server.url, "POST", "/api/orgs", bearer(server.token), json_body={"name": "B"}).json
    path, body = f"/api/orgs/{org['id']}/invites", {"email": ADA, "role": "member"}
    assert ask(server.url, "POST", path, bearer(server.token), json_body=body).status == 201

    assert person["user"]["email"] == (ADA if needs_token else stated)
    assert [joined["id"] for joined in person["organizations"]] == [str(server.org_id)]
    assert received(server.url, token)[0]["needsToken"] is needs_token


@pytest.mark.parametrize("policy", list(Registration))
@pytest.mark.parametrize("stated", ["ada.l@corp.example", ADA])
async def test_the_first_user_registers_through_a_provider_that_verifies_e_mails(
    provider: Crooked, clock: Hands, tmp_path: Path, policy: Registration, stated: str
) -> None:
    speak(provider, "ada", email=stated, email_verified=True)
    with held_port() as port:
        settings = Settings(
            database=str(tmp_path / "hwci.db"),
            port=port,
            base_url=f"http://127.0.0.1:{port}",
            registration=policy,
            sso_file=sso_file(tmp_path, acme=provider.url),
        )
        async with serving_at(settings, clock=clock) as server, browsing() as browser:
            body = {"email": ADA, "inviteToken": server.set_up_token}
            async with browser.http.post(server.url + LOGIN, json=body) as answer:
                begun = await answer.json()
            stop = await browser.open(begun["url"])
            assert stop.url == f"{server.url}/", stop.body
            assert "hwci_rt" in browser.cookies()


async def test_a_closed_server_takes_nobody_by_an_invitation(
    provider: Crooked, clock: Hands, tmp_path: Path
) -> None:
    with serving(tmp_path, provider, clock, Registration.CLOSED) as server:
        token = invited(server)
        async with browsing() as browser:
            status, answer = await begin(browser, server, email=ADA, inviteToken=token)

    assert status == 403
    assert answer["message"].startswith("Registration is closed")


async def test_what_was_invited_is_checked_again_when_the_browser_is_back(
    server: RunningServer,
) -> None:
    token = invited(server)
    async with browsing() as browser:
        _, begun = await begin(browser, server, email=ADA, inviteToken=token)
        stop = await browser.open(begun["url"], until=CALLBACK)
        invited(server)  # in place of the first
        refused = await browser.open(stop.url)

    assert refused.message[0] == 403
    assert "withdrawn" in refused.message[1]


@pytest.mark.parametrize(
    ("name", "value"), [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")]
)
def test_a_page_of_another_site_begins_nothing(
    server: RunningServer, name: str, value: str
) -> None:
    body = {"email": ADA, "inviteToken": invited(server)}
    reply: Reply = ask(server.url, "POST", LOGIN, (name, value), json_body=body)

    assert reply.status == 403
    assert "set-cookie" not in reply.headers


def test_the_token_of_an_invitation_is_in_no_address(server: RunningServer) -> None:
    token = invited(server)
    reply = ask(server.url, "POST", LOGIN, json_body={"email": ADA, "inviteToken": token})

    assert reply.status == 200
    assert token not in reply.json["url"]
