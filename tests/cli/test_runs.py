# SPDX-License-Identifier: Apache-2.0
"""Runs on the command line: the list with its filters, and one run with its failing tests first."""

import csv
import io
import json
from datetime import timedelta
from pathlib import Path

import pytest

from hwci.client import Client, calls
from hwci.wire.runs import RunEvents, RunHead
from tests.cli.conftest import Command
from tests.support.asking import ask
from tests.support.recorded import recorded
from tests.support.running import RunningServer
from tests.support.scene import BOX, HOSTILE, PRODUCT, START, A, B, E, report

pytestmark = pytest.mark.usefixtures("busy_server")


@pytest.fixture(scope="module")
def live_run(busy_server: RunningServer) -> str:
    """Open a run on a box, of which three tests were told."""
    server = busy_server
    with Client(server.url, token=server.token) as client:
        made = client.send(calls.create_box(server.org_id, "live-1"))
    answer = ask(
        server.url, "POST", "/api/boxes/install", json_body={"installToken": made.install_token}
    )
    head = report(8, A).model_dump(mode="json", include=set(RunHead.model_fields))
    events = [
        {"type": "test", "id": "boot", "outcome": "pass", "attempts": 1},
        {"type": "test", "id": "i2c", "outcome": "fail", "attempts": 2},
        {"type": "test", "id": "spi"},
    ]
    with Client(server.url, box_key=answer.json["apiKey"]) as box:
        run = box.send(calls.open_run(RunHead.model_validate_json(json.dumps(head)))).id
        result = RunEvents.model_validate_json(json.dumps({"events": events}))
        box.send(calls.feed_run(run, result))
    return str(run)


def rows(signed_in: Command, *arguments: str) -> list[dict[str, str]]:
    out = signed_in("runs", "list", "-o", "csv", *arguments).out
    return list(csv.DictReader(io.StringIO(out)))


def at(hour: int) -> str:
    """Return when the run of this number began."""
    return (START + timedelta(hours=hour)).isoformat()


def id_of(signed_in: Command, run_id: int) -> str:
    return next(row["id"] for row in rows(signed_in) if row["runId"] == str(run_id))


def test_runs_are_listed_the_latest_start_first(signed_in: Command) -> None:
    found = [row for row in rows(signed_in) if row["boxKey"] == BOX]

    assert [row["runId"] for row in found] == ["7", "6", "5", "4", "3", "2", "1"]
    assert (found[5]["sha"], found[5]["status"], found[5]["conclusion"]) == (
        B,
        "reported",
        "success",
    )
    assert [row["ending"] for row in (found[0], found[5], found[6])] == [
        "never-reached",
        "failed",
        "passed",
    ]
    assert [found[5][f"tests.{key}"] for key in ("total", "passed", "failed", "retried")] == [
        "2",
        "0",
        "2",
        "0",
    ]


def test_a_terminal_shows_what_matters_of_each(signed_in: Command) -> None:
    code, out, _ = signed_in("runs", "list", "--sha", B)

    assert code == 0
    for cell in (id_of(signed_in, 2)[:8], PRODUCT, "2 (1)", BOX, "main", B[:12], "failed"):
        assert cell in out


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("--product", PRODUCT, "--box", BOX, "--limit", "2"), ["7", "6"]),
        (("--repo-key", "acme/other"), []),
        (("--branch", "dev"), []),
        (("--sha", E), ["7", "6", "5"]),
        (("--sha", E[:4].upper()), ["7", "6", "5"]),
        (("--sha", f"{E[:5]}0"), []),
        (("--hello", "failed"), ["7"]),
        (("--hello", "ok", "--sha", E), ["6", "5"]),
        (("--from", at(2), "--to", at(4), "--box", BOX), ["4", "3", "2"]),
        (("--from", at(7), "--hello", "failed"), ["7"]),
        (("--to", at(7), "--hello", "failed"), ["7"]),
        (("--from", at(9)), []),
        (("--test", "i2c"), ["4", "3", "2", "1"]),
        (("--test", "i2c", "--failed-attempt"), ["2"]),
        (("--test", "i2c", "--no-failed-attempt", "--from", at(2)), ["4", "3"]),
        (("--test", "i2c", "--retry-pass"), []),
        (("--test", "i2c", "--no-retry-pass", "--sha", B), ["2"]),
        (("--test", "I2C"), []),
        (("--box", BOX, "--status", "running"), []),
        (("--status", "lost"), []),
        (("--status", "never-reached"), ["7"]),
        (("--status", "failed", "--to", at(3)), ["3", "2"]),
        (("--status", "passed", "--to", at(3)), ["1"]),
    ],
)
def test_filters_narrow_the_list(
    signed_in: Command, arguments: tuple[str, ...], found: list[str]
) -> None:
    assert [row["runId"] for row in rows(signed_in, *arguments)] == found


