# SPDX-License-Identifier: Apache-2.0
"""No test touches what the person at this machine keeps in their home."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.benches import JOB, KEY
from tests.conftest import ELSEWHERE, KEPT
from tests.support.answering import Answer, answering

OF_THE_PERSON = Path(pwd.getpwuid(os.getuid()).pw_dir)


@pytest.fixture(scope="module")
def lasting() -> dict[str, str]:
    """The environment of what is started once for many tests."""
    return dict(os.environ)


@pytest.mark.parametrize("_", range(2))
def test_a_test_lives_in_an_empty_home_of_its_own(
    own_home: Path, lasting: dict[str, str], _: int
) -> None:
    assert list(own_home.iterdir()) == []
    assert Path.home() == own_home
    assert lasting["HOME"] != str(OF_THE_PERSON)
    for name in ("HOME", *KEPT):
        assert Path(os.environ[name]).is_relative_to(own_home)
        assert Path(lasting[name]) != Path(os.environ[name])
        assert Path(lasting[name]).is_relative_to(lasting["HOME"])
    assert not any(name in environ for name in ELSEWHERE for environ in (os.environ, lasting))
    (own_home / "left").touch()


def test_a_command_that_a_test_starts_keeps_its_things_there(
    own_home: Path, tmp_path: Path
) -> None:
    with answering(Answer(204)) as server:
        environ = {**os.environ, **JOB, "HWCI_URL": server.url, "HWCI_CI_KEY": KEY}
        reported = subprocess.run(
            [sys.executable, "-m", "hwci", "report-run", "--hello", "failed", "--no-changes"],
            cwd=tmp_path,
            env=environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True,
            text=True,
            check=False,
        )

    assert reported.returncode == 0, reported.stderr
    assert (own_home / ".local/state/hwci/spool/bench.sqlite3").exists()
