# SPDX-License-Identifier: Apache-2.0
"""Single sign-on in a browser, through a published provider (contract, "Auth"): the whole way, and
who may come in.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from hwci.server.app import CreateUser, SetUserEnabled
from hwci.server.settings import Registration
from tests.server.single_sign_on import CALLBACK, LOGIN, refreshed, who
from tests.support.asking import Reply, ask, bearer, read_reply, say
from tests.support.browsing import browsing
from tests.support.joining import accept, invite, received
from tests.support.providers import mock_provider, sso_file
from tests.support.running import EMAIL, MEMBER_EMAIL, PASSWORD, RunningServer, running_in_thread

NEW = {"sub": "new", "email": "New@Example.org", "email_verified": True, "name": "Nora New"}
OWNER = {"sub": "olga", "email": EMAIL.upper(), "email_verified": True, "name": "Somebody Else"}
UNVERIFIED = {"sub": "eve", "email": MEMBER_EMAIL, "email_verified": False}


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with mock_provider(NEW, OWNER, UNVERIFIED) as found:
        yield found


@contextmanager
def serving(folder: Path, issuer: str, policy: Registration) -> Iterator[RunningServer]:
    file = sso_file(folder, acme=issuer, other=issuer)
    with running_in_thread(folder, registration=policy, sso_file=file) as server:
        yield server


@pytest.fixture(scope="module")
def server(issuer: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that anyone may register at."""
    with serving(tmp_path_factory.mktemp("server"), issuer, Registration.OPEN) as found:
        yield found


@pytest.fixture
def by_invitation(issuer: str, tmp_path: Path) -> Iterator[RunningServer]:
    with serving(tmp_path, issuer, Registration.INVITE) as found:
        yield found


def test_the_providers_are_listed_for_anyone(server: RunningServer) -> None:
    reply = ask(server.url, "GET", "/api/auth/sso")

    assert reply.json == {
        "providers": [{"name": "acme", "title": "Acme"}, {"name": "other", "title": "Other"}]
    }


async def test_a_browser_comes_back_signed_in(server: RunningServer) -> None:
    async with browsing(sub="new") as browser:
        stop = await browser.open(server.url + LOGIN)

        assert stop.url == f"{server.url}/"
        cookie = browser.cookies()["hwci_rt"]
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Strict")
        assert "hwci_sso" not in browser.cookies(), "the ticket is used up"
        me = who(server, browser)
    assert me["user"] == {"id": me["user"]["id"], "email": NEW["email"], "name": NEW["name"]}
    assert me["organizations"] == []


async def test_a_person_who_comes_again_is_the_same_user(server: RunningServer) -> None:
    ids = set()
    for path in (LOGIN, LOGIN.replace("acme", "other")):
        async with browsing(sub="new") as browser:
            await browser.open(server.url + path)
            ids.add(who(server, browser)["user"]["id"])

    assert len(ids) == 1


async def test_a_verified_e_mail_links_the_account_that_has_it(server: RunningServer) -> None:
    async with browsing(sub="olga") as browser:
        await browser.open(server.url + LOGIN)
        me = who(server, browser)

    assert me["user"]["email"] == EMAIL
    assert [org["id"] for org in me["organizations"]] == [str(server.org_id)]
    log = ask(
        server.org_url,
        "GET",
        f"{urlsplit(server.org_url).path}/audit-log?limit=100",
        bearer(server.token),
    ).json["items"]
    assert [entry["target"] for entry in log if entry["action"] == "identity.linked"] == [
        me["user"]["id"]
    ]


async def test_an_e_mail_that_is_not_verified_links_nothing(server: RunningServer) -> None:
    async with browsing(sub="eve") as browser:
        stop = await browser.open(server.url + LOGIN)

    status, message = stop.message
    assert status == 403
    assert "verify it there" in message


async def test_a_person_who_has_no_e_mail_at_the_provider_stays_out(server: RunningServer) -> None:
    async with browsing(sub="never@seen") as browser:  # the mock says no `email_verified`
        stop = await browser.open(server.url + LOGIN)

    assert stop.status == 403


async def test_a_person_who_says_no_at_the_provider_stays_out(server: RunningServer) -> None:
    async with browsing(action="deny") as browser:
        browser.presses = "action"
        stop = await browser.open(server.url + LOGIN)

    assert stop.message == (403, "Acme did not sign you in (access_denied); sign in again")


async def test_without_an_invitation_a_stranger_stays_out(by_invitation: RunningServer) -> None:
    async with browsing(sub="new") as browser:
        stop = await browser.open(by_invitation.url + LOGIN)
        assert stop.message == (
            403,
            "Registration needs an invitation; ask an owner of your organization",
        )
        assert "hwci_rt" not in browser.cookies()


