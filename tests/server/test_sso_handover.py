# SPDX-License-Identifier: Apache-2.0
"""How the command line takes a sign-in over from the browser: its person says yes on a page that
names who waits, then there is a code at a loopback address, good once, for 60 seconds, and only
with the verifier of who began.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from hwci.wire.sso import challenge_of, code_of
from tests.server.crooked import PERSON, Crooked, crooked_provider, of_now
from tests.support.asking import Header, Reply, ask, bearer
from tests.support.browsing import CONFIRMING_PAGE, Browser, browsing
from tests.support.providers import sso_file
from tests.support.running import Hands, RunningServer, running_in_thread

VERIFIER = "v" * 43
PORT = 40_404
CHALLENGE = challenge_of(VERIFIER)
LOGIN = f"/api/auth/sso/crooked/login?port={PORT}&challenge={CHALLENGE}&machine=lab+PC+%237"
WAITING = "/api/auth/sso/command-line"
YES = {"challenge": CHALLENGE, "accepted": True}
NOBODY_WAITS = (
    401,
    (
        "No command line waits for this browser, or it has waited for more than 10 minutes, or"
        " another sign-in began here since; run hwci login again"
    ),
)
REFUSED = (401, "The code is not valid, has expired or was used before; sign in again")


@pytest.fixture(scope="module")
def provider() -> Iterator[Crooked]:
    with crooked_provider() as found:
        yield found


@pytest.fixture
def server(tmp_path: Path, provider: Crooked, clock: Hands) -> Iterator[RunningServer]:
    of_now(provider, clock)
    file = sso_file(tmp_path, crooked=provider.url)
    with running_in_thread(tmp_path, clock=clock, sso_file=file) as found:
        yield found


async def handed_over(server: RunningServer) -> str:
    """Sign a browser in for the command line, and return the code."""
    async with browsing() as browser:
        stop = await browser.open(server.url + LOGIN, until=f":{PORT}/")
        assert not {"hwci_rt", "hwci_sso"} & browser.cookies().keys(), "it is not signed in itself"
    assert stop.url.startswith(f"http://127.0.0.1:{PORT}/callback?code=")
    return parse_qs(urlsplit(stop.url).query)["code"][0]


async def asked(server: RunningServer, browser: Browser, login: str = LOGIN) -> Header:
    """Sign a browser in for the command line, up to the question; return its cookie."""
    browser.accepts = None
    stop = await browser.open(server.url + login, until=f":{PORT}/")
    assert stop.url == server.url + CONFIRMING_PAGE, "and not at the port that the link named"
    return ("Cookie", f"hwci_sso={browser.cookies()['hwci_sso'].value}")


async def test_a_link_leads_to_a_question_about_who_waits_and_to_no_port(
    server: RunningServer,
) -> None:
    async with browsing() as browser:
        cookie = await asked(server, browser)
        assert "hwci_rt" not in browser.cookies(), "nor is the browser signed in itself"

    assert ask(server.url, "GET", WAITING, cookie).json == {
        "machine": "lab PC #7",
        "port": PORT,
        "code": code_of(CHALLENGE),
        "challenge": CHALLENGE,
        "email": PERSON["email"],
    }
    assert ask(server.url, "GET", WAITING).error == NOBODY_WAITS


async def test_a_person_who_says_no_sends_the_command_line_away_without_a_code(
    server: RunningServer,
) -> None:
    async with browsing() as browser:
        await asked(server, browser)
        browser.accepts = False
        address = urlsplit(await browser.answer(server.url))
        assert "hwci_sso" not in browser.cookies(), "and is asked no more"

    assert address.netloc == f"127.0.0.1:{PORT}"
    assert parse_qs(address.query) == {
        "error": ["You said no in the browser"],
        "challenge": [CHALLENGE],
    }


@pytest.mark.parametrize(
    "header",
    [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ],
)
async def test_no_page_of_another_site_answers_for_a_person(
    server: RunningServer, header: Header
) -> None:
    async with browsing() as browser:
        cookie = await asked(server, browser)

    refused = ask(server.url, "POST", WAITING, cookie, header, json_body=YES)
    assert refused.status == 403
    assert "127.0.0.1" not in refused.body.decode()


async def test_an_answer_counts_for_the_question_that_was_read_alone(server: RunningServer) -> None:
    """A link that is opened in another tab meanwhile changes the cookie, not the page."""
    other = challenge_of("w" * 43)
    async with browsing() as browser:
        await asked(server, browser)
        cookie = await asked(server, browser, LOGIN.replace(CHALLENGE, other))
        browser.accepts = None
        await browser.open(server.url + LOGIN, until="/callback?")
        begun = ("Cookie", f"hwci_sso={browser.cookies()['hwci_sso'].value}")

    assert ask(server.url, "POST", WAITING, cookie, json_body=YES).error == NOBODY_WAITS
    assert ask(server.url, "POST", WAITING, begun, json_body=YES).error == NOBODY_WAITS
    right = ask(server.url, "POST", WAITING, cookie, json_body={**YES, "challenge": other})
    assert right.status == 200


async def test_a_question_waits_ten_minutes(server: RunningServer, clock: Hands) -> None:
    async with browsing() as browser:
        cookie = await asked(server, browser)

    clock.move(minutes=9, seconds=59)
    assert ask(server.url, "GET", WAITING, cookie).status == 200
    clock.move(seconds=1)
    assert ask(server.url, "GET", WAITING, cookie).error == NOBODY_WAITS
    assert ask(server.url, "POST", WAITING, cookie, json_body=YES).error == NOBODY_WAITS


async def test_however_often_a_person_says_yes_there_is_one_sign_in(server: RunningServer) -> None:
    async with browsing() as browser:
        cookie = await asked(server, browser)
    said = [ask(server.url, "POST", WAITING, cookie, json_body=YES).json for _ in range(2)]
    first, second = (parse_qs(urlsplit(url["url"]).query)["code"][0] for url in said)

    assert exchange(server, first).status == 200
    assert exchange(server, second).error == REFUSED


def test_the_name_of_a_machine_has_a_longest_length(server: RunningServer) -> None:
    long = ask(server.url, "GET", f"{LOGIN}&machine={'m' * 64}")
    assert long.issue_paths == [["query", "machine"]]
    assert ask(server.url, "GET", f"{LOGIN}&machine=").issue_paths == [["query", "machine"]]


@pytest.mark.parametrize("at", ["the provider", "the way there"])
async def test_a_refusal_goes_to_who_waits_for_a_code(
    server: RunningServer, provider: Crooked, at: str
) -> None:
    words = "Crooked cannot be reached now; try again in a minute"
    if at == "the provider":
        provider.back = {"code": None, "error": "access_denied"}
        words = "Crooked did not sign you in (access_denied); sign in again"
    else:
        provider.discovery = {"token_endpoint": None}
    try:
        async with browsing() as browser:
            stop = await browser.open(server.url + LOGIN, until=f":{PORT}/")
            assert "hwci_sso" not in browser.cookies()
    finally:
        provider.straighten()

    assert urlsplit(stop.url).netloc == f"127.0.0.1:{PORT}"
    assert parse_qs(urlsplit(stop.url).query) == {
        "error": [words],
        "challenge": [challenge_of(VERIFIER)],
    }


def exchange(server: RunningServer, code: str, verifier: str = VERIFIER) -> Reply:
    body = {"code": code, "verifier": verifier}
    return ask(server.url, "POST", "/api/auth/sso/token", json_body=body)


async def test_a_code_is_exchanged_for_a_sign_in(server: RunningServer) -> None:
    reply = exchange(server, await handed_over(server))

    assert reply.status == 200
    assert reply.json["user"]["email"] == PERSON["email"]
    assert (reply.json["tokenType"], reply.json["expiresIn"]) == ("Bearer", 900)
    me = ask(server.url, "GET", "/api/auth/me", bearer(reply.json["accessToken"]))
    assert me.json["user"] == reply.json["user"]
    body = {"refreshToken": reply.json["refreshToken"]}
    assert ask(server.url, "POST", "/api/auth/refresh", json_body=body).status == 200


async def test_a_code_works_once_and_what_it_gave_works_on(server: RunningServer) -> None:
    code = await handed_over(server)
    first = exchange(server, code).json

    assert exchange(server, code).error == REFUSED
    assert ask(server.url, "GET", "/api/auth/me", bearer(first["accessToken"])).status == 200
    body = {"refreshToken": first["refreshToken"]}
    assert ask(server.url, "POST", "/api/auth/logout", json_body=body).status == 204
    assert exchange(server, code).error == REFUSED, "nor does it after the end of its session"


async def test_one_of_many_simultaneous_uses_of_a_code_signs_in(server: RunningServer) -> None:
    code = await handed_over(server)
    tries = [asyncio.to_thread(exchange, server, code) for _ in range(16)]

    assert Counter([reply.status for reply in await asyncio.gather(*tries)]) == {200: 1, 401: 15}


@pytest.mark.parametrize("verifier", ["", "w" * 43, "v" * 42, "é", challenge_of(VERIFIER)])
async def test_a_code_is_nothing_to_who_did_not_begin(server: RunningServer, verifier: str) -> None:
    code = await handed_over(server)

    assert exchange(server, code, verifier).error == REFUSED
    assert exchange(server, code).status == 200, "and a wrong try does not use it up"


async def test_a_code_lives_sixty_seconds(server: RunningServer, clock: Hands) -> None:
    codes = [await handed_over(server), await handed_over(server)]

    clock.move(seconds=59)
    assert exchange(server, codes[0]).status == 200
    clock.move(seconds=1)
    assert exchange(server, codes[1]).error == REFUSED


async def test_no_other_token_is_a_code_and_a_code_is_no_other_token(
    server: RunningServer,
) -> None:
    async with browsing() as browser:
        await browser.open(server.url + LOGIN, until="/callback?")
        ticket = browser.cookies()["hwci_sso"].value
        stop = await browser.open(server.url + LOGIN, until=f":{PORT}/")
    code = parse_qs(urlsplit(stop.url).query)["code"][0]

    for other in (ticket, server.token, f"{code[:-4]}AAAA", "", "é"):
        assert exchange(server, other).error == REFUSED
    assert exchange(server, code).status == 200
    refused = ask(server.url, "GET", "/api/auth/me", bearer(code))
    assert refused.status == 401, "although the session that it names is there now"
    callback = "/api/auth/sso/crooked/callback?code=x&state=x"
    for other in (code, server.token):
        cookie = ("Cookie", f"hwci_sso={other}")
        assert ask(server.url, "GET", callback, cookie).error[0] == 401
        assert ask(server.url, "GET", WAITING, cookie).error == NOBODY_WAITS


def test_a_body_that_breaks_the_field_rules_is_400(server: RunningServer) -> None:
    assert exchange(server, "x" * 2049).issue_paths == [["body", "code"]]
