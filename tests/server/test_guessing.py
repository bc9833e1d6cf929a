# SPDX-License-Identifier: Apache-2.0
"""Passwords that are guessed: few tries in all, however many the addresses, and none that holds up
a device on which the account signed in before; from one address so few that a new device elsewhere
signs in meanwhile (contract, "Everywhere").
"""

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hwci.server.clock import system_clock
from hwci.server.errors import RateLimitedError, UnauthenticatedError
from hwci.server.security.rate_limiter import RateLimiter
from hwci.server.services.rate_limits import RateLimits
from hwci.server.settings import Settings
from hwci.wire.limits import DEVICE_TOKEN_LIFETIME
from tests.support.held_port import valkey_server
from tests.support.running import ADMIN_EMAIL, EMAIL, PASSWORD, Hands, RunningServer, running
from tests.support.soak import rounds

LOGIN = "/api/auth/login"
NOBODY = "nobody@example.org"
TRIES_AN_HOUR = 100


@asynccontextmanager
async def guarded(folder: Path, hands: Hands) -> AsyncIterator[RunningServer]:
    """Run a server with the usual limits, behind a proxy that says where requests come from."""
    proxies = (ip_network("127.0.0.0/8"),)
    async with running(
        folder, hands, rate_limit="100/minute", auth_rate_limit=None, trusted_proxies=proxies
    ) as server:
        hands.move(hours=2)  # what signed in while the server was made is long ago
        yield server


async def login(
    server: RunningServer,
    address: str,
    email: str = EMAIL,
    password: str = "wrong password",
    **more: Any,
) -> tuple[int, Any, Any]:
    """Return the status, the body and the cookies of a try."""
    body = {"email": email, "password": password, **more}
    jar = aiohttp.DummyCookieJar()
    async with (
        aiohttp.ClientSession(server.url, cookie_jar=jar) as http,
        http.post(LOGIN, json=body, headers={"X-Forwarded-For": address}) as answer,
    ):
        return answer.status, await answer.json(), answer.cookies


def addresses(count: int) -> list[str]:
    return [f"203.0.{number // 200}.{number % 200 + 1}" for number in range(count)]


@pytest.mark.parametrize("email", [EMAIL, NOBODY])
async def test_an_account_takes_100_tries_an_hour_from_however_many_addresses(
    tmp_path: Path, email: str
) -> None:
    hands = Hands()
    async with guarded(tmp_path, hands) as server:
        result = [await login(server, address, email) for address in addresses(150)]
        hands.move(hours=1, seconds=1)
        again = await login(server, "198.51.100.7", email)

    assert Counter(status for status, _, _ in result) == {401: TRIES_AN_HOUR, 429: 50}
    assert "in to this account before" in result[-1][1]["message"]
    assert again[0] == 401


async def test_guesses_that_come_at_once_are_counted_one_by_one(tmp_path: Path) -> None:
    hands = Hands()
    async with guarded(tmp_path, hands) as server:
        for start in range(0, 150, 30):  # as many as wait for the hashing of passwords
            some = addresses(150)[start : start + 30]
            result = await asyncio.gather(*(login(server, address) for address in some))
            statuses = Counter(status for status, _, _ in result)
            assert statuses[401 if start < TRIES_AN_HOUR - 30 else 429] > 0
        assert (await login(server, "198.51.100.7", EMAIL, PASSWORD))[0] == 429


async def test_a_device_that_signed_in_before_is_not_held_up_and_others_are(
    tmp_path: Path,
) -> None:
    hands = Hands()
    async with guarded(tmp_path, hands) as server:
        _, signed_in, _ = await login(server, "198.51.100.1", EMAIL, PASSWORD)
        device = signed_in["deviceToken"]
        for address in addresses(TRIES_AN_HOUR):
            await login(server, address)

        known = await login(server, "198.51.100.2", EMAIL, PASSWORD, deviceToken=device)
        unknown = await login(server, "198.51.100.2", EMAIL, PASSWORD)
        of_another = await login(server, "198.51.100.2", ADMIN_EMAIL, PASSWORD)
        crossed = await login(
            server, "198.51.100.2", EMAIL, PASSWORD, deviceToken=of_another[1]["deviceToken"]
        )
        forged = await login(server, "198.51.100.2", EMAIL, PASSWORD, deviceToken="a.b.c")

    assert known[0] == of_another[0] == 200
    assert unknown[0] == crossed[0] == forged[0] == 429


async def test_a_device_has_tries_of_its_own_and_not_endlessly_many(tmp_path: Path) -> None:
    hands = Hands()
    async with guarded(tmp_path, hands) as server:
        _, signed_in, _ = await login(server, "198.51.100.1", EMAIL, PASSWORD)
        device = {"deviceToken": signed_in["deviceToken"]}
        result = [(await login(server, address, **device))[0] for address in addresses(25)]

    assert Counter(result) == {401: 20, 429: 5}