def test_runs_of_a_test_say_what_each_gave_for_it(signed_in: Command) -> None:
    found = rows(signed_in, "--test", "i2c")

    assert [row["result.outcome"] for row in found] == ["pass", "pass", "fail", "pass"]
    assert (found[2]["result.attempts"], found[2]["result.verdict"]) == ("1", "device")
    _, out, _ = signed_in("runs", "list", "--test", "i2c")
    assert "This test" in out
    assert "failed" in next(line for line in out.splitlines() if B[:12] in line)
    assert "This test" not in signed_in("runs", "list").out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--sha", "abc"), "--sha: Should be the first 4 to 64 hexadecimal digits of a commit"),
        (("--hello", "true"), "'ok', 'failed'"),
        (("--from", "2026-03-01"), "--from is not understood"),
        (("--to", "yesterday"), "--to is not understood"),
        (("--from", at(2), "--to", at(1)), "--to: Should not be before --from"),
        (("--retry-pass",), "--retry-pass: Needs --test"),
        (("--no-failed-attempt",), "--failed-attempt: Needs --test"),
    ],
)
def test_a_filter_that_can_find_nothing_is_wrong_usage(
    signed_in: Command, arguments: tuple[str, ...], why: str
) -> None:
    code, out, err = signed_in("runs", "list", *arguments)

    assert (code, out) == (2, "")
    assert why in err


def test_the_list_is_paged_and_says_how_to_go_on(signed_in: Command) -> None:
    first = signed_in("runs", "list", "--box", BOX, "--limit", "3")
    beyond = signed_in("runs", "list", "--box", BOX, "--page", "9", "--limit", "3")

    assert first.err == "… 4 more: --page 2 --limit 3\n"
    end = "Page 9 is beyond the end: 7 runs on 3 pages. The last one: --page 3 --limit 3\n"
    assert (beyond.code, beyond.out, beyond.err) == (0, "", end)
    found = json.loads(signed_in("runs", "list", "--box", BOX, "--limit", "3", "--json").out)
    assert (found["total"], len(found["items"])) == (7, 3)


def test_an_empty_list_says_what_to_do_next(signed_in: Command) -> None:
    code, out, err = signed_in("runs", "list", "--from", "2999-01-01T00:00:00Z")

    assert (code, out) == (0, "")
    assert "hwci report-run" in err


def test_a_run_is_shown_with_its_head_and_its_commits(signed_in: Command) -> None:
    code, out, _ = signed_in("runs", "show", id_of(signed_in, 2)[:8])

    assert code == 0
    assert f"Run 2 on {BOX} ({id_of(signed_in, 2)})" in out
    assert "status     failed\n  conclusion success\n" in out
    assert f"product    {PRODUCT}, branch main\n" in out
    assert f"commit     {B}\n" in out
    assert "run        2, attempt 1, of hil (merge)\n" in out
    assert "tests      2: 0 passed, 2 failed; 0 took more than one attempt\n" in out
    assert out.index("Commits under test") < out.index(f"{B[:12]} Change drivers/i2c.c")


def test_failing_tests_come_first_and_plain_passes_are_counted(signed_in: Command) -> None:
    run = id_of(signed_in, 3)

    some, whole = signed_in("runs", "show", run), signed_in("runs", "show", run, "--all")
    assert "spi" in some.out
    assert "i2c" not in some.out.split("Commits")[0]
    next_step = f"Failures of this product: hwci failures list --product {PRODUCT}\n"
    assert some.err == "1 test passed at the first attempt: --all\n" + next_step
    assert whole.out.index("spi") < whole.out.index("i2c")
    assert whole.err == next_step


def test_a_run_that_never_reached_the_hardware_says_so(signed_in: Command) -> None:
    assert (
        "hello      failed: the run never reached"
        in signed_in("runs", "show", id_of(signed_in, 7)).out
    )


def test_a_run_that_never_reached_the_hardware_is_marked_in_the_list(signed_in: Command) -> None:
    lost, reached = (signed_in("runs", "list", "--hello", how).out for how in ("failed", "ok"))

    assert "never reached" in " ".join(lost.split())
    assert "reached" not in reached


def test_a_run_that_never_reached_the_hardware_is_marked_where_it_is_watched(
    signed_in: Command,
) -> None:
    watched = signed_in("runs", "watch", id_of(signed_in, 7))

    assert (watched.code, "never reached the hardware" in watched.out) == (0, True)


