# SPDX-License-Identifier: Apache-2.0
"""`hwci known`: rules are made, listed and removed, and commands that show failures say it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.conftest import Command
from tests.support.running import RunningServer
from tests.support.scene import B, play

pytestmark = pytest.mark.clock
DAY = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%d}"  # noqa: TID251 - as the server's clock
SAYS = f"known: FW-7 until {DAY}"


@pytest.fixture(scope="module", autouse=True)
def played(server: RunningServer) -> None:
    play(server)


@pytest.fixture
def spi(signed_in: Command) -> Iterator[str]:
    """The id of a rule for the test `spi`."""
    added = signed_in("known", "add", "FW-7", "--test", "sp*", "--until", DAY, "--json")
    assert added.code == 0
    rule: str = json.loads(added.out)["id"]
    yield rule
    signed_in("known", "remove", rule)


def test_a_rule_is_made_listed_and_removed(signed_in: Command) -> None:
    code, out, err = signed_in(
        *("known", "add", "FW-7", "--message", "no * answer", "--box", "bench-1", "--until", DAY)
    )
    assert (code, out) == (0, "")
    assert f"Known by FW-7 until {DAY} 23:59 UTC: message no * answer, box bench-1." in err

    listed = signed_in("known", "list", COLUMNS="200").out
    assert "message no * answer, box bench-1" in listed
    [rule] = json.loads(signed_in("known", "list", "--json").out)
    assert rule["until"] == f"{DAY}T23:59:59Z"
    assert signed_in("known", "remove", rule["id"][:8]).code == 0
    assert json.loads(signed_in("known", "list", "--json").out) == []
    assert signed_in("known", "remove", rule["id"]).code == 1


def test_a_rule_that_says_nothing_is_refused(signed_in: Command) -> None:
    code, _, err = signed_in("known", "add", "FW-7", "--until", DAY)
    assert code == 2
    assert "Needs --test or --message" in err
    code, _, err = signed_in("known", "add", "FW-7", "--test", "x", "--until", "soon")
    assert (code, "--until is not understood" in err) == (2, True)


def test_a_list_says_which_failures_are_known_and_narrows(signed_in: Command, spi: str) -> None:
    out = signed_in("failures", "list", "--test", "spi", COLUMNS="200").out
    assert f"resolved ({SAYS})" in out

    def tests(*flags: str) -> set[str]:
        rows = json.loads(signed_in("failures", "list", "--json", *flags).out)["items"]
        return {row["testId"] for row in rows}

    assert tests("--known") == {"spi"}
    assert tests("--not-known") == tests() - {"spi"}
    assert spi in signed_in("failures", "list", "--known", "--json").out


@pytest.mark.usefixtures("spi")
def test_one_failure_says_it(signed_in: Command) -> None:
    rows = json.loads(signed_in("failures", "list", "--test", "spi", "--json").out)["items"]
    out = signed_in("failures", "show", rows[0]["id"], COLUMNS="200").out
    assert f"label        resolved: the test passed on a later commit, on this box; {SAYS}" in out


@pytest.mark.usefixtures("spi")
def test_a_run_with_only_known_failures_says_so_beside_its_status(signed_in: Command) -> None:
    rows = json.loads(signed_in("runs", "list", "--json").out)["items"]
    shown = {row["runId"]: signed_in("runs", "show", row["id"], COLUMNS="200").out for row in rows}
    assert "status     failed, only known failures" in shown[3]
    assert "1 failed (1 known)" in shown[3]
    assert f"fail ({SAYS})" in shown[3]
    assert "status     failed\n" in shown[2]
    assert "2 failed (1 known)" in shown[2]


@pytest.mark.usefixtures("spi")
def test_a_commit_counts_them_apart(signed_in: Command) -> None:
    out = signed_in("commits", "show", B, COLUMNS="200").out
    assert "1 failing test of all known" in out
    assert f"; {SAYS}" in out