async def test_a_browser_keeps_its_device_in_a_cookie_that_no_script_reads(tmp_path: Path) -> None:
    hands = Hands()
    async with guarded(tmp_path, hands) as server:
        mode = {"session": "cookie"}
        _, body, cookies = await login(server, "198.51.100.1", EMAIL, PASSWORD, **mode)
        for address in addresses(TRIES_AN_HOUR):
            await login(server, address)
        async with (
            aiohttp.ClientSession(server.url) as http,
            http.post(
                LOGIN,
                json={"email": EMAIL, "password": PASSWORD, **mode},
                headers={
                    "X-Forwarded-For": "198.51.100.2",
                    "Cookie": f"hwci_device={cookies['hwci_device'].value}",
                },
            ) as answer,
        ):
            assert answer.status == 200

    assert body["deviceToken"] is None
    kept = cookies["hwci_device"]
    assert (kept["httponly"], kept["samesite"], kept["path"]) == (True, "Strict", "/api/auth")
    assert int(kept["max-age"]) == DEVICE_TOKEN_LIFETIME.total_seconds()


async def test_the_subnets_of_one_site_are_counted_together(tmp_path: Path) -> None:
    hands = Hands()
    async with guarded(tmp_path, hands) as server:
        # 256 subnets of one /56, each guesses at an account of its own.
        result = [
            (await login(server, f"2001:db8:0:{subnet:x}::1", f"p{subnet}@example.org"))[0]
            for subnet in range(60)
        ]
        elsewhere = await login(server, "2001:db8:0:100::1", NOBODY)

    assert Counter(result) == {401: 40, 429: 20}
    assert elsewhere[0] == 401


async def test_who_guesses_from_one_address_for_good_keeps_no_new_device_out(
    tmp_path: Path,
) -> None:
    hands = Hands()
    async with guarded(tmp_path, hands) as server:
        for turn in range(12):
            # At once, as else each try of a wrong one would count before the next begins.
            guesses = await asyncio.gather(*(login(server, "203.0.113.1") for _ in range(30)))
            assert [status for status, _, _ in guesses].count(401) == 10
            let_in = await login(server, f"198.51.100.{turn + 1}", EMAIL, PASSWORD)
            assert let_in[0] == 200, f"a new device elsewhere, in turn {turn}"
            hands.move(minutes=30, seconds=1)


async def test_a_new_device_at_the_guessers_address_waits_and_a_known_one_does_not(
    tmp_path: Path,
) -> None:
    hands = Hands()
    async with guarded(tmp_path, hands) as server:
        _, signed_in, _ = await login(server, "203.0.113.1", EMAIL, PASSWORD)
        hands.move(minutes=31)
        for _ in range(10):
            await login(server, "203.0.113.1")
        hands.move(minutes=1)  # then what every caller may ask of this route is there again
        device = signed_in["deviceToken"]
        new = await login(server, "203.0.113.1", EMAIL, PASSWORD)
        known = await login(server, "203.0.113.1", EMAIL, PASSWORD, deviceToken=device)

    assert new[0] == 429
    assert "or sign in on a device that has signed in to this account before" in new[1]["message"]
    assert known[0] == 200


async def test_a_right_password_of_a_new_device_takes_no_try_from_its_address(
    tmp_path: Path,
) -> None:
    hands = Hands()
    async with guarded(tmp_path, hands) as server:
        right, wrong = [], []
        for _ in range(9):
            right += [(await login(server, "203.0.113.1", EMAIL, PASSWORD))[0] for _ in range(3)]
            wrong.append((await login(server, "203.0.113.1"))[0])
            hands.move(minutes=1)
        last = [(await login(server, "203.0.113.1"))[0] for _ in range(2)]
        then = (await login(server, "203.0.113.1", EMAIL, PASSWORD))[0]

    assert (Counter(right), Counter(wrong)) == ({200: 27}, {401: 9})
    assert (last, then) == ([401, 429], 429)


async def test_right_passwords_that_come_at_once_are_still_counted_one_by_one(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, auth_rate_limit="1000/minute") as server:
        tries = [login(server, "127.0.0.1", EMAIL, PASSWORD) for _ in range(30)]
        statuses = Counter(status for status, _, _ in await asyncio.gather(*tries))
        assert statuses[429] > 0
        assert (await login(server, "127.0.0.1", EMAIL, PASSWORD))[0] == 200


async def test_servers_that_count_in_one_valkey_give_a_try_back_to_each_other() -> None:
    with valkey_server() as valkey:
        url = f"valkey://127.0.0.1:{valkey.port}"
        windows = [RateLimiter(system_clock, url) for _ in range(2)]
        first, second = (RateLimits(each, Settings()) for each in windows)
        for _ in range(9):
            assert await tried(first, EMAIL, "2001:db8::1") == "wrong"
        for _ in range(20):
            assert await tried(second, EMAIL, "2001:db8::1", right=True) == "right"
        assert await tried(first, EMAIL, "2001:db8::1") == "wrong"
        assert await tried(second, EMAIL, "2001:db8::1", right=True) == "refused"
        for each in windows:
            await each.close()


