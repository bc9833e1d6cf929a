# SPDX-License-Identifier: Apache-2.0
"""What the harness wrote of a failed test is reported only where someone asks for it, and holds no
command for a terminal (contract, "Results").
"""

import json
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from hwci.ci.results.model import end_of, merged, plain
from hwci.ci.results.read import read_results
from tests.cli.conftest import Command

RUN = (
    *("report-run", "--repo-key=fw", "--workflow=hil", "--run-id=1", "--trigger=nightly"),
    *("--branch=main", "--sha=0123456789", "--box=b1", "--no-changes", "--dry-run"),
)
JUNIT = """<testsuite>
  <testcase name="boot">
    <failure type="AssertionError" message="CRC 0x1f&#10;token=hunter2"/>
  </testcase>
  <testcase name="flash"><error>  Timeout during flashing
at 0x10  </error></testcase>
  <testcase name="silent"><failure/></testcase>
  <testcase name="fine"/>
  <testcase name="again"><flakyFailure message="once"/></testcase>
</testsuite>
"""
TWISTER = {
    "testsuites": [
        {
            "name": "boot",
            "status": "failed",
            "testcases": [{"identifier": "up", "status": "failed", "reason": "No console"}],
        }
    ]
}
PYTEST = [
    {"kind": "hwci-results", "version": 1, "started_at": "2026-03-01T12:00:00Z"},
    {"tried": "test_can.py::test_bus", "outcome": "fail", "message": "E   assert 1 == 2"},
]
WRITTEN = {
    "junit.xml": JUNIT,
    "twister.json": json.dumps(TWISTER),
    "pytest.json": "".join(json.dumps(line) + "\n" for line in PYTEST),
}
MESSAGES = {
    "junit.xml": {
        "boot": "AssertionError: CRC 0x1f\ntoken=hunter2",
        "flash": "Timeout during flashing\nat 0x10",
    },
    "twister.json": {"boot.up": "No console"},
    "pytest.json": {"test_can.test_bus": "E   assert 1 == 2"},
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_failed_test_keeps_what_its_harness_wrote(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(WRITTEN[name])
    file = read_results(tmp_path / name, ())

    tests = merged([file], without_secrets=str).tests

    assert {test.id: test.message for test in tests if test.message} == MESSAGES[name]
    assert all(test.message is None for test in merged([file]).tests)


NOISE = {
    "x" * 600: "x" * 500,
    "\U0001f6a9" * 600: "\U0001f6a9" * 500,
    "\x1b[31mE   assert\x1b[0m 1": "E   assert 1",
    "\x00\xff\x1b]0;title\x07": "\ufffdÿ\ufffd]0;title\ufffd",
    "one\r\ntwo\tthree\x85!": "one\ntwo\tthree\ufffd!",
    "\udc80": "\ufffd",
    " \n ": "",
}


@pytest.mark.parametrize(("written", "kept"), NOISE.items())
def test_noise_in_a_message_is_made_harmless(written: str, kept: str) -> None:
    assert plain(written) == kept


@pytest.mark.parametrize(
    ("flags", "variable", "toml", "sent"),
    [
        ((), "", "", False),
        (("--messages",), "", "", True),
        ((), "true", "", True),
        ((), "", "messages = true", True),
        (("--no-messages",), "true", "messages = true", False),
        ((), "false", "messages = true", False),
    ],
)
def test_messages_are_sent_where_a_flag_a_variable_or_the_project_asks_for_them(
    in_ci: Command, tmp_path: Path, flags: tuple[str, ...], variable: str, toml: str, *, sent: bool
) -> None:
    (tmp_path / "junit.xml").write_text(JUNIT)
    (tmp_path / "hwci.toml").write_text(toml)

    answer = in_ci(*RUN, "--junit", "junit.xml", *flags, HWCI_MESSAGES=variable)

    assert answer.code == 0, answer.err
    assert ("hunter2" in answer.out) is sent
    assert sum("message" in test for test in json.loads(answer.out)["tests"]) == 2 * sent


LOG = "".join(f"[00:00:{at:02d}] <inf> step {at}\n" for at in range(90)) + "E: Hard fault"
SILENT = {
    "junit.xml": (
        f'<testsuite><testcase name="a"><failure/><system-out>{escape(LOG)}'
        '</system-out></testcase><testcase name="b"><system-out>fine</system-out></testcase>'
        '<testcase name="c"><failure message="m"/><system-out>o</system-out></testcase></testsuite>'
    ),
    "twister.json": json.dumps(
        {
            "testsuites": [
                {
                    "name": "s",
                    "status": "failed",
                    "log": LOG.replace("Hard", "\x1b[31mHard\x1b[0m"),
                    "testcases": [
                        {"identifier": "a", "status": "failed"},
                        {"identifier": "b", "status": "passed"},
                        {"identifier": "c", "status": "failed", "reason": "m", "log": "o"},
                    ],
                }
            ]
        }
    ),
}


@pytest.mark.parametrize("name", SILENT)
def test_the_last_lines_of_its_log_stand_where_the_harness_wrote_nothing(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text(SILENT[name])

    [failed, passed, told] = merged([read_results(tmp_path / name, ())], without_secrets=str).tests

    assert failed.message is not None
    assert failed.message.startswith("[00:00:1")
    assert failed.message.endswith("[00:00:89] <inf> step 89\nE: Hard fault")
    assert 1_900 < len(failed.message) <= 2_000
    assert passed.message is None
    assert told.message == "m"


def test_the_end_of_a_log_beyond_what_rules_look_at_is_kept(tmp_path: Path) -> None:
    output = "".join(f"line {at:07d}\n" for at in range(40_000)) + "the end"
    case = f'<testcase name="a"><failure/><system-out>{output}</system-out></testcase>'
    (tmp_path / "a.xml").write_text(f"<testsuite>{case}</testsuite>")

    [item] = merged([read_results(tmp_path / "a.xml", ())], without_secrets=str).tests

    assert (item.message or "").endswith("line 0039999\nthe end")
    assert (item.message or "").startswith("line 00398")


def test_a_line_longer_than_a_message_is_cut_at_its_begin() -> None:
    assert end_of("a" * 3_000 + "z") == "a" * 1_999 + "z"


def test_values_of_secret_variables_are_struck_out(in_ci: Command, tmp_path: Path) -> None:
    secrets = {
        "NPM_TOKEN": "tok-12345678",
        "DEPLOY_KEY": "-----BEGIN\nabcdefgh1234\n",
        "PIN_KEY": "1234",
    }
    case = '<testcase name="{}"><failure{}/><system-out>{}</system-out></testcase>'
    written = "begin tok-12345678, abcdefgh1234, PIN 1234 end"
    of_message = case.format("a", f' message="{written}"', "")
    of_log = case.format("b", "", written)
    (tmp_path / "junit.xml").write_text(f"<testsuite>{of_message}{of_log}</testsuite>")

    answer = in_ci(*RUN, "--junit", "junit.xml", "--messages", **secrets)

    assert [test["message"] for test in json.loads(answer.out)["tests"]] == [
        "begin ***, ***, PIN 1234 end"
    ] * 2


def test_a_message_is_shown_with_the_run_and_the_failure(
    in_ci: Command, signed_in: Command, tmp_path: Path
) -> None:
    (tmp_path / "junit.xml").write_text(JUNIT)
    sent = in_ci(*RUN[:-1], "--junit", "junit.xml", "--messages", "--strict")
    [run] = json.loads(signed_in("runs", "list", "--repo-key", "fw", "--json").out)["items"]
    listed = signed_in("failures", "list", "--repo-key", "fw", "--json").out
    [boot] = [one for one in json.loads(listed)["items"] if one["testId"] == "boot"]

    run_shown = signed_in("runs", "show", run["id"]).out
    failure_shown = signed_in("failures", "show", boot["id"]).out

    assert sent.code == 0, sent.err
    assert "AssertionError: CRC 0x1f" in run_shown
    assert "token=hunter2" not in run_shown
    assert (
        "  message      AssertionError: CRC 0x1f\n               token=hunter2\n" in failure_shown
    )
