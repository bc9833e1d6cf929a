# SPDX-License-Identifier: Apache-2.0
"""On which board of its box a test ran: what each format says of it."""

import json
import time
from pathlib import Path

import pytest

from hwci.ci.results.model import BoxResults, merged
from hwci.ci.results.places import attached
from hwci.ci.results.read import read_results
from tests.cli.conftest import Command

TWISTER = Path(__file__).parents[1] / "ci/samples/twister.json"


def read(path: Path, content: str, board: str = "") -> BoxResults:
    path.write_text(content)
    return merged([read_results(path, ())], board=board)


def boards(results: BoxResults) -> list[str | None]:
    return [item.board for item in results.tests]


def test_twister_names_the_board_of_a_suite() -> None:
    results = merged([read_results(TWISTER, ())])

    assert {item.board for item in results.tests if item.id.startswith("kernel.common")} == {
        "0240000034544e45"
    }
    assert [item.board for item in results.tests if item.id == "sample.hello"] == [None]


@pytest.mark.parametrize(
    ("name", "value", "board"),
    [
        ("hwci.board", "0483:A1", "0483:A1"),
        ("serial", "0483:A1", "0483:A1"),
        ("Serial-Number", "0483:A1", "0483:A1"),
        ("board_id", "0483:A1", "0483:A1"),
        ("dut", "/dev/boards/nrf-2", "nrf-2"),
        ("board", "nrf-2", "nrf-2"),
        ("platform", "nrf52dk", None),
        ("serial", "a" * 300, "a" * 255),
        ("serial", "", None),
    ],
)
def test_a_property_of_a_test_or_of_its_suite_names_it(
    tmp_path: Path, name: str, value: str, board: str | None
) -> None:
    line = f'<properties><property name="{name}" value="{value}"/></properties>'
    of_test = f'<testsuite><testcase name="a" time="1">{line}</testcase></testsuite>'
    of_suite = f'<testsuite>{line}<testcase name="a" time="1"/></testsuite>'

    for content in (of_test, of_suite):
        assert boards(read(tmp_path / "a.xml", content)) == [board]


def test_what_tells_a_board_from_its_twins_goes_before_its_type(tmp_path: Path) -> None:
    case = '<testcase name="a" board="nrf52dk" serial="{}" time="1"/>'
    content = f"<testsuite>{case.format('A1')}</testsuite>"

    assert boards(read(tmp_path / "a.xml", content)) == ["A1"]


def test_serial_numbers_tell_no_tests_apart(tmp_path: Path) -> None:
    """A suite that runs a test on each of its boards repeats it, as before."""
    case = '<testcase name="a" serial="{}" time="1"/>'
    content = f"<testsuite>{case.format('A1')}{case.format('A2')}</testsuite>"
    results = read(tmp_path / "a.xml", content)

    assert [(item.id, item.board) for item in results.tests] == [("a", "A2")]


def test_a_retry_has_the_board_of_the_last_try(tmp_path: Path) -> None:
    lines = [
        {"kind": "hwci-results", "version": 1, "started_at": "2026-03-02T12:00:00Z"},
        *(
            {
                "tried": "t.py::a",
                "outcome": outcome,
                "again": outcome == "fail",
                "properties": {"serial": board},
            }
            for outcome, board in (("fail", "A1"), ("pass", "A2"))
        ),
    ]
    results = read(tmp_path / "a.json", "".join(f"{json.dumps(line)}\n" for line in lines))

    assert [(item.attempts, item.board) for item in results.tests] == [(2, "A2")]


def test_ctrf_names_it_in_labels_or_extra(tmp_path: Path) -> None:
    test = {"name": "a", "status": "passed", "duration": 5, "extra": {"serial": "A1"}}
    content = json.dumps({"reportFormat": "CTRF", "results": {"tests": [test]}})

    assert boards(read(tmp_path / "a.json", content)) == ["A1"]


@pytest.mark.parametrize(
    ("place", "board"), [("rack-3", "rack-3"), ("+", None), ("nrf-*", None), ("", None)]
)
def test_the_place_of_labgrid_is_the_board_where_files_name_none(
    cli: Command, place: str, board: str | None
) -> None:
    case = '<testcase name="{}" time="1"{}/>'
    cases = case.format("a", "") + case.format("b", ' serial="A1"')
    Path("a.xml").write_text(f"<testsuite>{cases}</testsuite>")
    words = ("--repo-key=fw", "--workflow=hil", "--run-id=1", "--trigger=nightly", "--branch=main")
    done = cli(
        *("report-run", *words, "--sha=0123456789", "--box=b", "--no-changes", "--dry-run"),
        *("--junit", "a.xml"),
        LG_PLACE=place,
    )
    tests = json.loads(done.out)["tests"]

    assert [test.get("board") for test in tests] == [board, "A1"]


