# SPDX-License-Identifier: Apache-2.0
"""Boxes from the command line: as people manage them, and on the bench."""

import json
import re
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hwci.bench.box_key import BoxKey
from hwci.bench.heartbeat import ASKED_MAX_S, PAUSE_MAX_S, pause
from hwci.client.errors import RateLimitedError
from tests.cli.conftest import Answer, Command
from tests.support.answering import Answer as Answered
from tests.support.answering import answering
from tests.support.asking import ask, bearer, ci_key
from tests.support.commands import HWCI, environment, started
from tests.support.held_port import held_port
from tests.support.running import RunningServer, report, running_in_thread
from tests.support.scene import BOX


@pytest.fixture
def bench(cli: Command, server: RunningServer) -> Command:
    """The command on a bench, which knows the server and no person."""

    def run(*arguments: str, stdin: str | bytes = "", **env: str | None) -> Answer:
        return cli(*arguments, stdin=stdin, **{"HWCI_URL": server.url, **env})

    return run


def created(server: RunningServer, name: str) -> Any:
    address = f"/api/orgs/{server.org_id}/boxes"
    return ask(server.url, "POST", address, bearer(server.token), json_body={"name": name}).json


def status(server: RunningServer, name: str) -> str:
    address = f"/api/orgs/{server.org_id}/boxes?limit=100"
    items = ask(server.url, "GET", address, bearer(server.token)).json["items"]
    return str(next(item["status"] for item in items if item["name"] == name))


def kept(path: Path) -> Any:
    return json.loads(path.read_text())


# As people manage them


def test_a_new_box_s_token_stands_alone_on_stdout(
    signed_in: Command, server: RunningServer
) -> None:
    code, out, err = signed_in("boxes", "create", "bench-new")

    assert code == 0
    assert re.fullmatch(r"[\w-]{43}\n", out)
    assert f"hwci box install --url {server.url}\n" in err
    assert out.strip() not in err
    again = signed_in("boxes", "create", "bench-new")
    assert (again.code, again.out) == (1, "")
    assert "409 Conflict: A record with this name already exists" in again.err


def test_boxes_are_listed_with_how_they_are(signed_in: Command, bench: Command) -> None:
    token = signed_in("boxes", "create", "bench-listed").out
    assert bench("box", "install", "--token-stdin", stdin=token).code == 0
    signed_in("boxes", "create", "bench-waiting")

    for form in ("table", "csv", "md"):
        code, out, _ = signed_in("boxes", "list", "--output", form)
        assert code == 0
        assert re.search(r"bench-listed\W+online", out)
        assert re.search(r"bench-waiting\W+new", out)
    items = {item["name"]: item for item in json.loads(signed_in("boxes", "list", "--json").out)}
    assert items["bench-listed"]["lastSeenAt"] is not None
    assert items["bench-waiting"]["lastSeenAt"] is None


def test_a_box_that_only_reported_is_listed_without_an_id(
    signed_in: Command, server: RunningServer
) -> None:
    body = report(box_key="bench-unknown", run_id=4)
    sent = ask(server.url, "POST", "/api/ci/run-report", ci_key(server.ci_key), json_body=body)
    assert sent.status == 204

    out = signed_in("boxes", "list", "--output", "csv").out
    assert "\n,bench-unknown,reported,," in out
    assert re.search(r"bench-unknown\W+reported", signed_in("boxes", "list").out)
    err = signed_in("boxes", "remove", "bench-unknown").err
    assert err.startswith("error: bench-unknown names no box that was created")


def test_a_server_that_refuses_a_newer_parameter_is_named_as_older(
    signed_in: Command, server: RunningServer
) -> None:
    org = str(server.org_id)
    refused = ask(server.url, "GET", f"/api/orgs/{org}/runs?ciRun1=3", bearer(server.token))
    unknown = Answered(refused.status, json.dumps(refused.json).encode())
    with answering(unknown) as older:
        done = signed_in("runs", "list", "--ci-run", "3", HWCI_URL=older.url, HWCI_ORG=org)

    assert (refused.status, done.code) == (400, 1)
    assert "fix: Leave that out, or ask the operator of the server for an upgrade: " in done.err


