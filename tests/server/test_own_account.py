# SPDX-License-Identifier: Apache-2.0
"""One's own account: a password is changed by who knows it, sign-ins are seen and ended by their
owner, and only the operator resets a password or disables a user (contract, "Auth").
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from hwci.server.app import CommandResult, ResetPassword, SetUserEnabled, operate
from hwci.server.clock import system_clock
from hwci.server.errors import RefusedError, UnauthenticatedError, WrongPasswordError
from hwci.server.security.passwords import Passwords
from hwci.server.security.signing import Signer
from hwci.server.security.tokens import AccessTokens
from hwci.server.services.access import Access
from hwci.server.services.people.accounts import Accounts, new_user
from hwci.server.services.people.own_account import OwnAccount
from hwci.server.settings import Registration, Settings
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage
from hwci.server.storage.records import User
from hwci.wire.accounts import Login, PasswordChange, SignedIn
from tests.support.asking import Header, Reply, ask, bearer, ci_key
from tests.support.databases import about_a_file, query
from tests.support.running import (
    ADMIN_EMAIL,
    EMAIL,
    MEMBER_EMAIL,
    PASSWORD,
    Hands,
    RunningServer,
    report,
    running_in_thread,
)

NEW = "another good password"
WRONG_LOGIN = (401, "Invalid e-mail or password")
ENDED = (401, "The session has ended; sign in again")
NO_LINK = (
    403,
    "The link is unknown, was used or has expired; ask the operator of this server for a new one",
)


class Person(NamedTuple):
    """Somebody who has just registered, with a sign-in."""

    server: RunningServer
    email: str
    token: str

    @property
    def by(self) -> Header:
        return bearer(self.token)

    def login(self, password: str = PASSWORD, agent: str = "") -> Reply:
        body = {"email": self.email, "password": password}
        said = [("User-Agent", agent)] if agent else []
        return ask(self.server.url, "POST", "/api/auth/login", *said, json_body=body)

    def again(self, agent: str = "") -> dict[str, Any]:
        """Sign in once more, as from another device."""
        reply = self.login(agent=agent)
        assert reply.status == 200
        return dict(reply.json)

    def change(self, current: str = PASSWORD, new: str = NEW, *said: Header) -> Reply:
        body = {"currentPassword": current, "newPassword": new}
        return ask(self.server.url, "POST", "/api/auth/password", self.by, *said, json_body=body)

    def sessions(self, query: str = "", token: str | None = None) -> Any:
        path = f"/api/auth/sessions{query}"
        reply = ask(self.server.url, "GET", path, bearer(token or self.token))
        assert reply.status == 200
        return reply.json


def person(server: RunningServer, **fields: str) -> Person:
    email = f"{uuid4().hex}@example.org"
    body = {"email": email, "password": PASSWORD, **fields}
    made = ask(server.url, "POST", "/api/auth/register", json_body=body)
    assert made.status == 201
    return Person(server, email, made.json["accessToken"])


@pytest.fixture
def ada(server: RunningServer) -> Person:
    return person(server, organization="Engines")


def me(server: RunningServer, token: str) -> Reply:
    return ask(server.url, "GET", "/api/auth/me", bearer(token))


def refresh(server: RunningServer, pair: dict[str, Any]) -> Reply:
    body = {"refreshToken": pair["refreshToken"]}
    return ask(server.url, "POST", "/api/auth/refresh", json_body=body)


def reset(server: RunningServer, token: str | None, password: str = NEW) -> Reply:
    body = {"resetToken": token, "newPassword": password}
    return ask(server.url, "POST", "/api/auth/reset", json_body=body)


def command(server: RunningServer, one: ResetPassword | SetUserEnabled) -> CommandResult:
    return server.operate(one)


def link(somebody: Person) -> str | None:
    return command(somebody.server, ResetPassword(email=somebody.email)).reset_token


def switch(somebody: Person, *, enabled: bool) -> int | None:
    one = SetUserEnabled(email=somebody.email, enabled=enabled)
    return command(somebody.server, one).sessions_ended


def recorded(somebody: Person) -> list[tuple[str, str, Any]]:
    """Return what the audit log of a person's organization holds, oldest first."""
    org = me(somebody.server, somebody.token).json["organizations"][0]["id"]
    return entries(somebody.server, org, somebody.by)