def test_runs_fit_eighty_letters_with_ids_times_boxes_and_commits(
    signed_in: Command,
) -> None:
    out = signed_in("runs", "list", COLUMNS="80").out

    runs = rows(signed_in)
    _, _, below = out.partition("─\n")
    lines = [line for line in below.splitlines() if not line.startswith(" ")]
    for run, line in zip(runs, lines, strict=True):
        assert {run["id"][:8], run["boxKey"], run["sha"][:8]} <= set(line.split())
    assert all(" ago " in line or "just now" in line for line in lines)
    assert max(map(len, out.splitlines())) <= 80


def test_a_live_run_shows_what_it_does(signed_in: Command, live_run: str) -> None:
    out = signed_in("runs", "show", live_run[:8]).out

    assert "status     running\n" in out
    assert "tests      3: 1 passed, 1 failed, 1 running; 1 took more than one attempt\n" in out
    assert out.index("i2c") < out.index("spi")
    assert [row["runId"] for row in rows(signed_in, "--status", "running")] == ["8"]
    found = json.loads(signed_in("runs", "show", live_run, "--json").out)
    assert (found["status"], found["conclusion"], found["workflow"]) == ("running", None, "hil")
    assert [item["outcome"] for item in found["items"]] == ["pass", "fail", None]


def test_a_hostile_name_stays_inert(signed_in: Command) -> None:
    out = signed_in("runs", "show", id_of(signed_in, 5)).out

    assert HOSTILE not in out
    assert "[red]can\\x1b[31m\\u202e|x" in out
    assert "\x1b" not in out


@pytest.mark.parametrize("wrong", ["17", "no id", "0" * 35 + "x"])
def test_a_malformed_id_is_wrong_usage(signed_in: Command, wrong: str) -> None:
    code, out, err = signed_in("runs", "show", wrong)

    assert (code, out) == (2, "")
    assert "Find it with: hwci runs list" in err


def test_an_id_that_names_no_run_is_refused_whole_and_abbreviated(signed_in: Command) -> None:
    short = signed_in("runs", "show", "00000000")
    whole = signed_in("runs", "show", "00000000-0000-4000-8000-000000000000")

    assert (short.code, whole.code) == (1, 1)
    assert "00000000 names no run among the latest 10,000" in short.err
    assert "cause: 404 Not Found: Run not found" in whole.err


def test_without_a_sign_in_it_says_how_to_sign_in(cli: Command, server: RunningServer) -> None:
    code, out, err = cli("runs", "list", HWCI_URL=server.url)

    assert (code, out) == (4, "")
    assert "hwci login" in err


def test_a_run_is_found_by_the_number_that_its_ci_shows(
    signed_in: Command, server: RunningServer, tmp_path: Path
) -> None:
    (tmp_path / "r.xml").write_text('<testsuite><testcase name="boot"/></testsuite>')
    there = {"HWCI_CI_KEY": server.ci_key, "BUILD_NUMBER": "4242"}
    build = recorded("jenkins-multibranch") | there
    assert signed_in("report-run", "--no-changes", "--strict", "r.xml", **build).code == 0

    code, out, _ = signed_in("runs", "list", "--ci-run", "4242")
    [row] = rows(signed_in, "--ci-run", "4242")
    assert (code, row["ciRun"], row["runId"] != "4242") == (0, "4242", True)
    assert " 4242 (1)\n" in out
    assert "CI number  4242\n" in signed_in("runs", "show", row["id"]).out
    assert [row["runId"] for row in rows(signed_in, "--ci-run", "7")] == ["7"]
    assert rows(signed_in, "--ci-run", "4243") == []


def test_a_rerun_shows_the_command_that_shows_the_run_that_it_repeats(
    signed_in: Command, server: RunningServer, tmp_path: Path
) -> None:
    (tmp_path / "r.xml").write_text('<testsuite><testcase name="boot"/></testsuite>')
    there = recorded("jenkins-multibranch") | {"HWCI_CI_KEY": server.ci_key}
    for run, of in (("4301", "4300"), ("4302", "4301")):
        flags = (f"--run-id={run}", "--run-attempt=1", f"--rerun-of={of}", "--no-changes")
        assert signed_in("report-run", "--strict", *flags, "r.xml", **there).code == 0

    first, second = (
        next(row["id"] for row in rows(signed_in) if row["runId"] == run)
        for run in ("4301", "4302")
    )

    told = f"rerun of   4301 (hwci runs show {first})\n"
    assert told in signed_in("runs", "show", second).out
    assert "rerun of   4300 (not reported here)\n" in signed_in("runs", "show", first).out
