# SPDX-License-Identifier: Apache-2.0
"""`hwci login` and `hwci logout`: how a sign-in is kept, renewed and ended."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path

import pytest

from hwci.cli.session.settings import kept_sign_ins
from hwci.client.session_file import Profile
from hwci.server.storage.sqlite.connections import open_reader
from tests.cli.conftest import Answer as Told
from tests.cli.conftest import Command
from tests.support.answering import Answer as Answered
from tests.support.answering import answering, unused_url
from tests.support.asking import ask
from tests.support.running import (
    ADMIN_EMAIL,
    EMAIL,
    NAME,
    ORGANIZATION,
    PASSWORD,
    RunningServer,
    running_in_thread,
)
from tests.support.sign_ins import put


def sign_in(cli: Command, server: RunningServer, *more: str, password: str = PASSWORD) -> int:
    arguments = ("login", "--url", server.url, "--email", EMAIL, "--password-stdin", *more)
    return cli(*arguments, stdin=f"{password}\n").code


def kept() -> Profile:
    return kept_sign_ins(os.environ).read().profiles["default"]


def test_a_sign_in_is_kept_for_the_commands_that_follow(
    cli: Command, server: RunningServer
) -> None:
    assert sign_in(cli, server) == 0

    code, out, _ = cli("whoami")
    assert code == 0
    assert out.startswith(f"{NAME} <{EMAIL}> at {server.url}\n")
    assert f"owner of {ORGANIZATION} ({server.org_id}), CI Metrics on" in out


@pytest.mark.parametrize("command", ["login", "register"])
def test_no_password_is_asked_for_where_no_server_answers(cli: Command, command: str) -> None:
    done = cli(command, "--url", unused_url(), "--email", EMAIL)

    assert done.code == 5
    assert "fix: Start it: hwci serve" in done.err


def test_a_sign_in_that_others_can_read_is_used_with_one_warning(
    cli: Command, server: RunningServer
) -> None:
    sign_in(cli, server)
    path = kept_sign_ins(os.environ).path
    path.chmod(0o644)

    code, out, err = cli("whoami")

    assert (code, out.startswith(NAME)) == (0, True)
    assert err.splitlines() == [
        f"warning: Others can read the sign-ins in {path}",
        "cause: the mode of the file is 0644",
        f"fix: Run: chmod 600 {path}. If strangers use this machine, sign in again",
    ]


def test_others_who_guess_the_password_do_not_hold_up_a_device_that_signed_in_before(
    cli: Command, tmp_path: Path
) -> None:
    proxies = (ip_network("127.0.0.0/8"),)
    options = {"auth_rate_limit": "1000/minute", "trusted_proxies": proxies}
    with running_in_thread(tmp_path, **options) as server:
        assert sign_in(cli, server) == 0
        first = kept().device_token
        assert cli("whoami").code == 0
        for number in range(100):
            address = ("X-Forwarded-For", f"203.0.113.{number + 1}")
            body = {"email": EMAIL, "password": "wrong password"}
            ask(server.url, "POST", "/api/auth/login", address, json_body=body)

        assert sign_in(cli, server) == 0
        assert first is not None
        assert cli("logout").code == 0
        assert sign_in(cli, server) == 1


def test_a_renewal_keeps_what_the_device_is_known_by(cli: Command, server: RunningServer) -> None:
    sign_in(cli, server)
    before = kept()
    put(kept_sign_ins(os.environ), "default", replace(before, expires_at=0.0))

    assert cli("whoami").code == 0
    assert kept().refresh_token != before.refresh_token
    assert kept().device_token == before.device_token is not None


def test_a_person_who_has_no_name_is_known_by_the_e_mail(
    cli: Command, server: RunningServer
) -> None:
    out = cli("whoami", HWCI_URL=server.url, HWCI_TOKEN=server.admin_token).out

    assert out.startswith(f"{ADMIN_EMAIL} at {server.url}\n")


def test_after_logout_nobody_is_signed_in(cli: Command, server: RunningServer) -> None:
    sign_in(cli, server)

    assert cli("logout").code == 0
    code, _, err = cli("whoami")
    assert code == 4
    assert "hwci login" in err
    assert cli("logout").err == "Nobody was signed in.\n"


def test_a_token_that_is_refused_before_its_time_is_renewed(cli: Command, tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        sign_in(cli, server)
        before = kept()
        database = ("--database", str(server.database))
        assert cli("admin", "rotate-secret", "--now", *database).code == 0

        assert cli("whoami").code == 0
        assert kept().refresh_token != before.refresh_token
        own = {"HWCI_URL": server.url, "HWCI_TOKEN": before.access_token}
        assert cli("whoami", **own).code == 4, "one of one's own is not"


def test_logout_ends_the_session_on_the_server_too(cli: Command, server: RunningServer) -> None:
    sign_in(cli, server)
    token = kept().access_token
    cli("logout")

    code, _, err = cli("whoami", HWCI_URL=server.url, HWCI_TOKEN=token)
    assert code == 4
    assert "cause: 401 Unauthorized" in err


def test_a_wrong_password_is_three_lines_and_exit_code_4(
    cli: Command, server: RunningServer
) -> None:
    arguments = ("login", "--url", server.url, "--email", EMAIL, "--password-stdin")
    code, out, err = cli(*arguments, stdin="wrong wrong wrong\n")

    assert (code, out) == (4, "")
    error, cause, fix = err.splitlines()
    assert error == "error: The sign-in failed"
    assert cause.startswith("cause: 401 Unauthorized: ")
    assert "(request id " in cause
    assert fix.startswith("fix: ")


def test_without_a_terminal_nothing_is_asked(cli: Command, server: RunningServer) -> None:
    code, _, err = cli("login", "--url", server.url)

    assert code == 2
    assert "--email" in err
    assert cli("login", "--url", server.url, "--email", EMAIL).code == 2


def let_the_access_token_end(**changed: str) -> None:
    """As the clock does after 15 minutes."""
    past = datetime(2020, 1, 1, tzinfo=UTC).timestamp()
    ended = replace(kept(), expires_at=past, **changed)
    put(kept_sign_ins(os.environ), "default", ended)


def test_a_sign_in_is_renewed_without_a_word(cli: Command, server: RunningServer) -> None:
    sign_in(cli, server)
    first = kept()
    let_the_access_token_end()

    assert cli("whoami").code == 0
    assert kept().refresh_token != first.refresh_token
    assert kept().expires_at >= first.expires_at
    assert cli("logout").code == 0


PROCESSES, RENEWALS = 2, 25
MANY_COMMANDS = """
import os, sys
from dataclasses import replace
from hwci.cli.main import app
from hwci.cli.session.settings import kept_sign_ins
kept = kept_sign_ins(os.environ)
sys.stdin.readline()  # until all are there
for _ in range(int(sys.argv[1])):
    # What is kept now ends, as after 15 minutes, whoever got it: the next command renews it.
    with kept.changing() as file:
        file.put("default", replace(file.get("default"), expires_at=0.0))
    app(["whoami"], standalone_mode=False)