def entries(server: RunningServer, org: str, by: Header) -> list[tuple[str, str, Any]]:
    log = ask(server.url, "GET", f"/api/orgs/{org}/audit-log", by).json["items"]
    return [(one["action"], one["actor"]["name"], one["details"]) for one in reversed(log)]


# The password


def test_a_changed_password_ends_every_other_sign_in_and_keeps_this_one(ada: Person) -> None:
    others = [ada.again(), ada.again()]

    reply = ada.change()

    assert (reply.status, reply.json) == (200, {"ended": 2})
    for other in others:
        assert me(ada.server, other["accessToken"]).error == ENDED
        assert refresh(ada.server, other).status == 401
    assert me(ada.server, ada.token).status == 200
    assert ada.login().error == WRONG_LOGIN
    assert ada.login(NEW).status == 200
    assert recorded(ada) == [("password.changed", ada.email, {"sessions": 2})]


def test_a_sign_in_that_changed_its_password_is_renewed_as_before(ada: Person) -> None:
    pair = ada.again()
    ada._replace(token=pair["accessToken"]).change()

    assert refresh(ada.server, pair).status == 200


def test_without_the_current_password_nothing_is_changed(ada: Person) -> None:
    other = ada.again()

    reply = ada.change("a wrong guess of mine")

    assert reply.issue_paths == [["body", "currentPassword"]]
    assert reply.json["issues"][0]["message"] == "Should be the password that you have now"
    assert me(ada.server, other["accessToken"]).status == 200
    assert ada.login().status == 200
    assert recorded(ada) == []


@pytest.mark.parametrize("new", ["short", "aaaaaaaaaaaa", "123456789012", "a\0" + "b" * 12])
def test_a_new_password_keeps_the_rules_of_registration(ada: Person, new: str) -> None:
    assert ada.change(new=new).issue_paths == [["body", "newPassword"]]


def test_a_new_password_is_not_the_e_mail_in_whatever_case(ada: Person) -> None:
    assert ada.change(new=ada.email.upper()).issue_paths == [["body", "newPassword"]]
    assert reset(ada.server, link(ada), ada.email).issue_paths == [["body", "newPassword"]]