def test_runs_and_failures_say_on_which_board(in_ci: Command, signed_in: Command) -> None:
    words = ("--repo-key=boards", "--workflow=hil", "--trigger=nightly", "--branch=main")
    for number, (board, inside) in enumerate((("A1", "<failure/>"), ("A2", "")), 1):
        log = f"https://ci.example/{number}/a.log"
        case = f'<testcase name="a" serial="{board}" log_url="{log}" time="1">{inside}</testcase>'
        Path("a.xml").write_text(f"<testsuite>{case}</testsuite>")
        sent = in_ci(
            *("report-run", *words, f"--run-id={number}", "--sha=0123456789", "--box=b"),
            *("--no-changes", "--strict", "--junit", "a.xml"),
        )
        assert sent.code == 0, sent
    scope = ("--product", "boards:hil", "--json")
    runs = json.loads(signed_in("runs", "list", *scope).out)["items"]
    [failure] = json.loads(signed_in("failures", "list", *scope).out)["items"]

    for run in runs:
        assert f"A{run['runId']}" in signed_in("runs", "show", run["id"], "--all").out
    assert len(runs) == 2
    shown = signed_in("failures", "show", failure["id"]).out
    assert "2 runs on A1 and A2" in shown
    assert "  log          https://ci.example/1/a.log\n" in shown


@pytest.mark.parametrize(
    ("address", "is_kept"),
    [
        ("https://ci.example/7/a.log?x=1", True),
        ("javascript:alert(1)", False),
        ("/home/ci/a.log", False),
        ("https://me:secret@ci.example/a.log", False),
        (f"https://ci.example/{'a' * 2000}", False),
    ],
)
def test_a_log_is_an_address_that_people_may_be_sent_to(
    tmp_path: Path, address: str, is_kept: bool
) -> None:
    test = {"name": "a", "status": "passed", "duration": 5, "labels": {"log_url": address}}
    content = json.dumps({"reportFormat": "CTRF", "results": {"tests": [test]}})
    of_test = f'<testsuite><testcase name="a" hwci.log_url="{address}" time="1"/></testsuite>'

    for name, written in (("a.json", content), ("a.xml", of_test)):
        [item] = read(tmp_path / name, written).tests
        assert item.log_url == (address if is_kept else None)


OF_JOB = "https://ci.example/7/file/{path}"


@pytest.mark.parametrize(
    ("artifacts", "path", "log_url"),
    [
        (OF_JOB, "logs/uart 1.log", "https://ci.example/7/file/logs/uart%201.log"),
        (OF_JOB, "{here}/logs/a.log", "https://ci.example/7/file/logs/a.log"),
        (OF_JOB, "https://elsewhere.example/a.log", "https://elsewhere.example/a.log"),
        (OF_JOB, "../a.log", None),
        (OF_JOB, "/etc/passwd", None),
        ("no address {path}", "a.log", None),
        ("", "a.log", None),
    ],
)
def test_a_file_that_a_test_attaches_is_its_log(
    cli: Command, artifacts: str, path: str, log_url: str | None
) -> None:
    attached = f"[[ATTACHMENT|{path.format(here=Path.cwd())}]]"
    case = f'<testcase name="a" time="1"><system-out>boot\n{attached}\nend</system-out></testcase>'
    Path("a.xml").write_text(f"<testsuite>{case}</testsuite>")
    done = cli(
        *("report-run", "--repo-key=fw", "--workflow=hil", "--run-id=1", "--trigger=nightly"),
        *("--branch=main", "--sha=0123456789", "--box=b", "--no-changes", "--dry-run"),
        *("--junit", "a.xml"),
        HWCI_ARTIFACTS=artifacts,
    )

    assert json.loads(done.out)["tests"][0].get("log_url") == log_url


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        ("frdm_k64f_mk64f12/zephyr/tests/a/a.b", {"toolchain": "zephyr", "path": "tests/a"}),
        ("frdm_k64f_mk64f12/tests/a/a.b", {"path": "../../tests/a"}),
        ("frdm_k64f_mk64f12/a.b", {}),
    ],
)
def test_the_log_of_a_suite_of_twister_is_where_twister_left_it(
    cli: Command, place: str, fields: dict[str, str]
) -> None:
    suite = {"name": "a.b", "platform": "frdm_k64f/mk64f12", "runnable": True, **fields}
    case = {"identifier": "a.b.c", "status": "failed"}
    suites = [
        suite | {"status": "failed", "testcases": [case]},
        suite | {"name": "a.gone", "status": "failed", "testcases": [case | {"identifier": "d"}]},
    ]
    folder = Path("twister-out", place)
    folder.mkdir(parents=True)
    (folder / "device.log").write_text("")
    (folder / "handler.log").write_text("")
    Path("twister-out/twister.json").write_text(json.dumps({"testsuites": suites}))

    done = cli(
        *("report-run", "--repo-key=fw", "--workflow=hil", "--run-id=1", "--trigger=nightly"),
        *("--branch=main", "--sha=0123456789", "--box=b", "--no-changes", "--dry-run"),
        *("--junit", "twister-out/twister.json"),
        HWCI_ARTIFACTS="https://ci.example/{path}",
    )

    assert [item.get("log_url") for item in json.loads(done.out)["tests"]] == [
        f"https://ci.example/twister-out/{place}/handler.log",
        None,
    ]


def test_an_output_of_blanks_or_of_brackets_is_read_at_once() -> None:
    started = time.process_time()
    for output in ("\n" * 65_536, " " * 65_536, "[[ATTACHMENT|" * 5_000):
        assert attached(output) == ""

    assert time.process_time() - started < 1
