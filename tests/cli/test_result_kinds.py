# SPDX-License-Identifier: Apache-2.0
"""Results of every kind in one report, and whom rules of the repository's own blame."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command

SAMPLES = Path(__file__).parents[1] / "ci" / "samples"
HEAD = (
    *("--repo-key=acme/fw", "--workflow=hil", "--run-id=1", "--trigger=nightly", "--branch=main"),
    *("--sha=0123456789", "--box=bench-1", "--no-changes", "--dry-run"),
)
RULES = """
[[verdict]]
message = "still powered"
verdict = "infra"
[[verdict]]
message = "Timeout during flashing"
verdict = "unknown"
"""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    kinds = (
        "twister.json",
        "twister.xml",
        "pytest/rerunfailures-16.7.xml",
        "ctrf/mocha-0.0.11.json",
    )
    for name in kinds:
        shutil.copy(SAMPLES / name, tmp_path)
    tried = {"tried": "hil/test_can.py::test_bus", "outcome": "fail", "verdict": "device"}
    lines = [{"kind": "hwci-results", "version": 1, "started_at": "2025-11-25T12:00:00Z"}, tried]
    (tmp_path / "results.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def report(command: Command, *arguments: str) -> Any:
    answer = command("report-run", *HEAD, *arguments)
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def verdicts(body: Any) -> dict[str, str]:
    return {
        item["id"]: item.get("verdict", "unknown")
        for item in body["tests"]
        if item["outcome"] == "fail"
    }


def test_skipped_tests_are_counted_in_a_note(cli: Command, tmp_path: Path) -> None:
    tests = '<testcase name="a"/><testcase name="b"><skipped/></testcase>'
    (tmp_path / "out.xml").write_text(f"<testsuite>{tests}</testsuite>")
    answer = cli("report-run", *HEAD, "--junit", "out.xml")

    assert [item["id"] for item in json.loads(answer.out)["tests"]] == ["a"]
    assert "note: Left out: 1 skipped test. Only tests that ran count.\n" in answer.err


def test_a_test_that_took_longer_than_a_report_can_say_is_cut_with_a_note(
    cli: Command, tmp_path: Path
) -> None:
    year = f'<testcase name="a" time="{366 * 86_400}"><failure/></testcase>'
    (tmp_path / "out.xml").write_text(f"<testsuite>{year * 2}</testsuite>")
    answer = cli("report-run", *HEAD, "--junit", "out.xml")

    [item] = json.loads(answer.out)["tests"]
    assert (item["attempts"], item["duration_s"]) == (1, 366 * 86_400)
    assert (
        "note: a had more than 1,000,000 attempts or took more than 31,622,400 s in all;"
        " its report says the most that it can.\n"
    ) in answer.err


def test_files_of_every_kind_make_one_report(cli: Command, results: Path) -> None:
    files = ["twister.json", "rerunfailures-16.7.xml", "results.json", "mocha-0.0.11.json"]

    body = report(cli, "--junit", *(str(results / name) for name in files))

    assert body["started_at"] == "2025-11-25T12:00:00Z"
    assert body["conclusion"] == "failure"
    assert verdicts(body) == {
        "kernel.common.mutex.unlock": "device",
        "kernel.fpu.sharing": "infra",
        "kernel.fpu.saving": "infra",
        "boot.mcuboot": "infra",
        "test_spi.test_never": "unknown",
        "test_spi.test_setup": "unknown",
        "test_spi.test_teardown": "unknown",
        "test_spi.test_twice_over": "unknown",
        "hil.test_can.test_bus": "device",
        "uart parity": "unknown",
        'uart hook "before all" hook for "never"': "unknown",
    }


def test_rules_of_the_repository_go_before_those_that_are_built_in(
    cli: Command, results: Path
) -> None:
    files = ("twister.xml", "rerunfailures-16.7.xml")
    (results / "hwci.toml").write_text(RULES)

    said = verdicts(report(cli, "--junit", *files))

    assert said["test_spi.test_teardown"] == "infra"
    assert said["kernel.common.mutex.unlock"] == "unknown"
    (results / "hwci.toml").unlink()
    assert verdicts(report(cli, "--junit", *files)) == said | {
        "test_spi.test_teardown": "unknown",
        "kernel.common.mutex.unlock": "infra",
    }


def test_a_run_of_what_was_not_built_did_not_succeed(cli: Command, results: Path) -> None:
    broken = '<testcase classname="b" name="b"><error message="Build failure"/></testcase>'
    (results / "built.xml").write_text(
        '<testsuite name="x" timestamp="2026-03-02T09:15:30">'
        f'<testcase classname="a" name="a"/>{broken}</testsuite>'
    )

    body = report(cli, "--junit", "built.xml")

    assert [item["id"] for item in body["tests"]] == ["a"]
    assert body["conclusion"] == "failure"
    assert report(cli, "--junit", "built.xml", "--conclusion=success")["conclusion"] == "success"