@pytest.mark.parametrize("by", ["id", "first digits", "name", "other letters"])
def test_a_box_gets_a_new_token_by_id_or_name(signed_in: Command, bench: Command, by: str) -> None:
    made = json.loads(signed_in("boxes", "create", f"bench-by-{by}", "--json").out)
    ways = {"first digits": made["id"][:8], "other letters": made["name"].upper()}
    code, out, _ = signed_in("boxes", "install-token", ways.get(by) or made[by])

    assert code == 0
    assert bench("box", "install", "--token-stdin", stdin=made["installToken"]).code == 4
    assert bench("box", "install", "--token-stdin", stdin=out).code == 0


def test_the_id_that_the_list_shows_names_a_box_of_which_something_is_asked(
    signed_in: Command,
) -> None:
    signed_in("boxes", "create", "bench-noted")
    listed = json.loads(signed_in("boxes", "list", "--json").out)
    [box_id] = (box["id"] for box in listed if box["name"] == "bench-noted")

    assert signed_in("boxes", "note", box_id[:8], "new cable").code == 0
    assert "new cable" in signed_in("boxes", "notes", box_id[:8]).out
    assert (
        signed_in("boxes", "show", box_id[:8]).err == signed_in("boxes", "show", "bench-noted").err
    )


def test_a_box_of_just_this_name_is_meant_before_one_in_other_letters(signed_in: Command) -> None:
    for name in ("bench-Case", "bench-case"):
        assert signed_in("boxes", "create", name).code == 0

    assert signed_in("boxes", "install-token", "bench-case").code == 0
    code, _, err = signed_in("boxes", "install-token", "BENCH-CASE")
    assert (code, err.splitlines()[0]) == (1, "error: BENCH-CASE names more than one box")


def test_a_box_that_is_not_there_gets_no_token(signed_in: Command) -> None:
    code, out, err = signed_in("boxes", "install-token", "nobody")

    assert (code, out) == (1, "")
    assert err.startswith("error: nobody names no box that was created\ncause: ")
    assert "hwci boxes list" in err.splitlines()[2]


def test_a_name_near_that_of_a_box_is_answered_with_it(signed_in: Command) -> None:
    signed_in("boxes", "create", "bench-mistyped")

    err = signed_in("boxes", "rename", "bench-misstyped", "x").err

    assert "cause: did you mean bench-mistyped" in err


def test_a_box_is_renamed_and_removed_by_its_name(signed_in: Command, bench: Command) -> None:
    token = signed_in("boxes", "create", "bench-slip").out
    assert bench("box", "install", "--token-stdin", stdin=token).code == 0

    code, out, err = signed_in("boxes", "rename", "bench-slip", "bench-mended")
    assert (code, out) == (0, "")
    assert err.startswith("Box bench-slip is bench-mended now.")
    assert bench("box", "heartbeat", "--once").code == 0
    code, out, err = signed_in("boxes", "remove", "bench-mended")
    assert (code, out) == (0, "")
    assert err == "Box bench-mended is removed, and its key stopped. Its runs stay.\n"
    assert bench("box", "heartbeat", "--once").code == 4
    assert signed_in("boxes", "remove", "bench-mended").code == 1


# On the bench


@pytest.mark.parametrize("way", ["stdin", "variable", "file"])
def test_an_install_keeps_the_key_for_its_owner_alone(
    bench: Command, server: RunningServer, tmp_path: Path, way: str
) -> None:
    made = created(server, f"bench-{way}")
    (tmp_path / "token").write_text(made["installToken"] + "\n")
    path = tmp_path / "config" / "hwci" / "box.json"
    code, out, err = {
        "stdin": lambda: bench(
            "box", "install", "--token-stdin", stdin=made["installToken"] + "\n"
        ),
        "variable": lambda: bench("box", "install", HWCI_INSTALL_TOKEN=made["installToken"]),
        "file": lambda: bench("box", "install", HWCI_INSTALL_TOKEN_FILE=str(tmp_path / "token")),
    }[way]()

    assert (code, out) == (0, "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kept(path) == {
        "url": server.url,
        "box_id": made["id"],
        "name": f"bench-{way}",
        "org_id": str(server.org_id),
        "key": kept(path)["key"],
    }
    assert str(path) in err
    assert kept(path)["key"] not in err
    assert [one.name for one in path.parent.iterdir()] == ["box.json"]
    assert bench("box", "heartbeat", "--once") == (0, "", "")


