# SPDX-License-Identifier: Apache-2.0
"""What the harness wrote of a failed test is reported only where someone asks for it, and holds no
command for a terminal (contract, "Results").
"""

import json
from pathlib import Path

import pytest

from hwci.ci.results.model import merged, plain
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

    tests = merged([file], messages=True).tests

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