"""


def test_commands_that_renew_one_sign_in_at_once_never_sign_the_person_out(
    cli: Command, server: RunningServer
) -> None:
    sign_in(cli, server)
    before = refresh_tokens(server)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", MANY_COMMANDS, str(RENEWALS)],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for _ in range(PROCESSES)
    ]
    for one in started:
        assert one.stdin is not None
        one.stdin.write(b"go\n")
        one.stdin.flush()

    assert [(one.communicate()[1], one.returncode) for one in started] == [(b"", 0)] * PROCESSES
    # Each round of one process ends with a renewal that is younger than its beginning; the other's
    # may be that, so how many more there were is the scheduler's to say.
    assert refresh_tokens(server) - before >= RENEWALS
    assert cli("whoami").code == 0


def refresh_tokens(server: RunningServer) -> int:
    reader = open_reader(server.database)
    ((count,),) = reader.rows("SELECT count(*) FROM refresh_token")
    reader.close()
    return int(count)


def test_a_sign_in_that_cannot_be_renewed_says_so(cli: Command, server: RunningServer) -> None:
    sign_in(cli, server)
    let_the_access_token_end(refresh_token="unknown")

    code, _, err = cli("whoami")
    assert code == 4
    error, cause, fix = err.splitlines()
    assert error == "error: Your sign-in could not be renewed"
    assert cause.startswith("cause: 401 Unauthorized: The refresh token is unknown")
    assert fix == "fix: Sign in again: hwci login"


PROXY_503 = Answered(503, b"upstream connect error or disconnect/reset before headers")
LOSSY = [Answered(reset=True), Answered(200, b"{}"), Answered(500), Answered(502), PROXY_503]


@pytest.mark.parametrize("answer", LOSSY)
def test_a_renewal_whose_answer_was_lost_is_never_sent_again(
    cli: Command, server: RunningServer, answer: Answered
) -> None:
    sign_in(cli, server)
    with answering(answer) as lossy:
        let_the_access_token_end(url=lossy.url)
        code, _, err = cli("whoami")
        again = cli("whoami")
        sent = len(lossy.received)

    assert (sent, code != 0, again.code) == (1, True, 4)
    error, _, fix = err.splitlines()
    assert error == "error: Your sign-in could not be renewed"
    assert fix == "fix: Sign in again: hwci login"
    assert again.err.splitlines()[0::2] == ["error: The sign-in has ended", fix]


@pytest.mark.parametrize(
    "answer", [Answered(429), Answered(503, headers={"x-request-id": "of-the-server"})]
)
def test_a_renewal_that_was_not_looked_at_leaves_the_sign_in_as_it_is(
    cli: Command, server: RunningServer, answer: Answered
) -> None:
    sign_in(cli, server)
    with answering(answer) as busy:
        let_the_access_token_end(url=busy.url)
        before = kept()
        assert cli("whoami").code == 1

    assert kept() == before
    let_the_access_token_end(url=server.url)
    assert cli("whoami").code == 0


ONE_COMMAND = "from hwci.cli.main import app; app(['whoami'])"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_command_that_is_ended_while_it_renews_leaves_no_token_that_was_sent(
    cli: Command, server: RunningServer, end: signal.Signals
) -> None:
    sign_in(cli, server)
    with answering(Answered(silent=True)) as late:
        let_the_access_token_end(url=late.url)
        command = subprocess.Popen(
            [sys.executable, "-c", ONE_COMMAND],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert eventually(lambda: late.received), "the token is on its way"
        command.send_signal(end)
        assert command.wait(60) != 0
        again = cli("whoami")
        sent = len(late.received)

    assert (sent, again.code) == (1, 4)
    assert again.err.splitlines()[2] == "fix: Sign in again: hwci login"
    assert kept().refresh_token is None
    assert cli("logout").err == f"Signed out here; the tokens of {late.url} expire by themselves.\n"


def eventually(condition: Callable[[], object]) -> bool:
    ends = time.monotonic() + 60
    while not condition() and time.monotonic() < ends:
        threading.Event().wait(0.01)  # `time.sleep` is taken from these tests
    return bool(condition())


def test_a_renewal_that_was_not_sent_leaves_the_sign_in_as_it_is(
    cli: Command, server: RunningServer
) -> None:
    sign_in(cli, server)
    let_the_access_token_end(url=unused_url())
    before = kept()

    assert cli("whoami").code == 5
    assert kept() == before


def test_profiles_stand_side_by_side(cli: Command, server: RunningServer) -> None:
    assert sign_in(cli, server, "--profile", "work") == 0

    assert cli("whoami").code == 4
    assert cli("whoami", "--profile", "work").code == 0
    assert cli("whoami", HWCI_PROFILE="work").code == 0


def test_the_token_of_a_profile_does_not_go_to_another_server(
    cli: Command, server: RunningServer
) -> None:
    sign_in(cli, server)

    elsewhere = server.url.replace("127.0.0.1", "localhost")
    code, _, err = cli("whoami", "--url", elsewhere)
    assert code == 4
    assert f"no sign-in at {elsewhere} is kept" in err


def test_a_server_that_is_away_is_exit_code_5(cli: Command) -> None:
    code, _, err = cli("whoami", HWCI_URL="http://127.0.0.1:9", HWCI_TOKEN="t")

    assert code == 5
    assert err.startswith("error: The server cannot be reached\ncause: ")


def test_an_address_that_is_none_is_wrong_usage(cli: Command) -> None:
    assert cli("whoami", HWCI_URL="ftp://x", HWCI_TOKEN="t").code == 2


def test_whoami_speaks_json(signed_in: Command, server: RunningServer) -> None:
    me = json.loads(signed_in("whoami", "--json").out)

    assert me["user"]["email"] == EMAIL
    assert me["organizations"][0]["id"] == str(server.org_id)


def test_an_organization_is_shown_by_id_by_name_and_as_the_only_one(
    signed_in: Command, server: RunningServer
) -> None:
    named = (ORGANIZATION, str(server.org_id))
    for arguments in ((), *((name,) for name in named), *(("--org", name) for name in named)):
        assert signed_in("orgs", "show", *arguments).out.startswith(
            f"{ORGANIZATION} ({server.org_id})\n"
        )
    assert signed_in("orgs", "show", HWCI_ORG=ORGANIZATION).code == 0
    assert json.loads(signed_in("orgs", "show", "--json").out)["role"] == "owner"


def test_an_organization_that_is_not_ones_own_is_refused(signed_in: Command) -> None:
    code, _, err = signed_in("orgs", "show", "--org", "Nobody's")
    assert code == 2
    assert ORGANIZATION in err

    code, _, err = signed_in("orgs", "show", "--org", "00000000-0000-4000-8000-000000000000")
    assert code == 1
    assert "404" in err


def test_fewer_days_are_set_after_it_was_said_what_goes(signed_in: Command) -> None:
    refused = signed_in("orgs", "keep", "--reports", "400", "--logs", "ever")
    assert (refused.code, refused.out) == (2, "")
    assert "reports with their failures and reviews, and merges" in refused.err
    assert "Add --yes to do it" in refused.err
    assert "keeps: reports for ever" in signed_in("orgs", "show").out

    done = signed_in("orgs", "keep", "--reports", "400", "--messages", "1", "--yes")
    assert done.err == (f"{ORGANIZATION} keeps reports 400 days, messages 1 day, logs for ever.\n")
    assert "keeps: reports 400 days, messages 1 day" in signed_in("orgs", "show").out
    assert signed_in("orgs", "keep", "--reports", "500", "--messages", "ever").code == 0
    for wrong in (["--reports", "89"], ["--logs", "soon"], []):
        assert signed_in("orgs", "keep", *wrong).code == 2
    assert "keeps: reports 500 days, messages for ever" in signed_in("orgs", "show").out


def test_an_organization_is_deleted_after_it_was_said_what_goes_and_comes_back(
    signed_in: Command, server: RunningServer
) -> None:
    refused = signed_in("orgs", "delete", ORGANIZATION)
    assert (refused.code, refused.out) == (2, "")
    for word in ("runs", "failures", "reviews", "keys", "webhooks", "memberships"):
        assert word in refused.err
    assert f"hwci admin export '{ORGANIZATION}' FILE.db" in refused.err
    assert f"hwci orgs delete '{ORGANIZATION}' --yes" in refused.err
    assert signed_in("metrics").code == 0

    deleted = signed_in("orgs", "delete", ORGANIZATION, "--yes")
    assert deleted.code == 0
    assert f"  hwci orgs undelete {server.org_id}\n" in deleted.err
    closed = signed_in("metrics")
    assert closed.code == 1
    assert "The organization is deleted; until 20" in closed.err
    assert "deleted: all of it goes 20" in signed_in("orgs", "show").out
    assert "deleted" in signed_in("orgs", "list").out

    undone = signed_in("orgs", "undelete", ORGANIZATION)
    assert (undone.code, undone.err) == (
        0,
        f"{ORGANIZATION} is open again; its keys and pages work as before.\n",
    )
    assert signed_in("metrics").code == 0
    assert "deleted" not in signed_in("orgs", "show").out
    assert signed_in("orgs", "undelete", ORGANIZATION).code == 1


def test_with_two_organizations_one_has_to_be_named(signed_in: Command) -> None:
    code, out, err = signed_in("orgs", "create", "Second")
    second = out.strip()
    assert code == 0
    assert f"hwci admin ci-metrics enable {second}" in err

    code, _, err = signed_in("metrics")
    assert code == 2
    assert "not clear which organization" in err
    assert second in err

    code, _, err = signed_in("metrics", "--org", "Second")
    assert code == 4
    assert "CI Metrics is not enabled for this organization" in err
    listed = signed_in("orgs", "list", "--output", "csv").out.splitlines()
    assert listed[0] == "id,name,role,ciMetricsEnabled,createdAt,eraseAt"
    assert len(listed) == 3
    assert ",true," in listed[1] + listed[2]
    assert ",false," in listed[1] + listed[2]


def test_each_server_keeps_a_sign_in_of_its_own(
    cli: Command, server: RunningServer, tmp_path: Path
) -> None:
    def login(url: str, *more: str) -> Told:
        stdin = f"{server.password}\n"
        return cli(
            "login", "--url", url, "--email", server.email, "--password-stdin", *more, stdin=stdin
        )

    with running_in_thread(tmp_path / "other") as other:
        host = other.url.partition("://")[2]
        assert login(server.url).code == 0
        assert f"The sign-in is profile {host}; your others are kept" in login(other.url).err

        assert other.url in cli("whoami").out  # the last one
        assert server.url in cli("whoami", "--url", server.url).out
        assert server.url in cli("whoami", HWCI_URL=server.url).out
        assert server.url in cli("whoami", "--profile", "default").out

        used = cli("profiles", "use", "default")
        assert used.err == f"In use now: {server.email} at {server.url}.\n"
        assert server.url in cli("whoami").out
        assert login(other.url).code == 0  # again: its own profile
        assert login(other.url, "--profile", "work").code == 0

        listed = json.loads(cli("profiles", "list", "--json").out)
        assert [(row["name"], row["url"], row["inUse"]) for row in listed] == [
            (host, other.url, True),
            ("default", server.url, False),
            ("work", other.url, False),
        ]
        assert server.password not in str(listed)

        assert cli("logout").code == 0
        assert server.url in cli("whoami").out


def test_logout_ends_the_profile_that_is_named_at_its_own_server(
    cli: Command, server: RunningServer
) -> None:
    assert sign_in(cli, server, "--profile", "work") == 0

    done = cli("logout", "--profile", "work", HWCI_URL="https://other.example")

    assert done.err == f"Signed out at {server.url}.\n"


def test_a_profile_that_is_not_kept_is_an_error_with_the_nearest(
    cli: Command, server: RunningServer
) -> None:
    login = ("login", "--url", server.url, "--email", server.email, "--password-stdin")
    assert cli(*login, "--profile", "bench", stdin=f"{server.password}\n").code == 0

    code, _, err = cli("profiles", "use", "bensh")

    assert code == 1
    assert "error: There is no profile 'bensh'\ncause: did you mean bench?" in err