async def test_a_sign_in_ends_well_where_valkey_left_before_its_try_was_given_back() -> None:
    async with AsyncExitStack() as stack:
        with valkey_server() as valkey:
            windows = RateLimiter(system_clock, f"valkey://127.0.0.1:{valkey.port}")
            stack.push_async_callback(windows.close)
            limits = RateLimits(windows, Settings())
            await stack.enter_async_context(limits.guessing(EMAIL, "192.0.2.1", None))


async def test_a_whole_site_of_ipv6_leaves_tries_to_the_others() -> None:
    limits = limits_of(hands := Hands())
    for _ in range(2):
        for subnet in range(256):
            await tried(limits, EMAIL, f"2001:db8:0:{subnet:x}::")
        hands.move(minutes=29)

    assert await tried(limits, EMAIL, "2001:db8:0:100::") == "wrong"


def limits_of(hands: Hands) -> RateLimits:
    return RateLimits(RateLimiter(hands), Settings())


async def tried(limits: RateLimits, email: str, address: str, *, right: bool = False) -> str:
    """Return what came of a password, a wrong one unless it is right."""
    try:
        async with limits.guessing(email, address, None):
            if right:
                return "right"
            raise UnauthenticatedError("wrong")
    except UnauthenticatedError:
        return "wrong"
    except RateLimitedError:
        return "refused"


ADDRESSES = ("192.0.2.1", "192.0.2.2", "2001:db8::", "2001:db8:0:1::", "2001:db8:0:100::")
SITES = (("192.0.2.1",), ("192.0.2.2",), ("2001:db8::", "2001:db8:0:1::"), ("2001:db8:0:100::",))
Tries = list[tuple[float, str]]


def at_least(tries: Tries, now: float, minutes: int, most: int, of: Sequence[str]) -> bool:
    """Return whether so many tries of these addresses are less than so many minutes old."""
    return sum(at > now - 60 * minutes and address in of for at, address in tries) >= most


@given(
    st.lists(
        st.tuples(
            st.sampled_from(ADDRESSES), st.integers(1, 40), st.integers(0, 900), st.booleans()
        ),
        max_size=60,
    )
)
@settings(max_examples=rounds(40, 400), deadline=None)
def test_a_try_passes_exactly_where_its_address_its_site_and_the_account_have_one_left(
    steps: list[tuple[str, int, int, bool]],
) -> None:
    async def replayed() -> None:
        hands = Hands()
        limits, begun, passed = limits_of(hands), hands(), Tries()
        for address, count, pause, right in steps:
            hands.move(seconds=pause)
            now = (hands() - begun).total_seconds()
            site = next(site for site in SITES if address in site)
            for _ in range(count):
                full = (
                    at_least(passed, now, 60, TRIES_AN_HOUR, ADDRESSES)
                    or at_least(passed, now, 30, 10, [address])
                    or at_least(passed, now, 30, 40, site)
                )
                expected = "refused" if full else "right" if right else "wrong"
                assert await tried(limits, EMAIL, address, right=right) == expected
                passed += [] if full or right else [(now, address)]

    asyncio.run(replayed())


async def test_an_attacker_who_tries_thousands_of_accounts_gets_no_new_tries_at_one() -> None:
    limits = limits_of(Hands())
    for address in addresses(TRIES_AN_HOUR):
        assert await tried(limits, EMAIL, address) == "wrong"
    for number in range(26_000):
        await tried(limits, f"p{number}@example.org", "198.51.100.1")

    assert await tried(limits, EMAIL, "198.51.100.2") == "refused"


async def test_the_count_of_accounts_takes_bounded_memory() -> None:
    windows = RateLimiter(Hands())
    limits = RateLimits(windows, Settings())
    for number in range(26_000):
        await tried(limits, f"p{number}@example.org", "198.51.100.1")

    kept = windows._storage._logs[3600]  # type: ignore[union-attr]  # that in memory
    assert len(kept) <= 16_384
    assert sum(sys.getsizeof(log) for log in kept.values()) < 10_000_000


async def test_guesses_are_one_line_of_the_operators_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    limits = limits_of(Hands())
    with caplog.at_level(logging.INFO, "hwci.server"):
        await limits.log_guesses()
        for address in addresses(TRIES_AN_HOUR + 50):
            await tried(limits, EMAIL, address)
        await limits.log_guesses()
        await limits.log_guesses()

    (line,) = caplog.messages
    assert line == (
        "passwords are being guessed: 100 wrong ones were tried, and 50 more tries were refused,"
        " since the last check"
    )