async def test_a_person_who_is_invited_comes_in_and_joins_once_they_accept_without_a_token(
    by_invitation: RunningServer,
) -> None:
    """The provider has verified that the e-mail is theirs; joining is theirs to decide."""
    server = by_invitation
    invite(server, server.token, "new@example.org", "admin")
    async with browsing(sub="new") as browser:
        await browser.open(server.url + LOGIN)
        token = refreshed(server, browser).json["accessToken"]

    assert ask(server.url, "GET", "/api/auth/me", bearer(token)).json["organizations"] == []
    (waiting,) = received(server.url, token)
    assert (waiting["organization"]["id"], waiting["needsToken"]) == (str(server.org_id), False)
    other = accept(server.url, token, waiting["id"], "guess")
    assert other.error[0] == 403, "a token that is sent must be the right one"
    joined = accept(server.url, token, waiting["id"], None).json
    assert (joined["id"], joined["role"]) == (str(server.org_id), "admin")


async def test_a_person_who_has_a_password_needs_the_token_although_a_provider_knows_them(
    by_invitation: RunningServer,
) -> None:
    """Whoever has the password of an account need not be the owner of its e-mail."""
    server = by_invitation
    made = CreateUser(email="new@example.org", password=PASSWORD)
    await asyncio.to_thread(server.operate, made)
    body = {"email": "new@example.org", "password": PASSWORD}
    by_password = ask(server.url, "POST", "/api/auth/login", json_body=body).json["accessToken"]
    invite(server, server.token, "new@example.org")
    async with browsing(sub="new") as browser:
        await browser.open(server.url + LOGIN)
        owner = refreshed(server, browser).json["accessToken"]

    for token in (by_password, owner):
        (waiting,) = received(server.url, token)
        assert waiting["needsToken"] is True
        assert accept(server.url, token, waiting["id"], None).error[0] == 403


async def test_an_invitation_of_who_may_not_invite_any_more_lets_nobody_in(
    by_invitation: RunningServer,
) -> None:
    server, org = by_invitation, urlsplit(by_invitation.org_url).path
    body = {"email": "new@example.org", "role": "member"}
    ask(server.url, "POST", f"{org}/invites", bearer(server.admin_token), json_body=body)
    admin = ask(server.url, "GET", "/api/auth/me", bearer(server.admin_token)).json["user"]
    path = f"{org}/members/{admin['id']}"
    assert ask(server.url, "DELETE", path, bearer(server.token)).status == 204

    async with browsing(sub="new") as browser:
        stop = await browser.open(server.url + LOGIN)
        assert stop.message == (
            403,
            "Registration needs an invitation; ask an owner of your organization",
        )


async def test_a_person_who_has_an_account_needs_no_invitation(
    by_invitation: RunningServer,
) -> None:
    async with browsing(sub="olga") as browser:
        stop = await browser.open(by_invitation.url + LOGIN)

        assert stop.url == f"{by_invitation.url}/"


async def test_a_person_who_is_disabled_learns_that_by_proof_of_a_provider_and_is_not_let_in(
    by_invitation: RunningServer,
) -> None:
    disabled = SetUserEnabled(email=EMAIL, enabled=False)
    await asyncio.to_thread(by_invitation.operate, disabled)

    async with browsing(sub="olga") as browser:
        stop = await browser.open(by_invitation.url + LOGIN)

        assert stop.message == (
            403,
            "This account is disabled; ask the operator of this server",
        )
        assert "hwci_rt" not in browser.cookies()


async def test_an_account_of_a_provider_has_no_password(server: RunningServer) -> None:
    async with browsing(sub="new") as browser:
        await browser.open(server.url + LOGIN)

    for password in ("", "None", "correct horse battery"):
        body = {"email": NEW["email"], "password": password}
        reply = ask(server.url, "POST", "/api/auth/login", json_body=body)
        assert reply.error == (401, "Invalid e-mail or password")


async def test_a_callback_is_good_for_one_sign_in(server: RunningServer) -> None:
    async with browsing(sub="new") as browser:
        stop = await browser.open(server.url + LOGIN, until=CALLBACK)
        ticket = browser.cookies()["hwci_sso"].value
        assert (await browser.open(stop.url)).url == f"{server.url}/"
        again = await browser.open(stop.url)
        assert again.message[0] == 401

    with_ticket = ask(
        server.url, "GET", stop.url.removeprefix(server.url), ("Cookie", f"hwci_sso={ticket}")
    )
    assert with_ticket.error[0] == 401, "the provider takes its code once"


