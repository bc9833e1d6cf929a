# SPDX-License-Identifier: Apache-2.0
"""Commands whose output cannot be written: the disk is full, its reader has left, it is closed.
Their reports are kept all the same, and their exit codes are the same.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hwci.client.store import BenchStore
from tests.cli.benches import KEY, ROOT
from tests.cli.jobs import junit
from tests.support.answering import unused_url

JOB = {
    "HWCI_REPO_KEY": "acme/firmware",
    "HWCI_WORKFLOW": "hil",
    "HWCI_RUN_ID": "7",
    "HWCI_RUN_ATTEMPT": "1",
    "HWCI_TRIGGER": "manual",
    "HWCI_BRANCH": "main",
    "HWCI_SHA": "a" * 40,
    "HWCI_BOX": "bench-1",
    "HWCI_CI_KEY": KEY,
    "HWCI_DEADLINE": "0",
    "PYTHONPATH": ROOT,
}


def without_a_reader() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


def closed() -> None:
    return None


@pytest.mark.parametrize("log", [without_a_reader, full, closed])
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("report-run", "--junit", "one.xml", "--junit", "none.xml"), 0),
        (("exec", "--junit", "one.xml", "--", "sh", "-c", "exit 3"), 3),
    ],
    ids=["report-run", "exec"],
)
def test_a_report_is_kept_if_no_output_can_be_written(
    tmp_path: Path, command: tuple[str, ...], code: int, log: Callable[[], int | None]
) -> None:
    (tmp_path / "one.xml").write_text(junit("a"))
    places = {"HWCI_SPOOL_DIR": str(tmp_path / "spool"), "HOME": str(tmp_path)}
    words = [sys.executable, "-m", "hwci", *command]
    stderr = log()
    if stderr is None:
        words = ["sh", "-c", 'exec "$@" 2>&-', "sh", *words]

    done = subprocess.run(
        words,
        stderr=stderr,
        cwd=tmp_path,
        env={**os.environ, **JOB, **places, "HWCI_URL": unused_url()},
        check=False,
    )

    if stderr is not None:
        os.close(stderr)
    assert done.returncode == code
    assert len(BenchStore(tmp_path / "spool").reports()) == 1


def test_an_unread_summary_does_not_fail_the_command(tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text(junit("a"))
    places = {"HWCI_SPOOL_DIR": str(tmp_path / "spool"), "HOME": str(tmp_path)}
    places |= {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": ""}
    with Path("/dev/full").open("wb") as page:
        done = subprocess.run(
            [sys.executable, "-m", "hwci", "report-run", "--junit", "one.xml"],
            stdout=page,
            cwd=tmp_path,
            env={**os.environ, **JOB, **places, "HWCI_URL": unused_url()},
            check=False,
        )

    assert done.returncode == 0