def test_a_new_install_writes_over_the_key_that_ends(bench: Command, server: RunningServer) -> None:
    made = created(server, "bench-again")
    file = ("--key-file", "deep/er/box.json")
    assert bench("box", "install", *file, HWCI_INSTALL_TOKEN=made["installToken"]).code == 0
    first = kept(Path("deep/er/box.json"))["key"]
    address = f"/api/orgs/{server.org_id}/boxes/{made['id']}/install-token"
    token = ask(server.url, "POST", address, bearer(server.token)).json["installToken"]

    assert bench("box", "install", *file, HWCI_INSTALL_TOKEN=token).code == 0
    assert kept(Path("deep/er/box.json"))["key"] != first
    assert bench("box", "heartbeat", "--once", HWCI_BOX_FILE="deep/er/box.json").code == 0
    for once in (("--once",), ()):
        code, _, err = bench("box", "heartbeat", *once, HWCI_BOX_KEY=first)
        assert code == 4
        assert err.startswith("error: The heartbeat did not get through\ncause: 401 Unauthorized:")
        assert "\nfix: Install the box again." in err


def test_a_token_is_not_used_up_when_the_key_could_not_be_kept(
    bench: Command, server: RunningServer, tmp_path: Path
) -> None:
    made = created(server, "bench-unwritable")
    (tmp_path / "a-file").write_text("")
    (tmp_path / "a-folder").mkdir()
    for path in ("a-file/box.json", "a-folder"):
        code, _, err = bench(
            "box", "install", "--key-file", path, HWCI_INSTALL_TOKEN=made["installToken"]
        )
        assert code == 1
        assert err.startswith(f"error: The box's key cannot be kept in {path}\n")
        assert "--key-file" in err

    assert status(server, "bench-unwritable") == "new"
    assert bench("box", "install", HWCI_INSTALL_TOKEN=made["installToken"]).code == 0


def test_a_refused_install_leaves_the_earlier_key_in_place(
    bench: Command, server: RunningServer
) -> None:
    made = created(server, "bench-kept")
    bench("box", "install", "--key-file", "box.json", HWCI_INSTALL_TOKEN=made["installToken"])
    before = Path("box.json").read_text()
    code, _, err = bench("box", "install", "--key-file", "box.json", HWCI_INSTALL_TOKEN="no-token")

    assert code == 4
    assert "error: The box was not installed\ncause: 401 Unauthorized: The install token" in err
    assert "fix: Ask an owner or admin for a new token: hwci boxes install-token BOX\n" in err
    assert Path("box.json").read_text() == before
    assert [path.name for path in Path().iterdir()] == ["box.json"]


def test_an_install_whose_answer_is_lost_is_sent_once_and_says_what_may_have_become_of_it(
    bench: Command,
) -> None:
    with answering(Answered(reset=True)) as lossy:
        code, _, err = bench("box", "install", HWCI_URL=lossy.url, HWCI_INSTALL_TOKEN="token")

    assert (code, len(lossy.received)) == (5, 1)
    assert "it may have been taken\nfix: Try again; a token works once." in err
    assert "hwci boxes install-token" in err


def test_a_script_without_a_token_learns_how_to_give_it(bench: Command) -> None:
    code, _, err = bench("box", "install")

    assert code == 2
    assert err.splitlines() == [
        "error: The install token is missing",
        "cause: no terminal to ask at",
        ("fix: Use --token-stdin, or as HWCI_INSTALL_TOKEN (in a file: HWCI_INSTALL_TOKEN_FILE)"),
    ]


def test_a_bench_that_is_not_installed_gets_an_error(bench: Command) -> None:
    code, _, err = bench("box", "heartbeat")

    assert code == 4
    assert "error: This machine is not installed as a box\n" in err


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_key_that_others_can_reach_is_not_used(bench: Command, tmp_path: Path, mode: int) -> None:
    path = tmp_path / "box.json"
    path.write_text("{}")
    path.chmod(mode)
    code, _, err = bench("box", "heartbeat", "--key-file", str(path))

    assert code == 2
    assert err.startswith(f"error: Others can read the box's key in {path}\n")
    assert f"chmod 600 {path}" in err


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"url": 1}', "\xff"])
def test_a_file_that_is_no_key_is_named(bench: Command, tmp_path: Path, content: str) -> None:
    path = tmp_path / "box.json"
    path.write_bytes(content.encode("latin-1"))
    path.chmod(0o600)
    code, _, err = bench("box", "heartbeat", "--key-file", str(path))

    assert code == 2
    assert err.startswith(f"error: The box's key in {path} cannot be read\n")