def test_a_person_who_has_no_password_learns_whom_to_ask(tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        query(
            server.location, "UPDATE user SET password_hash = '' WHERE email = ?", (MEMBER_EMAIL,)
        )
        member = Person(server, MEMBER_EMAIL, server.member_token)

        status, message = member.change().error
        assert status == 409
        assert message.startswith("This account has no password: you sign in through a provider.")
        assert "hwci admin reset-password" in message
        assert reset(server, link(member)).status == 204
        assert member.login(NEW).status == 200


async def test_one_of_many_simultaneous_changes_wins(ada: Person) -> None:
    words = [f"{NEW} {number}" for number in range(8)]
    replies = await asyncio.gather(
        *(asyncio.to_thread(ada.change, PASSWORD, word) for word in words)
    )

    won = [word for word, reply in zip(words, replies, strict=True) if reply.status == 200]
    assert len(won) == 1
    assert {reply.status for reply in replies} == {200, 400}
    assert [word for word in words if ada.login(word).status == 200] == won


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[RunningServer]:
    """A server that counts wrong passwords, and believes a proxy."""
    trusted = (ip_network("127.0.0.0/8"),)
    with running_in_thread(
        tmp_path, clock=Hands(), auth_rate_limit=None, trusted_proxies=trusted
    ) as server:
        yield server


def from_address(number: int) -> Header:
    return ("X-Forwarded-For", f"192.0.2.{number}")


def test_a_person_who_stole_an_access_token_cannot_guess_the_password_with_it(
    tmp_path: Path,
) -> None:
    hands = Hands()
    trusted = (ip_network("127.0.0.0/8"),)
    with running_in_thread(
        tmp_path, clock=hands, auth_rate_limit="1000/minute", trusted_proxies=trusted
    ) as server:
        member = Person(server, MEMBER_EMAIL, server.member_token)
        tries = [member.change(f"guess {n:012}", NEW, from_address(1)) for n in range(21)]

        assert [one.status for one in tries] == [400] * 20 + [429]
        for address in (1, 2):
            held = member.change(PASSWORD, NEW, from_address(address))
            assert held.status == 429, "not even the right one is looked at, from nowhere"
        body = {"email": MEMBER_EMAIL, "password": PASSWORD}
        login = ask(server.url, "POST", "/api/auth/login", from_address(3), json_body=body)
        owner = Person(server, MEMBER_EMAIL, login.json["accessToken"])
        assert owner.change(PASSWORD, NEW, from_address(3)).status == 200, "nobody else waits"


def test_changes_and_resets_are_limited_as_logins_are(limited: RunningServer) -> None:
    member = Person(limited, MEMBER_EMAIL, limited.member_token)
    changes = [member.change("x", NEW, from_address(3)).status for _ in range(11)]
    assert changes == [400] * 10 + [429]

    body = {"resetToken": "x", "newPassword": NEW}
    resets = [
        ask(limited.url, "POST", "/api/auth/reset", from_address(4), json_body=body).status
        for _ in range(11)
    ]
    assert resets == [403] * 10 + [429]


# Sign-ins


def test_sign_ins_are_listed_newest_first_with_the_present_one_marked(tmp_path: Path) -> None:
    hands = Hands(datetime(2026, 3, 1, 12, tzinfo=UTC))
    with running_in_thread(tmp_path, clock=hands) as server:
        ada = person(server)
        hands.move(days=1)
        pair = ada.again("hwci/1.2.3")
        hands.move(days=1)
        ada.again("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
        renewed = refresh(server, pair).json
        hands.move(minutes=5)

        found = ada.sessions(token=renewed["accessToken"])

    assert (found["total"], found["page"], found["limit"]) == (3, 1, 20)
    assert [set(one) for one in found["items"]] == 3 * [
        {"id", "client", "createdAt", "lastUsedAt", "current"}
    ]
    shown = [
        (one["client"], one["createdAt"][8:10], one["lastUsedAt"][8:10], one["current"])
        for one in found["items"]
    ]
    assert shown == [
        ("Firefox on Linux", "03", "03", False),
        ("hwci command line", "02", "03", True),
        ("another program", "01", "01", False),
    ]


CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36"
SAFARI = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) AppleWebKit/605 Version/18.0 Safari/605"


@pytest.mark.parametrize(
    ("agent", "client"),
    [
        (CHROME, "Chrome on Windows"),
        (f"{CHROME} Edg/140.0", "Edge on Windows"),
        (SAFARI, "Safari on macOS"),
        ("Mozilla/5.0 (Android 15; Mobile) Firefox/140.0", "Firefox on Android"),
        ("Firefox/140.0", "Firefox"),
        ("curl/8.5.0", "another program"),
        ("<script>window.hacked = 1</script>", "another program"),
        ("=1+1 ::error:: ##vso[x]", "another program"),
        ("x" * 4000 + " Chrome/1", "Chrome"),
    ],
)
def test_the_name_of_a_program_is_kept_only_in_our_own_words(
    ada: Person, agent: str, client: str
) -> None:
    ada.again(agent)

    assert ada.sessions()["items"][0]["client"] == client


def test_sign_ins_are_listed_by_pages(ada: Person) -> None:
    for _ in range(2):
        ada.again()

    first, second = ada.sessions("?limit=2"), ada.sessions("?limit=2&page=2")
    assert (len(first["items"]), len(second["items"]), second["total"]) == (2, 1, 3)
    assert second["items"][0]["current"], "the oldest comes last"


def test_one_sign_in_is_ended_at_once_and_no_other(ada: Person) -> None:
    other, kept = ada.again(), ada.again()
    listed = ada.sessions(token=other["accessToken"])["items"]
    (held,) = [one["id"] for one in listed if one["current"]]
    path = f"/api/auth/sessions/{held}"

    assert ask(ada.server.url, "DELETE", path, ada.by).status == 204

    assert me(ada.server, other["accessToken"]).error == ENDED
    assert refresh(ada.server, other).status == 401
    assert refresh(ada.server, kept).status == 200, "it was no second use of a token"
    assert held not in [one["id"] for one in ada.sessions()["items"]]
    assert ask(ada.server.url, "DELETE", path, ada.by).error == (404, "Session not found")
    assert recorded(ada) == [("session.ended", ada.email, {"sessions": 1})]


def test_all_others_are_ended_at_once(ada: Person) -> None:
    others = [ada.again(), ada.again()]

    reply = ask(ada.server.url, "DELETE", "/api/auth/sessions", ada.by)

    assert (reply.status, reply.json) == (200, {"ended": 2})
    assert {me(ada.server, one["accessToken"]).error for one in others} == {ENDED}
    assert [one["current"] for one in ada.sessions()["items"]] == [True]
    again = ask(ada.server.url, "DELETE", "/api/auth/sessions", ada.by)
    assert again.json == {"ended": 0}
    assert recorded(ada) == [("session.ended", ada.email, {"sessions": 2})]


def test_the_sign_ins_of_others_are_nobodys(ada: Person) -> None:
    bob = person(ada.server)
    (held,) = bob.sessions()["items"]

    answers = [
        ask(ada.server.url, "DELETE", f"/api/auth/sessions/{one}", ada.by)
        for one in (held["id"], uuid4(), "nonsense")
    ]

    assert {one.error for one in answers} == {(404, "Session not found")}
    assert me(bob.server, bob.token).status == 200


def test_sign_ins_that_were_signed_out_or_have_expired_are_not_listed(tmp_path: Path) -> None:
    hands = Hands()
    with running_in_thread(tmp_path, clock=hands) as server:
        ada = person(server)
        hands.move(days=6, hours=23)
        out = {"refreshToken": ada.again()["refreshToken"]}
        assert ask(server.url, "POST", "/api/auth/logout", json_body=out).status == 204
        late = ada.again()
        hands.move(hours=1)

        found = ada.sessions(token=refresh(server, late).json["accessToken"])
        assert [one["current"] for one in found["items"]] == [True]


# The operator


def test_a_reset_link_sets_a_password_once_and_ends_every_sign_in(ada: Person) -> None:
    other = ada.again()
    token = link(ada)
    assert me(ada.server, ada.token).status == 200, "the link itself ends nothing"

    assert reset(ada.server, token).status == 204

    for held in (ada.token, other["accessToken"]):
        assert me(ada.server, held).error == ENDED
    assert refresh(ada.server, other).status == 401
    assert reset(ada.server, token, PASSWORD).error == NO_LINK
    assert ada.login().error == WRONG_LOGIN
    back = ada._replace(token=ada.login(NEW).json["accessToken"])
    assert recorded(back) == [
        ("password.reset_link", "operator", {"email": ada.email}),
        ("password.reset", ada.email, {"sessions": 2}),
    ]


@about_a_file
def test_a_reset_link_lives_a_day_and_the_next_takes_its_place(tmp_path: Path) -> None:
    hands = Hands()
    with running_in_thread(tmp_path, clock=hands) as server:
        ada = person(server)
        first, second = link(ada), link(ada)
        assert reset(server, first).error == NO_LINK
        hands.move(hours=24)
        assert reset(server, second).error == NO_LINK
        third = link(ada)
        hands.move(hours=24, microseconds=-1)
        assert reset(server, third).status == 204


def test_a_changed_password_ends_a_link_that_is_open(ada: Person) -> None:
    token = link(ada)
    assert ada.change().status == 200

    assert reset(ada.server, token).error == NO_LINK


@pytest.mark.parametrize("token", ["", "x", "é", "x" * 4096])
def test_a_token_that_was_never_given_resets_nothing(ada: Person, token: str) -> None:
    link(ada)

    assert reset(ada.server, token).error == NO_LINK


async def test_one_of_many_simultaneous_uses_of_a_link_wins(ada: Person) -> None:
    token = await asyncio.to_thread(link, ada)
    words = [f"{NEW} {number}" for number in range(8)]
    replies = await asyncio.gather(
        *(asyncio.to_thread(reset, ada.server, token, word) for word in words)
    )

    assert sorted(reply.status for reply in replies) == [204] + 7 * [403]


def test_a_person_who_is_disabled_is_out_at_once_and_learns_nothing_at_the_sign_in(
    ada: Person,
) -> None:
    other = ada.again()

    assert switch(ada, enabled=False) == 2

    for held in (ada.token, other["accessToken"]):
        assert me(ada.server, held).error == ENDED
    assert refresh(ada.server, other).status == 401
    assert ada.login().error == WRONG_LOGIN == ada.login("a wrong guess").error
    assert switch(ada, enabled=False) == 0, "again changes nothing"
    switch(ada, enabled=True)
    assert me(ada.server, ada.token).error == ENDED, "what has ended stays so"
    back = ada._replace(token=ada.login().json["accessToken"])
    assert recorded(back) == [
        ("user.disabled", "operator", {"email": ada.email}),
        ("user.enabled", "operator", {"email": ada.email}),
    ]


def test_keys_that_somebody_made_go_on_working_when_they_are_disabled(tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        switch(Person(server, EMAIL, server.token), enabled=False)

        key = ci_key(server.ci_key)
        assert ask(server.url, "POST", "/api/ci/run-report", key, json_body=report()).status == 204
        admin = bearer(server.admin_token)
        members = ask(server.url, "GET", f"/api/orgs/{server.org_id}/members", admin).json
        assert EMAIL in [one["user"]["email"] for one in members["items"]]
        result = entries(server, str(server.org_id), admin)
        assert ("user.disabled", "operator", {"email": EMAIL}) in result


def test_invitations_of_who_is_disabled_open_nothing_until_they_are_enabled(
    ada: Person,
) -> None:
    org = me(ada.server, ada.token).json["organizations"][0]["id"]
    email = f"{uuid4().hex}@example.org"
    path, body = f"/api/orgs/{org}/invites", {"email": email, "role": "admin"}
    made = ask(ada.server.url, "POST", path, ada.by, json_body=body).json
    joining = {"email": email, "password": PASSWORD, "inviteToken": made["inviteToken"]}

    switch(ada, enabled=False)
    refused = ask(ada.server.url, "POST", "/api/auth/register", json_body=joining)
    switch(ada, enabled=True)
    joined = ask(ada.server.url, "POST", "/api/auth/register", json_body=joining)

    assert refused.error[0] == 403
    assert (joined.status, joined.json["organization"]["id"]) == (201, org)


def test_a_person_who_is_disabled_is_given_no_link_and_an_open_one_is_void(ada: Person) -> None:
    token = link(ada)
    switch(ada, enabled=False)

    assert reset(ada.server, token).error == NO_LINK
    with pytest.raises(RefusedError, match="is disabled; enable them first"):
        link(ada)
    switch(ada, enabled=True)
    assert reset(ada.server, token).error == NO_LINK


@about_a_file
@pytest.mark.parametrize("runs", [True, False])
def test_the_operators_deeds_are_done_server_or_not(tmp_path: Path, runs: bool) -> None:
    database = str(tmp_path / "hwci.db")
    email = ADMIN_EMAIL.upper()

    def deeds() -> None:
        base = "https://hwci.example.org"
        made = operate(database, ResetPassword(email=email), settings=Settings(base_url=base))
        assert made.base_url == (None if runs else base), "a server that runs knows its own"
        assert len(made.reset_token or "") == 43
        assert operate(database, SetUserEnabled(email=email, enabled=False)).sessions_ended == 1
        assert operate(database, SetUserEnabled(email=email, enabled=True)).sessions_ended == 0
        with pytest.raises(RefusedError, match="There is no user with the e-mail no@one"):
            operate(database, ResetPassword(email="no@one"))
        with pytest.raises(RefusedError, match="There is no user with the e-mail no@one"):
            operate(database, SetUserEnabled(email="no@one", enabled=False))

    with running_in_thread(tmp_path):
        if runs:
            deeds()
    if not runs:
        deeds()


@about_a_file
def test_the_operators_deeds_stand_in_the_servers_log_without_the_link(
    ada: Person, caplog: pytest.LogCaptureFixture
) -> None:
    token = link(ada)
    switch(ada, enabled=False)

    result = [one.getMessage() for one in caplog.records if "operator" in one.getMessage()]
    assert len(result) == 2
    assert all(ada.email in line for line in result)
    assert "ResetPassword" in result[0]
    assert token is not None
    assert token not in caplog.text


# What is decided while a password is compared, which takes its time


class Slow(Passwords):
    """Passwords that are compared for so long that something else is done meanwhile."""

    def __init__(self, meanwhile: Callable[[], Awaitable[object]]) -> None:
        super().__init__()
        self._meanwhile = meanwhile

    async def matches(self, password: str, stored: str | None) -> bool:
        found = await super().matches(password, stored)
        await self._meanwhile()
        return found


class House(NamedTuple):
    """Services over one storage, for a user who has signed in."""

    storage: Storage
    tokens: AccessTokens
    user: User
    pair: SignedIn

    def ended(self) -> Awaitable[int]:
        return self.storage.write(lambda w: w.end_sessions(self.user.id, system_clock()))

    def disabled(self) -> Awaitable[None]:
        return self.storage.write(lambda w: w.set_disabled(self.user.id, system_clock()))

    def changed(self) -> Awaitable[None]:
        return self.storage.write(lambda w: w.set_password(self.user.id, "$argon2id$other"))


@pytest.fixture
async def house() -> AsyncIterator[House]:
    storage, passwords = open_storage("memory:"), Passwords()
    tokens = AccessTokens(Signer(b"k" * 32, system_clock))
    user = new_user(EMAIL, None, await passwords.hash(PASSWORD), system_clock(), proved=True)
    await storage.write(lambda w: w.add_user(user))
    accounts = Accounts(storage, system_clock, passwords, tokens, Registration.CLOSED)
    pair = await accounts.login(Login(email=EMAIL, password=PASSWORD), "a test")
    passwords.close()
    yield House(storage, tokens, user, pair)
    await storage.close()


@pytest.mark.parametrize("deed", [House.disabled, House.changed])
async def test_a_change_of_an_account_while_its_password_is_compared_refuses_the_sign_in(
    house: House, deed: Callable[[House], Awaitable[object]]
) -> None:
    slow = Slow(lambda: deed(house))
    accounts = Accounts(house.storage, system_clock, slow, house.tokens, Registration.CLOSED)

    with pytest.raises(UnauthenticatedError, match="Invalid e-mail or password"):
        await accounts.login(Login(email=EMAIL, password=PASSWORD), "a test")
    slow.close()
    found = await house.storage.read(lambda r: r.open_sessions(house.user.id, system_clock(), 0, 9))
    assert found.total == 1, "the one that was there"


@pytest.mark.parametrize("deed", [House.ended, House.changed])
async def test_a_session_that_ends_while_a_password_is_compared_does_not_change_it(
    house: House, deed: Callable[[House], Awaitable[object]]
) -> None:
    person = await Access(house.storage, system_clock, house.tokens).person(house.pair.access_token)
    slow = Slow(lambda: deed(house))
    own = OwnAccount(house.storage, system_clock, slow)

    with pytest.raises((UnauthenticatedError, WrongPasswordError)):
        await own.change_password(
            person, PasswordChange(current_password=PASSWORD, new_password=NEW)
        )
    slow.close()
    kept = await house.storage.read(lambda r: r.user(house.user.id))
    assert kept is not None
    assert kept.password_hash in {house.user.password_hash, "$argon2id$other"}
