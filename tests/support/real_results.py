# SPDX-License-Identifier: Apache-2.0
"""Where the results of real boards are, which are not part of the repository: in the folder that
`HWCI_REAL_RESULTS` names, or beside the checkout. Each version has a folder, with a file a board.
They are reported by the real command: a version is one run, its files are a report for each board.
Files that people in the field had trouble with are in the folder that `HWCI_FIELD_RESULTS` names.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.commands import hwci

_BESIDE = Path(__file__).parents[3] / "shared"
_FOLDER = Path(os.environ.get("HWCI_REAL_RESULTS", _BESIDE / "real" / "zephyr"))
_FIELD = Path(os.environ.get("HWCI_FIELD_RESULTS", _BESIDE / "field"))


def real_results() -> Sequence[Path]:
    """Return the folders of the versions, the oldest first; skip the test if there are none."""
    if not _FOLDER.is_dir():
        pytest.skip(f"no folder {_FOLDER}: HWCI_REAL_RESULTS names the one with the results")
    return sorted(_FOLDER.iterdir(), key=lambda path: _order_of(path.name))


def field_results() -> Sequence[Path]:
    """Return the files from the field; skip the test if there are none."""
    if not _FIELD.is_dir():
        pytest.skip(f"no folder {_FIELD}: HWCI_FIELD_RESULTS names the one with the results")
    return sorted(_FIELD.glob("*/*.xml"))


def _order_of(version: str) -> tuple[str, int]:
    release, commits, _ = version.split("-")
    return release, int(commits)


def report_version(number: int, folder: Path, **variables: str) -> list[str]:
    """Report a version's files; return the lines that name one. The command runs apart from any
    repository: the boards' commits are of another one than this.
    """
    files = [f"--junit={path.name.split('.')[0]}={path}" for path in sorted(folder.glob("*.gz"))]
    result = hwci(
        Path("/"),
        "report-run",
        *("--repo-key=zephyr", "--workflow=twister", "--trigger=nightly", "--branch=main"),
        *(f"--run-id={number}", "--run-attempt=1", f"--sha={folder.name.split('-g')[1]}"),
        *("--hello=ok", "--strict"),
        *files,
        **variables,
    )
    assert result.returncode == 0, result.stderr
    return [line for line in result.stderr.splitlines() if ".xml.gz:" in line]