@pytest.mark.parametrize("state", ["", "x", None])
async def test_a_wrong_state_is_refused(server: RunningServer, state: str | None) -> None:
    async with browsing(sub="new") as browser:
        stop = await browser.open(server.url + LOGIN, until=CALLBACK)
        right = parse_qs(urlsplit(stop.url).query)
        query = f"code={right['code'][0]}" + ("" if state is None else f"&state={state}")
        refused = await browser.open(f"{server.url}{CALLBACK}?{query}")

        assert refused.message[0] == 401
        assert "sign in again" in refused.message[1]
        assert "hwci_rt" not in browser.cookies()


async def test_a_browser_that_did_not_begin_the_sign_in_is_refused(server: RunningServer) -> None:
    async with browsing(sub="new") as victim, browsing(sub="new") as attacker:
        stop = await attacker.open(server.url + LOGIN, until=CALLBACK)
        assert (await victim.open(stop.url)).message[0] == 401
        await victim.open(server.url + LOGIN, until=CALLBACK)  # now it has a ticket of its own
        assert (await victim.open(stop.url)).message[0] == 401


async def test_an_answer_of_one_provider_is_not_one_of_another(server: RunningServer) -> None:
    async with browsing(sub="new") as browser:
        stop = await browser.open(server.url + LOGIN, until=CALLBACK)
        mixed_up = await browser.open(stop.url.replace("/acme/", "/other/"))

        assert mixed_up.message[0] == 401
        assert "not started in this browser" in mixed_up.message[1], "the other one is not asked"


def test_a_provider_that_there_is_not_is_404(server: RunningServer) -> None:
    for path in ("/api/auth/sso/none/login", "/api/auth/sso/none/callback?code=1&state=2"):
        reply = ask(server.url, "GET", path)
        assert reply.error == (404, "Provider not found; GET /api/auth/sso lists those there are")


@pytest.mark.parametrize(
    "query",
    [
        "port=80&machine=pc",
        f"challenge={'a' * 43}&machine=pc",
        f"port=80&challenge={'a' * 43}",
        f"port=0&challenge={'a' * 43}&machine=pc",
        "port=80&challenge=short&machine=pc",
        f"port=80&challenge={'a' * 42}%0A&machine=pc",
    ],
)
def test_a_loopback_address_has_a_port_a_challenge_and_a_machine(
    server: RunningServer, query: str
) -> None:
    assert ask(server.url, "GET", f"{LOGIN}?{query}").error == (400, "Validation failed")


def test_the_ticket_is_a_cookie_of_these_routes_that_no_script_reads(
    server: RunningServer,
) -> None:
    reply = ask(server.url, "GET", LOGIN)

    assert reply.status == 302
    name, *attributes = reply.headers["set-cookie"].split("; ")
    assert name.startswith("hwci_sso=")
    assert set(attributes) == {"HttpOnly", "Max-Age=600", "Path=/api/auth/sso", "SameSite=Lax"}
    asked = parse_qs(urlsplit(reply.headers["location"]).query)
    assert asked["redirect_uri"] == [server.url + CALLBACK]
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["scope"] == ["openid email profile"]


def asked_for(reply: Reply) -> str:
    """Return the address that the provider is to send the browser back to."""
    return parse_qs(urlsplit(reply.headers["location"]).query)["redirect_uri"][0]


def test_over_tls_the_ticket_never_travels_without_it(issuer: str, tmp_path: Path) -> None:
    base = "https://hwci.example.org"
    with running_in_thread(
        tmp_path, sso_file=sso_file(tmp_path, acme=issuer), base_url=base
    ) as server:
        reply = ask(server.url, "GET", LOGIN)

    assert reply.headers["set-cookie"].startswith("__Secure-hwci_sso=")
    assert "; Secure" in reply.headers["set-cookie"]
    assert asked_for(reply) == base + CALLBACK


def test_no_request_says_where_a_provider_sends_people_back_to(server: RunningServer) -> None:
    request = f"GET {LOGIN} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"

    assert asked_for(read_reply(say(server.url, request.encode()))) == server.url + CALLBACK


def test_a_trusted_proxy_says_that_people_come_over_tls(issuer: str, tmp_path: Path) -> None:
    proxies = (ip_network("127.0.0.1"),)
    with running_in_thread(
        tmp_path, sso_file=sso_file(tmp_path, acme=issuer), trusted_proxies=proxies
    ) as server:
        reply = ask(server.url, "GET", LOGIN, ("X-Forwarded-Proto", "https"))

    assert reply.headers["set-cookie"].startswith("__Secure-hwci_sso=")
