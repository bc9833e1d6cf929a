# SPDX-License-Identifier: Apache-2.0
"""Sign-ins of browsers (contract, "Auth"): the refresh token in a cookie, and whose pages may have
it used.
"""

from collections.abc import Iterator
from http.cookies import SimpleCookie
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from hwci.server.http.cookies import COOKIES_MAX
from tests.support.asking import Header, Reply, ask, bearer
from tests.support.running import (
    ADMIN_EMAIL,
    EMAIL,
    MEMBER_EMAIL,
    PASSWORD,
    RunningServer,
    running_in_thread,
)

BASE_URL = "https://hwci.example.org"
SEVEN_DAYS = "604800"
COOKIE = {"session": "cookie"}
NO_REFRESH = (401, "The refresh token is unknown, has expired or was used before; sign in again")
NO_COOKIE = (401, "The cookie of the sign-in is missing, or there are several; sign in again")


def post(server: RunningServer, what: str, body: Any, *headers: Header) -> Reply:
    return ask(server.url, "POST", f"/api/auth/{what}", *headers, json_body=body)


def login(server: RunningServer, email: str = MEMBER_EMAIL, *headers: Header) -> Reply:
    return post(server, "login", {"email": email, "password": PASSWORD, **COOKIE}, *headers)


def cookie(reply: Reply) -> Any:
    """Return the one cookie that a reply sets, with its attributes."""
    (found,) = SimpleCookie(reply.headers["set-cookie"]).values()
    return found


def held(reply: Reply) -> Header:
    """Return the header that a browser sends from then on."""
    found = cookie(reply)
    return ("Cookie", f"{found.key}={found.value}")


def is_in(server: RunningServer, reply: Reply) -> bool:
    token = reply.json["accessToken"]
    return ask(server.url, "GET", "/api/auth/me", bearer(token)).status == 200


def test_the_token_is_in_a_cookie_that_no_script_can_read_and_in_no_answer(
    server: RunningServer,
) -> None:
    first = login(server)
    second = post(server, "refresh", COOKIE, held(first))
    body = {"email": "browser@example.org", "password": PASSWORD, **COOKIE}
    registered = post(server, "register", body)

    assert [reply.status for reply in (first, second, registered)] == [200, 200, 201]
    assert len({cookie(reply).value for reply in (first, second, registered)}) == 3
    for reply in (first, second, registered):
        found = cookie(reply)
        assert reply.json["refreshToken"] is None
        assert found.value.encode() not in reply.body
        assert (found.key, found["path"]) == ("hwci_rt", "/api/auth")
        assert (found["httponly"], found["samesite"]) == (True, "Strict")
        assert (found["max-age"], found["secure"]) == (SEVEN_DAYS, "")
        assert is_in(server, reply)


def test_a_client_that_does_not_ask_for_a_cookie_gets_none(server: RunningServer) -> None:
    body = {"email": MEMBER_EMAIL, "password": PASSWORD, "session": "token"}
    reply = post(server, "login", body)
    renewed = post(server, "refresh", {"refreshToken": reply.json["refreshToken"]})

    assert reply.json["refreshToken"]
    assert "set-cookie" not in reply.headers
    assert "set-cookie" not in renewed.headers


def test_a_cookie_that_nobody_asked_for_is_ignored(server: RunningServer) -> None:
    browser, program = (
        login(server),
        post(server, "login", {"email": MEMBER_EMAIL, "password": PASSWORD}),
    )
    renewed = post(server, "refresh", {"refreshToken": program.json["refreshToken"]}, held(browser))
    without = post(server, "refresh", {}, held(browser))

    assert renewed.status == 200
    assert "set-cookie" not in renewed.headers
    assert without.issue_paths == [["body"]]
    assert post(server, "refresh", COOKIE, held(browser)).status == 200


def test_a_cookie_used_twice_ends_every_session_and_is_cleared(server: RunningServer) -> None:
    first, other = login(server, ADMIN_EMAIL), login(server, ADMIN_EMAIL)
    second = post(server, "refresh", COOKIE, held(first))
    somebody_else = login(server)

    again = post(server, "refresh", COOKIE, held(first))

    assert again.error == NO_REFRESH
    assert again.headers["www-authenticate"].startswith("Bearer")
    assert (cookie(again).value, cookie(again)["max-age"]) == ("", "0")
    assert cookie(again)["path"] == "/api/auth"
    assert not any(is_in(server, reply) for reply in (first, second, other))
    assert is_in(server, somebody_else)


def test_signing_out_ends_the_session_and_clears_the_cookie(server: RunningServer) -> None:
    ended, kept = login(server), login(server)
    reply = post(server, "logout", COOKIE, held(ended))

    assert reply.status == 204
    assert (cookie(reply).value, cookie(reply)["max-age"]) == ("", "0")
    assert not is_in(server, ended)
    assert is_in(server, kept)
    assert post(server, "refresh", COOKIE, held(ended)).error == NO_REFRESH
    assert post(server, "logout", COOKIE).status == 204, "without a cookie one is signed out"


def test_without_its_cookie_a_browser_is_not_signed_in(server: RunningServer) -> None:
    value = cookie(login(server)).value
    for sent in ("", "other=1", f"Hwci_rt={value}", f"__Secure-hwci_rt={value}", "hwci_rt"):
        headers = [("Cookie", sent)] if sent else []
        assert post(server, "refresh", COOKIE, *headers).error in (NO_COOKIE, NO_REFRESH)


