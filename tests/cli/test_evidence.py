# SPDX-License-Identifier: Apache-2.0
"""Result files after public bug reports: a failure is no pass, a pass elsewhere heals none, and a
soak is not flaky.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer, Command

FIELD = Path(__file__).parents[1] / "ci" / "samples" / "field"
HEAD = (
    *("report-run", "--repo-key=acme/fw", "--workflow=hil", "--run-id=1", "--trigger=nightly"),
    *("--branch=main", "--sha=0123456789", "--no-changes", "--dry-run"),
)


@pytest.fixture(autouse=True)
def field(tmp_path: Path) -> Path:
    shutil.copytree(FIELD, tmp_path, dirs_exist_ok=True)
    return tmp_path


def reported(answer: Answer) -> tuple[str, list[tuple[str, str, int]]]:
    """Return the conclusion, and the tests."""
    body: Any = json.loads(answer.out)
    return body["conclusion"], [(it["id"], it["outcome"], it["attempts"]) for it in body["tests"]]


@pytest.mark.parametrize(
    ("files", "conclusion", "tests"),
    [
        (
            ("exunit_failed.xml",),
            "failure",
            [("Elixir.BoardTest.boots", "pass", 1), ("Elixir.BoardTest.blinks", "fail", 1)],
        ),
        (
            ("ut_status.xml",),
            "failure",
            [("global.uart echo", "pass", 1), ("global.spi loopback", "fail", 1)],
        ),
        (
            ("frdm_k64f.xml", "nucleo_f767zi.xml"),
            "failure",
            [
                ("frdm_k64f.kernel.semaphore.init", "fail", 1),
                ("nucleo_f767zi.kernel.semaphore.init", "pass", 1),
            ],
        ),
        (("soak.xml",), "success", [("test_soak.test_ping", "pass", 1)]),
        (("ctest_missing.xml",), "failure", [("host", "pass", 1)]),
        (("gtest_environment.xml",), "failure", [("NonTestSuiteFailure", "fail", 1)]),
    ],
)
def test_files_after_public_reports_are_reported_as_they_are(
    cli: Command,
    files: tuple[str, ...],
    conclusion: str,
    tests: list[tuple[str, str, int]],
) -> None:
    flags = [flag for name in files for flag in ("--junit", name)]

    assert reported(cli(*HEAD, "--box=b1", *flags)) == (conclusion, tests)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (
            "status='notrun'><skipped message='Unable to find executable: /x/adc'/>",
            "'Unable to find executable: /x/adc'",
        ),
        ("status='cancelled'>", "\"status 'cancelled'\""),
    ],
)
def test_the_warning_says_what_did_not_run_to_the_end_and_why(
    cli: Command, tmp_path: Path, case: str, reason: str
) -> None:
    text = f"<testsuite><testcase name='adc' {case}</testcase><testcase name='b'/></testsuite>"
    (tmp_path / "a.xml").write_text(text)

    answer = cli(*HEAD, "--box=b1", "--junit", "a.xml")

    assert (
        f"warning: 1 test could not run, or not to the end (first: adc: {reason}): the run is no"
        " success without them, unless its conclusion is set.\n"
    ) in answer.err


def test_the_environment_that_failed_is_told_with_its_message_and_verdict(
    cli: Command,
) -> None:
    answer = cli(*HEAD, "--box=b1", "--messages", "--junit", "gtest_environment.xml")

    [item] = json.loads(answer.out)["tests"]
    assert item["verdict"] == "infra"
    assert item["message"].endswith("could not open port /dev/ttyUSB0: No such file")


def test_a_file_at_odds_with_itself_is_a_warning_and_fails_the_strict(
    cli: Command, tmp_path: Path
) -> None:
    (tmp_path / "a.xml").write_text(
        '<testsuite name="x" errors="1"><testcase name="a"/></testsuite>'
    )
    answer = cli(*HEAD, "--box=b1", "--junit", "a.xml", "--strict")

    assert reported(answer) == ("failure", [("x.a", "pass", 1)])
    assert answer.code == 1
    assert answer.err.count("The suite 'x' counts 0 failures and 1 error, its tests show 0") == 1
    assert "a result file is missing, not whole, or at odds with itself" in answer.err


def test_the_project_may_keep_the_names_of_each_file(cli: Command, field: Path) -> None:
    (field / "hwci.toml").write_text('[tests]\nnames = "by-file"\n')
    both = ("--junit", "frdm_k64f.xml", "--junit", "nucleo_f767zi.xml")

    assert reported(cli(*HEAD, "--box=b1", *both)) == (
        "failure",
        [("kernel.semaphore.init", "fail", 1)],
    )


def test_an_unknown_way_to_name_tests_is_a_fault(cli: Command, field: Path) -> None:
    (field / "hwci.toml").write_text('[tests]\nnames = "short"\n')
    answer = cli(*HEAD, "--box=b1", "--junit", "soak.xml")

    assert answer.code == 2
    assert "tests: names: Should be one of apart, by-file" in answer.err


def test_boards_with_a_box_of_their_own_need_no_prefix(cli: Command) -> None:
    answer = cli(*HEAD, "--junit", "b1=frdm_k64f.xml", "--junit", "b2=nucleo_f767zi.xml")

    ids = [[it["id"] for it in json.loads(line)["tests"]] for line in answer.out.splitlines()]
    assert ids == [["kernel.semaphore.init"], ["kernel.semaphore.init"]]


def test_a_file_that_two_patterns_name_is_read_once(cli: Command, field: Path) -> None:
    (field / "link.xml").symlink_to(field / "ut_status.xml")
    patterns = ("--junit", "ut_*.xml", "--junit", "ut_status.xml", "--junit", "link.xml")

    assert reported(cli(*HEAD, "--box=b1", *patterns))[1] == [
        ("global.uart echo", "pass", 1),
        ("global.spi loopback", "fail", 1),
    ]
