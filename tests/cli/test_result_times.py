# SPDX-License-Identifier: Apache-2.0
"""When a run is reported to have begun, by the times of its result files and of their writing."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.benches import JOB
from tests.cli.conftest import Command
from tests.cli.jobs import junit

WRITTEN = datetime(2026, 1, 31, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def sent(answer: Any) -> list[dict[str, Any]]:
    assert answer.code == 0, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


@pytest.fixture
def job(cli: Command) -> Command:
    def run(*arguments: str, stdin: str | bytes = "", **env: str | None) -> Any:
        return cli("report-run", *arguments, "--no-changes", stdin=stdin, **{**JOB, **env})

    return run


@pytest.fixture
def write(tmp_path: Path) -> None:
    """Write a result file of each kind, all at one time."""
    texts = {
        "one.xml": WRITTEN - 3 * MINUTE,
        "two.xml": WRITTEN - 2 * MINUTE,
        "odd.xml": datetime(2021, 6, 1, tzinfo=UTC),
        "future.xml": WRITTEN + timedelta(days=900),
    }
    files = {name: junit("a", timestamp=f' timestamp="{at:%FT%TZ}"') for name, at in texts.items()}
    west = WRITTEN - timedelta(hours=6)
    files |= {
        name: junit("a", timestamp=f' timestamp="{west:%FT%T}"') for name in ("w1.xml", "w2.xml")
    }
    files["bad.xml"] = "<testsuite name='x'>"
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (WRITTEN.timestamp(), WRITTEN.timestamp()))


@pytest.mark.usefixtures("write")
@pytest.mark.parametrize("odd", ["odd.xml", "future.xml"])
def test_the_clock_of_one_box_moves_neither_it_nor_the_run(job: Command, odd: str) -> None:
    files = ("b1=one.xml", "b2=two.xml", f"b3={odd}")

    answer = job("-n", "--junit", *files, HWCI_RUN_ID=None, HWCI_BOX=None)

    reports = {report["box_key"]: report for report in sent(answer)}
    start = "2026-01-31T08:57:00Z"
    assert {report["run_id"] for report in reports.values()} == {
        int(datetime.fromisoformat(start).timestamp())
    }
    assert reports["b1"]["started_at"] == start
    assert reports["b3"]["started_at"] == "2026-01-31T08:59:59.500000Z"
    assert "not believed" in answer.err


@pytest.mark.usefixtures("write")
def test_a_note_that_is_of_many_files_is_said_once(job: Command) -> None:
    answer = job("-n", "--junit", "w1.xml", "w2.xml")

    [report] = sent(answer)
    assert report["started_at"] == "2026-01-31T09:00:00Z"
    [line] = [line for line in answer.err.splitlines() if "name no zone" in line]
    assert "w1.xml and 1 more: Its times name no zone. By when it was written, that is" in line
    assert "UTC-06:00" in line


@pytest.mark.usefixtures("write")
def test_a_file_that_cannot_be_read_is_no_success_and_the_rest_is_reported(job: Command) -> None:
    answer = job("-n", "--junit", "one.xml", "bad.xml", HWCI_CONCLUSION=None)

    [report] = sent(answer)
    assert [item["id"] for item in report["tests"]] == ["t.a"]
    assert report["conclusion"] == "failure"
    assert "bad.xml:1:" in answer.err