def test_two_cookies_of_one_name_are_not_believed_and_both_sign_out(
    server: RunningServer,
) -> None:
    mine, planted = login(server), login(server, EMAIL)
    both = ("Cookie", f"{held(planted)[1]}; theme=dark; {held(mine)[1]}")

    assert post(server, "refresh", COOKIE, both).error == NO_COOKIE
    odd = ("Cookie", f"hwci_rt=a=b; {held(mine)[1]}")
    assert post(server, "refresh", COOKIE, odd).error == NO_COOKIE, "it holds a sign of equality"
    assert is_in(server, mine)
    assert post(server, "logout", COOKIE, both).status == 204
    assert not is_in(server, mine)


from_another_site = pytest.mark.parametrize(
    "header",
    [
        ("Origin", "https://evil.example"),
        ("Origin", "http://127.0.0.1:1"),
        ("Origin", "null"),
        ("Origin", ""),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
        ("Sec-Fetch-Site", "none"),
        ("Sec-Fetch-Site", ""),
    ],
)


def test_only_the_first_few_cookies_of_a_name_are_read_however_many_come(
    server: RunningServer,
) -> None:
    replies = [login(server) for _ in range(COOKIES_MAX + 1)]
    spelled = "; ".join(held(reply)[1] for reply in replies)
    # A name or a value that only looks like ours is no cookie of ours.
    others = "x_hwci_rt=1; x=hwci_rt=1; hwci_rt_=1; hwci_rt =1"

    assert post(server, "logout", COOKIE, ("Cookie", f"{others}; {spelled}")).status == 204
    assert [is_in(server, reply) for reply in replies] == [False] * COOKIES_MAX + [True]


@pytest.mark.parametrize("what", ["refresh", "logout"])
@from_another_site
def test_pages_of_another_site_cannot_have_the_cookie_used(
    server: RunningServer, what: str, header: Header
) -> None:
    signed_in = login(server)
    reply = post(server, what, COOKIE, held(signed_in), header)

    assert reply.error[0] == 403
    assert "set-cookie" not in reply.headers
    assert is_in(server, signed_in)
    assert post(server, "refresh", COOKIE, held(signed_in)).status == 200


@from_another_site
def test_pages_of_another_site_cannot_sign_a_browser_in_and_make_no_account(
    server: RunningServer, header: Header
) -> None:
    """Neither as another, nor with a wrong password, which would reveal whether it is right."""
    name = f"{header[0]}-{header[1]}".encode().hex()
    made = {"email": f"{name}@example.org", "password": PASSWORD}
    for what, body in (("register", made), ("login", {"email": MEMBER_EMAIL, "password": "no"})):
        reply = post(server, what, {**body, **COOKIE}, header)
        assert reply.error[0] == 403
        assert "set-cookie" not in reply.headers
    signed_in = login(server, MEMBER_EMAIL, header)

    assert signed_in.error[0] == 403
    assert "set-cookie" not in signed_in.headers
    assert post(server, "login", made).error[0] == 401, "no account was made"
    assert post(server, "login", {**made, "email": MEMBER_EMAIL}, header).status == 200


def test_a_form_of_another_site_cannot_have_the_cookie_used(server: RunningServer) -> None:
    signed_in = login(server)
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        headers = (held(signed_in), ("Content-Type", kind))
        path = "/api/auth/logout"
        reply = ask(server.url, "POST", path, *headers, data=b'{"session": "cookie"}')
        assert reply.error[0] == 415
    assert is_in(server, signed_in)


def test_our_own_pages_may_use_the_cookie(server: RunningServer) -> None:
    own = (("Origin", server.url), ("Sec-Fetch-Site", "same-origin"))
    first = login(server, MEMBER_EMAIL, *own)
    second = post(server, "refresh", COOKIE, held(first), *own)

    assert second.status == 200
    assert post(server, "logout", COOKIE, held(second), *own).status == 204


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that people reach over TLS, at another address than its own."""
    folder: Path = tmp_path_factory.mktemp("public")
    with running_in_thread(folder, base_url=BASE_URL) as running:
        yield running


def test_where_people_use_tls_the_cookie_is_secure_and_its_name_says_so(
    public: RunningServer,
) -> None:
    first = login(public)
    own = (("Origin", BASE_URL), ("Sec-Fetch-Site", "same-origin"))
    second = post(public, "refresh", COOKIE, held(first), *own)
    third = post(public, "logout", COOKIE, held(second), ("Origin", public.url))

    for reply in (first, second, third):
        assert cookie(reply).key == "__Secure-hwci_rt"
        assert cookie(reply)["secure"] is True
    plain = ("Cookie", held(login(public))[1].removeprefix("__Secure-"))
    assert post(public, "refresh", COOKIE, plain).error == NO_COOKIE


def test_a_trusted_proxys_word_makes_the_cookie_secure_and_nobody_elses(
    tmp_path: Path, server: RunningServer
) -> None:
    said = ("X-Forwarded-Proto", "https")
    with running_in_thread(tmp_path, trusted_proxies=(ip_network("127.0.0.1"),)) as proxied:
        assert cookie(login(proxied, MEMBER_EMAIL, said)).key == "__Secure-hwci_rt"
        assert cookie(login(proxied)).key == "hwci_rt"
    assert cookie(login(server, MEMBER_EMAIL, said)).key == "hwci_rt"