def test_a_key_is_shown_to_the_server_that_gave_it_alone(
    bench: Command, server: RunningServer
) -> None:
    made = created(server, "bench-loyal")
    bench("box", "install", HWCI_INSTALL_TOKEN=made["installToken"])
    code, _, err = bench("box", "heartbeat", HWCI_URL="http://127.0.0.1:1")

    assert code == 2
    assert "is not sent to http://127.0.0.1:1\n" in err
    assert bench("box", "heartbeat", "--once", HWCI_URL=None).code == 0


def test_a_server_that_is_away_is_unreachable_to_one_heartbeat(bench: Command) -> None:
    code, _, err = bench(
        "box", "heartbeat", "--once", HWCI_URL="http://127.0.0.1:1", HWCI_BOX_KEY="svc_" + "0" * 64
    )

    assert code == 5
    assert err.startswith("error: The heartbeat did not get through\ncause: No answer from")


def test_a_key_is_in_no_text_of_its_record() -> None:
    assert "svc_" not in repr(BoxKey("http://h", "i", "n", "o", "svc_secret"))


def test_pauses_grow_while_the_server_is_away_and_obey_it() -> None:
    asked = RateLimitedError(429, "Too Many Requests", "slow down", None)
    asked.retry_after = 300.0

    assert pause(60, 0, 0.0) == pause(60, 0, 0.9) == 60
    assert [pause(10, failures, 1.0) for failures in (1, 2, 3)] == [20, 40, 80]
    assert pause(10, 2, 0.0) == 20
    assert pause(60, 5_000, 1.0) == PAUSE_MAX_S
    assert pause(1, 1, 0.0, asked) == 300
    asked.retry_after = 1e6
    assert pause(1, 1, 0.0, asked) == ASKED_MAX_S


@contextmanager
def beating(folder: Path, **env: str) -> Iterator[subprocess.Popen[str]]:
    """Send heartbeats from a process of its own, one a second."""
    with subprocess.Popen(
        [*HWCI, "box", "heartbeat", "--every", "1"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**environment(folder), **env},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("way", [signal.SIGTERM, signal.SIGINT])
def test_heartbeats_outlive_a_server_that_is_away_and_end_on_a_signal(
    tmp_path: Path, way: signal.Signals
) -> None:
    with running_in_thread(tmp_path) as server:
        token = created(server, "bench-1")["installToken"]
        body = {"installToken": token}
        key = ask(server.url, "POST", "/api/boxes/install", json_body=body).json["apiKey"]
    with (
        held_port() as port,
        beating(tmp_path, HWCI_URL=f"http://127.0.0.1:{port}", HWCI_BOX_KEY=key) as process,
    ):
        serve = ("serve", "--port", str(port), "--database", str(server.database), "--quiet")
        assert process.stderr is not None
        warning = [process.stderr.readline() for _ in range(3)]
        with started(tmp_path, *serve):
            heard = process.stderr.readline()
            process.send_signal(way)
            assert process.wait(60) == 0
        assert warning[0] == "warning: The heartbeat did not get through\n"
        assert warning[2].startswith("fix: Nothing yet: it keeps trying.")
        assert heard == f"Heartbeats reach http://127.0.0.1:{port}, one every 1 s.\n"
        assert process.stderr.read() == "The heartbeats end.\n"


def test_the_unit_of_the_example_starts_a_command_that_there_is(
    cli: Command, tmp_path: Path
) -> None:
    text = (Path(__file__).parents[2] / "examples/bench/hwci-heartbeat.service").read_text()
    (start,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)

    assert start == "/usr/local/bin/hwci box heartbeat"
    assert cli(*start.split()[1:], "--help").code == 0
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    unit = tmp_path / "hwci-heartbeat.service"
    unit.write_text(text.replace("/usr/local/bin/hwci", "/bin/true"))
    found = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert unit.name not in found.stdout + found.stderr  # it may have a word on other units


@pytest.mark.usefixtures("busy_server")
def test_a_box_that_only_reported_was_seen(signed_in: Command) -> None:
    out = signed_in("boxes", "list", COLUMNS="200").out
    (reported,) = (line for line in out.splitlines() if f" {BOX} " in line)

    assert "never" not in reported
